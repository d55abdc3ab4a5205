"""Meters are sums over the journal: they add up, roll over, and have each jurisdiction's names."""

from datetime import UTC, datetime

import pytest

from meters import ExcessiveIncrement, Journal, JournalPolicy, PeriodMark, Phase, Transaction, Transfer
from meters.chart import ACCOUNTS, AccountBook, AccountRole, find_account
from meters.names import METER_NAMES_BY_JURISDICTION, UnknownJurisdiction, read_jurisdiction_meters
from meters.reading import UnknownMeter, compute_displayed_value
from meters.table import METERS, MeterUnit, find_flow_meters

CREDIT = "credit:1:cashable"


def clock():
    return datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def journal(tmp_path):
    with Journal.open(tmp_path, now=clock) as opened:
        yield opened


def move(journal, *transfers, **options):
    journal.append(
        Transaction(
            id=f"t{journal.sequence}",
            kind=options.pop("kind", "move"),
            transfers=tuple(Transfer(*t) for t in transfers),
            **options,
        )
    )


#: The meters of amounts paid by an attendant; each amount is counted by one of them.
PAID_BY_HAND = ("att_cancel_credit", "att_jackpot", "att_progressive", "att_bonus")
#: flow -> meter (Annex D) that must move by its amount, and count meter that must move by one.
ANNEX_D = [
    (("world:bill", CREDIT), "bill_in.value", "bill_in.count"),
    (("world:coin", CREDIT), "phys_coin_in", None),
    (("world:voucher_in:cashable", CREDIT), "ticket_in.cashable.value", "ticket_in.cashable.count"),
    (
        ("world:voucher_in:nonrestricted", CREDIT),
        "ticket_in.promo_cashable.value",
        "ticket_in.promo_cashable.count",
    ),
    (
        ("world:voucher_in:restricted", CREDIT),
        "ticket_in.promo_restricted.value",
        "ticket_in.promo_restricted.count",
    ),
    (("world:aft_in:cashable", CREDIT), "aft_in.cashable.value", "aft_in.cashable.count"),
    ((CREDIT, "house:wager"), "coin_in", None),
    (("house:win", CREDIT), "coin_out", None),
    (("house:attendant_jackpot", "out:handpay_jackpot"), "att_jackpot", None),
    ((CREDIT, "out:handpay_cancelled_credit"), "att_cancel_credit", None),
    (("house:progressive:1", "out:handpay_progressive"), "att_progressive", None),
    (("house:progressive:1", CREDIT), "mach_progressive", None),
    (("house:bonus", "out:handpay_bonus"), "att_bonus", None),
    (("house:bonus", CREDIT), "mach_bonus", None),
    (("house:bonus", CREDIT), "bonus_in.cashable.value", "bonus_in.cashable.count"),
    (
        ("house:bonus", "credit:1:nonrestricted"),
        "bonus_in.promo_cashable.value",
        "bonus_in.promo_cashable.count",
    ),
    ((CREDIT, "house:double_up_bet"), "double_up_bet", None),
    (("house:double_up_win", CREDIT), "double_up_won", None),
    ((CREDIT, "out:hopper"), "phys_coin_out", None),
    ((CREDIT, "out:voucher:cashable"), "ticket_out.cashable.value", "ticket_out.cashable.count"),
    ((CREDIT, "out:aft_out:cashable"), "aft_out.cashable.value", "aft_out.cashable.count"),
    ((CREDIT, "house:residual"), "residual_removed", None),
    (("house:refund_defect", CREDIT), "refund_defect", None),
    ((CREDIT, "house:forfeit"), "forfeit_tamper", None),
    ((CREDIT, "house:time_charge"), "time_charges", None),
    ((CREDIT, "house:orphan"), "orphan", None),
    (("world:voucher_in:cashable", "house:orphan"), "orphan", None),
    (("credit:1:restricted", "house:expired"), "expired", None),
    (("house:residual_win", CREDIT), "residual_won", None),
    (("house:push", CREDIT), "push", None),
    (("house:disputed", "out:handpay_disputed"), "disputed", None),
    (("house:carried_over", CREDIT), "carried_over", None),
    (("world:aft_in:restricted", CREDIT), "aft_in.promo_restricted.value", "aft_in.promo_restricted.count"),
    (("world:aft_in:nonrestricted", CREDIT), "aft_in.promo_cashable.value", "aft_in.promo_cashable.count"),
    (
        (CREDIT, "out:voucher:restricted"),
        "ticket_out.promo_restricted.value",
        "ticket_out.promo_restricted.count",
    ),
    (
        (CREDIT, "out:voucher:nonrestricted"),
        "ticket_out.promo_cashable.value",
        "ticket_out.promo_cashable.count",
    ),
    ((CREDIT, "out:aft_out:restricted"), "aft_out.promo_restricted.value", "aft_out.promo_restricted.count"),
    ((CREDIT, "out:aft_out:nonrestricted"), "aft_out.promo_cashable.value", "aft_out.promo_cashable.count"),
    (("prizes:1:offered", "prizes:1:given"), "att_merchandise.value", "att_merchandise.count"),
    (("prizes:1:offered", "prizes:1:unclaimed"), "orphan_merchandise", None),
    (("house:complement", "out:handpay_complement"), "complement", None),
    (("stock:floor", "stock:coin_box"), "coin_drop", None),
    (("stock:fill", "stock:hopper"), "hopper_fill", None),
    (("pool:1:contributed", "pool:1:current"), "progressive.current", None),
    (("pool:1:contributed", "pool:1:overflow"), "progressive.overflow", None),
    (("pool:1:contributed", "pool:1:hidden"), "progressive.hidden", None),
    (("pool:1:startup", "pool:1:current"), "progressive.startup", None),
    (("pool:1:current", "pool:1:won"), "progressive.wins", "progressive.hits"),
    (("tournament:entry", "tournament:points:1"), "tournament_points", None),
]


