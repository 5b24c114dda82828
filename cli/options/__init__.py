"""What commands are told, in one way for all that are told the same."""
