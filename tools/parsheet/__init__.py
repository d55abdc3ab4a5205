"""The PAR sheet of a game: its exact analysis as laboratories expect it, as data, text, CSV or HTML."""

from tools.parsheet.sheet import one_in, percent, sheet

__all__ = ["one_in", "percent", "sheet"]
