"""Files are written whole, and read without trusting them."""

import errno
import os
import stat
import subprocess
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import Mock

import pytest

from difflogic.system import files
from difflogic.system.errors import (
    ConfigError,
    MissingFileError,
    RunDirectoryError,
    UnreadableError,
)
from difflogic.system.files import LEFTOVERS, for_shell, remove_leftovers, write_whole
from tests.marks import needs


def put(path, content=b"new"):
    write_whole(path, lambda file: file.write(content))


def fail_with(error):
    def writer(file):
        file.write(b"half of it")
        raise error

    return writer


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "file"
    for content in (b"first", b"second"):
        put(path, content)
        assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("earlier", [True, False])
def test_an_exception_changes_nothing(tmp_path, earlier):
    path = tmp_path / "file"
    if earlier:
        path.write_bytes(b"earlier")
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, fail_with(KeyboardInterrupt()))
    assert os.listdir(tmp_path) == (["file"] if earlier else [])
    assert not earlier or path.read_bytes() == b"earlier"


@pytest.mark.parametrize(
    ("where", "code", "remedy"),
    [
        ("writer", errno.ENOSPC, "no space left on device: free some space"),
        ("writer", errno.EDQUOT, "quota"),
        ("replace", errno.EACCES, "permission denied: check the directory's permissions"),
        ("replace", errno.EROFS, "not read-only"),
        ("fsync", errno.EIO, "check the disk"),
    ],
)
def test_refusals_of_the_system_name_a_remedy(tmp_path, monkeypatch, code, remedy, where):
    path = tmp_path / "file"
    path.write_bytes(b"earlier")
    error = OSError(code, os.strerror(code))

    def refuse(*_):
        raise error

    writer = fail_with(error) if where == "writer" else lambda file: file.write(b"new")
    if where == "fsync":
        monkeypatch.setattr(files.os, "fsync", refuse)
    if where == "replace":
        monkeypatch.setattr(files.Path, "replace", refuse)
    with pytest.raises(RunDirectoryError) as caught:
        write_whole(path, writer)
    assert str(caught.value).startswith(f"{path}: cannot be written: ")
    assert remedy in str(caught.value)
    assert os.listdir(tmp_path) == ["file"]
    assert path.read_bytes() == b"earlier"


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("missing/file", "create the directory first"),
        ("plain/file", "a part of the path is a file"),
        ("directory", "is a directory"),
        ("x" * 256, "shorter"),
    ],
)
def test_impossible_paths_are_refused(tmp_path, place, says):
    (tmp_path / "plain").write_text("")
    (tmp_path / "directory").mkdir()
    with pytest.raises(RunDirectoryError, match=says):
        put(tmp_path / place)
    assert sorted(os.listdir(tmp_path)) == ["directory", "plain"]
    assert os.listdir(tmp_path / "directory") == []


def test_the_name_is_flushed_after_renaming(tmp_path, monkeypatch):
    flushed = []

    def note(descriptor):
        directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        flushed.append((directory, os.listdir(tmp_path)))

    monkeypatch.setattr(files.os, "fsync", note)
    put(tmp_path / "file")
    (is_directory, before), (then_directory, after) = flushed
    assert (is_directory, then_directory) == (False, True)
    assert before != ["file"] == after


def test_a_file_system_may_be_unable_to_flush_names(tmp_path, monkeypatch):
    def refuse(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))

    monkeypatch.setattr(files.os, "fsync", refuse)
    for code, fails in (
        (errno.EINVAL, nullcontext()),
        (errno.EIO, pytest.raises(RunDirectoryError, match="though it is written")),
    ):
        with fails:
            put(tmp_path / str(code))
        assert (tmp_path / str(code)).read_bytes() == b"new"


