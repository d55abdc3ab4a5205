"""The PAR sheet of a game: its exact analysis in the form that laboratories expect, as data, text, CSV or HTML."""

from tools.lab.parsheet.figures import format_one_in, format_percent
from tools.lab.parsheet.sheet import build_sheet

__all__ = ["build_sheet", "format_one_in", "format_percent"]
