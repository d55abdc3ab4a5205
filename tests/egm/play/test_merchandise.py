"""Prizes in kind are won by name, stay owed after any power cut, and are delivered or paid in money, never both."""

from fractions import Fraction
from pathlib import Path

import pytest

from egm.app.features import STAFF_REGISTERS
from egm.config.cabinet_file import GameTable
from egm.kernel import messages
from egm.kernel.events import Event, EventType, State
from egm.money.hand_pays import settle_handpay
from egm.money.keys import MoneyKey
from egm.people import Role
from egm.play.installed_games import admit_games
from egm.play.prizes_in_kind import exchange_prizes
from egm.profiles import load_profile
from egm.profiles import profile as profiles
from egm.staff.events import Authorisation, FilledForm
from egm.staff.registers import iter_register_lines
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import MachineRig, ScriptedGenerator, write_undeclared_entry
from egm.testing.service_menu import MenuUser
from meters import ForbiddenTransfer, Phase, Transaction, Transfer
from meters.recall import iter_recent_plays
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

GAME = Path(__file__).parents[2] / "vectors" / "fair.toml"
#: Stops of both reels, by the symbols on the upper and the lower line.
BOTH, CART_AND_PEARS, PEARS = (0, 0), (1, 1), (2, 2)
ONE = {"person": "2", "persons": ("2",)}


def write_profile(tmp_path, **changes: str) -> Path:
    text = (profiles._PROFILES_FOLDER / "generic.toml").read_text()
    for key, value in changes.items():
        lines_ = [line for line in text.split("\n") if not line.startswith(f"{key} =")]
        line_index = lines_.index("[by_hand]") + 1
        text = "\n".join([*lines_[:line_index], f"{key} = {value}", *lines_[line_index:]])
    path = tmp_path / "place.toml"
    path.write_text(text)
    return path


def open_rig(tmp_path, stops=BOTH, profile="generic") -> MachineRig:
    return MachineRig(
        tmp_path / "state", profile=profile, games=(str(GAME),), generator=ScriptedGenerator(*stops)
    ).boot()


def win_prize(tmp_path, stops=BOTH, profile="generic") -> MachineRig:
    rig = open_rig(tmp_path, stops, profile).insert(500)
    rig.play()
    rig.report_shown()
    assert rig.state is State.HANDPAY
    return rig


def read_meters(rig) -> dict[str, int]:
    return rig.journal.meters().values


def list_findings(rig) -> list[str]:
    """Return the findings of an audit of the exported journal, which has only the definition."""
    report = Auditor(GameFiles([GAME.parent])).audit_entries(rig.journal.iter_bodies())
    return [finding.text for finding in report.findings]


# ---------------------------------------------------------------------------------------------- won and delivered
@pytest.mark.requirement("C-03")
def test_a_prize_in_kind_locks_the_machine_until_an_attendant_has_handed_it_over(tmp_path):
    rig = win_prize(tmp_path)
    outcome = next(message for message in rig.hands.messages if isinstance(message, messages.GameOutcome))
    assert [(prize.id, prize.names["fr"]) for prize in outcome.prizes] == [
        ("basket", "Panier de pommes"),
        ("cart", "Charrette"),
    ]
    handpay = rig.machine.memory.get(MoneyKey.HANDPAY)
    assert (handpay["kind"], handpay["amount_cents"]) == ("merchandise", 0)
    assert [prize["value_cents"] for prize in handpay["prizes"]] == [4000, 25000]
    rig.play()
    assert rig.state is State.HANDPAY

    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.notice, rig.credit_cents) == (State.IDLE, "prize_delivered", 490)
    assert read_meters(rig)["att_merchandise.value"] == 29000
    assert read_meters(rig)["att_merchandise.count"] == 2
    assert list_findings(rig) == []
    rig.close()