def test_leftovers_of_killed_processes_are_removed(tmp_path):
    names = []

    def look(file):
        names.extend(path.name for path in tmp_path.glob(LEFTOVERS))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file", look)
    assert len(names) == 1
    for name in (*names, "mine.tmp", "file"):
        (tmp_path / name).write_text("x")
    remove_leftovers(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["file", "mine.tmp"]


def other_than_a_file(path, kind):
    """Put something at `path` that no reader may open."""
    target = path.with_name("target")
    target.write_bytes(b"somebody's file")
    match kind:
        case "link":
            path.symlink_to(target)
        case "link to nothing":
            path.symlink_to(path.with_name("absent"))
        case "endless device":
            path.symlink_to("/dev/zero")
        case "pipe":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
    return target


KINDS = ["link", "link to nothing", "endless device", "pipe", "directory"]


@pytest.mark.parametrize("kind", KINDS)
def test_only_plain_files_are_opened_in_a_directory(tmp_path, kind):
    path = tmp_path / "file"
    target = other_than_a_file(path, kind)
    for error, act in (
        (RunDirectoryError, lambda: files.read_inside(path, 100)),
        (RunDirectoryError, lambda: files.digest(path)),
        (OSError, lambda: files.open_inside(path)),
        (OSError, lambda: files.write_inside(path, "1")),
    ):
        with pytest.raises(error, match=str(path)):
            act()
    assert target.read_bytes() == b"somebody's file"
    assert not (tmp_path / "absent").exists()


def test_a_file_with_two_names_is_not_written(tmp_path):
    (tmp_path / "target").write_text("somebody's file")
    os.link(tmp_path / "target", tmp_path / "file")
    with pytest.raises(OSError, match="not a regular file of its own") as caught:
        files.write_inside(tmp_path / "file", "1")
    message = str(files.refused(tmp_path / "file", "locked", caught.value))
    assert message.endswith("or has another name elsewhere: remove it")
    assert (tmp_path / "target").read_text() == "somebody's file"


def test_reading_inside_a_directory_is_bounded(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert files.read_inside(path, 5) == b"12345"
    with pytest.raises(RunDirectoryError, match="larger than any file of its kind"):
        files.read_inside(path, 4)
    with path.open("wb") as file:
        file.truncate(2**40)  # sparse
    with pytest.raises(RunDirectoryError, match="larger"):
        files.read_inside(path, 4)
    with pytest.raises(RunDirectoryError, match="larger"):
        files.digest(path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        files.read_inside(path, 4)


@pytest.mark.parametrize("kind", KINDS)
def test_whole_files_replace_links_and_not_what_they_lead_to(tmp_path, kind):
    path = tmp_path / "file"
    target = other_than_a_file(path, kind)
    with pytest.raises(RunDirectoryError) if kind == "directory" else nullcontext():
        put(path)
        assert path.read_bytes() == b"new"
        assert not path.is_symlink()
    assert target.read_bytes() == b"somebody's file"
    assert not list(tmp_path.glob(LEFTOVERS))


@pytest.mark.parametrize("name", ["model.npz", "config.toml", "checkpoint-20.npz"])
def test_no_output_replaces_a_file_of_a_run(tmp_path, name):
    output = tmp_path / name
    output.write_text("x")
    files.check_output(output, force=True)
    (tmp_path / "config.toml").write_text("")
    (tmp_path / "metrics.csv").write_text("")
    with pytest.raises(RunDirectoryError, match=f"{name}: belongs to the run in that directory"):
        files.check_output(output, force=True)
    files.check_output(tmp_path / "mine.npz", force=True)


def test_a_named_file_must_be_bounded_and_plain(tmp_path):
    path = tmp_path / "named"
    path.write_bytes(b"12345")
    assert files.read_named(path, 5, "a word") == b"12345"
    with pytest.raises(ConfigError, match="is larger than 4 bytes: this is not a word"):
        files.read_named(path, 4, "a word")
    path.write_bytes(b"")
    with pytest.raises(ConfigError, match="is empty: this is not a word"):
        files.read_named(path, 4, "a word")
    for wrong in (tmp_path, tmp_path / "missing", Path("/dev/zero"), tmp_path / "a\0b"):
        with pytest.raises(ConfigError, match="cannot be read") as refused:
            files.read_named(wrong, 5, "a word")
        assert isinstance(refused.value, MissingFileError) == (wrong.name == "missing")


QUOTED = ["run", "two words", "it's", "a\\b", "\x1b[31mred", "x\x1b]0;title\x07", "a\nb\tc"]
QUOTED += ["\u202eabc", "'\n\\"]


@needs("bash")
def test_a_quoted_path_is_printable_and_names_the_same_file():
    assert for_shell("-x") == "./-x"
    quoted = [for_shell(name) for name in QUOTED]
    assert all(map(str.isprintable, quoted))
    found = subprocess.check_output(["bash", "-c", f"printf '%s\\0' {' '.join(quoted)}"])
    assert found.split(b"\0")[:-1] == [*map(os.fsencode, QUOTED)]


@pytest.mark.parametrize("target", ["file", "absent", "/proc/self/fd/1", "/dev/stdout"])
def test_an_output_that_is_a_link_is_neither_replaced_nor_followed(tmp_path, target):
    (tmp_path / "file").write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(target)
    with pytest.raises(RunDirectoryError, match=r"is a link|leads to a stream"):
        files.check_output(link, force=True)
    assert os.readlink(link) == target
    assert sorted(os.listdir(tmp_path)) == ["file", "link"]


def test_what_cannot_be_read_now_is_neither_missing_nor_damaged(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("mine")
    for code in (errno.EIO, errno.EACCES, errno.EMFILE):
        error = OSError(code, os.strerror(code))
        asked = {
            (os, "open"): lambda: files.read_inside(path, 10),
            (os, "stat"): lambda: files.kind_of(path),
            (Path, "iterdir"): lambda: files.listed(tmp_path),
        }
        for place, ask in asked.items():
            with monkeypatch.context() as patch:
                patch.setattr(*place, Mock(side_effect=error))
                with pytest.raises(UnreadableError, match=os.strerror(code).lower()) as caught:
                    ask()
            assert not isinstance(caught.value, RunDirectoryError | ConfigError)
    assert files.kind_of(tmp_path / "absent") == 0
