"""A live page of a run in training, for browsers on this machine."""

from difflogic.view.watching.feed import Feed
from difflogic.view.watching.server import WatchServer

__all__ = ["Feed", "WatchServer"]
