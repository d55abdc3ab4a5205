"""Every entry held against the table of rules: nothing moves, counts or is remembered that no rule lets.

The chain proves that a journal is whole, and the books that its sums are right. Whether what it says may
happen at all is the table's to know (:mod:`tools.audit.rules`).
"""

from collections.abc import Callable, Iterable
from typing import Final

from meters import StoredEntry
from meters.ledger import Ledger
from tools.audit.rules import Differs, Facts, Rule, rules_of
from tools.audit.rules.plain import PLAIN

_MOVES_TOLD: Final = 4
_NO_POSITION: Final = frozenset({"machine.genesis", "checkpoint", "event", "clock.changed", "game.examined"})


def _moved(entry: StoredEntry) -> str:
    """The money that is at stake in it, as a finding tells it."""
    moved = (f"{t.amount_cents} cents from {t.source} to {t.target}" for t in entry.transfers[:_MOVES_TOLD])
    return f" (it moves {', '.join(moved)})" if entry.transfers else ""


class ConductAudit:
    """Follows the entries in order; ``fault`` is told of each that no rule lets be as it is.

    ``more``: the rules of features beside those of this house.
    """

    def __init__(self, fault: Callable[[StoredEntry, str], None], more: Iterable[Rule] = ()) -> None:
        self._fault = fault
        self._more: Final = tuple(more)
        self.facts = Facts()
        self.used: set[int] = set()
        """Rules that have let an entry pass, by ``id()``: what a test asks."""

    def see(self, entry: StoredEntry, before: Ledger) -> bool:
        """Take one entry of the journal; ``before``: the books as they stood before it.

        Whether it is a plain game's, which moves nothing but a wager or a win.
        """
        plain = PLAIN.get(entry.transaction.kind)
        if plain is not None and self.facts.positions is not None:
            try:
                if plain(entry, before, self.facts):
                    return True
            except (KeyError, TypeError, ValueError, AttributeError):
                pass  # its rule says what is wrong with it
        self._check_position(entry)
        why = ""
        for rule in (*rules_of(entry.kind), *(each for each in self._more if each.kind == entry.kind)):
            try:
                rule.check(entry, before, self.facts)
            except Differs as differs:
                why = self._better(why, rule, entry, str(differs))
                continue
            except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
                why = why or f"cannot be followed: {error!r}"
                continue
            self.used.add(id(rule))
            break
        else:
            why = why or "no entry of this kind has a place in a journal"
            self._fault(entry, f"{entry.kind}: {why}{_moved(entry)}")
        self.facts.see(entry)
        return False

    @staticmethod
    def _better(why: str, rule: Rule, entry: StoredEntry, told: str) -> str:
        """Of the reasons no rule let it pass, the one of the rule that comes nearest."""
        return told if not why or rule.phase is entry.phase else why

    def _check_position(self, entry: StoredEntry) -> None:
        if entry.kind in _NO_POSITION:
            return
        dims = entry.transaction.dims
        named = "position" in dims
        if named and (type(dims["position"]) is not int or dims["position"] < 1):
            self._fault(entry, f"{dims['position']!r} is no position")
        if self.facts.positions is None:
            self.facts.positions = named
        elif (
            entry.kind != "power.up"
            and named is not self.facts.positions
            and (entry.transfers or entry.counts)
        ):
            self._fault(entry, "it names its position, and the entries before it do not, or the other way")