@pytest.mark.requirement("D-02", "D-04", "D-09", "D-10", "D-12", "D-13", "I-20")
@pytest.mark.parametrize(("flow", "value", "count"), ANNEX_D, ids=str)
def test_each_flow_moves_its_meter_by_its_amount(tmp_path, flow, value, count):
    with Journal.open(tmp_path, now=clock) as journal:
        move(journal, ("world:bill", CREDIT, 5000), ("world:aft_in:restricted", "credit:1:restricted", 5000))
        before = journal.meters().values
        move(journal, (*flow, 700))
        after = journal.meters().values
        assert after[value] - before[value] == 700
        if count:
            assert after[count] - before[count] == 1
        by_hand = [name for name in PAID_BY_HAND if after[name] != before[name]]
        assert by_hand == [name for name in PAID_BY_HAND if name == value]
        assert after["hand_paid"] - before["hand_paid"] == 700 * len(by_hand)


def test_every_account_of_the_chart_feeds_a_meter():
    """Every source and sink of value is metered, except stores; a Keno office has its own totals."""
    plain = {"<position>": "1", "<kind>": "cashable", "<level>": "1"}
    fed = set()
    for giver in ACCOUNTS:
        for taker in ACCOUNTS:
            if giver.can_be_debited and taker.can_be_credited and giver.book is taker.book:
                names = [giver.pattern, taker.pattern]
                for word, value in plain.items():
                    names = [n.replace(word, value) for n in names]
                if names[0] != names[1] and find_flow_meters(*names):
                    fed |= {giver.pattern, taker.pattern}
    stores = {"stock:floor"}
    others = {a.pattern for a in ACCOUNTS if a.book in {AccountBook.TOURNAMENT, AccountBook.KENO}}
    assert {a.pattern for a in ACCOUNTS} - fed <= stores | others


