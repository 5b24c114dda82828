"""The runs of a sweep on a Dask cluster.

The scheduler and its workers must be trusted: they exchange pickles, and anybody who reaches the
scheduler can run anything on all of them. docs/sweeps.md says how to start them.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from difflogic.sweeps.backends import Backend, WorkersLostError
from difflogic.sweeps.planned_run import Control, Outcome, PlannedRun, run
from difflogic.system.errors import ConfigError, TrainingError
from difflogic.system.files import is_folder
from difflogic.version import __version__

TIMEOUT = 60.0
"""Time for a scheduler to answer, and to get a worker."""

START_SCHEDULER = "dask scheduler --host 127.0.0.1 --dashboard-address 127.0.0.1:0"
START_WORKER = "dask worker {} --host 127.0.0.1 --dashboard-address 127.0.0.1:0 --nthreads 1"
"""Commands that bind loopback only; by default, Dask binds all addresses of a machine."""

REPLACED_SECONDS = 10.0
"""Time for a cluster to get another worker once all are gone."""


_ADDRESS = re.compile(
    r"((tcp|tls|ws|wss)://)?(\[[0-9A-Fa-f:.%]+\]|[^\s:/\[\]]+):[0-9]{1,5}", re.ASCII
)
"""Addresses for `distributed`, which would hang for a while on others."""


class ClusterError(ConfigError):
    """The cluster cannot be used: not installed, not reachable, without workers, or too old."""


class ClusterLostError(TrainingError):
    """The cluster went away during the work."""


class DaskBackend(Backend):
    """A cluster at `scheduler`, such as tcp://127.0.0.1:8786.

    `jobs` limits the concurrent runs; with None, the cluster uses all its workers, including later
    ones.
    """

    def __init__(self, scheduler: str, jobs: int | None, timeout: float = TIMEOUT) -> None:
        """Raises ClusterError."""
        require_distributed()
        if not _ADDRESS.fullmatch(scheduler):
            raise ClusterError(
                f"--scheduler {scheduler}: is not an address: write it as tcp://127.0.0.1:8786"
            )
        self._scheduler = scheduler
        super().__init__(jobs)
        self._timeout = timeout
        self._client: Any = None

    def prepare(self, control: Control) -> Control:
        # It logs every lost connection; we report what matters.
        for name in [*logging.root.manager.loggerDict, "distributed", "asyncio"]:
            if name.split(".")[0] in ("distributed", "asyncio"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
        address = self._scheduler
        self._client = _connect(address, self._timeout)
        self._wait_for_workers(address)
        self._warn_of_open_ports(address)
        self._require_alike(address, control)
        # Workers have another parent.
        return replace(control, parent=None)

    def outcomes(self, jobs: Iterable[PlannedRun]) -> Iterator[Outcome]:
        import distributed

        waiting = iter(jobs)
        running = distributed.as_completed(loop=self._client.loop)
        try:
            self._client.wait_for_workers(1, timeout=REPLACED_SECONDS)
            running.update([self._submit(job) for job in islice(waiting, self.slots)])
            for future in running:
                running.update([self._submit(job) for job in islice(waiting, 1)])
                yield future.result()
        except Exception as error:
            # Errors of runs are outcomes, so this is an error of the cluster.
            if self._client.status != "running":
                raise ClusterLostError(
                    "the connection to the scheduler was lost, and its workers end with it: start "
                    "all of them again"
                ) from error
            if not self._client.ncores():
                raise ClusterLostError("the cluster has no workers left") from error
            raise WorkersLostError(f"the cluster lost a run: {_first_line(error)}") from error
        finally:
            running.clear()  # so that the scheduler drops runs that nobody waits for

    def _submit(self, job: PlannedRun) -> Any:
        return self._client.submit(run, job, pure=False)

    def close(self, at_once: bool) -> None:
        with contextlib.suppress(Exception):
            if self._client is not None:
                self._client.close(timeout=1 if at_once else 5)

    def _warn_of_open_ports(self, address: str) -> None:
        """Warn if the scheduler or a worker is reached over a network without TLS."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        exposed = [each for each in (address, *workers) if is_exposed(each)]
        if exposed:
            self.warnings.append(
                f"{exposed[0]} is reached without TLS beyond this machine: whoever reaches it can "
                "run anything there and on the other machines; docs/sweeps.md shows how to use TLS"
            )

    def _wait_for_workers(self, address: str) -> None:
        try:
            self._client.wait_for_workers(1, timeout=self._timeout)
        except TimeoutError:
            raise ClusterError(
                f"the scheduler at {address} has no workers: start some with "
                f"{START_WORKER.format(address)} (docs/sweeps.md says how on other machines)"
            ) from None

    def _require_alike(self, address: str, control: Control) -> None:
        """Raise ClusterError for workers of another version, or that see other files."""
        try:
            found = self._client.run(_version_at, control.path)
        except Exception as error:
            raise ClusterError(
                f"the workers of the scheduler at {address} cannot run dct "
                f"({_first_line(error)}): install dct {__version__} with its [cluster] extra there"
            ) from None
        wrong = {worker: version for worker, version in found.items() if version != __version__}
        if wrong:
            worker, version = next(iter(wrong.items()))
            has = f"has {version}" if version else "does not see the sweep's directory"
            raise ClusterError(
                f"{len(wrong)} of {len(found)} workers cannot do these runs: {worker} {has}. All "
                f"need dct {__version__}, as here, and the sweep's file system"
            )


def require_distributed() -> None:
    """Raise ClusterError, with the remedy, if `distributed` is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise ClusterError(
            f"--scheduler needs the package distributed ({error}): install it with "
            "pip install '.[cluster]' in dct's directory, or leave --scheduler out"
        ) from None


def _connect(address: str, timeout: float) -> Any:
    import distributed

    class Client(distributed.Client):
        def __del__(self) -> None:
            with contextlib.suppress(Exception):  # if the connection failed
                super().__del__()

    try:
        return Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
        remedy = (
            f"start one with {START_SCHEDULER}, and name it as --scheduler tcp://127.0.0.1:8786; "
            "one that uses TLS needs the TLS variables of docs/sweeps.md, and tls:// before its "
            "address"
        )
        raise ClusterError(
            f"no scheduler answers at {address} ({_first_line(error)}): {remedy}"
        ) from None


def is_exposed(address: str) -> bool:
    """Return whether an address like tcp://10.0.0.1:8786 is reached over a network without TLS."""
    protocol, _, rest = address.rpartition("://")
    host = rest.rpartition(":")[0].strip("[]").partition("%")[0]
    if protocol in ("tls", "wss", "inproc") or host.lower() == "localhost":
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:  # a host name
        return True


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _version_at(path: str) -> str:
    """Return the version of a worker, or "" if it does not see a directory."""
    return __version__ if is_folder(Path(path)) else ""