@pytest.mark.requirement("D-10")
def test_a_prize_in_kind_moves_no_money_meter(tmp_path):
    """Drop, hand-pays and hold count money; a hamper is not money, whatever it cost the operator."""
    rig = win_prize(tmp_path)
    before = read_meters(rig)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    moved = {name for name, value in read_meters(rig).items() if value != before.get(name, 0)}
    assert moved == {"att_merchandise.value", "att_merchandise.count"} | {
        name for name in moved if name.startswith("handpays.merchandise")
    }
    rig.journal.self_audit()
    with pytest.raises(ForbiddenTransfer, match="value never flows from the"):
        rig.journal.append(
            Transaction(
                id="x", kind="x", transfers=(Transfer("prizes:cart:offered", "out:handpay_jackpot", 25000),)
            )
        )
    rig.close()


def test_what_a_game_wins_beside_a_prize_is_paid_by_hand_with_it(tmp_path):
    rig = win_prize(tmp_path, CART_AND_PEARS)
    handpay = rig.machine.memory.get(MoneyKey.HANDPAY)
    assert (handpay["amount_cents"], [prize["id"] for prize in handpay["prizes"]]) == (20, ["cart"])
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (read_meters(rig)["att_jackpot"], read_meters(rig)["att_merchandise.value"]) == (20, 25000)
    assert list_findings(rig) == []
    rig.close()


def test_a_game_without_a_prize_in_kind_needs_no_attendant(tmp_path):
    rig = open_rig(tmp_path, PEARS).insert(500)
    rig.play()
    rig.report_shown()
    assert (rig.state, rig.credit_cents) == (State.IDLE, 500 - 10 + 2 * 20)
    assert read_meters(rig)["att_merchandise.count"] == 0
    rig.close()


@pytest.mark.requirement("F-16:a", "F-16:b", "Q-01", "Q-03")
def test_a_valuable_prize_needs_the_winners_identity_and_a_tax_mark(tmp_path):
    profile_file = write_profile(tmp_path, identity_cents="20000", tax_cents="29000")
    rig = win_prize(tmp_path, profile=profile_file)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.notice) == (State.HANDPAY, "refused.handpay_is_in_order")
    named = {"name": "Anna Example", "document": "passport", "number": "X1"}
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    rig.engine.handle(EventType.RECORD_HANDPAY_FORM, form="handpay", method="cash", **ONE)
    assert rig.notice == "refused.payment_form_is_complete"
    rig.engine.handle(EventType.RECORD_HANDPAY_FORM, form="handpay", method="cash", **ONE, **named)
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.state is State.IDLE
    [paid] = iter_register_lines(STAFF_REGISTERS["handpays"], rig.journal.entries())
    assert (paid["kind"], paid["taxable"], paid["amount_cents"]) == ("merchandise", True, 0)
    assert paid["prizes"] == ["Basket of apples / Panier de pommes", "Hand cart / Charrette"]
    rig.close()


# ---------------------------------------------------------------------------------------------- or its value
def open_exchange_page(rig: MachineRig) -> MenuUser:
    menu = MenuUser(rig).sign_in(Role.ATTENDANT)
    menu.touch("form:prize_cash").touch("confirm")
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    return menu


def exchange_and_pay(rig: MachineRig) -> None:
    open_exchange_page(rig)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")


def test_prize_in_kind_is_paid_in_money_where_the_jurisdiction_offers_it(tmp_path):
    rig = win_prize(tmp_path, CART_AND_PEARS)
    open_exchange_page(rig)
    handpay = rig.machine.memory.get(MoneyKey.HANDPAY)
    assert (handpay["kind"], handpay["amount_cents"], handpay.get("prizes")) == ("jackpot", 25020, None)
    assert [reservation.id for reservation in rig.journal.list_pending()] == [handpay["id"]]

    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.notice) == (State.IDLE, "handpay_paid")
    assert (read_meters(rig)["att_jackpot"], read_meters(rig)["att_merchandise.count"]) == (25020, 0)
    assert list_findings(rig) == []
    events = [
        line["event"] for line in iter_register_lines(STAFF_REGISTERS["merchandise"], rig.journal.entries())
    ]
    assert events == ["merchandise.won", "handpay.exchanged"]
    rig.close()