def test_a_double_up_leaves_coin_in_unchanged(journal):
    move(journal, ("world:bill", CREDIT, 1000))
    move(journal, (CREDIT, "house:wager", 100))
    move(journal, ("house:win", CREDIT, 200))
    move(journal, (CREDIT, "house:double_up_bet", 200), ("house:double_up_win", CREDIT, 400))
    values = journal.meters().values
    assert (values["coin_in"], values["coin_out"]) == (100, 200)
    assert (values["double_up_bet"], values["double_up_won"], values["credits"]) == (200, 400, 1300)


@pytest.mark.requirement("O-04", "O-01", "D-01")
def test_split_meters_add_up_to_the_total(journal):
    for n in range(1, 25):
        credit = f"credit:{n % 3}:cashable"
        dims = {
            "game": f"g{n % 2}",
            "paytable": f"v{n % 4}",
            "denomination_cents": (5, 25)[n % 2],
            "wager_level": n % 5,
        }
        move(journal, ("world:bill", credit, 1000, {"bill_cents": 1000}))
        move(journal, (credit, "house:wager", n), dims=dims, counts={"games_played": 1})
        move(journal, ("house:win", credit, 2 * n), dims=dims)
    reading = journal.meters()
    for dimension in ("position", "game", "paytable", "denomination_cents", "wager_level"):
        for name in ("coin_in", "coin_out"):
            assert sum(reading.split_by(name, dimension).values()) == reading.get_value(name)
            for part in reading.list_dimension_values(dimension):
                assert (
                    reading.select(**{dimension: part}).get_value(name)
                    == reading.split_by(name, dimension)[part]
                )
    assert reading.select(position=1, game="g0").get_value("coin_in") == sum(
        n for n in range(1, 25) if n % 3 == 1 and n % 2 == 0
    )
    assert sum(reading.split_by("games_played", "game").values()) == 24


@pytest.mark.requirement("D-05:b", "D-06", "D-07")
@pytest.mark.parametrize("digits", [7, 8, 10])
def test_a_meter_rolls_over_at_its_capacity_and_the_balance_does_not(journal, digits):
    capacity = 10**digits
    move(journal, ("world:bill", CREDIT, capacity - 1))
    assert compute_displayed_value(journal.meters().get_value("bill_in.value"), digits) == capacity - 1
    move(journal, ("world:bill", CREDIT, 1))
    assert compute_displayed_value(journal.meters().get_value("bill_in.value"), digits) == 0
    assert journal.balance_cents(CREDIT) == capacity
    journal.self_audit()


@pytest.mark.requirement("D-14")
def test_occurrences_are_counted_since_power_up_and_door_close(journal):
    def play():
        journal.append(Transaction(id=f"g{journal.sequence}", kind="game.end", counts={"games_played": 1}))

    play()
    journal.append(
        Transaction(id="up", kind="power.up", counts={"power_resets": 1}, marks=(PeriodMark.POWER_UP,))
    )
    play()
    journal.append(
        Transaction(
            id="door", kind="door.closed", counts={"door.main.opens": 1}, marks=(PeriodMark.DOOR_CLOSE,)
        )
    )
    play()
    values = journal.meters().values
    assert values["games_played"] == 3
    assert values["games_played.since_power_up"] == 2
    assert values["games_played.since_door_close"] == 1
    assert values["door.main.opens"] == 1


@pytest.mark.requirement("D-17")
def test_tournament_points_never_change_the_credit_meters(journal):
    move(journal, ("tournament:entry", "tournament:points:1", 50000))
    move(
        journal,
        ("tournament:points:1", "tournament:wager", 500),
        ("tournament:win", "tournament:points:1", 700),
    )
    values = journal.meters().values
    live = {m.name for m in METERS if m.unit is not MeterUnit.POINTS}
    assert not any(values[name] for name in live)
    assert (values["tournament_points"], values["tournament_wins"]) == (50000, 700)
    assert journal.credits_cents() == 0


