"""What draws on the terminal: tables, counts, live displays, grids of cells."""
