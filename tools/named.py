"""What a person at a terminal calls a game or a profile."""

from pathlib import Path


def named(text: str) -> str | Path:
    """A file for whatever ends in ``.toml``, also a bare name in the folder the person is in; else an id."""
    return Path(text) if text.endswith(".toml") else text
