"""Reading the files of pictures, shipped ones and the user's."""

from __future__ import annotations

from pathlib import Path

from difflogic.system.errors import ConfigError, MissingFileError, did_you_mean
from difflogic.system.files import read_named

MAX_TEXT_BYTES = 2**20
MAX_FILE_BYTES = 2**26
"""More than an image of the largest accepted size needs."""


def picture_directory() -> Path:
    """Return the directory of the shipped pictures."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "configs"
    return (installed if installed.is_dir() else package.parent / "configs") / "pictures"


def shipped_pictures() -> dict[str, Path]:
    """Return the files of the shipped pictures, by name."""
    files = sorted(picture_directory().glob("*.txt"), key=lambda path: path.stem)
    return {path.stem: path for path in files}


def read_picture(name: str, base: Path) -> str | bytes:
    """Return a picture by its shipped name or its path: text, or an image file's content.

    Raises ConfigError if the file is missing or cannot be a picture.
    """
    names = shipped_pictures()
    path = names.get(name, base / name)
    try:
        content = read_named(path, MAX_FILE_BYTES, "a picture")
    except MissingFileError:
        hint = did_you_mean(name, names)
        raise ConfigError(
            f'no picture "{name}": {hint} (name your own file by its path; a relative path starts '
            f"at {base.absolute()})"
        ) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content
    if any(not (sign.isprintable() or sign.isspace()) for sign in text[:4096]):
        return content
    if len(content) > MAX_TEXT_BYTES:
        raise ConfigError(f"{name}: larger than {MAX_TEXT_BYTES} bytes: this is not a text picture")
    return text
