"""The PAR sheet of a game: its exact analysis in the form that laboratories expect, as data, text, CSV or HTML."""

from tools.lab.parsheet.figures import one_in, percent
from tools.lab.parsheet.sheet import sheet

__all__ = ["one_in", "percent", "sheet"]
