"""Examples: pairs of grids and films, read from files, and bits for the symbols of pairs."""
