// The kernels of a training step. tables.py puts the constants in capitals before this text.
//
// A workgroup computes a tile: TILE lanes (cells) of one run, four to a vector. Its threads share the
// gates of a level, and wait for each other after each level. `number.y` counts the dispatch's runs.

@group(0) @binding(0) var<storage, read> net: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> jobs: array<u32>;
@group(0) @binding(2) var<storage, read_write> learned: array<f32>;
@group(0) @binding(3) var<storage, read_write> states: array<f32>;
@group(0) @binding(4) var<storage, read_write> values: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> gradients: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> sums: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> report: array<u32>;
@group(1) @binding(0) var<uniform> step: vec4<u32>;

const QUADS = LANES / 4u;        // vectors of a batch
const TILE_QUADS = TILE / 4u;    // vectors of a tile
const NONE = 0xffffffffu;

// Words of a job.
const DOES = 0u;                 // bits: MIXES, RUNS, REDUCES, MOVES
const STEPS = 1u;
const CELLS = 2u;                // of all samples in use
const TILES_IN_USE = 3u;
const LOSS_STEP = 4u;            // two numbers; equal if there is one loss step
const MASKED = 6u;
const FRESH = 7u;                // whether to begin the gates' sums, or else add
const RATES = 8u;                // clip, β1, 1-β1, β2, 1-β2, 1/(1-β1^t), 1/(1-β2^t), ε, rate, keep

const MIXES = 1u;
const RUNS = 2u;
const REDUCES = 4u;
const MOVES = 8u;

fn job_of(run: u32) -> u32 { return RUNS_AT_MOST + run * JOBS_SIZE; }

fn does(run: u32, what: u32) -> bool { return (jobs[job_of(run) + DOES] & what) != 0u; }

fn rate(run: u32, which: u32) -> f32 { return bitcast<f32>(jobs[job_of(run) + RATES + which]); }

// An op's values on (0, 0), (0, 1), (1, 0) and (1, 1).
fn truth(op: u32) -> vec4<f32> {
    return vec4<f32>((vec4<u32>(op) >> vec4<u32>(3u, 2u, 1u, 0u)) & vec4<u32>(1u));
}

fn coefficients_of(op: u32) -> vec4<f32> {
    let f = truth(op);
    return vec4<f32>(f.x, f.z - f.x, f.y - f.x, f.w - f.z - f.y + f.x);
}

// exp(x) for x from -87 to 0: WGSL's own exp may be less accurate than we need.
fn exponential(x: f32) -> f32 {
    let n = round(x * 1.44269504);
    // ln 2 in two parts: n times the first is exact, whether or not fma rounds once.
    let r = fma(n, 2.12194440e-4, fma(n, -0.693359375, x));
    var p = 1.0 / 5040.0;
    p = fma(p, r, 1.0 / 720.0);
    p = fma(p, r, 1.0 / 120.0);
    p = fma(p, r, 1.0 / 24.0);
    p = fma(p, r, 1.0 / 6.0);
    p = fma(p, r, 0.5);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    return select(p * bitcast<f32>(u32(i32(n) + 127) << 23u), 0.0, x < -87.0);
}

// Turn 16 logits into probabilities, four coefficients and the most probable op.
@compute @workgroup_size(THREADS)
fn mix(@builtin(workgroup_id) number: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let run = jobs[number.y];
    let p = number.x * THREADS + thread;
    if (p >= PARAMETERS || !does(run, MIXES)) { return; }
    let logit = run * LEARNED_SIZE + LOGIT + p;
    let out = run * LEARNED_SIZE + PROBABILITY + p;
    var best = learned[logit];
    var op = 0u;
    for (var i = 1u; i < 16u; i++) {
        let z = learned[logit + i * PARAMETERS];
        if (z > best) { best = z; op = i; }
    }
    var total = 0.0;
    var c = vec4<f32>();
    for (var i = 0u; i < 16u; i++) {
        let weight = exponential(learned[logit + i * PARAMETERS] - best);
        learned[out + i * PARAMETERS] = weight;
        total += weight;
        c += weight * coefficients_of(i);
    }
    var most = 0.0;
    for (var i = 0u; i < 16u; i++) {
        let probability = learned[out + i * PARAMETERS] / total;
        learned[out + i * PARAMETERS] = probability;
        most = max(most, probability);
    }
    sums[run * SUMS_SIZE + COEFFICIENT + p] = c / total;
    report[run * REPORT_SIZE + OP + p] = op | select(0u, 256u, most > DECIDED);
}

fn gather(run: u32, at: u32, cells: vec4<u32>) -> vec4<f32> {
    var found = vec4<f32>();
    for (var i = 0u; i < 4u; i++) {
        if (cells[i] != NONE) { found[i] = states[at + cells[i]]; }
    }
    return found;
}

