"""What people look at: reports, live pages, animations, plots."""
