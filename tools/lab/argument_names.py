"""Game and profile names on a command line, and the message for a refused game."""

from pathlib import Path

from paytables import DefinitionError
from paytables.source import read_contents
from tools.lab.rewriting import find_line
from tools.lab.tuning import parse_key


def parse_path_or_id(text: str) -> str | Path:
    """Return a name from the command line as a path if it ends in ``.toml``, else unchanged (a game id)."""
    return Path(text) if text.endswith(".toml") else text


def format_definition_error(error: DefinitionError) -> str:
    """Return an error of a game definition as text: file, line, key and reason."""
    key = parse_key(error.key)
    try:
        line = find_line(read_contents(Path(error.file)).decode(), key)
    except (OSError, UnicodeDecodeError, ValueError):
        line = None
    return str(error) if line is None else f"{error.file}, line {line}: {error.key}: {error.reason}"
