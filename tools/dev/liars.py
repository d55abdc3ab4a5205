"""Falsify honest journals, one lie at a time, and count how many lies the audit finds.

Each lie is classified by its subject. Either the audit reports it, or :data:`KNOWN_AUDIT_GAPS` must list it. That
table has the lies that an export alone cannot show, each with the evidence outside the machine that shows it. A
journal head that left the machine earlier reveals every rewritten entry (``egm audit verify --witness``).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from meters import checkpoint
from meters.machine_key import MachineKey
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.dev.lies import (
    INSERTING_CHANGES,
    REMOVED_LAST_DESCRIPTION,
    Falsification,
    JournalFalsifier,
    adopt_entries,
    compute_journal_tag,
    rewrite_chain,
)

#: Field names (the last part of the path) whose value is a person, a ruling or an outcome in every entry.
_PERSON_FIELDS: Final = frozenset({"person", "persons", "by", "whom", "role", "second_person"})
_RULING_FIELDS: Final = frozenset({"ruling", "decision", "refund_cents", "decided"})
_OUTCOME_FIELDS: Final = frozenset(
    {
        *("steps", "draws", "outcome", "wager", "choice", "bet_credits", "game", "digest", "hits", "pools"),
        *("fed", "mystery", "trigger", "commitment", "proved", "level", "pool", "play_id"),
    }
)
#: Kinds of entry that record a ruling or an act of a person.
_KINDS_OF_ACTS_OF_PERSONS: Final = (
    "complement.*",
    "orphan.*",
    "forfeit.*",
    "dispute.*",
    "disputed.*",
    "exclusion.*",
    "staff.*",
)


@dataclass(frozen=True, slots=True)
class KnownAuditGap:
    """A group of lies that an export alone cannot show, and the evidence outside the machine that does.

    ``kind`` and ``field`` are patterns for the kind of entry and for the field; an empty ``field`` means the whole
    entry. ``lie`` is the row of the list in ARCHITECTURE.md. ``reason`` says why the export cannot show these lies, and
    ``outside_evidence`` names the evidence.
    """

    kind: str
    field: str
    lie: str
    reason: str
    outside_evidence: str
    description: str = "*"
    """Pattern for the description of the change (:attr:`Falsification.description`)."""
    subjects: str = "money outcome meter person ruling ticket"
    """Subjects of the lies (:func:`classify_subject`), separated by spaces."""


_JOURNAL_START_LIE: Final = "the machine number or key with which a journal begins"
_COIN_LOCATION_LIE: Final = "where a coin went, for example into a hopper that does not exist"
_OTHER_STAFF_MEMBER_LIE: Final = (
    "a staff number in an entry, replaced by that of a colleague with the same permission"
)
_ENROLLED_PERSON_LIE: Final = (
    "the number or role of an enrolled person, if nothing that they did since contradicts it"
)
_ACT_WITHOUT_CONSEQUENCE_LIE: Final = (
    "the addition or removal of all entries about one occurrence, such as the last bill, "
    "if no later entry depends on them"
)
_DRAW_WITHOUT_EFFECT_LIE: Final = "a draw that changes neither what was shown nor what was won"
_RECEIVED_REPORT_LIE: Final = "what a controller or host showed or reported, if it moved nothing"
_UNPROVED_PRIZE_LIE: Final = (
    "a mystery secret that matches no commitment, if two people have accepted the prize despite this"
)
_WIN_REGISTER_NAME_LIE: Final = "names in the register of wins"
_STATEMENT_OF_PERSON_LIE: Final = "what a person wrote or counted, in a dispute, an incident or a collection"
_TICKET_LIE: Final = (
    "a ticket that was never printed, its commitment, or the recorded progress of the ticket ledger"
)
_LEVEL_TERMS_LIE: Final = (
    "a setting of a level that has had no effect yet, such as a ceiling that was not reached"
)
_DEVICE_COUNT_LIE: Final = "what a device had counted before an event, if the event moved no money"
_PLAYER_SELECTION_LIE: Final = "what a player had selected to play next"
_RESIDUAL_LIMIT_LIE: Final = (
    "the amount below which credit is residual, if no credit has been treated as residual yet"
)
_POSITION_LIE: Final = "the position at which something was recorded, if it moved no money"
_REMARK_LIE: Final = (
    "a remark, a language, a time of day, a lamp: anything that touches no money, outcome, meter or person"
)
_PASSED_THROUGH_AMOUNT_LIE: Final = (
    "money that came in and was paid out again in full, if both entries are falsified by the same amount"
)
_TAX_LIE: Final = (
    "the tax mark and tax form of a hand-pay, if no other hand-pay under the same tax limit "
    "(a power-up may change it) contradicts them"
)
_PAY_ROW_MARK_LIE: Final = (
    "whether a paid amount was a prize of the pay table "
    "(only in journals of early versions, which do not record it)"
)
_ROUND_ID_LIE: Final = "the id of a round that no other position played"

KNOWN_AUDIT_GAPS: Final = tuple(
    KnownAuditGap(*line)
    for line in (
        (
            "machine.genesis",
            "record.*",
            _JOURNAL_START_LIE,
            "a journal states its own identity",
            "--fingerprint, the serial",
        ),
        ("machine.genesis", "id", _JOURNAL_START_LIE, "a journal states its own identity", "--fingerprint"),
        (
            "coin.in",
            "transfers.*.*",
            _COIN_LOCATION_LIE,
            "recorded once",
            "the count of hopper and box",
            "*stock:*",
        ),
        (
            "*",
            "*persons.*",
            _OTHER_STAFF_MEMBER_LIE,
            "each of them has the permission",
            "the signed slip or form",
        ),
        (
            "staff.added",
            "record.whom",
            _ENROLLED_PERSON_LIE,
            "the person has done nothing",
            "the roster, whose digest it has",
        ),
        (
            "staff.added",
            "record.role",
            _ENROLLED_PERSON_LIE,
            "both roles permit the person's acts",
            "the roster, whose digest it has",
        ),
        (
            "*",
            "record.person",
            _OTHER_STAFF_MEMBER_LIE,
            "another person or key has the permission",
            "the signed slip",
        ),
        ("*", "*.draws.*", _DRAW_WITHOUT_EFFECT_LIE, "the outcome is the same", "a printed head"),
        (
            "game.*",
            "record.outcome.wins.*.pays",
            _PAY_ROW_MARK_LIE,
            "earlier versions did not record it",
            "a printed head",
        ),
        ("game.*", "record.round_id", _ROUND_ID_LIE, "no other entry names the round", "a printed head"),
        (
            "progressive.link_*",
            "*",
            _RECEIVED_REPORT_LIE,
            "received on a line; moved no money",
            "the controller's log",
        ),
        (
            "*",
            "state.link:*",
            _RECEIVED_REPORT_LIE,
            "shown by a controller; moved no money",
            "the controller's register",
        ),
        (
            "progressive.won",
            "record.trigger.*",
            _UNPROVED_PRIZE_LIE,
            "two people ruled on it",
            "the controller",
        ),
        (
            "dispute.decided",
            "record.*",
            _STATEMENT_OF_PERSON_LIE,
            "only these people know",
            "the signed form",
        ),
        (
            "incident.judged",
            "record.*",
            _STATEMENT_OF_PERSON_LIE,
            "only these people know",
            "the signed form",
        ),
        (
            "collection.counted",
            "record.*_cents",
            _STATEMENT_OF_PERSON_LIE,
            "count and difference agree",
            "the signed form",
        ),
        (
            "progressive.hit",
            "record.level",
            _WIN_REGISTER_NAME_LIE,
            "pool and amount are checked",
            "the hand-pay slip",
        ),
        (
            "progressive.hit",
            "record.game",
            _WIN_REGISTER_NAME_LIE,
            "play and amount are checked",
            "the hand-pay slip",
        ),
        (
            "progressive.fell",
            "*",
            _RECEIVED_REPORT_LIE,
            "received from a host; moved no money",
            "the host's log",
        ),
        (
            "progressive.not_ours",
            "*",
            _RECEIVED_REPORT_LIE,
            "reported by a controller; moved no money",
            "the controller's log",
        ),
        (
            "progressive.award_differs",
            "*",
            _RECEIVED_REPORT_LIE,
            "reported by a controller",
            "the controller's log",
        ),
        (
            "*",
            "state.*residual_terms*",
            _RESIDUAL_LIMIT_LIE,
            "no residual credit was played or given up",
            "the cabinet file",
        ),
        (
            "selection",
            "state.selection.*",
            _PLAYER_SELECTION_LIE,
            "no bet was placed on it",
            "a printed head",
        ),
        ("handpay.paid", "record.taxable", _TAX_LIE, "recorded once", "the slip and the tax form"),
        ("*", "*.commitment", _TICKET_LIE, "salted digest of the ticket number", "the ticket ledger"),
        ("*", "state.tickets*", _TICKET_LIE, "position and digest of the ledger itself", "the ticket ledger"),
        ("voucher.*", "", _TICKET_LIE, "no other entry names the ticket", "the ticket ledger", "made up"),
        (
            "tickets.checked",
            "record.place",
            _TICKET_LIE,
            "equals the state of the same entry",
            "the ticket ledger",
        ),
        ("coin.in", "state.coins", _DEVICE_COUNT_LIE, "a count since power-on", "the acceptor"),
        ("coins.ordered", "state.hopper.*", _DEVICE_COUNT_LIE, "counts before a payout", "the hopper"),
        ("tickets.*", "", _TICKET_LIE, "reported by the ledger about itself", "the ticket ledger"),
        (
            "*",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no amount differs; two acts are in another order",
            "a printed head",
            "swapped with the one before",
        ),
        (
            "bill.escrow",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no later entry depends on the bill",
            "the count of the stacker",
        ),
        (
            "coin.in",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no later entry depends on the coins",
            "the count of hopper and box",
        ),
        (
            "aft.complete",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no later entry depends on the transfer",
            "the log of the host",
        ),
        (
            "aft.complete",
            "*",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "all records of the amount agree",
            "the log of the host",
            "*others",
        ),
        (
            "tournament.entry",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no round of the entry was played here",
            "the participant's receipt",
        ),
        (
            "tournament.entry_void",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no later entry depends on the refund",
            "the signed form",
        ),
        (
            "tournament.prize",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no later entry depends on the prize",
            "the signed form",
        ),
        (
            "handpay.paid",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no later entry depends on the payment",
            "the signed slip",
        ),
        (
            "hopper.filled",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no later entry depends on the coins",
            "the signed slip, the count of the hopper",
        ),
        (
            "handpay.pending",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no later entry depends on the lock-up",
            "the head on its screen",
        ),
        (
            "voucher.request",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no later entry depends on the payout",
            "the printer, a printed head",
        ),
        *(
            (
                kind,
                "*",
                _PASSED_THROUGH_AMOUNT_LIE,
                "amounts in and out agree",
                "the count of the box, the paper paid out",
                "*others",
            )
            for kind in ("bill.*", "coin.in", "coins.*", "voucher.*", "handpay.*")
        ),
        (
            "coins.out",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no later entry depends on the payout",
            "the count of the hopper",
            "removed*",
        ),
        (
            "*",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "equals the journal of the moment before",
            "a printed head, its slip or form",
            REMOVED_LAST_DESCRIPTION,
        ),
        (
            "coins.request",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no later entry depends on the payout",
            "the count of the hopper",
        ),
        (
            "hopper.opening",
            "*",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "both records of the amount agree",
            "the count of the hopper",
            "*others",
        ),
        (
            "hopper.opening",
            "dims.position",
            _POSITION_LIE,
            "no coin had been paid",
            "the count of the hopper",
        ),
        (
            "hopper.opening",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "coins loaded before the first payout",
            "the count of the hopper",
        ),
        (
            "progressive.opened",
            "*.terms.*",
            _LEVEL_TERMS_LIE,
            "no play reached these terms",
            "its sign",
            "*others",
        ),
        (
            "progressive.opened",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "no wager contributed to the level",
            "its sign, a printed head",
        ),
        (
            "complement.paid",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "paid by hand, without other records",
            "the signed form, and the count of the bank",
        ),
        (
            "*",
            "",
            _ACT_WITHOUT_CONSEQUENCE_LIE,
            "moves no money",
            "a printed head; its slip or form",
            "*",
            "outcome meter person ruling ticket",
        ),
        (
            "*",
            "dims.position",
            _POSITION_LIE,
            "another position may have recorded it",
            "that position's devices; a printed head",
            "*",
            "position",
        ),
        ("*", "*", _REMARK_LIE, "no other entry depends on it", "a printed head", "*", "other"),
        ("*", "", _REMARK_LIE, "no other entry depends on it", "a printed head", "*", "other"),
    )
)


def classify_subject(lie: Falsification, entry: dict[str, Any]) -> str:
    """Return the subject of a lie: money, outcome, meter, person, ruling, ticket, position, or ``other``."""
    if lie.path:
        return _classify_field(lie, entry)
    if "transfers" in entry or entry.get("phase"):
        return "money"
    return "meter" if "counts" in entry else "ruling" if _is_act_of_person(lie.kind) else "other"


def _classify_field(lie: Falsification, entry: dict[str, Any]) -> str:  # noqa: PLR0911 (one return for each subject)
    names = [part for part in lie.path if isinstance(part, str)]
    last_name = names[-1]
    if last_name == "commitment" or "tickets" in names:
        return "ticket"
    if lie.kind == "selection" or lie.kind.startswith("test."):  # a selected game; no money
        return "other"
    if lie.path == ("dims", "position") and not entry.keys() & {"transfers", "phase"}:
        return "position"
    if names[0] == "transfers" or last_name.endswith("_cents") or names[0] in {"phase", "ref"}:
        return "money"
    if names[0] in {"counts", "marks", "dims"} or "meters" in names:
        return "meter"
    if _PERSON_FIELDS & {last_name}:
        return "person"
    if _RULING_FIELDS & set(names) or (_is_act_of_person(lie.kind) and names[0] == "kind"):
        return "ruling"
    if _OUTCOME_FIELDS & set(names) and lie.kind.startswith(
        ("game.", "progressive.", "residual.", "merchandise.")
    ):
        return "other" if "display" in names and "outcome" not in names else "outcome"
    return "other"


def _is_act_of_person(kind: str) -> bool:
    return any(fnmatchcase(kind, act) for act in _KINDS_OF_ACTS_OF_PERSONS)


def find_known_gap(subject: str, lie: Falsification) -> KnownAuditGap | None:
    """Return the known gap for a lie with the subject ``subject``, or None if the audit must find the lie."""
    for gap in KNOWN_AUDIT_GAPS:
        if (
            fnmatchcase(lie.kind, gap.kind)
            and (fnmatchcase(lie.field, gap.field) if gap.field else not lie.path)
            and fnmatchcase(lie.description, gap.description)
            and subject in gap.subjects.split()
        ):
            return gap
    return None


@dataclass(slots=True)
class FalsificationScore:
    """Counts of lies by subject and kind of entry, and the lies that the audit did not report."""

    lies_by_subject: Counter[tuple[str, str]] = field(default_factory=Counter)
    found_by_subject: Counter[tuple[str, str]] = field(default_factory=Counter)
    found_at_changed_entry_count: int = 0
    missed_lies: list[tuple[str, Falsification]] = field(default_factory=list)
    """Each lie that the audit did not report, with its subject."""

    @property
    def undetected(self) -> list[tuple[str, Falsification]]:
        """Return the undetected lies for which no outside evidence is listed."""
        return [
            subject_and_lie
            for subject_and_lie in self.missed_lies
            if find_known_gap(*subject_and_lie) is None
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the score as JSON data."""
        kinds = sorted({kind for _, kind in self.lies_by_subject})
        by_kind = {
            kind: [
                sum(n for (_, lie_kind), n in self.lies_by_subject.items() if lie_kind == kind),
                sum(n for (_, lie_kind), n in self.found_by_subject.items() if lie_kind == kind),
            ]
            for kind in kinds
        }
        subjects = sorted({subject for subject, _ in self.lies_by_subject})
        return {
            "lies": self.lies_by_subject.total(),
            "named": self.found_by_subject.total(),
            "at_the_entry": self.found_at_changed_entry_count,
            "by_what_they_touch": {
                subject: [
                    sum(n for (lie_subject, _), n in self.lies_by_subject.items() if lie_subject == subject),
                    sum(n for (lie_subject, _), n in self.found_by_subject.items() if lie_subject == subject),
                ]
                for subject in subjects
            },
            "by_kind": by_kind,
            "witnessed": dict(
                Counter(
                    row.outside_evidence
                    for subject, lie in self.missed_lies
                    if (row := find_known_gap(subject, lie))
                )
            ),
            "undetected": [
                {
                    "about": subject,
                    "entry": lie.sequence,
                    "kind": lie.kind,
                    "field": lie.field,
                    "what": lie.description,
                }
                for subject, lie in self.undetected
            ],
        }


