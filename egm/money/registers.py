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
        "handpays",
        (HANDPAY_PAID.kind,),
        (
            *("slip", "kind", "in_coins", "amount_cents", "prizes", "method", "taxable", "identity"),
            *("witness", "machine", "persons"),
        ),
        "Q-01, Q-03, Q-19; MC 21.1; NJD 1.40",
    ),
    Register(
        "disputed-amounts",
        (DISPUTED_AMOUNT_RULED.kind,),
        ("device", "id", "number", "why", "least_cents", "most_cents", *RULING_COLUMNS),
        "G-02, G-07, G-08; MC 21.2",
    ),
    Register(
        "complements",
        (COMPLEMENT_PAID.kind,),
        ("play_id", "slip", *RULING_COLUMNS),
        "Q-05, Q-19, F-17; MC 21.4",
    ),
    Register(
        "orphans",
        (ORPHAN_CREDITS.kind, ORPHAN_HANDPAY.kind, ORPHAN_TICKET.kind),
        ("kind", "number", *RULING_COLUMNS),
        "Q-06, H-13, F-18; MC 21.3",
    ),
    Register(
        "forfeits",
        (PRIZE_FORFEITED.kind, CREDITS_FORFEITED.kind),
        RULING_COLUMNS,
        "F-15; QC s.94",
    ),
    Register(
        "printed",
        (TICKET_OUT.kind, TEST_TICKET_PRINTED.kind, SLIP_PRINTED.kind),
        ("event", "id", "number", "amount_cents"),
        "G-17; NZ 1.10.40; CFR 547.11(b)(4)",
    ),
)
