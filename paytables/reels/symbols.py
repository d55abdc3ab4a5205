"""The symbols of a game by number, and what each substitutes for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paytables.errors import DefinitionError
from paytables.reels.components import Element
from paytables.reels.schema import Symbol

ANY = "*"


@dataclass(frozen=True, slots=True)
class Symbols:
    """Symbols in the order of the definition. A symbol fits an element naturally, or by substituting."""

    ids: tuple[str, ...]
    substitutes_for: tuple[frozenset[str], ...]
    multipliers: tuple[int, ...]
    groups: Mapping[str, tuple[str, ...]]
    file: str

    @classmethod
    def of(cls, symbols: Sequence[Symbol], groups: Mapping[str, tuple[str, ...]], file: str) -> "Symbols":
        """Check the names and resolve ``substitutes = ["*"]``. Raises :class:`DefinitionError`."""
        ids = tuple(s.id for s in symbols)
        known = set(ids)
        if len(known) != len(ids):
            twice = sorted(i for i in known if ids.count(i) > 1)
            raise DefinitionError(file, "symbol", f"defined twice: {', '.join(twice)}")
        for name, members in groups.items():
            if name in known:
                raise DefinitionError(file, f"groups.{name}", "has the name of a symbol")
            for member in members:
                if member not in known:
                    raise DefinitionError(file, f"groups.{name}", f"unknown symbol {member!r}")
        substitutes_for = []
        for s in symbols:
            wanted = known if ANY in s.substitutes else set(s.substitutes)
            for other in (wanted | set(s.not_for)) - known:
                raise DefinitionError(file, f"symbol.{s.id}", f"unknown symbol {other!r}")
            substitutes_for.append(frozenset(wanted - set(s.not_for) - {s.id}))
        return cls(ids, tuple(substitutes_for), tuple(s.multiplier for s in symbols), groups, file)

    def number(self, name: str, key: str) -> int:
        """Return the number of a symbol. Raises :class:`DefinitionError` with ``key``."""
        if name not in self.ids:
            raise DefinitionError(self.file, key, f"unknown symbol {name!r}")
        return self.ids.index(name)

    def resolve_element(self, name: str, key: str, *, multiply_own: bool) -> Element | None:
        """Return the multipliers of a pattern cell: a symbol, a group, ``"*"``, or ``"=symbol"`` (only it)."""
        if name == ANY:
            return None
        exact = name.startswith("=")
        wanted = frozenset(self.groups.get(name.removeprefix("="), (name.removeprefix("="),)))
        for member in wanted:
            self.number(member, key)
        found = []
        for number, symbol in enumerate(self.ids):
            own = symbol in wanted
            fits = own or (not exact and bool(self.substitutes_for[number] & wanted))
            found.append((self.multipliers[number] if multiply_own or not own else 1) if fits else 0)
        return tuple(found)
