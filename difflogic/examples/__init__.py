"""Examples: pairs of grids, before and after, read from files, and bits for their symbols."""
