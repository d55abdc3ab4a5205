"""Residual credit below the minimum bet stays, is given up, or is staked on one fair draw, as the profile permits."""

import pytest

from egm.app.features import STAFF_REGISTERS
from egm.app.view import build_snapshot
from egm.kernel.events import Event, EventType, State
from egm.kernel.messages import ResidualCreditView
from egm.kernel.positions import Position
from egm.money.events import ForfeitCreditsForm
from egm.money.rulings import forfeit_credits
from egm.play.keys import PlayKey
from egm.profiles import profile as profiles
from egm.staff.registers import iter_register_lines
from egm.testing.machine import GeneratorOutOfService, MachineRig, ScriptedGenerator, write_undeclared_entry
from meters import JournalError, SelfAuditFailed, Transaction, Transfer
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

#: The cheapest game of the room costs a credit of five cents.
USEFUL_CENTS, REST_CENTS = 5, 3
GENERIC = (profiles._PROFILES_FOLDER / "generic.toml").read_text()
LEAST_BET_OF_12_CENTS = "bet_minimum_cents = 12"


@pytest.fixture
def make(tmp_path):
    rigs = []

    def rig(generator=None, way="played", added_text="", play="", hopper_cents=100) -> MachineRig:
        """A machine with a rest of three cents on its meter."""
        profile_file = tmp_path / "place.toml"
        text = GENERIC.replace("[pay_out]", f'[pay_out]\nresidual = "{way}"')
        text = text.replace("hopper_cents = 100\n", f"hopper_cents = {hopper_cents}\n")
        profile_file.write_text(text.replace("[play]", f"[play]\n{play}") + added_text)
        opened_rig = (
            MachineRig(tmp_path / f"{len(rigs)}", profile=profile_file, generator=generator)
            .boot()
            .insert(500)
        )
        leave_residual_credit(opened_rig)
        rigs.append(opened_rig)
        return opened_rig

    yield rig
    for opened_rig in rigs:
        opened_rig.close()


def leave_residual_credit(rig) -> None:
    """Forfeit all credit except a residual amount, as two people at the menu."""
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    rest_cents = rig.credit_cents - REST_CENTS
    ruling = ForfeitCreditsForm(amount_cents=rest_cents, reason="for a test", persons=("1", "2"))
    forfeit_credits(rig.machine, Event(EventType.FORFEIT_CREDITS, ruling))
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")


def list_findings(rig) -> list[str]:
    return [
        finding.text for finding in Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings
    ]


@pytest.mark.requirement("F-10", "D-13")
def test_residual_credit_games_return_the_whole_stake_on_average(make):
    """Over all possible draws, the total win equals the total stake, to the cent."""
    won_cents = 0
    for value in range(USEFUL_CENTS):
        rig = make(ScriptedGenerator(value))
        assert build_snapshot(rig.engine).residual_credit == ResidualCreditView(
            amount_cents=REST_CENTS, prize_cents=USEFUL_CENTS
        )
        rig.engine.handle(EventType.USE_RESIDUAL_CREDIT)
        won = value < REST_CENTS
        assert rig.notice == ("residual_won" if won else "residual_lost")
        assert rig.credit_cents == (USEFUL_CENTS if won else 0)
        meters = rig.journal.meters().values
        assert (meters["residual_removed"], meters["residual_won"]) == (REST_CENTS, rig.credit_cents)
        assert (meters["coin_out"], meters["games_played"]) == (0, 0)
        rig.journal.self_audit()
        assert list_findings(rig) == []
        won_cents += meters["residual_won"]
    assert won_cents == USEFUL_CENTS * REST_CENTS


