"""A run as it trains, in a browser on this machine: what there is, told as it changes."""

from difflogic.view.watching.feed import Feed, Snapshot, Status
from difflogic.view.watching.server import WatchServer

__all__ = ["Feed", "Snapshot", "Status", "WatchServer"]
