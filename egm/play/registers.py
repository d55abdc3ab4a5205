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
        "merchandise",
        (
            PRIZES_WON.kind,
            PRIZES_EXCHANGED.kind,
            HANDPAY_PAID.kind,
            ORPHAN_HANDPAY.kind,
            PRIZE_FORFEITED.kind,
        ),
        ("event", "prizes", "play_id", "id", "slip", "machine", "persons"),
        "C-03; QC s.90; FR68-20",
        required_field="prizes",
    ),
    Register(
        "progressives",
        (LEVEL_HIT.kind, BROADCAST_LEVEL_HIT.kind, HANDPAY_PAID.kind),
        (
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
        "I-17; FR68-20; MC 21.1",
        required_field="pool",
    ),
    Register(
        "checks",
        (MACHINE_CHECKED.kind,),
        ("play_id", "game", "digest", "software", "books", "handpay", "head", "remark", "persons"),
        "Q-02; MC 21.1",
    ),
    Register(
        "forfeited-games",
        (GAME_VOID.kind,),
        ("play_id", "machine", "reason", "persons"),
        "F-15; QC s.94",
        required_value_by_field={"ruling": "disrupted"},
    ),
    Register(
        "refunds",
        (GAME_VOID.kind,),
        ("play_id", "refund_cents", "machine", "reason", "persons"),
        "F-14; QC s.95",
        required_value_by_field={"ruling": "defect"},
    ),
    Register(
        "residuals",
        (RESIDUAL_GIVEN_UP.kind, RESIDUAL_PLAYED.kind),
        ("event", "amount_cents", "prize_cents", "won_cents"),
        "F-10; NZ 1.22.40",
    ),
)
