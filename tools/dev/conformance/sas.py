"""Write ``egm/links/sas/CONFORMANCE.md``: each SAS poll, exception and meter, how far it is built, and its tests."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from egm.app.features import FEATURES
from egm.config.sas_line import DEFAULT_POLL_GROUPS
from egm.links.sas import money_exceptions
from egm.links.sas.journal_exceptions import list_raised_exceptions
from egm.links.sas.meters import SUPPORTED_METER_CODES
from egm.links.sas.polls import IMPLEMENTED_POLLS
from egm.links.sas.tables.exceptions import (
    EXCEPTION_DEFINITION_BY_CODE,
    NO_EXCEPTION_CODE,
    QUEUE_OVERFLOW_EXCEPTION_CODE,
)
from egm.links.sas.tables.meters import METER_DEFINITION_BY_CODE
from egm.links.sas.tables.polls import POLL_BY_CODE, REGULATOR_MINIMUM_POLL_CODES
from tools.dev.conformance.evidence import Evidence, EvidenceError
from tools.dev.conformance.page import format_tests
from tools.lab.markdown import format_table

_PATH_TO_ROOT: Final = "../../"
_SENT_EXCEPTION_CODES: Final = (
    list_raised_exceptions(FEATURES.entry_declarations)
    | money_exceptions.MONEY_EXCEPTION_CODES
    | {NO_EXCEPTION_CODE, QUEUE_OVERFLOW_EXCEPTION_CODE}
)

_INTRODUCTION: Final = """\
# SAS: polls, exceptions and meters

This page lists what is implemented of each part of SAS and which tests show it. `make conformance` writes it from
the tables in `egm/links/sas`. To change it, edit the tables or the tests.

SAS 6.02 is a licensed standard whose text was not available. Each row was compiled from public sources. This page
claims no conformity with the standard. The trust of a row says how many sources agree:

* **A**: two or more independent sources, or an experiment.
* **B**: one source.
* **K**: general knowledge of the protocol only, without a published source.
* **X**: the sources conflict, and the note says how.

**M** marks the minimum set that one regulator publishes for machines on its network (Montana, video gambling).

The state of a row says what the machine does:

* **answered**, **sent**, **supported**: implemented, and on by default.
* **switched off**: implemented. The cabinet file switches on the named group (`[sas.<name>] enable = [...]`).
* **not built**: the machine does not reply to the poll, never sends the exception, or reports the meter as
  unsupported. The note says why."""

#: Why a poll is not built, by its code, if the poll's own note does not say it.
_REASON_BY_UNBUILT_POLL: Final = {
    **dict.fromkeys(
        (0x8A, 0x90, 0x9A), "it has no transaction id, so a lost reply could lead to a double payment"
    ),
    **dict.fromkeys((0x8C, *range(0x95, 0x9A)), "this machine plays no tournaments"),
    0xA4: "four digits of credits are too few for this machine's limits",
    0xA8: "a hand-pay is always paid by an attendant, never to the credit meter",
    0x47: "this machine has no external coin acceptor",
    0x75: "no receipts are printed for transfers",
    0x76: "no tickets are printed for transfers",
    0x8B: "obsolete; layout not found",
    0x8E: "no public source gives the codes of the cards; game recall shows each hand",
    0xAA: "this machine has no auto rebet",
}
#: Why an exception is not built, by its code.
_REASON_BY_UNBUILT_EXCEPTION: Final = {
    **dict.fromkeys((0x32, 0x33), "a machine that has lost its memory does not run and replies to no poll"),
    **dict.fromkeys((0x34, 0x35, 0x36, 0x38, 0x39, 0x3A), "there is no EPROM: see 8E"),
    **dict.fromkeys(range(0x40, 0x47), "the reels are pictures"),
    0x3E: "hand-pays are not validated",
    0x55: "a cash-out cannot be cancelled once it is requested",
    **dict.fromkeys((0x6B, 0x6C, 0x6D, 0x6E), "wins stay on the machine, and the host registers it"),
    0x77: "the printer is thermal",
    0x79: "the coin acceptor does not report it",
    0x7C: "there are no legacy bonuses",
    **dict.fromkeys((0x80, 0x81), "the machine counts the coins of the hopper and has no level sensor"),
    **dict.fromkeys(
        (0x87, 0x88, 0x89, 0x8B), "only sent in real time: a host sees the game from its other events"
    ),
    0x8F: "poll 6E is not built",
}
_REASON_FOR_UNBUILT_METER: Final = "this machine has no such device or transfer"


def format_sas_page(evidence: Evidence) -> str:
    """Return the whole page. Raises :class:`EvidenceError` if a test claims a row that does not exist."""
    known_row_ids = {f"polls:{c:02X}" for c in POLL_BY_CODE} | {
        f"exceptions:{c:02X}" for c in EXCEPTION_DEFINITION_BY_CODE
    }
    known_row_ids |= {f"meters:{c:02X}" for c in METER_DEFINITION_BY_CODE}
    unknown_claims = [
        f"{test.file}::{test.name}: {row}"
        for row in evidence.tests_by_sas_row.keys() - known_row_ids
        for test in evidence.tests_by_sas_row[row]
    ]
    if unknown_claims:
        raise EvidenceError("no such row of the SAS tables:\n" + "\n".join(sorted(unknown_claims)))
    parts = [_INTRODUCTION]
    for title, headings, rows in (
        (
            "Long polls",
            ("Poll", "Name", "Type", "Trust", "State", "Note", "Tests"),
            _list_poll_rows(evidence),
        ),
        (
            "Exceptions",
            ("Code", "Name", "Waits", "Trust", "State", "Note", "Tests"),
            _list_exception_rows(evidence),
        ),
        (
            "Meters",
            ("Code", "Name", "Counts", "Bytes", "Trust", "State", "Tests"),
            _list_meter_rows(evidence),
        ),
    ):
        states = Counter(row[headings.index("State")].partition(":")[0] for row in rows)
        counts_text = ", ".join(f"{row_count} {state}" for state, row_count in sorted(states.items()))
        parts.append(f"## {title}\n\n{len(rows)} rows: {counts_text}.\n\n{format_table(headings, rows)}")
    return "\n\n".join(parts) + "\n"


def _format_tests_of_row(evidence: Evidence, name: str, code: int) -> str:
    return format_tests(evidence.tests_by_sas_row.get(f"{name}:{code:02X}", ()), _PATH_TO_ROOT)


def _list_poll_rows(evidence: Evidence) -> Sequence[Sequence[str]]:
    rows = []
    for code, poll in POLL_BY_CODE.items():
        implemented_poll = IMPLEMENTED_POLLS.get(code)
        if implemented_poll is None:
            state, note = "not built", _REASON_BY_UNBUILT_POLL.get(code, poll.note)
        else:
            state = (
                "answered"
                if implemented_poll.group in DEFAULT_POLL_GROUPS
                else f"switched off: `{implemented_poll.group}`"
            )
            note = poll.note
        code_text = f"{code:02X}{' **M**' if code in REGULATOR_MINIMUM_POLL_CODES else ''}"
        rows.append(
            [
                code_text,
                poll.name,
                poll.poll_type,
                poll.confidence,
                state,
                note,
                _format_tests_of_row(evidence, "polls", code),
            ]
        )
    return rows


def _list_exception_rows(evidence: Evidence) -> Sequence[Sequence[str]]:
    return [
        [
            f"{code:02X}{' **M**' if exception.is_in_regulator_minimum else ''}",
            exception.name,
            exception.urgency.replace("_", " "),
            exception.confidence,
            "sent" if code in _SENT_EXCEPTION_CODES else "not built",
            "" if code in _SENT_EXCEPTION_CODES else _REASON_BY_UNBUILT_EXCEPTION.get(code, ""),
            _format_tests_of_row(evidence, "exceptions", code),
        ]
        for code, exception in EXCEPTION_DEFINITION_BY_CODE.items()
    ]


def _list_meter_rows(evidence: Evidence) -> Sequence[Sequence[str]]:
    return [
        [
            f"{code:02X}",
            meter.name,
            meter.unit,
            str(meter.byte_count),
            meter.confidence,
            "supported" if code in SUPPORTED_METER_CODES else f"not built: {_REASON_FOR_UNBUILT_METER}",
            _format_tests_of_row(evidence, "meters", code),
        ]
        for code, meter in METER_DEFINITION_BY_CODE.items()
    ]