def run_falsifications(
    journals: Sequence[Sequence[bytes]],
    game_files: GameFiles,
    *,
    lies: int,
    seed: int,
    key: MachineKey | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> FalsificationScore:
    """Apply ``lies`` lies to honest journals in turn, and audit each falsified journal.

    The same seed gives the same lies. Raises ValueError if the audit finds an error in an unchanged journal.
    """
    signing_key = key or MachineKey(bytes(range(32)))
    liars = []
    for number, bodies in enumerate(journals):
        entries = adopt_entries(bodies, signing_key)
        report = Auditor(game_files).audit_entries(
            rewrite_chain(entries, signing_key, compute_journal_tag(entries[0]))
        )
        if report.finding_count:
            raise ValueError(f"journal {number + 1} is not honest: {report.findings[0]}")
        liars.append((JournalFalsifier(entries, seed * 1009 + number), entries))
    score = FalsificationScore()
    for number in range(lies):
        liar, entries = liars[number % len(liars)]
        lie, falsified = liar.make_falsification()
        while lie.kind == checkpoint.CHECKPOINT_KIND and lie.path:  # checkpoints are signed again
            lie, falsified = liar.make_falsification()
        subject = classify_subject(
            lie, (falsified if lie.description in INSERTING_CHANGES else entries)[lie.sequence - 1]
        )
        report = Auditor(game_files).audit_entries(rewrite_chain(falsified, signing_key, liar.journal_tag))
        score.lies_by_subject[subject, lie.kind] += 1
        if report.finding_count:
            score.found_by_subject[subject, lie.kind] += 1
            score.found_at_changed_entry_count += any(f.sequence == lie.sequence for f in report.findings)
        else:
            score.missed_lies.append((subject, lie))
        progress(number + 1)
    return score
