"""Declarations of play's registers: prizes in kind, progressive wins, checked and void games, residual credit."""

from typing import Final

from egm.money.entries import HANDPAY_PAID, ORPHAN_HANDPAY, PRIZE_FORFEITED
from egm.play.entries import (
    GAME_VOID,
    MACHINE_CHECKED,
    PRIZES_EXCHANGED,
    PRIZES_WON,
    RESIDUAL_GIVEN_UP,
    RESIDUAL_PLAYED,
)
from egm.progressive.entries import BROADCAST_LEVEL_HIT, LEVEL_HIT
from egm.staff.registers import Register

PLAY_REGISTERS: Final = (
    Register(
        name="merchandise",
        entry_kinds=(
            PRIZES_WON.kind,
            PRIZES_EXCHANGED.kind,
            HANDPAY_PAID.kind,
            ORPHAN_HANDPAY.kind,
            PRIZE_FORFEITED.kind,
        ),
        columns=("event", "prizes", "play_id", "id", "slip", "machine", "persons"),
        source_clauses="C-03; QC s.90; FR68-20",
        required_field="prizes",
    ),
    Register(
        name="progressives",
        entry_kinds=(LEVEL_HIT.kind, BROADCAST_LEVEL_HIT.kind, HANDPAY_PAID.kind),
        columns=(
            "event",
            "machine",
            "play_id",
            "game",
            "pool",
            "level",
            "amount_cents",
            "way",
            "slip",
            "persons",
        ),
        source_clauses="I-17; FR68-20; MC 21.1",
        required_field="pool",
    ),
    Register(
        name="checks",
        entry_kinds=(MACHINE_CHECKED.kind,),
        columns=("play_id", "game", "digest", "software", "books", "handpay", "head", "remark", "persons"),
        source_clauses="Q-02; MC 21.1",
    ),
    Register(
        name="forfeited-games",
        entry_kinds=(GAME_VOID.kind,),
        columns=("play_id", "machine", "reason", "persons"),
        source_clauses="F-15; QC s.94",
        required_value_by_field={"ruling": "disrupted"},
    ),
    Register(
        name="refunds",
        entry_kinds=(GAME_VOID.kind,),
        columns=("play_id", "refund_cents", "machine", "reason", "persons"),
        source_clauses="F-14; QC s.95",
        required_value_by_field={"ruling": "defect"},
    ),
    Register(
        name="residuals",
        entry_kinds=(RESIDUAL_GIVEN_UP.kind, RESIDUAL_PLAYED.kind),
        columns=("event", "amount_cents", "prize_cents", "won_cents"),
        source_clauses="F-10; NZ 1.22.40",
    ),
)
