"""Text files of any editor."""

import codecs


def text_of(content: bytes) -> str:
    """Return the text in a file: UTF-8, or UTF-16 if it begins with that mark.

    A mark is dropped, and what is no such text becomes U+FFFD.
    """
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if wide else "utf-8-sig", "replace")