#: Value of each jurisdiction's meter names after the movements of the test below, which all have different amounts.
READ_BY_NAME = {
    "mc": {
        "Compteur in": 1000,
        "Compteur out": 300,
        "Cash box": 37,
        "Jackpots et lots cumulés": 6180,
        "Crédits achetés en billets": 10_000,
    },
    "fr": {"Entrées": 1000, "Recettes": 37, "Sorties": 300, "Gains manuels": 6180, "Billets": 10_000},
    "us": {
        "Coin In": 1000,
        "Coin Out": 300,
        "Coin Drop": 37,
        "Drop": 13_077,
        "Bill In": 10_000,
        "Attendant Paid Jackpots": 5000,
        "Attendant Paid Cancelled Credits": 700,
        "Attendant Paid Progressive Payout": 190,
        "Attendant Paid External Bonus Payout": 290,
        "Merchandise Prizes, stated value": 0,
        "Machine Paid Progressive Payout": 17,
        "Machine Paid External Bonus Payout": 23,
        "Voucher In": 3040,
        "Voucher Out": 47,
        "Physical Coin In": 200,
        "Physical Coin Out": 31,
        "Games Played": 2,
    },
    "anz": {
        "Turnover": 1000,
        "Total Wins": 5507,
        "Cancelled Credit": 700,
        "Money In": 13_240,
        "Money Out": 6258,
        "Cash Box": 37,
        "Residual Credits Removed": 41,
        "Residual Credits Won": 43,
        "Games Played": 2,
    },
}


@pytest.mark.requirement("D-25")
@pytest.mark.parametrize("jurisdiction", METER_NAMES_BY_JURISDICTION)
def test_every_meter_name_of_a_jurisdiction_reads_its_own_meter(journal, jurisdiction):
    move(
        journal,
        ("world:bill", CREDIT, 10_000),
        ("world:coin", CREDIT, 200),
        ("world:voucher_in:cashable", CREDIT, 3000),
        ("world:voucher_in:nonrestricted", "credit:1:nonrestricted", 40),
    )
    move(journal, (CREDIT, "house:wager", 1000), ("house:win", CREDIT, 300), counts={"games_played": 2})
    move(journal, ("house:attendant_jackpot", "out:handpay_jackpot", 5000))
    move(journal, ("house:progressive:top", CREDIT, 17), ("house:bonus", CREDIT, 23))
    move(journal, ("house:progressive:top", "out:handpay_progressive", 190))
    move(journal, ("house:bonus", "out:handpay_bonus", 290))
    move(journal, (CREDIT, "house:residual", 41), ("house:residual_win", CREDIT, 43))
    move(journal, ("stock:floor", "stock:coin_box", 37))
    move(
        journal,
        (CREDIT, "out:handpay_cancelled_credit", 700),
        (CREDIT, "out:hopper", 31),
        (CREDIT, "out:voucher:cashable", 47),
    )
    assert read_jurisdiction_meters(journal.meters(), jurisdiction) == READ_BY_NAME[jurisdiction]


@pytest.mark.requirement("D-25", "D-01")
def test_each_jurisdiction_reads_the_same_journal_by_its_own_names(journal):
    move(journal, ("world:bill", CREDIT, 10000))
    move(journal, (CREDIT, "house:wager", 1000), ("house:win", CREDIT, 300))
    move(journal, ("house:attendant_jackpot", "out:handpay_jackpot", 5000))
    move(journal, (CREDIT, "out:handpay_cancelled_credit", 9300))
    reading = journal.meters()
    monaco = read_jurisdiction_meters(reading, "mc")
    assert monaco["Compteur in"] == 1000
    assert monaco["Compteur out"] == 300
    assert monaco["Jackpots et lots cumulés"] == 5000 + 9300
    assert read_jurisdiction_meters(reading, "fr")["Gains manuels"] == monaco["Jackpots et lots cumulés"]
    assert (
        read_jurisdiction_meters(reading, "us")["Coin In"]
        == read_jurisdiction_meters(reading, "anz")["Turnover"]
        == 1000
    )
    assert read_jurisdiction_meters(reading, "anz")["Total Wins"] == 5300
    known = set(reading.values)
    assert all(
        meter in known
        for names in METER_NAMES_BY_JURISDICTION.values()
        for meters in names.values()
        for meter in meters
    )
    with pytest.raises(UnknownJurisdiction):
        read_jurisdiction_meters(reading, "xx")
    with pytest.raises(UnknownMeter):
        reading.get_value("no such meter")


