"""The symbols of a game by number, and what each substitutes for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paytables.errors import DefinitionError
from paytables.reels.components import SymbolMultipliers
from paytables.reels.schema import ReelSymbol

ANY_SYMBOL = "*"


@dataclass(frozen=True, slots=True)
class Symbols:
    """The symbols of a reel game in the order of its definition, and what each of them substitutes for."""

    symbol_ids: tuple[str, ...]
    """The ids of the symbols, in the order of the definition."""
    substitutes_for: tuple[frozenset[str], ...]
    """The ids of the symbols that each symbol stands for as a wild."""
    multipliers: tuple[int, ...]
    """The multiplier of each symbol."""
    groups: Mapping[str, tuple[str, ...]]
    """The symbols of each group, by its name."""
    file: str
    """The definition file, for error messages."""

    @classmethod
    def from_definition(
        cls, symbols: Sequence[ReelSymbol], groups: Mapping[str, tuple[str, ...]], file: str
    ) -> "Symbols":
        """Return the numbered symbols of a definition, with ``substitutes = ["*"]`` resolved.

        Raises :class:`DefinitionError` if a name of a symbol or group is defined twice or unknown.
        """
        ids = tuple(s.id for s in symbols)
        known_ids = set(ids)
        if len(known_ids) != len(ids):
            repeated = sorted(i for i in known_ids if ids.count(i) > 1)
            raise DefinitionError(file, "symbol", f"defined twice: {', '.join(repeated)}")
        for name, members in groups.items():
            if name in known_ids:
                raise DefinitionError(file, f"groups.{name}", "has the name of a symbol")
            for member in members:
                if member not in known_ids:
                    raise DefinitionError(file, f"groups.{name}", f"unknown symbol {member!r}")
        substitutes_for = []
        for s in symbols:
            substituted = known_ids if ANY_SYMBOL in s.substituted_ids else set(s.substituted_ids)
            for unknown_id in (substituted | set(s.excluded_ids)) - known_ids:
                raise DefinitionError(file, f"symbol.{s.id}", f"unknown symbol {unknown_id!r}")
            substitutes_for.append(frozenset(substituted - set(s.excluded_ids) - {s.id}))
        return cls(ids, tuple(substitutes_for), tuple(s.multiplier for s in symbols), groups, file)

    def find_number(self, symbol_id: str, definition_key: str) -> int:
        """Return the number of a symbol, which the definition states at ``definition_key``.

        Raises :class:`DefinitionError` for that key if no symbol has this name.
        """
        if symbol_id not in self.symbol_ids:
            raise DefinitionError(self.file, definition_key, f"unknown symbol {symbol_id!r}")
        return self.symbol_ids.index(symbol_id)

    def find_symbol_multipliers(
        self, symbol_or_group: str, definition_key: str, *, multiply_own: bool
    ) -> SymbolMultipliers | None:
        """Return, for each symbol, its multiplier on a pattern's cell (0: does not fit), or None for ``"*"``.

        ``symbol_or_group`` is a symbol, a group, ``"*"`` (any symbol), or ``"=symbol"`` (only it, no substitutes).
        """
        if symbol_or_group == ANY_SYMBOL:
            return None
        is_exact = symbol_or_group.startswith("=")
        members = frozenset(
            self.groups.get(symbol_or_group.removeprefix("="), (symbol_or_group.removeprefix("="),))
        )
        for member in members:
            self.find_number(member, definition_key)
        multipliers = []
        for number, symbol in enumerate(self.symbol_ids):
            is_own_symbol = symbol in members
            is_fitting = is_own_symbol or (not is_exact and bool(self.substitutes_for[number] & members))
            multipliers.append(
                (self.multipliers[number] if multiply_own or not is_own_symbol else 1) if is_fitting else 0
            )
        return tuple(multipliers)