def test_without_the_profiles_offer_a_prize_cannot_be_exchanged_for_money(tmp_path):
    rig = win_prize(tmp_path, profile=write_profile(tmp_path, prizes_in_kind='"delivered"'))
    open_exchange_page(rig)
    assert rig.machine.memory.get(MoneyKey.HANDPAY)["kind"] == "merchandise"
    assert rig.records("handpay.exchanged") == []
    rig.close()


def test_a_host_cannot_release_a_prize_in_kind(tmp_path):
    rig = win_prize(tmp_path)
    rig.engine.handle(EventType.HANDPAY_RESET_BY_HOST, key="host:main")
    assert rig.state is State.HANDPAY
    open_exchange_page(rig)
    rig.engine.handle(EventType.HANDPAY_RESET_BY_HOST, key="host:main")
    assert rig.state is State.IDLE
    rig.close()


# ---------------------------------------------------------------------------------------------- restarts
class CutError(Exception):
    """Raised where the power is cut, before an entry is written."""


def cut_before(rig: MachineRig, entry: str, monkeypatch) -> None:
    """Cut the power when the machine is about to write an entry of this kind."""
    append = rig.journal.append

    def dying(transaction):
        if transaction.kind == entry:
            raise CutError
        return append(transaction)

    monkeypatch.setattr(rig.journal, "append", dying)


@pytest.mark.requirement("A-08", "D-02")
@pytest.mark.parametrize("entry", ["merchandise.won", "game.end"])
def test_a_power_cut_at_the_end_of_a_game_neither_loses_nor_repeats_a_prize(tmp_path, monkeypatch, entry):
    rig = open_rig(tmp_path).insert(500)
    rig.play()
    cut_before(rig, entry, monkeypatch)
    with pytest.raises(CutError):
        rig.report_shown()
    rig.close()

    rig = open_rig(tmp_path)
    assert rig.state is State.PLAYING
    rig.report_shown()
    assert len(rig.machine.memory.get(MoneyKey.HANDPAY)["prizes"]) == 2
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert read_meters(rig)["att_merchandise.count"] == 2
    assert len(rig.records("merchandise.won")) == read_meters(rig)["merchandise_won"] == 2
    assert list_findings(rig) == []
    rig.close()


@pytest.mark.requirement("A-08")
@pytest.mark.parametrize("entry", ["handpay.exchanged", "handpay.replaced", "handpay.paid"])
def test_a_power_cut_during_an_exchange_leaves_prize_or_money(tmp_path, monkeypatch, entry):
    rig = win_prize(tmp_path)
    cut_before(rig, entry, monkeypatch)
    with pytest.raises(CutError):
        exchange_and_pay(rig)
    rig.journal.self_audit()
    rig.close()

    rig = open_rig(tmp_path)
    assert rig.state is State.HANDPAY
    owed = rig.machine.memory.get(MoneyKey.HANDPAY)
    assert [reservation.id for reservation in rig.journal.list_pending()] == [owed["id"]]
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    delivered = entry == "handpay.exchanged"  # nothing of the exchange was written
    assert read_meters(rig)["att_merchandise.count"] == (2 if delivered else 0)
    assert read_meters(rig)["att_jackpot"] == (0 if delivered else 29000)
    assert list_findings(rig) == []
    rig.close()


@pytest.mark.requirement("A-05", "A-08")
@pytest.mark.parametrize("entry", ["handpay.replaced", "handpay.paid"])
def test_an_exchange_is_completed_after_a_power_cut_and_a_memory_clear(tmp_path, monkeypatch, entry):
    rig = win_prize(tmp_path)
    cut_before(rig, entry, monkeypatch)
    with pytest.raises(CutError):
        exchange_and_pay(rig)
    rig.close()
    clear_with_decisions(tmp_path / "state")

    rig = open_rig(tmp_path)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (read_meters(rig)["att_merchandise.count"], read_meters(rig)["att_jackpot"]) == (0, 29000)
    assert list_findings(rig) == []
    rig.close()


