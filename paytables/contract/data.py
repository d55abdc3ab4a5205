"""The JSON type of game data, which the journal stores and the audit replays."""

from typing import Any, TypeAlias

#: Anything that JSON can represent.
Json: TypeAlias = Any