fn load(at: u32) -> vec4<f32> {
    return vec4<f32>(states[at], states[at + 1u], states[at + 2u], states[at + 3u]);
}

fn store(at: u32, x: vec4<f32>) {
    states[at] = x.x;
    states[at + 1u] = x.y;
    states[at + 2u] = x.z;
    states[at + 3u] = x.w;
}

fn tile_at(run: u32, tile: u32) -> u32 { return (run * TILES + tile) * ROWS * TILE_QUADS; }

fn coefficient(run: u32, p: u32) -> vec4<f32> { return sums[run * SUMS_SIZE + COEFFICIENT + p]; }

// Compute all rows of a tile: each cell's nine neighbours, then the gates, level by level.
fn evaluate(run: u32, tile: u32, thread: u32) {
    let table = run * NET_SIZE;
    let at = tile_at(run, tile);
    let state = run * STATES_SIZE + STATE + step.x * CHANNELS * LANES;
    for (var i = thread; i < 9u * CHANNELS * TILE_QUADS; i += THREADS) {
        let row = i / TILE_QUADS;
        let quad = tile * TILE_QUADS + i % TILE_QUADS;
        let cells = net[table + NEIGHBOR + (row / CHANNELS) * QUADS + quad];
        values[at + i] = gather(run, state + (row % CHANNELS) * LANES, cells);
    }
    let deepest = net[table + LEVEL].x;
    for (var level = 1u; level <= deepest; level++) {
        storageBarrier();
        let span = net[table + LEVEL + level];
        for (var i = span.x * TILE_QUADS + thread; i < span.y * TILE_QUADS; i += THREADS) {
            let gate = net[table + GATE + i / TILE_QUADS];
            let quad = i % TILE_QUADS;
            let a = values[at + gate.y * TILE_QUADS + quad];
            let b = values[at + gate.z * TILE_QUADS + quad];
            let c = coefficient(run, gate.w);
            values[at + gate.x * TILE_QUADS + quad] =
                fma(fma(vec4<f32>(c.w), b, vec4<f32>(c.y)), a, fma(vec4<f32>(c.z), b, vec4<f32>(c.x)));
        }
    }
    storageBarrier();
}

fn fires(run: u32, at_step: u32, lane: u32) -> vec4<f32> {
    if (jobs[job_of(run) + MASKED] == 0u) { return vec4<f32>(1.0); }
    return load(run * STATES_SIZE + MASK + at_step * LANES + lane);
}

@compute @workgroup_size(THREADS)
fn forward(@builtin(workgroup_id) number: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let run = jobs[number.y];
    let tile = number.x;
    let job = job_of(run);
    if (!does(run, RUNS) || step.x >= jobs[job + STEPS] || tile >= jobs[job + TILES_IN_USE]) { return; }
    evaluate(run, tile, thread);
    let state = run * STATES_SIZE + STATE + step.x * CHANNELS * LANES;
    for (var i = thread; i < CHANNELS * TILE_QUADS; i += THREADS) {
        let channel = i / TILE_QUADS;
        let quad = i % TILE_QUADS;
        let lane = tile * TILE + 4u * quad;
        let row = net[run * NET_SIZE + OUTPUT + channel].x;
        let next = values[tile_at(run, tile) + row * TILE_QUADS + quad];
        let old = load(state + channel * LANES + lane);
        let fired = fires(run, step.x, lane) > vec4<f32>(0.5);
        store(state + (CHANNELS + channel) * LANES + lane, select(old, next, fired));
    }
}

// The target of a cell that does not count; the host has NaN there: learned.py.
const FREE = 1073741824.0;

fn is_loss_step(run: u32, after: u32) -> bool {
    let job = job_of(run);
    return after == jobs[job + LOSS_STEP] || after == jobs[job + LOSS_STEP + 1u];
}

var<workgroup> partial: array<f32, THREADS>;

// Sum the squared errors of sample `number.x`.
@compute @workgroup_size(THREADS)
fn loss(@builtin(workgroup_id) number: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let run = jobs[number.y];
    let sample = number.x;
    let job = job_of(run);
    if (!does(run, RUNS) || sample * GRID_CELLS >= jobs[job + CELLS]) { return; }
    let base = run * STATES_SIZE;
    var total = 0.0;
    for (var after = 1u; after <= jobs[job + STEPS]; after++) {
        if (!is_loss_step(run, after)) { continue; }
        for (var i = thread; i < CHANNELS * GRID_CELLS; i += THREADS) {
            let channel = i / GRID_CELLS;
            let place = jobs[job + CHANNEL + channel];
            if (place == 0u) { continue; }
            let lane = sample * GRID_CELLS + i % GRID_CELLS;
            let wanted = states[base + TARGET + (place - 1u) * LANES + lane];
            if (wanted == FREE) { continue; }
            let error = states[base + STATE + (after * CHANNELS + channel) * LANES + lane] - wanted;
            total = fma(error, error, total);
        }
    }
    partial[thread] = total;
    workgroupBarrier();
    for (var half = THREADS / 2u; half > 0u; half /= 2u) {
        if (thread < half) { partial[thread] += partial[thread + half]; }
        workgroupBarrier();
    }
    if (thread == 0u) { report[run * REPORT_SIZE + LOSS + sample] = bitcast<u32>(partial[0]); }
}

