"""What a person at a terminal calls a game or a profile, and how a game that is refused is told."""

from pathlib import Path

from paytables import DefinitionError
from paytables.source import contents
from tools.lab.rewriting import line_of


def named(text: str) -> str | Path:
    """A file for whatever ends in ``.toml``, also a bare name in the folder the person is in; else an id."""
    return Path(text) if text.endswith(".toml") else text


def refusal(error: DefinitionError) -> str:
    """Why a definition is refused: file, line, key and reason."""
    key = tuple(int(part) if part.isdigit() else part for part in error.key.split("."))
    try:
        line = line_of(contents(Path(error.file)).decode(), key)
    except (OSError, UnicodeDecodeError, ValueError):
        line = None
    return str(error) if line is None else f"{error.file}, line {line}: {error.key}: {error.reason}"
