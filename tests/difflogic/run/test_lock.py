import errno
import os
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from difflogic.run import lock
from difflogic.run.lock import RunLock, holding
from difflogic.run.opened_run import OpenedRun
from difflogic.run.run_directory import LOCK, RunDirectory
from difflogic.system.errors import LockLostError, RunDirectoryError


def test_a_released_lock_leaves_nothing(tmp_path):
    for _ in range(2):
        with RunLock(tmp_path):
            assert os.listdir(tmp_path) == [LOCK]
        assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("content", "holder"),
    [
        (None, "this process itself"),
        (b"{", "another process"),
        (b'{"pid": 5, "host": "elsewhere"}', "process 5 on elsewhere"),
    ],
)
def test_the_message_names_the_holder_if_readable(tmp_path, content, holder):
    with RunLock(tmp_path):
        if content:
            (tmp_path / LOCK).write_bytes(content)
        with pytest.raises(RunDirectoryError, match=f"in use by {holder}: wait"):
            RunLock(tmp_path).__enter__()
        # The refused lock removed nothing.
        assert os.listdir(tmp_path) == [LOCK]


def test_a_lock_of_a_removed_file_is_tried_again(tmp_path, monkeypatch):
    """The holder leaves after another process opened the file, before it locks it."""
    first = RunLock(tmp_path)
    first.__enter__()
    attempts = []
    locked = lock._lock

    def leave_first(file):
        if not attempts:
            first.__exit__()
        attempts.append(file)
        locked(file)

    monkeypatch.setattr(lock, "_lock", leave_first)
    with RunLock(tmp_path):
        assert len(attempts) == 2
        monkeypatch.undo()
        with pytest.raises(RunDirectoryError, match="in use by this process itself"):
            RunLock(tmp_path).__enter__()


NO_LOCKS = OSError(errno.ENOLCK, "No locks available")


@pytest.mark.parametrize("errors", [[NO_LOCKS] * 3, [KeyboardInterrupt(), NO_LOCKS]])
def test_nothing_is_left_where_nothing_can_be_locked(tmp_path, monkeypatch, errors):
    monkeypatch.setattr(lock, "_lock", Mock(side_effect=errors))
    with pytest.raises((RunDirectoryError, KeyboardInterrupt)) as caught:
        holding(RunDirectory.at(tmp_path / "run")).__enter__()
    if isinstance(caught.value, RunDirectoryError):
        assert str(caught.value).endswith("has no locks: name a directory elsewhere")
    assert not os.listdir(tmp_path)


def test_no_directory(tmp_path):
    with pytest.raises(RunDirectoryError, match="cannot be locked: no such file"):
        RunLock(tmp_path / "nowhere").__enter__()


@pytest.mark.parametrize("kind", ["link", "second name", "pipe", "endless device"])
def test_other_files_in_place_of_the_lock_do_not_change(tmp_path, kind):
    """A run's directory may come from somebody else."""
    run = tmp_path / "run"
    target = tmp_path / "thesis.tex"
    run.mkdir()
    target.write_text("years of work")
    match kind:
        case "link":
            (run / LOCK).symlink_to(target)
        case "second name":
            os.link(target, run / LOCK)
        case "pipe":
            os.mkfifo(run / LOCK)
        case _:
            (run / LOCK).symlink_to("/dev/zero")
    with pytest.raises(RunDirectoryError, match="cannot be locked"):
        RunLock(run).__enter__()
    assert target.read_text() == "years of work"


def test_a_removed_lock_is_reported_and_removes_nothing(tmp_path):
    first = RunLock(tmp_path)
    second = RunLock(tmp_path)
    with first:
        first.require()
        (tmp_path / LOCK).unlink()
        with pytest.raises(LockLostError, match="was removed or replaced"):
            first.require()
        with second:
            second.require()
            with pytest.raises(LockLostError):
                first.require()
            first.remove()
            assert (tmp_path / LOCK).exists()


@pytest.mark.parametrize(
    ("save", "given"),
    [
        ("save_metrics", ()),
        ("save_model", (None,)),
        ("save_summary", ({},)),
        ("save_checkpoint", (1, {}, {}, "")),
    ],
)
def test_nothing_is_written_once_the_lock_is_lost(tmp_path, save, given):
    with RunLock(tmp_path) as lock:
        (tmp_path / LOCK).unlink()
        with pytest.raises(LockLostError):
            getattr(OpenedRun, save)(SimpleNamespace(_lock=lock, save_metrics=lambda: None), *given)
