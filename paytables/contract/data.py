"""JSON as games speak it: what the journal keeps and the audit replays."""

from typing import Any, TypeAlias

Json: TypeAlias = Any