# ---------------------------------------------------------------------------------------------- rulings
@pytest.mark.requirement("A-05", "Q-06")
def test_an_unclaimed_prize_is_registered_after_a_power_cut_and_a_memory_clear(tmp_path, monkeypatch):
    rig = win_prize(tmp_path, CART_AND_PEARS)
    cut_before(rig, "orphan.handpay", monkeypatch)
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    with pytest.raises(CutError):
        rig.engine.handle(EventType.REGISTER_UNCLAIMED_HANDPAY, form="orphan_handpay", place="bank 4", **ONE)
    rig.close()
    clear_with_decisions(tmp_path / "state")

    rig = open_rig(tmp_path)
    assert (read_meters(rig)["orphan"], read_meters(rig)["orphan_merchandise"]) == (20, 25000)
    assert list_findings(rig) == []
    rig.close()


@pytest.mark.requirement("Q-06")
def test_an_unclaimed_prize_returns_to_the_venue_and_other_wins_to_the_orphans(tmp_path):
    rig = win_prize(tmp_path, CART_AND_PEARS)
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    rig.engine.handle(EventType.REGISTER_UNCLAIMED_HANDPAY, form="orphan_handpay", place="bank 4", **ONE)
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    assert rig.state is State.IDLE
    found = read_meters(rig)
    assert (found["orphan"], found["orphan_merchandise"], found["att_merchandise.count"]) == (20, 25000, 0)
    assert list_findings(rig) == []
    rig.close()


@pytest.mark.requirement("F-15")
def test_after_a_disruption_the_prize_is_forfeited(tmp_path):
    rig = win_prize(tmp_path)
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    two = {"person": "2", "persons": ("2", "5")}
    rig.engine.handle(EventType.FORFEIT_PRIZE, form="forfeit_prize", reason="shaken", **two)
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    assert (rig.state, read_meters(rig)["att_merchandise.count"]) == (State.IDLE, 0)
    [line] = [
        line
        for line in iter_register_lines(STAFF_REGISTERS["merchandise"], rig.journal.entries())
        if line["event"] == "forfeit.prize"
    ]
    assert line["prizes"] == ["Basket of apples / Panier de pommes", "Hand cart / Charrette"]
    assert list_findings(rig) == []
    rig.close()


# -------------------------------------------------------------------------------------------- records
@pytest.mark.requirement("E-01")
def test_recall_and_the_log_of_hand_pays_call_the_prize_by_its_name(tmp_path):
    rig = win_prize(tmp_path)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    [play] = iter_recent_plays(rig.journal, 1)
    assert ([prize["id"] for prize in play.prizes_won], play.payout_cents) == (["basket", "cart"], 0)
    menu = MenuUser(rig).sign_in(Role.MANAGER)
    menu.touch("recall").touch(play.play_id)
    assert menu.read_rows()["Prizes won"] == "Basket of apples, Hand cart"
    menu.home().touch("log.handpays")
    prize_names = {
        row.cells[1].value: row.cells[3].values.get("fr") for t in menu.page.tables for row in t.rows
    }
    assert prize_names["handpay.paid"] == "Panier de pommes, Charrette"
    assert "merchandise.won" in prize_names
    rig.close()


@pytest.mark.requirement("C-03")
def test_a_profile_without_prizes_in_kind_refuses_the_game(tmp_path):
    for profile in ("quebec-vlt", "monaco"):
        offered, refusals = admit_games((GameTable(game=str(GAME)),), load_profile(profile))
        assert not offered
        assert any("it can win merchandise" in refusal.reason for refusal in refusals)
    offered, refusals = admit_games((GameTable(game="orchard-picnic"),), load_profile("quebec-casino"))
    assert ([*offered], refusals) == (["orchard-picnic"], ())


