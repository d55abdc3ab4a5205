"""``egm/links/sas/CONFORMANCE.md``: each poll, exception and meter, how far it is built, and its tests."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from egm.config.sas_line import ON
from egm.links.sas import money
from egm.links.sas.journal_exceptions import RAISED
from egm.links.sas.meters import SUPPORTED
from egm.links.sas.polls import BUILT
from egm.links.sas.tables.exceptions import EXCEPTIONS, NOTHING, OVERFLOW
from egm.links.sas.tables.meters import METERS
from egm.links.sas.tables.polls import MINIMUM, POLLS
from tools.dev.conformance.evidence import Evidence, EvidenceError
from tools.dev.conformance.page import witnesses
from tools.lab.markdown import table

_ROOT: Final = "../../"
_SENT: Final = RAISED | money.RAISED | {NOTHING, OVERFLOW}

_INTRODUCTION: Final = """\
# SAS, row by row

Written by `make conformance` from the tables in `egm/links/sas`; edit those and the tests, not this page.

SAS 6.02 is a licensed standard whose text is not here and was not read: every row was put together from
public sources, and carries how many of them agree. **A**: two or more independent sources, or an experiment.
**B**: one source. **K**: general knowledge only. **X**: sources conflict, and the note says how. Nothing in
this page claims conformity with the standard. **M** marks the smallest set a regulator publishes for machines
on its network (Montana, video gambling).

* **answered**, **sent**, **kept**: built, and on.
* **switched off**: built; the cabinet file switches it on (`[sas.<name>] enable = [...]`) by the group named.
* **not built**: met with silence, never sent, or reported as not kept; the note says why."""

#: Why a named poll is not built, where its own note does not say.
_WHY_NO_POLL: Final = {
    **dict.fromkeys((0x8A, 0x90, 0x9A), "it has no transaction id, so an answer lost could pay twice"),
    **dict.fromkeys((0x8C, *range(0x95, 0x9A)), "this machine plays no tournaments"),
    0xA4: "four digits of credits are too few for this machine's limits",
    0xA8: "a hand-pay is paid by hand here, never to the credit meter",
    0x47: "this machine has no external coin acceptor",
    0x75: "no receipts are printed for transfers",
    0x76: "no tickets are printed for transfers",
    0x8B: "obsolete; layout not found",
    0x8E: "the codes of cards were found in no public source; game recall shows each hand",
    0xAA: "this machine has no auto rebet",
}
_WHY_NO_EXCEPTION: Final = {
    **dict.fromkeys((0x32, 0x33), "a machine whose memory is lost stands still, and answers nobody"),
    **dict.fromkeys((0x34, 0x35, 0x36, 0x38, 0x39, 0x3A), "there is no EPROM: see 8E"),
    **dict.fromkeys(range(0x40, 0x47), "the reels are pictures"),
    0x3E: "hand-pays are not validated",
    0x55: "a cash-out asked for cannot be taken back",
    **dict.fromkeys((0x6B, 0x6C, 0x6D, 0x6E), "wins stay here, and the host registers the machine"),
    0x77: "the printer is thermal",
    0x79: "the coin acceptor reports no such thing",
    0x7C: "there are no legacy bonuses",
    **dict.fromkeys((0x80, 0x81), "the hopper is counted, not weighed"),
    **dict.fromkeys((0x87, 0x88, 0x89, 0x8B), "real-time only: a host reads the game from its other events"),
    0x8F: "poll 6E is not built",
}
_WHY_NO_METER: Final = "this machine has no such device or transfer"


def sas_page(evidence: Evidence) -> str:
    """Return the whole page. Raises :class:`EvidenceError` if a test claims a row that does not exist."""
    known = {f"polls:{c:02X}" for c in POLLS} | {f"exceptions:{c:02X}" for c in EXCEPTIONS}
    known |= {f"meters:{c:02X}" for c in METERS}
    unknown = [
        f"{test.file}::{test.name}: {row}"
        for row in evidence.sas.keys() - known
        for test in evidence.sas[row]
    ]
    if unknown:
        raise EvidenceError("no such row of the SAS tables:\n" + "\n".join(sorted(unknown)))
    parts = [_INTRODUCTION]
    for title, head, rows in (
        ("Long polls", ("Poll", "Name", "Type", "Trust", "State", "Note", "Tests"), _polls(evidence)),
        ("Exceptions", ("Code", "Name", "Waits", "Trust", "State", "Note", "Tests"), _exceptions(evidence)),
        ("Meters", ("Code", "Name", "Counts", "Bytes", "Trust", "State", "Tests"), _meters(evidence)),
    ):
        states = Counter(row[head.index("State")].partition(":")[0] for row in rows)
        counts = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
        parts.append(f"## {title}\n\n{len(rows)} rows: {counts}.\n\n{table(head, rows)}")
    return "\n\n".join(parts) + "\n"


def _row(evidence: Evidence, name: str, code: int) -> str:
    return witnesses(evidence.sas.get(f"{name}:{code:02X}", ()), _ROOT)


def _polls(evidence: Evidence) -> Sequence[Sequence[str]]:
    rows = []
    for code, poll in POLLS.items():
        built = BUILT.get(code)
        if built is None:
            state, note = "not built", _WHY_NO_POLL.get(code, poll.note)
        else:
            state = "answered" if built.group in ON else f"switched off: `{built.group}`"
            note = poll.note
        title = f"{code:02X}{' **M**' if code in MINIMUM else ''}"
        rows.append(
            [title, poll.name, poll.type, poll.confidence, state, note, _row(evidence, "polls", code)]
        )
    return rows


def _exceptions(evidence: Evidence) -> Sequence[Sequence[str]]:
    return [
        [
            f"{code:02X}{' **M**' if exception.minimum else ''}",
            exception.name,
            exception.urgency.replace("_", " "),
            exception.confidence,
            "sent" if code in _SENT else "not built",
            "" if code in _SENT else _WHY_NO_EXCEPTION.get(code, ""),
            _row(evidence, "exceptions", code),
        ]
        for code, exception in EXCEPTIONS.items()
    ]


def _meters(evidence: Evidence) -> Sequence[Sequence[str]]:
    return [
        [
            f"{code:02X}",
            meter.name,
            meter.unit,
            str(meter.size),
            meter.confidence,
            "kept" if code in SUPPORTED else f"not built: {_WHY_NO_METER}",
            _row(evidence, "meters", code),
        ]
        for code, meter in METERS.items()
    ]
