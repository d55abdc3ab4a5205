"""The liar's game: honest journals, one lie at a time, and who finds it.

Each lie is judged by what it touches. One about money, an outcome, a meter, a person or a ruling must be
named by the audit, or stand in :data:`WITNESSED`: what an export alone cannot tell, and who outside can.
Everything else (a remark, a time of day, a lamp) is counted too, and let pass: that an entry was rewritten at
all is always found by a head of the journal that had left the machine (``egm audit verify --witness``).
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
from tools.dev.lies import NEW, Liar, Lie, adopted, mark_of, sealed

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

    ``why`` it does not, and which ``witness`` outside the machine finds it.
    """

    kind: str
    field: str
    why: str
    witness: str
    what: str = "*"
    """Which sort of lie it is."""
    money: bool = True
    """Whether also where it is about money."""


WITNESSED: Final = tuple(
    Witnessed(*line)
    for line in (
        ("machine.genesis", "record.*", "who begins a journal names itself", "--fingerprint, the serial"),
        ("machine.genesis", "id", "who begins a journal names itself", "--fingerprint"),
        ("coin.in", "transfers.*.1", "where a coin fell is told once", "the count of hopper and box"),
        ("*", "*persons.*", "another of the staff who may do the same", "the signed slip or form"),
        ("staff.added", "record.whom", "one who has done nothing since", "the roster, whose digest it has"),
        ("*", "record.person", "another of the staff, or a key, that may do so", "the signed slip"),
        ("*", "*.draws.*", "a number that changes nothing of what is shown and won", "a printed head"),
        ("progressive.link_*", "*", "heard of a line: it moved nothing", "the controller's log"),
        ("*", "state.link:*", "what a controller showed: no money moved", "the controller's register"),
        ("progressive.won", "record.trigger.*", "unproved, and ruled on by two persons", "the controller"),
        ("dispute.decided", "record.*", "what a person wrote", "the signed form"),
        ("incident.judged", "record.*", "what a person wrote", "the signed form"),
        ("progressive.hit", "record.level", "a name; pool and amount are checked", "the hand-pay slip"),
        ("progressive.hit", "record.game", "a name; play and amount are checked", "the hand-pay slip"),
        ("progressive.fell", "*", "heard of a host: it moved nothing", "the host's log"),
        ("progressive.not_ours", "*", "a controller said so: it moved nothing", "the controller's log"),
        ("progressive.award_differs", "*", "a controller said so: it moved nothing", "the controller's log"),
        ("*", "", "no amount differs: two acts in another order", "a printed head", "told before the last"),
        ("bill.escrow", "", "a bill that nothing follows from", "the count of the stacker"),
        ("coin.in", "", "coins that nothing follows from", "the count of hopper and box"),
        ("aft.complete", "", "a transfer that nothing follows from", "the log of the host"),
        ("handpay.paid", "", "a payment nothing follows from", "the signed slip"),
        ("hopper.filled", "", "coins that nothing follows from", "the signed slip, the count of the hopper"),
        ("hopper.opening", "", "coins there were before anything was paid", "the count of the hopper"),
        ("progressive.opened", "", "a level nothing was wagered for", "its sign, a printed head"),
        ("complement.paid", "", "paid by hand, as a whole", "the signed form, and the count of the bank"),
        ("*", "", "an act nothing follows from, of no money", "a printed head; its slip or form", "*", False),
    )
)


def touches(lie: Lie, entry: dict[str, Any]) -> str:  # noqa: PLR0911 (one for each answer)
    """What a lie is about: money, outcome, meter, person, ruling; or nothing of these."""
    if not lie.path:
        if "transfers" in entry or entry.get("phase"):
            return "money"
        return "meter" if "counts" in entry else "ruling" if _is_act(lie.kind) else "other"
    if lie.kind == "selection" or lie.kind.startswith("test."):  # what might be played next; no money
        return "other"
    if lie.path == ("dims", "position") and not entry.keys() & {"transfers", "counts", "phase"}:
        return "other"  # no meter is told apart by it
    names = [part for part in lie.path if isinstance(part, str)]
    last = names[-1]
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
    """The line of :data:`WITNESSED` for a lie about something, if there is one."""
    for row in WITNESSED:
        if (
            fnmatchcase(lie.kind, row.kind)
            and (fnmatchcase(lie.field, row.field) if row.field else not lie.path)
            and fnmatchcase(lie.what, row.what)
            and (row.money or about != "money")
        ):
            return row
    return None


@dataclass(slots=True)
class Score:
    """How many lies were told, by what they touch and by kind of entry; and those nobody named."""

    told: Counter[tuple[str, str]] = field(default_factory=Counter)
    named: Counter[tuple[str, str]] = field(default_factory=Counter)
    at_the_entry: int = 0
    passed: list[tuple[str, Lie]] = field(default_factory=list)
    """What they touch, and the lies the audit did not name."""

    @property
    def undetected(self) -> list[tuple[str, Lie]]:
        """Those that matter, and that no witness is stated for."""
        return [each for each in self.passed if each[0] != "other" and witnessed(*each) is None]

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
                Counter(row.witness for a, lie in self.passed if a != "other" and (row := witnessed(a, lie)))
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
    """Tell so many lies about honest journals in turn, and have each audited. The same seed is the same game.

    Raises ValueError where a journal is not found honest to begin with.
    """
    made = key or MachineKey(bytes(range(32)))
    liars = []
    for number, bodies in enumerate(journals):
        entries = adopted(bodies, made)
        report = Auditor(shelf).run(sealed(entries, made, mark_of(entries[0])))
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
        report = Auditor(shelf).run(sealed(told, made, liar.mark))
        score.told[about, lie.kind] += 1
        if report.wrong:
            score.named[about, lie.kind] += 1
            score.at_the_entry += any(f.sequence == lie.sequence for f in report.findings)
        else:
            score.passed.append((about, lie))
        progress(number + 1)
    return score