@pytest.mark.requirement("F-10")
def test_credit_below_the_minimum_bet_is_residual(make):
    """Seven cents are more than the cheapest credit, but less than any bet that the profile permits."""
    four_cents = (Transfer("house:win", "credit:1:cashable", 4),)
    for play, shown_residual in (
        ("", None),
        (LEAST_BET_OF_12_CENTS, ResidualCreditView(amount_cents=REST_CENTS + 4, prize_cents=15)),
    ):
        rig = make(ScriptedGenerator(6), play=play)
        write_undeclared_entry(rig.machine, "test.fund", transfers=four_cents)
        assert build_snapshot(rig.engine).residual_credit == shown_residual
    rig.engine.handle(EventType.USE_RESIDUAL_CREDIT)
    assert (rig.notice, rig.credit_cents) == ("residual_won", 15)


@pytest.mark.requirement("F-10")
def test_credit_that_buys_a_coin_is_no_residual_credit(make):
    """A hopper coin of 10 cents is worth less than the lowest bet: 7 cents are residual, 10 cents are not."""
    rig = make(play=LEAST_BET_OF_12_CENTS, hopper_cents=10)
    for added_cents, residual in (
        (4, ResidualCreditView(amount_cents=REST_CENTS + 4, prize_cents=10)),
        (3, None),
    ):
        flow = Transfer("house:win", "credit:1:cashable", added_cents)
        write_undeclared_entry(rig.machine, "test.fund", transfers=(flow,))
        assert build_snapshot(rig.engine).residual_credit == residual
    rig.engine.handle(EventType.USE_RESIDUAL_CREDIT)
    assert (rig.notice, rig.credit_cents) == ("refused.residual_may_go", 10)


@pytest.mark.requirement("F-10")
def test_residual_credit_is_staked_once_and_only_below_the_minimum_bet(make):
    rig = make(ScriptedGenerator(0))
    rig.engine.handle(EventType.USE_RESIDUAL_CREDIT)
    rig.engine.handle(EventType.USE_RESIDUAL_CREDIT)  # five cents buy a game again
    assert (rig.notice, rig.credit_cents) == ("refused.residual_may_go", USEFUL_CENTS)
    assert build_snapshot(rig.engine).residual_credit is None
    [line] = iter_register_lines(STAFF_REGISTERS["residuals"], rig.journal.entries())
    assert (line["event"], line["amount_cents"], line["won_cents"]) == ("residual.played", 3, 5)


def test_a_generator_failure_takes_no_residual_credit(make):
    rig = make(GeneratorOutOfService())
    rig.engine.handle(EventType.USE_RESIDUAL_CREDIT)
    assert (rig.state, rig.credit_cents) == (State.OUT_OF_SERVICE, REST_CENTS)
    assert not rig.engine.accepts_event_type(EventType.USE_RESIDUAL_CREDIT)


@pytest.mark.requirement("A-03", "A-27:a")
def test_no_residual_draw_is_made_when_credits_do_not_balance(make):
    rig = make(ScriptedGenerator(0))
    rig.journal._ledger.outflows_cents["house:win"] += 1
    with pytest.raises(SelfAuditFailed, match="credits are 3 cents"):
        rig.engine.handle(EventType.USE_RESIDUAL_CREDIT)
    assert rig.machine.random_service.values == [0]
    with pytest.raises(JournalError):
        rig.engine.handle(EventType.CASH_OUT)
    assert (rig.hands.jobs, rig.records("handpay.pending")) == ([], [])


@pytest.mark.requirement("F-10")
@pytest.mark.parametrize("way", ["stays", "given_up"])
def test_without_the_profiles_offer_no_residual_draw_is_made(make, way):
    rig = make(ScriptedGenerator(), way)
    rig.engine.handle(EventType.USE_RESIDUAL_CREDIT)
    assert rig.credit_cents == (REST_CENTS if way == "stays" else 0)
    assert rig.records("residual.played") == []
    assert rig.notice == ("refused.residual_may_go" if way == "stays" else "residual_removed")


