"""Declarations of the registers of money: hand-pays, disputed, unclaimed and forfeited money, and printed tickets."""

from typing import Final

from egm.money.entries import (
    COMPLEMENT_PAID,
    CREDITS_FORFEITED,
    DISPUTED_AMOUNT_RULED,
    HANDPAY_PAID,
    ORPHAN_CREDITS,
    ORPHAN_HANDPAY,
    ORPHAN_TICKET,
    PRIZE_FORFEITED,
    TICKET_OUT,
)
from egm.staff.entries import SLIP_PRINTED, TEST_TICKET_PRINTED
from egm.staff.registers import RULING_COLUMNS, Register

MONEY_REGISTERS: Final = (
    Register(
        name="handpays",
        entry_kinds=(HANDPAY_PAID.kind,),
        columns=(
            *("slip", "kind", "in_coins", "amount_cents", "prizes", "method", "taxable", "identity"),
            *("witness", "machine", "persons"),
        ),
        source_clauses="Q-01, Q-03, Q-19; MC 21.1; NJD 1.40",
    ),
    Register(
        name="disputed-amounts",
        entry_kinds=(DISPUTED_AMOUNT_RULED.kind,),
        columns=("device", "id", "number", "why", "least_cents", "most_cents", *RULING_COLUMNS),
        source_clauses="G-02, G-07, G-08; MC 21.2",
    ),
    Register(
        name="complements",
        entry_kinds=(COMPLEMENT_PAID.kind,),
        columns=("play_id", "slip", *RULING_COLUMNS),
        source_clauses="Q-05, Q-19, F-17; MC 21.4",
    ),
    Register(
        name="orphans",
        entry_kinds=(ORPHAN_CREDITS.kind, ORPHAN_HANDPAY.kind, ORPHAN_TICKET.kind),
        columns=("kind", "number", *RULING_COLUMNS),
        source_clauses="Q-06, H-13, F-18; MC 21.3",
    ),
    Register(
        name="forfeits",
        entry_kinds=(PRIZE_FORFEITED.kind, CREDITS_FORFEITED.kind),
        columns=RULING_COLUMNS,
        source_clauses="F-15; QC s.94",
    ),
    Register(
        name="printed",
        entry_kinds=(TICKET_OUT.kind, TEST_TICKET_PRINTED.kind, SLIP_PRINTED.kind),
        columns=("event", "id", "number", "amount_cents"),
        source_clauses="G-17; NZ 1.10.40; CFR 547.11(b)(4)",
    ),
)
