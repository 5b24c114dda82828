"""Building blocks of all pages: files, the bundled script, and the content policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).with_name("page")

_IMPORT = re.compile(r"^import \{[^}]*\} from \"\./\w+\.js\";\n", re.M)
_EXPORT = re.compile(r"^export (?=(?:const|let|async|function|class) )", re.M)


@cache
def asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def bundle(scripts: Sequence[str]) -> str:
    """Join modules into one script.

    Each must come after those that it imports. A page opened from disk cannot load modules itself.
    """
    parts = [f"// {name}\n{asset(name)}" for name in scripts]
    return "\n" + "\n".join(_EXPORT.sub("", _IMPORT.sub("", part)) for part in parts)


def policy(style: str, script: str, live: bool = False) -> str:
    """Return the content policy: only this style, this script, WebAssembly, and `live` news."""
    connect = "'self'" if live else "'none'"
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"connect-src {connect}; style-src '{_digest(style)}'; "
        f"script-src '{_digest(script)}' 'wasm-unsafe-eval'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def embedded(data: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return values as JSON that cannot end an element or begin a comment."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
