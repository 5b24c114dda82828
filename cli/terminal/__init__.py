"""Tables, counters, live displays and pictures on the terminal."""
