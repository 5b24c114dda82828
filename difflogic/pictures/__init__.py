"""Pictures as bits of cells: drawn as text, read from image files, in colours."""