@pytest.mark.requirement("A-26")
def test_an_excessive_increment_is_refused(tmp_path):
    policy = JournalPolicy(increment_max_cents={"world:coin": 100_000, "world:bill": 1_000_000})
    with Journal.open(tmp_path, now=clock, policy=policy) as journal:
        move(journal, ("world:bill", CREDIT, 1_000_000))
        with pytest.raises(ExcessiveIncrement, match="world:bill"):
            move(journal, ("world:bill", CREDIT, 1_000_001))
        with pytest.raises(ExcessiveIncrement, match="world:coin"):
            move(journal, ("world:coin", CREDIT, 60_000), ("world:coin", CREDIT, 60_000))
        assert journal.balance_cents(CREDIT) == 1_000_000


def test_each_account_role_may_be_debited_or_credited_and_only_credit_stays_positive():
    for line in ACCOUNTS:
        assert line.can_be_debited or line.can_be_credited
        assert line.is_never_negative == (line.role is AccountRole.CREDIT)
    assert find_account("credit:2:restricted").role is AccountRole.CREDIT


@pytest.mark.requirement("D-11:b")
def test_bills_are_counted_by_denomination_also_through_escrow(journal):
    for n, cents in enumerate((500, 2000, 2000)):
        flow = Transfer("world:bill", CREDIT, cents, {"bill_cents": cents})
        journal.append(Transaction(id=f"e{n}", kind="bill.escrow", phase=Phase.RESERVE, transfers=(flow,)))
        assert journal.meters().split_by("bill_in.count", "bill_cents").get(str(cents), 0) == (
            1 if n == 2 else 0
        )
        journal.append(Transaction(id=f"s{n}", kind="bill.in", phase=Phase.SETTLE, ref=f"e{n}"))
    assert journal.meters().split_by("bill_in.count", "bill_cents") == {"500": 1, "2000": 2}


def test_a_value_below_zero_is_displayed_with_its_sign():
    assert (compute_displayed_value(-1700), compute_displayed_value(-1), compute_displayed_value(0)) == (
        -1700,
        -1,
        0,
    )
    assert compute_displayed_value(-(10**10) - 5) == -5


@pytest.mark.requirement("A-01")
@pytest.mark.parametrize("checkpoint_every", [1, 1000])
def test_a_restart_restores_every_meter_reservation_and_state(tmp_path, checkpoint_every):
    """They are restored from a checkpoint and from the entries after it."""
    policy = JournalPolicy(entries_per_checkpoint=checkpoint_every)
    journal = Journal.open(tmp_path, now=clock, policy=policy)
    journal.append(
        Transaction(id="up", kind="power.up", counts={"power_resets": 1}, marks=(PeriodMark.POWER_UP,))
    )
    move(journal, ("world:bill", CREDIT, 2000, {"bill_cents": 2000}))
    move(
        journal,
        (CREDIT, "house:wager", 25),
        dims={"game": "classic"},
        counts={"games_played": 1},
        state={"game.open": {"play_id": "g1"}},
    )
    move(journal, (CREDIT, "out:voucher:cashable", 600), phase=Phase.RESERVE)
    values, cells, pending = journal.meters().values, journal.meters().cells, journal.list_pending()
    assert (values["power_resets"], values["power_resets.since_power_up"]) == (1, 0)
    journal.close_without_checkpoint()  # without the checkpoint of an orderly end
    with Journal.open(tmp_path, now=clock, policy=policy) as journal:
        assert journal.meters().values == values
        assert sorted(map(str, journal.meters().cells)) == sorted(map(str, cells))
        assert journal.list_pending() == pending != []
        assert journal.state("game.open") == {"play_id": "g1"}