// Compute dL/d(state after this step) of a tile's cells, from the cells that see them and the loss.
fn slopes(run: u32, tile: u32, thread: u32) {
    let job = job_of(run);
    let base = run * STATES_SIZE;
    let after = step.x + 1u;
    let is_last = after == jobs[job + STEPS];
    let seen = base + INPUT + (after % 2u) * 9u * CHANNELS * LANES;
    for (var i = thread; i < CHANNELS * TILE_QUADS; i += THREADS) {
        let channel = i / TILE_QUADS;
        let lane = tile * TILE + 4u * (i % TILE_QUADS);
        let at = base + SLOPE + channel * LANES + lane;
        var slope = vec4<f32>();
        if (!is_last) {
            // The cell that sees this one at place n is seen from here at place 8 - n.
            for (var n = 0u; n < 9u; n++) {
                let cells = net[run * NET_SIZE + NEIGHBOR + (8u - n) * QUADS + lane / 4u];
                slope += gather(run, seen + (n * CHANNELS + channel) * LANES, cells);
            }
            slope += (vec4<f32>(1.0) - fires(run, after, lane)) * load(at);
        }
        let place = jobs[job + CHANNEL + channel];
        if (place != 0u && is_loss_step(run, after)) {
            let state = load(base + STATE + (after * CHANNELS + channel) * LANES + lane);
            let wanted = load(base + TARGET + (place - 1u) * LANES + lane);
            let error = select(state - wanted, vec4<f32>(), wanted == vec4<f32>(FREE));
            let inside = vec4<u32>(lane) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(jobs[job + CELLS]);
            slope += select(vec4<f32>(), 2.0 * error, inside);
        }
        store(at, slope);
    }
}

// Return dL/d(row), summed over the row's readers in the order of the table.
fn pull(run: u32, tile: u32, span: vec4<u32>, quad: u32) -> vec4<f32> {
    let at = tile_at(run, tile);
    let lane = tile * TILE + 4u * quad;
    var slope = vec4<f32>();
    for (var k = span.y; k < span.z; k++) {
        let reader = net[run * NET_SIZE + READER + k];
        if (reader.w == 2u) {
            let own = load(run * STATES_SIZE + SLOPE + reader.x * LANES + lane);
            slope += fires(run, step.x, lane) * own;
        } else {
            let c = coefficient(run, reader.z);
            let other = values[at + reader.y * TILE_QUADS + quad];
            let linear = vec4<f32>(select(c.y, c.z, reader.w == 1u));
            let by = fma(vec4<f32>(c.w), other, linear);
            slope = fma(gradients[at + reader.x * TILE_QUADS + quad], by, slope);
        }
    }
    return slope;
}

@compute @workgroup_size(THREADS)
fn backward(@builtin(workgroup_id) number: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let run = jobs[number.y];
    let tile = number.x;
    let job = job_of(run);
    if (!does(run, RUNS) || step.x >= jobs[job + STEPS] || tile >= jobs[job + TILES_IN_USE]) { return; }
    slopes(run, tile, thread);
    evaluate(run, tile, thread);
    let table = run * NET_SIZE;
    let at = tile_at(run, tile);
    for (var level = net[table + LEVEL].x; level > 0u; level--) {
        let span = net[table + LEVEL + level];
        for (var i = span.x * TILE_QUADS + thread; i < span.y * TILE_QUADS; i += THREADS) {
            let row = net[table + PULL + i / TILE_QUADS];
            let quad = i % TILE_QUADS;
            gradients[at + row.x * TILE_QUADS + quad] = pull(run, tile, row, quad);
        }
        storageBarrier();
    }
    let seen = run * STATES_SIZE + INPUT + (step.x % 2u) * 9u * CHANNELS * LANES;
    for (var i = thread; i < 9u * CHANNELS * TILE_QUADS; i += THREADS) {
        let row = net[table + PULL + GATES + i / TILE_QUADS];
        let quad = i % TILE_QUADS;
        store(seen + row.x * LANES + tile * TILE + 4u * quad, pull(run, tile, row, quad));
    }
    // Write each gate's four sums over the tile's cells to the tile's slots.
    let deepest = net[table + LEVEL].x;
    let is_first = jobs[job + FRESH] != 0u && step.x + 1u == jobs[job + STEPS];
    for (var i = thread; i < net[table + LEVEL + deepest].y; i += THREADS) {
        let gate = net[table + GATE + i];
        var total = vec4<f32>();
        for (var quad = 0u; quad < TILE_QUADS; quad++) {
            let g = gradients[at + gate.x * TILE_QUADS + quad];
            let a = values[at + gate.y * TILE_QUADS + quad];
            let b = values[at + gate.z * TILE_QUADS + quad];
            let ga = g * a;
            total += vec4<f32>(dot(g, vec4<f32>(1.0)), dot(ga, vec4<f32>(1.0)), dot(g, b), dot(ga, b));
        }
        let slot = run * SUMS_SIZE + SLOT + tile * GATES + i;
        if (is_first) { sums[slot] = total; } else { sums[slot] += total; }
    }
}

