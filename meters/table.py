"""The canonical meters as data: each is a sum over flows of value between accounts of the chart.

The journal's transfers are added up in cells, one for each pair of accounts and set of dimensions (position, game,
paytable version, denomination, wager level). Every meter is a sum of such cells. So the meters of all games, or of all
denominations, always add up to the machine's meter.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, TypeAlias

from meters.chart import CREDIT_KINDS, compile_account_pattern

#: Pairs of patterns of account names: source and target.
AccountFlows: TypeAlias = tuple[tuple[str, str], ...]


class MeterUnit(StrEnum):
    """The unit of a meter: money, occurrences or tournament points."""

    CENTS = "cents"
    """Minor units of the currency."""
    TIMES = "times"
    """Number of occurrences."""
    POINTS = "points"
    """Tournament points: never money."""


@dataclass(frozen=True, slots=True)
class Meter:
    """One meter of the machine: the value of all transfers in ``flows``, less that of those in ``decreasing_flows``."""

    name: str
    """The name of the meter in readings and exports."""
    meaning: str
    """What the meter counts, as text for the documentation."""
    flows: AccountFlows
    """The flows, as (source, target) patterns of account names, that increase the meter."""
    decreasing_flows: AccountFlows = ()
    """The flows, as (source, target) patterns of account names, that decrease the meter."""
    unit: MeterUnit = MeterUnit.CENTS
    """Whether the meter counts money, occurrences or points."""

    @property
    def can_decrease(self) -> bool:
        """Return whether the meter can decrease, like those of credits and hopper contents; a cumulative one cannot."""
        return bool(self.decreasing_flows)


#: Pattern of the accounts of players' credit.
_ANY_CREDIT: Final = "credit:*"
#: The meters of amounts paid by an attendant that add up to ``hand_paid``: name, meaning and flows.
_HAND_PAY_METERS: Final = (
    (
        "att_cancel_credit",
        "cancelled credit paid by an attendant",
        ((_ANY_CREDIT, "out:handpay_cancelled_credit"),),
    ),
    (
        "att_jackpot",
        "jackpots that the machine cannot pay itself, paid by an attendant",
        (("house:attendant_jackpot", "out:*"),),
    ),
    ("att_progressive", "progressive wins paid by an attendant", (("house:progressive:*", "out:*"),)),
    ("att_bonus", "external bonus awards paid by an attendant", (("house:bonus", "out:*"),)),
)


def _build_value_count_pairs() -> tuple[Meter, ...]:
    """Return two meters, the value and the number, for each kind of bill, voucher, transfer and bonus award."""
    meters = []
    # Meters use the SAS and GSA names of the kinds of credit; accounts use this project's names. A voucher is a ticket.
    kinds = {"cashable": "cashable", "promo_cashable": "nonrestricted", "promo_restricted": "restricted"}
    for name, kind in kinds.items():
        meters += [
            ("ticket_in." + name, f"{kind} vouchers redeemed", (f"world:voucher_in:{kind}", _ANY_CREDIT)),
            ("ticket_out." + name, f"{kind} vouchers issued", (_ANY_CREDIT, f"out:voucher:{kind}")),
            ("aft_in." + name, f"{kind} AFT transfers in", (f"world:aft_in:{kind}", _ANY_CREDIT)),
            ("aft_out." + name, f"{kind} AFT transfers out", (_ANY_CREDIT, f"out:aft_out:{kind}")),
        ]
    meters += [
        ("bonus_in.cashable", "cashable bonus awards", ("house:bonus", "credit:*:cashable")),
        ("bonus_in.promo_cashable", "nonrestricted bonus awards", ("house:bonus", "credit:*:nonrestricted")),
        ("bill_in", "bills stacked in the cash box", ("world:bill", _ANY_CREDIT)),
    ]
    return tuple(
        meter
        for name, meaning, flow in meters
        for meter in (
            Meter(name + ".value", meaning + ", value", (flow,)),
            Meter(name + ".count", meaning + ", number", (flow,), unit=MeterUnit.TIMES),
        )
    )


#: The canonical meters.
METERS: Final[tuple[Meter, ...]] = (
    Meter(
        "credits", "credit on the machine now", (("*", _ANY_CREDIT),), decreasing_flows=((_ANY_CREDIT, "*"),)
    ),
    Meter("coin_in", "all wagers, except winnings staked in a double-up", ((_ANY_CREDIT, "house:wager"),)),
    *(
        Meter(f"coin_in.{kind}", f"wagers of {kind} credit", ((f"credit:*:{kind}", "house:wager"),))
        for kind in CREDIT_KINDS
    ),
    *(
        Meter(
            f"credits.{kind}",
            f"{kind} credit on the machine now",
            (("*", f"credit:*:{kind}"),),
            decreasing_flows=((f"credit:*:{kind}", "*"),),
        )
        for kind in CREDIT_KINDS
    ),
    Meter(
        "coin_out",
        "wins paid and stakes returned by the machine, excluding progressive wins and bonus awards",
        (("house:win", _ANY_CREDIT), ("house:push", _ANY_CREDIT)),
    ),
    Meter("push", "returned stakes, which are not wins", (("house:push", "*"),)),
    *(Meter(name, meaning, flows) for name, meaning, flows in _HAND_PAY_METERS),
    Meter(
        "hand_paid",
        "all amounts paid by hand, excluding complements and disputed amounts",
        tuple(f for _, _, fs in _HAND_PAY_METERS for f in fs),
    ),
    Meter(
        "att_merchandise.value",
        "stated value of prizes in kind handed over by an attendant (not money)",
        (("prizes:*:offered", "prizes:*:given"),),
    ),
    Meter(
        "att_merchandise.count",
        "prizes in kind handed over by an attendant, number",
        (("prizes:*:offered", "prizes:*:given"),),
        unit=MeterUnit.TIMES,
    ),
    Meter(
        "mach_progressive", "progressive wins paid by the machine", (("house:progressive:*", _ANY_CREDIT),)
    ),
    Meter("mach_bonus", "external bonus awards paid by the machine", (("house:bonus", _ANY_CREDIT),)),
    Meter("double_up_bet", "winnings staked again in the double-up", ((_ANY_CREDIT, "house:double_up_bet"),)),
    Meter("double_up_won", "wins of the double-up", (("house:double_up_win", _ANY_CREDIT),)),
    Meter("phys_coin_in", "coins accepted", (("world:coin", _ANY_CREDIT),)),
    Meter("phys_coin_out", "coins paid by the hopper", ((_ANY_CREDIT, "out:hopper"),)),
    Meter("coin_drop", "coins diverted to the drop box", (("stock:*", "stock:coin_box"),)),
    Meter("hopper_fill", "coins put into the hopper by attendants", (("stock:fill", "stock:hopper"),)),
    Meter(
        "hopper_level",
        "coins in the hopper now",
        (("*", "stock:hopper"),),
        decreasing_flows=(("stock:hopper", "*"),),
    ),
    *_build_value_count_pairs(),
    Meter(
        "drop_total",
        "coins diverted to the drop box, and bills and vouchers accepted",
        (("stock:*", "stock:coin_box"), ("world:bill", _ANY_CREDIT), ("world:voucher_in:*", _ANY_CREDIT)),
    ),
    Meter("money_in", "all money that became credit, excluding wins", (("world:*", _ANY_CREDIT),)),
    Meter(
        "carried_over",
        "money still owed to players when the journal before this one was cleared",
        (("house:carried_over", "*"),),
    ),
    Meter("money_out", "all money paid out of the machine, by every payment method", (("*", "out:*"),)),
    Meter("residual_removed", "residual credit given up or played", ((_ANY_CREDIT, "house:residual"),)),
    Meter("residual_won", "wins of residual credit that was played", (("house:residual_win", _ANY_CREDIT),)),
    Meter("refund_defect", "wagers returned after a defect", (("house:refund_defect", "*"),)),
    Meter(
        "forfeit_tamper",
        "credits forfeited by a player who disrupted the machine",
        ((_ANY_CREDIT, "house:forfeit"),),
    ),
    Meter(
        "time_charges", "charges for the time played at a poker table", ((_ANY_CREDIT, "house:time_charge"),)
    ),
    Meter("orphan", "credits, hand-pays and vouchers found without an owner", (("*", "house:orphan"),)),
    Meter(
        "orphan_merchandise",
        "stated value of prizes in kind that nobody has claimed (not money)",
        (("prizes:*:offered", "prizes:*:unclaimed"),),
    ),
    Meter("expired", "expired promotional credit", ((_ANY_CREDIT, "house:expired"),)),
    Meter("complement", "complements of payment, paid by hand", (("house:complement", "*"),)),
    Meter("disputed", "disputed amounts that staff ruled to pay by hand", (("*", "out:handpay_disputed"),)),
    Meter(
        "progressive.current",
        "amount that the level shows",
        (("*", "pool:*:current"),),
        decreasing_flows=(("pool:*:current", "*"),),
    ),
    Meter(
        "progressive.overflow",
        "contributions above the level's ceiling",
        (("*", "pool:*:overflow"),),
        decreasing_flows=(("pool:*:overflow", "*"),),
    ),
    Meter(
        "progressive.hidden",
        "hidden amount of the level, which is added at the next reset",
        (("*", "pool:*:hidden"),),
        decreasing_flows=(("pool:*:hidden", "*"),),
    ),
    Meter("progressive.startup", "operator funding of the level at resets", (("pool:*:startup", "*"),)),
    Meter("progressive.contributed", "contributions of wagers to the level", (("pool:*:contributed", "*"),)),
    Meter("progressive.wins", "hits of the level, value", (("*", "pool:*:won"),)),
    Meter("progressive.hits", "hits of the level, number", (("*", "pool:*:won"),), unit=MeterUnit.TIMES),
    Meter(
        "tournament_points",
        "points issued at the start of rounds",
        (("tournament:entry", "*"),),
        unit=MeterUnit.POINTS,
    ),
    Meter(
        "tournament_wagers",
        "points wagered in a tournament",
        (("*", "tournament:wager"),),
        unit=MeterUnit.POINTS,
    ),
    Meter("tournament_wins", "points won in a tournament", (("tournament:win", "*"),), unit=MeterUnit.POINTS),
    Meter("tournament_fees.value", "entry fees sold, value", (("fees:participants", "fees:sold"),)),
    Meter(
        "tournament_fees.count",
        "entry fees sold, number",
        (("fees:participants", "fees:sold"),),
        unit=MeterUnit.TIMES,
    ),
    Meter("tournament_refunds", "entry fees refunded", (("fees:sold", "fees:participants"),)),
    Meter(
        "tournament_prizes.value", "tournament prizes paid, value", (("fees:prizes", "fees:participants"),)
    ),
    Meter(
        "tournament_prizes.count",
        "tournament prizes paid, number",
        (("fees:prizes", "fees:participants"),),
        unit=MeterUnit.TIMES,
    ),
)

#: The canonical meters by name.
METER_BY_NAME: Final = {m.name: m for m in METERS}

#: Meters of events (not flows) that a reading always shows, also at zero. Other meters of events (door.<x>.opens,
#: fault.<code>) appear after their first event.
OCCURRENCE_METERS: Final = (
    "games_played",
    "games_won",
    "games_lost",
    "games_pushed",
    "power_resets",
    "verify_fail",
    "bills_rejected",
    "host_comm_loss",
)


@lru_cache(maxsize=4096)
def find_flow_meters(source: str, target: str) -> tuple[tuple[Meter, int], ...]:
    """Return (meter, +1 or -1) for each meter that a flow from ``source`` to ``target`` increases or decreases."""
    return tuple(
        (meter, sign)
        for meter in METERS
        for flows, sign in ((meter.flows, 1), (meter.decreasing_flows, -1))
        if any(
            compile_account_pattern(s).fullmatch(source) and compile_account_pattern(t).fullmatch(target)
            for s, t in flows
        )
    )