@pytest.mark.not_audited
@pytest.mark.requirement("E-13:a", "F-10")
@pytest.mark.parametrize(
    ("won_cents", "kind", "reason"),
    [
        (5, "residual.played", "wins 0 cents, but 5 cents were paid"),
        (5, "residual.gift", "no feature of the machine declares this kind of entry"),
    ],
)
def test_the_audit_names_a_residual_result_that_differs_from_its_draw(
    make, monkeypatch, won_cents, kind, reason
):
    rig = make(ScriptedGenerator(4))
    append = rig.journal.append

    def lying(transaction):
        win = Transfer("house:residual_win", "credit:1:cashable", won_cents)
        record = {**transaction.record, "won_cents": won_cents}
        return append(
            Transaction(id="lie", kind=kind, transfers=(*transaction.transfers, win), record=record)
        )

    monkeypatch.setattr(rig.journal, "append", lying)
    rig.engine.handle(EventType.USE_RESIDUAL_CREDIT)
    monkeypatch.undo()
    assert any(reason in finding for finding in list_findings(rig))


@pytest.mark.requirement("N-03", "F-10")
def test_no_residual_credit_is_staked_while_a_limit_pauses_play(make):
    """Regression: a paused player could still make this stake, once for each inserted coin."""
    rig = make(added_text="\n[protection]\nlimit_minutes = 1\npause_minutes = 5\n").insert(100)
    rig.play()
    rig.report_shown()
    leave_residual_credit(rig)
    rig.clock.pass_seconds(60)
    rig.engine.handle(EventType.REMINDER_DUE)
    assert build_snapshot(rig.engine).residual_credit is None
    rig.engine.handle(EventType.USE_RESIDUAL_CREDIT)
    assert (rig.notice, rig.credit_cents) == ("refused.residual_may_go", REST_CENTS)
    rig.clock.pass_seconds(300)
    rig.engine.handle(EventType.PLAY_PAUSE_OVER)
    rig.engine.handle(EventType.USE_RESIDUAL_CREDIT)
    assert rig.notice in {"residual_won", "residual_lost"}
    assert list_findings(rig) == []


@pytest.mark.not_audited
@pytest.mark.requirement("E-13", "F-10")
@pytest.mark.parametrize(
    ("way", "kind"), [("given_up", "removed"), ("stays", "removed"), ("stays", "played")]
)
@pytest.mark.parametrize("after_a_game", [False, True])
def test_the_audit_names_a_residual_amount_that_could_buy_a_game(make, way, kind, after_a_game):
    """The terms of residual credit are recorded at the start, before the first game and even if none is permitted."""
    rig = make(ScriptedGenerator(0, 0, 0), way)
    if way != "stays" or after_a_game:
        rig.insert(2000)
    if after_a_game:
        rig.play()
        rig.report_shown()
        rig.engine.handle(EventType.MEMORY_READY)
    cents = rig.credit_cents
    details = {"amount_cents": cents}
    if kind == "played":
        details |= {"prize_cents": cents + 1, "draws": [[cents + 1, cents, "residual"]], "won_cents": 0}
    stake = rig.machine.build_debit_transfers(cents, "house:residual")
    write_undeclared_entry(
        rig.machine, f"residual.{kind}", transfers=stake, counts={"residuals": 1}, details=details
    )
    due = (
        "5 cents buy a game or a coin here"
        if cents >= USEFUL_CENTS
        else "does not fit the machine's terms for residual credit, which are 'stays'"
    )
    assert any(due in finding for finding in list_findings(rig))


@pytest.mark.not_audited
def test_an_audit_names_terms_that_a_game_contradicts(make):
    rig = make(ScriptedGenerator(0, 0, 0)).insert(100)
    write_undeclared_entry(
        rig.machine,
        "power.up",
        state={PlayKey.RESIDUAL_CREDIT_TERMS: {"way": "played", "useful_cents": 2001}},
    )
    rig.play()
    assert any("the game is started for 5 cents" in finding for finding in list_findings(rig))


def test_a_second_position_records_its_own_terms_once(tmp_path):
    for boot in range(2):
        first = MachineRig(tmp_path, position=Position(1, 2)).boot()
        second = MachineRig(tmp_path, position=Position(2, 2), first_rig=first).boot()
        assert len(list(first.journal.entries("residual.terms"))) == 1, boot
        assert list_findings(second) == []
        second.close()
        first.close()