def test_a_profile_with_a_prize_limit_refuses_prizes_in_kind(tmp_path):
    text = (profiles._PROFILES_FOLDER / "quebec-vlt.toml").read_text()
    path = tmp_path / "vlt.toml"
    path.write_text(text.replace("[by_hand]", '[by_hand]\nprizes_in_kind = "delivered"\n#', 1))
    with pytest.raises(profiles.OperatorError, match="prizes_in_kind"):
        load_profile(path)


# ---------------------------------------------------------------------------------------------- audited
@pytest.mark.not_audited
@pytest.mark.requirement("E-13:a")
@pytest.mark.parametrize(
    ("kind", "source", "target", "reason"),
    [
        ("game.end", "prizes:cart:offered", "prizes:cart:given", "the game won"),
        ("handpay.gift", "prizes:cart:offered", "prizes:cart:given", "is not the end of a game that won one"),
    ],
)
def test_an_audit_names_a_prize_that_no_game_has_won(tmp_path, monkeypatch, kind, source, target, reason):
    """A falsified journal with a valid chain and a prize that no game won."""
    rig = open_rig(tmp_path, PEARS).insert(500)
    append = rig.journal.append

    def lying(transaction):
        if transaction.kind != "game.end":
            return append(transaction)
        gift = Transfer(source, target, 25000)
        if kind == "game.end":
            return append(_with(transaction, gift))
        append(Transaction(id="gift", kind=kind, transfers=(gift,)))
        return append(transaction)

    monkeypatch.setattr(rig.journal, "append", lying)
    rig.play()
    rig.report_shown()
    monkeypatch.undo()
    assert any(reason in finding for finding in list_findings(rig))
    rig.close()


def _with(transaction: Transaction, transfer: Transfer) -> Transaction:
    fields = ("id", "kind", "phase", "ref", "dims", "counts", "marks", "state", "record")
    unchanged = {name: getattr(transaction, name) for name in fields}
    return Transaction(transfers=(*transaction.transfers, transfer), **unchanged)


@pytest.mark.not_audited
@pytest.mark.requirement("E-13:a")
def test_an_audit_names_a_prize_both_handed_over_and_paid(tmp_path):
    rig = win_prize(tmp_path)
    older = rig.machine.memory.get(MoneyKey.HANDPAY)["id"]
    # Past the table, whose rule gives the older reservation up after any event.
    exchange_prizes(rig.machine, Event(EventType.EXCHANGE_PRIZE, FilledForm(person="1", persons=("1",))))
    settle_handpay(rig.machine, Event(EventType.KEY_TURNED, Authorisation(key="attendant")))
    write_undeclared_entry(rig.machine, "handpay.paid", transaction_id="twice", phase=Phase.SETTLE, ref=older)
    assert any("pays its value as well" in finding for finding in list_findings(rig))
    rig.close()


# ---------------------------------------------------------------------------------------------- the return
@pytest.mark.requirement("C-09")
@pytest.mark.parametrize("counted", ["nothing", "reset", "all"])
def test_prizes_in_kind_do_not_count_towards_the_minimum_return(tmp_path, counted):
    """The prizes are worth far more than the stakes; only the pairs of pears count."""
    poor = tmp_path / "poor.toml"
    poor.write_text(GAME.read_text().replace("pays = { 2 = 4 }", "pays = { 2 = 3 }"))
    profile = load_profile(write_profile(tmp_path))
    profile = profile.model_copy(
        update={"progressives": profile.progressives.model_copy(update={"part_counted_in_return": counted})}
    )
    for least, is_admitted in (("0.75", True), ("0.76", False)):
        returns = profile.returns.model_copy(update={"reels_return_min": Fraction(least)})
        admitted, refusals = admit_games(
            (GameTable(game=str(poor)),), profile.model_copy(update={"returns": returns})
        )
        assert bool(admitted) is is_admitted
        if is_admitted:
            assert admitted["fair"].lowest_return == Fraction(3, 4)
        else:
            assert "returns 75.0000 %" in refusals[0].reason
