"""Pictures as bits of cells: drawn as text, read from image files; and how cells grow them."""