// Add up a gate's sums over all tiles, in order.
@compute @workgroup_size(THREADS)
fn reduce(@builtin(workgroup_id) number: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let run = jobs[number.y];
    let i = number.x * THREADS + thread;
    if (i >= GATES || !does(run, REDUCES)) { return; }
    let base = run * SUMS_SIZE;
    var total = vec4<f32>();
    for (var tile = 0u; tile < TILES; tile++) { total += sums[base + SLOT + tile * GATES + i]; }
    sums[base + TOTAL + i] = total;
}

// Add up the sums of all gates that share their logits, in order; flag sums that are not finite.
@compute @workgroup_size(THREADS)
fn share(@builtin(workgroup_id) number: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let run = jobs[number.y];
    let p = number.x * THREADS + thread;
    if (p >= PARAMETERS || !does(run, REDUCES)) { return; }
    let base = run * SUMS_SIZE;
    let span = net[run * NET_SIZE + COPIES + p];
    var total = vec4<f32>();
    for (var k = span.x; k < span.y; k++) {
        total += sums[base + TOTAL + net[run * NET_SIZE + COPY + k].x];
    }
    sums[base + GRADIENT + p] = total;
    let exponent = bitcast<vec4<u32>>(total) & vec4<u32>(0x7f800000u);
    let word = run * REPORT_SIZE + OP + p;
    report[word] = (report[word] & 511u) | select(0u, 512u, any(exponent == vec4<u32>(0x7f800000u)));
}

// Apply the softmax's derivative, and take AdamW's step.
@compute @workgroup_size(THREADS)
fn learn(@builtin(workgroup_id) number: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let run = jobs[number.y];
    let p = number.x * THREADS + thread;
    if (p >= PARAMETERS || !does(run, MOVES)) { return; }
    let base = run * LEARNED_SIZE + p;
    let s = sums[run * SUMS_SIZE + GRADIENT + p];
    var mean = 0.0;
    for (var i = 0u; i < 16u; i++) {
        mean = fma(learned[base + PROBABILITY + i * PARAMETERS], dot(s, coefficients_of(i)), mean);
    }
    var slope: array<f32, NUMBERS>;
    for (var i = 0u; i < 16u; i++) {
        let weight = learned[base + PROBABILITY + i * PARAMETERS];
        let by_logit = weight * (dot(s, coefficients_of(i)) - mean);
        if (NUMBERS == 16u) { slope[i] = by_logit; } else {
            let f = truth(i);
            for (var j = 0u; j < 4u; j++) { slope[j] = fma(f[j], by_logit, slope[j]); }
        }
    }
    var number_of: array<f32, NUMBERS>;
    for (var j = 0u; j < NUMBERS; j++) {
        let place = j * PARAMETERS;
        // One of four numbers belongs to a row of the truth table: it is the logit of the op true only there.
        let reader = select(8u >> j, j, NUMBERS == 16u);
        let g = clamp(slope[j], -rate(run, 0u), rate(run, 0u));
        let m = fma(rate(run, 1u), learned[base + FIRST + place], rate(run, 2u) * g);
        let v = fma(rate(run, 3u), learned[base + SECOND + place], rate(run, 4u) * g * g);
        learned[base + FIRST + place] = m;
        learned[base + SECOND + place] = v;
        let change = m * rate(run, 5u) / (sqrt(v * rate(run, 6u)) + rate(run, 7u));
        let z = learned[base + LOGIT + reader * PARAMETERS];
        number_of[j] = rate(run, 9u) * z - rate(run, 8u) * change;
    }
    for (var i = 0u; i < 16u; i++) {
        var z = 0.0;
        if (NUMBERS == 16u) { z = number_of[i]; } else {
            let f = truth(i);
            for (var j = 0u; j < 4u; j++) { z += f[j] * number_of[j]; }
        }
        learned[base + LOGIT + i * PARAMETERS] = z;
    }
}
