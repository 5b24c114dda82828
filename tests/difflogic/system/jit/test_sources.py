"""The stamp covers whatever ends up in a kernel."""

import ast

from difflogic.system.jit import sources


def test_every_kernel_stands_in_a_room_of_the_stamp():
    for path in sources.PACKAGE.rglob("*.py"):
        if "@kernel" in path.read_text():
            place = path.relative_to(sources.PACKAGE).as_posix()
            assert place.startswith(tuple(f"{room}/" for room in sources.ROOMS)), place


def test_kernels_import_nothing_that_is_not_in_the_stamp():
    """What is outside may change without a kernel's being compiled again."""
    allowed = tuple("difflogic." + room.replace("/", ".") for room in sources.ROOMS)
    for room in sources.ROOMS[1:]:
        for path in (sources.PACKAGE / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module.startswith("difflogic"):
                    assert node.module.startswith(allowed), f"{path} imports {node.module}"


def test_the_stamp_follows_names_and_contents(tmp_path):
    (tmp_path / "room").mkdir()
    one = tmp_path / "room" / "one.py"
    one.write_text("x = 1")
    before = sources.stamp_of([tmp_path])
    assert sources.stamp_of([tmp_path]) == before
    one.write_text("x = 2")
    edited = sources.stamp_of([tmp_path])
    one.rename(tmp_path / "room" / "two.py")
    renamed = sources.stamp_of([tmp_path])
    assert len({before, edited, renamed}) == 3
