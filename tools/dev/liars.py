"""The liar's game: falsify honest journals, one lie at a time, and see who finds it.

Each lie is judged by what it touches. Every lie must be named by the audit or be listed in :data:`WITNESSED`:
what an export alone cannot show, and who outside can. Any rewritten entry is always found with a journal head
that left the machine earlier (``egm audit verify --witness``).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from meters import checkpoint
from meters.keys import MachineKey
from tools.audit.games import Shelf
from tools.audit.verify import Auditor
from tools.dev.lies import NEW, REMOVED_LAST, Liar, Lie, adopted, mark_of, rewrite_chain

#: The last names of fields whose value is money, an outcome, a person or a ruling, wherever they stand.
_PERSONS: Final = frozenset({"person", "persons", "by", "whom", "role", "second_person"})
_RULINGS: Final = frozenset({"ruling", "decision", "refund_cents", "decided"})
_OUTCOMES: Final = frozenset(
    {
        *("steps", "draws", "outcome", "wager", "choice", "bet_credits", "game", "digest", "hits", "pools"),
        *("fed", "mystery", "trigger", "commitment", "proved", "level", "pool", "play_id"),
    }
)
#: Entries that are a ruling, or a person's act, as a whole.
_ACTS: Final = ("complement.*", "orphan.*", "forfeit.*", "dispute.*", "disputed.*", "exclusion.*", "staff.*")


@dataclass(frozen=True, slots=True)
class Witnessed:
    """Lies that an export alone does not show: by kind of entry and field (patterns; empty field: the entry).

    ``lie`` is its row of the list in ARCHITECTURE.md, which says in general who finds it; ``why`` the export
    does not show it, and which ``witness`` outside the machine finds this one.
    """

    kind: str
    field: str
    lie: str
    why: str
    witness: str
    what: str = "*"
    """Which sort of lie it is."""
    abouts: str = "money outcome meter person ruling ticket"
    """What the lie may be about (:func:`touches`), in words."""


_BEGINS: Final = "the machine number or key with which a journal begins"
_COIN: Final = "where a coin went, for example into a hopper that does not exist"
_ANOTHER: Final = "another staff member with the same permission"
_ENROLLED: Final = "another number or role for an enrolled person, if nothing they did since contradicts it"
_ACT: Final = "an act without consequences, left out or invented as a whole"
_DRAW: Final = "a draw that changes nothing shown or won"
_HEARD: Final = "what a controller or host showed or reported, if it moved nothing"
_UNPROVED: Final = "an unproved secret on which two people ruled"
_NAMES: Final = "names in the register of wins"
_WROTE: Final = "what a person wrote or counted, in a dispute, an incident or a collection"
_TICKETS: Final = (
    "a ticket that was never printed, its commitment, or the recorded progress of the ticket ledger"
)
_TERMS: Final = "terms of a level that no play has reached, for example its ceiling"
_COUNTED: Final = "what a device had counted before, if it moved nothing"
_CHOSEN: Final = "what a player had selected to play next"
_REMAINDER: Final = "the amount below which credit is residual, if no game and no removal depends on it"
_WHERE: Final = "the position at which something was recorded, if it moved no money"
_ASIDE: Final = "a remark, a language, a time of day, a lamp: nothing of money, outcome, meter or person"
_THROUGH: Final = "an amount that came in and was paid out in full, if both are changed alike"
_TAX: Final = "whether a hand-pay was taxable, and its form, if no other one of the same run shows it"
_MARK: Final = "the mark of a pay-table row in an outcome, which earlier versions did not record"
_ROUND: Final = "the id of a round that no other position played"

WITNESSED: Final = tuple(
    Witnessed(*line)
    for line in (
        ("machine.genesis", "record.*", _BEGINS, "it names itself", "--fingerprint, the serial"),
        ("machine.genesis", "id", _BEGINS, "it names itself", "--fingerprint"),
        ("coin.in", "transfers.*.*", _COIN, "it is told once", "the count of hopper and box", "*stock:*"),
        ("*", "*persons.*", _ANOTHER, "each of them may", "the signed slip or form"),
        ("staff.added", "record.whom", _ENROLLED, "no act is theirs", "the roster, whose digest it has"),
        (
            "staff.added",
            "record.role",
            _ENROLLED,
            "their acts suit either role",
            "the roster, whose digest it has",
        ),
        ("*", "record.person", _ANOTHER, "another of the staff, or a key, may", "the signed slip"),
        ("*", "*.draws.*", _DRAW, "it comes to the same", "a printed head"),
        ("game.*", "record.outcome.wins.*.pays", _MARK, "an earlier version wrote it so", "a printed head"),
        ("game.*", "record.round_id", _ROUND, "nobody else names the round", "a printed head"),
        ("progressive.link_*", "*", _HEARD, "heard of a line: it moved nothing", "the controller's log"),
        (
            "*",
            "state.link:*",
            _HEARD,
            "what a controller showed: no money moved",
            "the controller's register",
        ),
        ("progressive.won", "record.trigger.*", _UNPROVED, "two persons ruled on it", "the controller"),
        ("dispute.decided", "record.*", _WROTE, "it is their word", "the signed form"),
        ("incident.judged", "record.*", _WROTE, "it is their word", "the signed form"),
        ("collection.counted", "record.*_cents", _WROTE, "count and difference agree", "the signed form"),
        ("progressive.hit", "record.level", _NAMES, "pool and amount are checked", "the hand-pay slip"),
        ("progressive.hit", "record.game", _NAMES, "play and amount are checked", "the hand-pay slip"),
        ("progressive.fell", "*", _HEARD, "heard of a host: it moved nothing", "the host's log"),
        (
            "progressive.not_ours",
            "*",
            _HEARD,
            "a controller said so: it moved nothing",
            "the controller's log",
        ),
        ("progressive.award_differs", "*", _HEARD, "a controller said so", "the controller's log"),
        ("*", "state.*residual_terms*", _REMAINDER, "nothing was played or given up so", "the cabinet file"),
        ("selection", "state.selection.*", _CHOSEN, "nothing was staked on it", "a printed head"),
        ("handpay.paid", "record.taxable", _TAX, "told once", "the slip and the tax form"),
        ("*", "*.commitment", _TICKETS, "salted: it is the number's", "the ticket ledger"),
        ("*", "state.tickets*", _TICKETS, "the ledger's own place and digest", "the ticket ledger"),
        ("voucher.*", "", _TICKETS, "a ticket of which no entry says more", "the ticket ledger", "made up"),
        ("tickets.checked", "record.place", _TICKETS, "as its state tells it", "the ticket ledger"),
        ("coin.in", "state.coins", _COUNTED, "its count from switching on", "the acceptor"),
        ("coins.ordered", "state.hopper.*", _COUNTED, "its counts before a payout", "the hopper"),
        ("tickets.*", "", _TICKETS, "what the ledger said of itself", "the ticket ledger"),
        (
            "*",
            "",
            _ACT,
            "no amount differs: two acts in another order",
            "a printed head",
            "told before the last",
        ),
        ("bill.escrow", "", _ACT, "a bill that nothing follows from", "the count of the stacker"),
        ("coin.in", "", _ACT, "coins that nothing follows from", "the count of hopper and box"),
        ("aft.complete", "", _ACT, "a transfer that nothing follows from", "the log of the host"),
        ("aft.complete", "*", _ACT, "all that says its amount agrees", "the log of the host", "*others"),
        ("handpay.paid", "", _ACT, "a payment nothing follows from", "the signed slip"),
        (
            "hopper.filled",
            "",
            _ACT,
            "coins that nothing follows from",
            "the signed slip, the count of the hopper",
        ),
        ("handpay.pending", "", _ACT, "a lock-up that nothing follows from", "the head on its screen"),
        ("voucher.request", "", _ACT, "a payout that nothing follows from", "the printer, a printed head"),
        *(
            (kind, "*", _THROUGH, "in and out agree", "the count of the box, the paper paid out", "*others")
            for kind in ("bill.*", "coin.in", "coins.*", "voucher.*", "handpay.*")
        ),
        ("coins.out", "", _ACT, "a payout that nothing follows", "the count of the hopper", "removed*"),
        ("*", "", _ACT, "it is the journal of just before", "a printed head, its slip or form", REMOVED_LAST),
        ("coins.request", "", _ACT, "a payout that nothing follows from", "the count of the hopper"),
        ("hopper.opening", "*", _ACT, "both that say its amount agree", "the count of the hopper", "*others"),
        ("hopper.opening", "dims.position", _WHERE, "no coin was paid yet", "the count of the hopper"),
        ("hopper.opening", "", _ACT, "coins there were before any was paid", "the count of the hopper"),
        ("progressive.opened", "*.terms.*", _TERMS, "no play has come so far", "its sign", "*others"),
        ("progressive.opened", "", _ACT, "a level nothing was wagered for", "its sign, a printed head"),
        (
            "complement.paid",
            "",
            _ACT,
            "paid by hand, as a whole",
            "the signed form, and the count of the bank",
        ),
        (
            "*",
            "",
            _ACT,
            "it moves no money",
            "a printed head; its slip or form",
            "*",
            "outcome meter person ruling ticket",
        ),
        (
            "*",
            "dims.position",
            _WHERE,
            "another of its positions might have",
            "that position's devices; a printed head",
            "*",
            "position",
        ),
        ("*", "*", _ASIDE, "nothing follows from it", "a printed head", "*", "other"),
        ("*", "", _ASIDE, "nothing follows from it", "a printed head", "*", "other"),
    )
)


def touches(lie: Lie, entry: dict[str, Any]) -> str:
    """Return what a lie is about: money, outcome, meter, person, ruling, ticket, position; or ``other``."""
    if lie.path:
        return _touches_by_a_field(lie, entry)
    if "transfers" in entry or entry.get("phase"):
        return "money"
    return "meter" if "counts" in entry else "ruling" if _is_act(lie.kind) else "other"


def _touches_by_a_field(lie: Lie, entry: dict[str, Any]) -> str:  # noqa: PLR0911 (one for each answer)
    names = [part for part in lie.path if isinstance(part, str)]
    last = names[-1]
    if last == "commitment" or "tickets" in names:
        return "ticket"
    if lie.kind == "selection" or lie.kind.startswith("test."):  # what might be played next; no money
        return "other"
    if lie.path == ("dims", "position") and not entry.keys() & {"transfers", "phase"}:
        return "position"
    if names[0] == "transfers" or last.endswith("_cents") or names[0] in {"phase", "ref"}:
        return "money"
    if names[0] in {"counts", "marks", "dims"} or "meters" in names:
        return "meter"
    if _PERSONS & {last}:
        return "person"
    if _RULINGS & set(names) or (_is_act(lie.kind) and names[0] == "kind"):
        return "ruling"
    if _OUTCOMES & set(names) and lie.kind.startswith(("game.", "progressive.", "residual.", "merchandise.")):
        return "other" if "display" in names and "outcome" not in names else "outcome"
    return "other"


def _is_act(kind: str) -> bool:
    return any(fnmatchcase(kind, act) for act in _ACTS)


def witnessed(about: str, lie: Lie) -> Witnessed | None:
    """Return the line of :data:`WITNESSED` that covers the lie, or None."""
    for row in WITNESSED:
        if (
            fnmatchcase(lie.kind, row.kind)
            and (fnmatchcase(lie.field, row.field) if row.field else not lie.path)
            and fnmatchcase(lie.what, row.what)
            and about in row.abouts.split()
        ):
            return row
    return None


@dataclass(slots=True)
class Score:
    """Number of lies by what they touch and by kind of entry, and those that were not found."""

    told: Counter[tuple[str, str]] = field(default_factory=Counter)
    named: Counter[tuple[str, str]] = field(default_factory=Counter)
    at_the_entry: int = 0
    passed: list[tuple[str, Lie]] = field(default_factory=list)
    """What they touch, and the lies the audit did not name."""

    @property
    def undetected(self) -> list[tuple[str, Lie]]:
        """Return the undetected lies for which no outside evidence is listed."""
        return [each for each in self.passed if witnessed(*each) is None]

    def to_json(self) -> dict[str, Any]:
        """For scripts."""
        kinds = sorted({kind for _, kind in self.told})
        by_kind = {
            kind: [
                sum(n for (_, k), n in self.told.items() if k == kind),
                sum(n for (_, k), n in self.named.items() if k == kind),
            ]
            for kind in kinds
        }
        abouts = sorted({about for about, _ in self.told})
        return {
            "lies": self.told.total(),
            "named": self.named.total(),
            "at_the_entry": self.at_the_entry,
            "by_what_they_touch": {
                about: [
                    sum(n for (a, _), n in self.told.items() if a == about),
                    sum(n for (a, _), n in self.named.items() if a == about),
                ]
                for about in abouts
            },
            "by_kind": by_kind,
            "witnessed": dict(
                Counter(row.witness for about, lie in self.passed if (row := witnessed(about, lie)))
            ),
            "undetected": [
                {
                    "about": about,
                    "entry": lie.sequence,
                    "kind": lie.kind,
                    "field": lie.field,
                    "what": lie.what,
                }
                for about, lie in self.undetected
            ],
        }


def play(
    journals: Sequence[Sequence[bytes]],
    shelf: Shelf,
    *,
    lies: int,
    seed: int,
    key: MachineKey | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Score:
    """Apply ``lies`` lies to honest journals in turn, and audit each. The same seed gives the same game.

    Raises ValueError if a journal is not honest to begin with.
    """
    made = key or MachineKey(bytes(range(32)))
    liars = []
    for number, bodies in enumerate(journals):
        entries = adopted(bodies, made)
        report = Auditor(shelf).run(rewrite_chain(entries, made, mark_of(entries[0])))
        if report.wrong:
            raise ValueError(f"journal {number + 1} is not honest: {report.findings[0]}")
        liars.append((Liar(entries, seed * 1009 + number), entries))
    score = Score()
    for number in range(lies):
        liar, entries = liars[number % len(liars)]
        lie, told = liar.tell()
        while lie.kind == checkpoint.KIND and lie.path:  # it is made anew whatever was said in it
            lie, told = liar.tell()
        about = touches(lie, (told if lie.what in NEW else entries)[lie.sequence - 1])
        report = Auditor(shelf).run(rewrite_chain(told, made, liar.mark))
        score.told[about, lie.kind] += 1
        if report.wrong:
            score.named[about, lie.kind] += 1
            score.at_the_entry += any(f.sequence == lie.sequence for f in report.findings)
        else:
            score.passed.append((about, lie))
        progress(number + 1)
    return score
