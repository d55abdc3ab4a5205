"""The JSON type of game data, which the journal stores and the audit replays."""

from typing import Any, TypeAlias

Json: TypeAlias = Any
