"""The program's version, below everything, so that whatever is written can name it."""

__version__ = "0.1.0"
