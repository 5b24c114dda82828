"""One file per command: it parses, calls the library, and shows what came out."""
