"""Options: who may change them and when, and that they apply from the next start on."""

from dataclasses import fields, replace

import pytest

from egm.kernel.events import Event, EventError, EventType, State
from egm.kernel.games import InstalledGames
from egm.kernel.positions import Position
from egm.people import Role
from egm.profiles import load_profile
from egm.staff.desk import ServiceDesk
from egm.staff.entries import OptionsChanged
from egm.staff.events import OptionsForm
from egm.staff.forms import OPTION_FORM_BY_NAME
from egm.staff.options import AMOUNT_OPTIONS
from egm.staff.records import OperatorOptions, OptionValues
from egm.testing.machine import MachineRig, ScriptedGenerator, write_undeclared_entry
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser

GAMES = ("maple-classic", "comet-respin")


def room_of(folder, **options):
    return MachineRig(folder, games=GAMES, **options).boot()


@pytest.fixture
def menu(tmp_path):
    rig = room_of(tmp_path)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    menu = MenuUser(rig).sign_in(Role.TECHNICIAN).touch("options")
    yield menu
    rig.close()


@pytest.mark.requirement("E-11", "O-03")
def test_a_disabled_game_is_gone_after_the_next_start_and_the_person_is_recorded(menu, tmp_path):
    menu.touch("game:maple-classic").touch("game").fill_open_form("no")
    assert menu.notice == "service.done"
    (changed,) = menu.rig.records("options.changed")
    assert (changed["game"], changed["on"]) == ("maple-classic", "no")
    assert (changed["person"], changed["persons"]) == (STAFF_NUMBER_BY_ROLE[Role.TECHNICIAN],) * 1 + (
        [STAFF_NUMBER_BY_ROLE[Role.TECHNICIAN]],
    )
    assert (changed["before"]["off"], changed["after"]["off"]) == ([], ["maple-classic"])
    assert set(menu.machine.games) == set(GAMES)
    menu.rig.close()
    restarted = room_of(tmp_path)
    assert set(restarted.machine.games) == {"comet-respin"}
    assert restarted.machine.selection.game_id == "comet-respin"
    assert set(restarted.machine.component(InstalledGames).game_by_id) == set(GAMES)
    restarted.close()


@pytest.mark.requirement("O-05", "E-11")
def test_a_disabled_denomination_cannot_be_chosen_and_credits_keep_their_value(menu, tmp_path):
    first, *others = menu.machine.component(InstalledGames).denominations_cents["maple-classic"]
    menu.rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    menu.touch("game:maple-classic").touch("denomination").fill_open_form(str(first), "no")
    assert menu.notice == "notice.refused.machine_is_open"
    menu.rig.engine.handle(EventType.DOOR_OPENED, door="main")
    menu.touch("denomination").fill_open_form(str(first), "no")
    (changed,) = menu.rig.records("options.changed")
    assert (changed["person"], changed["before"] == changed["after"]) == (
        STAFF_NUMBER_BY_ROLE[Role.TECHNICIAN],
        False,
    )
    menu.rig.close()
    restarted = room_of(tmp_path)
    assert restarted.machine.denominations_cents["maple-classic"] == tuple(others)
    assert restarted.machine.selection.denomination_cents in others
    restarted.engine.handle(EventType.DOOR_CLOSED, door="main")
    restarted.insert(2000)
    restarted.engine.handle(EventType.SELECT_DENOMINATION, value=first)
    assert restarted.notice == "refused.denomination_is_offered"
    assert restarted.credit_cents == 2000
    restarted.close()


@pytest.mark.requirement("A-22", "O-07")
def test_no_option_changes_with_credits_or_a_game_in_progress(tmp_path):
    rig = room_of(tmp_path).insert(2000)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    menu = MenuUser(rig).sign_in(Role.TECHNICIAN).touch("options")
    menu.touch("bet_limit")
    icons = [row.icon for table in menu.page.tables for row in table.rows]
    assert icons == ["good", "warning", "good"]  # the door is open; something is owed; no tournament
    menu.fill_open_form("500")
    assert menu.notice == "notice.refused.nothing_is_owed"
    assert rig.records("options.changed") == []
    rig.close()


@pytest.mark.requirement("A-22", "O-07")
@pytest.mark.parametrize("position", [1, 2])
def test_no_option_changes_while_a_bet_stands_on_a_table(tmp_path, position):
    """Regression: with all credits on the table, the game could be removed or a file signed during play."""
    rigs = []
    for number in (1, 2):
        where = Position(number, 2)
        beside = rigs[0] if rigs else None
        generator = ScriptedGenerator(3, 4)
        rig = MachineRig(
            tmp_path, games=("quebec-craps",), position=where, first_rig=beside, generator=generator
        )
        rigs.append(rig.boot())
    player = rigs[position - 1].insert(500)
    player.engine.handle(EventType.SELECT_BET, value=20, options={"bets": {"pass": 20}})
    player.play()
    player.report_shown()
    assert (player.credit_cents, player.state) == (0, State.IDLE)
    rigs[0].engine.handle(EventType.DOOR_OPENED, door="main")
    menu = MenuUser(rigs[0]).sign_in(Role.TECHNICIAN).touch("options").touch("bet_limit")
    menu.fill_open_form("500")
    assert menu.notice == "notice.refused.nothing_is_owed"
    rigs[0].close()


@pytest.mark.requirement("A-22", "O-07")
def test_no_option_changes_during_the_game_for_the_last_credits(tmp_path):
    """There is no credit and no standing bet, but the result of the game at the other position is owed."""
    technician = MachineRig(tmp_path, games=GAMES, position=Position(1, 2)).boot()
    player = MachineRig(tmp_path, games=GAMES, position=Position(2, 2), first_rig=technician).boot()
    player.insert(100)
    player.engine.handle(EventType.SELECT_DENOMINATION, value=100)
    player.play()
    assert (player.credit_cents, player.state) == (0, State.PLAYING)
    technician.engine.handle(EventType.DOOR_OPENED, door="main")
    menu = MenuUser(technician).sign_in(Role.TECHNICIAN).touch("options").touch("bet_limit")
    menu.fill_open_form("500")
    assert menu.notice == "notice.refused.nothing_is_owed"
    assert technician.records("options.changed") == []
    technician.close()


@pytest.mark.requirement("A-22", "O-07")
def test_no_option_changes_while_a_hand_pay_waits(tmp_path):
    """A jackpot paid by hand is never credit; with the last credits wagered, only the hand-pay is owed."""
    generator = ScriptedGenerator(11, 11, 12)  # three lanterns
    technician = MachineRig(tmp_path, games=GAMES, position=Position(1, 2)).boot()
    player = MachineRig(
        tmp_path, games=GAMES, position=Position(2, 2), first_rig=technician, generator=generator
    )
    player.boot().insert(100).insert(100).insert(100)
    player.engine.handle(EventType.SELECT_DENOMINATION, value=100)
    player.engine.handle(EventType.SELECT_BET, value=3)
    player.play()
    player.report_shown()
    assert (technician.journal.credits_cents(), player.state) == (0, State.HANDPAY)
    technician.engine.handle(EventType.DOOR_OPENED, door="main")
    menu = MenuUser(technician).sign_in(Role.TECHNICIAN).touch("options").touch("bet_limit")
    menu.fill_open_form("500")
    assert menu.notice == "notice.refused.nothing_is_owed"
    technician.close()


@pytest.mark.requirement("C-04", "E-11")
def test_an_operators_bet_limit_only_lowers_the_profiles(menu, tmp_path):
    menu.touch("bet_limit").fill_open_form("10")
    (changed,) = menu.rig.records("options.changed")
    assert (changed["person"], changed["after"]["bet_limit_cents"]) == (
        STAFF_NUMBER_BY_ROLE[Role.TECHNICIAN],
        10,
    )
    menu.rig.close()
    restarted = room_of(tmp_path)
    assert restarted.machine.profile.play.bet_max_cents == 10
    restarted.engine.handle(EventType.DOOR_CLOSED, door="main")
    restarted.engine.handle(
        EventType.SELECT_BET, value=max(restarted.machine.games["maple-classic"].bet_options)
    )
    assert restarted.notice == "refused.bet_is_offered"
    restarted.engine.handle(EventType.DOOR_OPENED, door="main")
    wide = (
        MenuUser(restarted)
        .sign_in(Role.TECHNICIAN)
        .touch("options")
        .touch("bet_limit")
        .fill_open_form("99999999")
    )
    assert wide.notice == "service.done"
    restarted.close()
    last = room_of(tmp_path)
    assert last.machine.profile.play.bet_max_cents == 10000
    last.close()


def test_the_last_game_and_denomination_cannot_be_disabled(menu):
    menu.touch("game:maple-classic").touch("game").fill_open_form("no")
    menu.touch("back").touch("game:comet-respin").touch("game").fill_open_form("no")
    assert menu.notice == "notice.refused.option_is_sound"
    menu.touch("denomination")
    menu.enter("7")
    assert menu.notice == "service.refused.not_offered"
    menu.home().touch("options").touch("bet_limit").enter("0")
    assert menu.notice == "service.refused.out_of_range"
    menu.enter("1").touch("confirm")
    assert menu.notice == "notice.refused.option_is_sound"


def test_a_game_in_progress_is_finished_despite_new_options(menu, tmp_path):
    menu.touch("game:maple-classic").touch("game").fill_open_form("no")
    menu.home().touch("leave")
    rig = menu.rig
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    rig.insert(500)
    rig.play()
    rig.close()
    restarted = room_of(tmp_path)
    assert restarted.state is State.PLAYING
    restarted.report_shown()
    assert restarted.records("game.void") == []
    restarted.close()


@pytest.mark.requirement("C-04")
def test_a_bet_below_the_operators_minimum_is_refused_and_moves_no_meter(menu, tmp_path):
    menu.touch("bet_minimum").fill_open_form("99999999")
    assert menu.notice == "notice.refused.option_is_sound"
    credit_cents = menu.machine.component(InstalledGames).denominations_cents["maple-classic"][0]
    least_cents = 2 * credit_cents + 1
    menu.touch("bet_minimum").fill_open_form(str(least_cents))
    assert menu.notice == "service.done"
    menu.rig.close()
    restarted = room_of(tmp_path)
    restarted.engine.handle(EventType.DOOR_CLOSED, door="main")
    restarted.insert(2000)
    assert restarted.machine.selection.bet_credits == 3  # the lowest accepted value is proposed
    before = restarted.journal.meters().values
    restarted.engine.handle(EventType.SELECT_BET, value=2)
    assert restarted.notice == "refused.bet_is_offered"
    restarted.machine.store_selection(replace(restarted.machine.selection, bet_credits=2))
    assert restarted.machine.selection.bet_credits == 3
    restarted.engine.handle(EventType.SELECT_BET, value=3)
    assert restarted.journal.meters().values["coin_in"] == before["coin_in"] == 0
    restarted.play()
    assert restarted.journal.meters().values["coin_in"] == 3 * credit_cents
    restarted.close()


@pytest.mark.requirement("C-04")
@pytest.mark.parametrize(("least_cents", "in_force_cents"), [(5, 50), (50, 50), (80, 80)])
def test_an_operators_minimum_bet_only_raises_the_profiles(least_cents, in_force_cents):
    profile = load_profile("generic")
    play = profile.play.model_copy(update={"bet_min_cents": 50})
    strict = profile.model_copy(update={"play": play})
    narrowed = AMOUNT_OPTIONS["bet_minimum"].narrow_profile(strict, least_cents)
    assert narrowed.play.bet_min_cents == in_force_cents


@pytest.mark.requirement("J-08", "A-22")
def test_two_people_prove_identity_and_permission_where_the_jurisdiction_requires_two(tmp_path):
    rig = MachineRig(tmp_path, profile="monaco", games=GAMES).boot()
    mechanic = MenuUser(rig).sign_in(Role.MECHANIC).open_and_fill_form("intervention", "new game")
    mechanic.touch("leave")
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    menu = MenuUser(rig).sign_in(Role.TECHNICIAN).touch("options").touch("game:comet-respin").touch("game")
    menu.fill_open_form("no")
    assert menu.page.title.value == "service.second_person"
    menu.identify(Role.TECHNICIAN)
    assert menu.notice == "service.refused.same_person"
    menu.identify(Role.ATTENDANT)
    assert menu.notice == "service.refused.not_permitted"
    assert rig.records("options.changed") == []
    menu.identify(Role.MANAGER)
    assert menu.notice == "service.done"
    (changed,) = rig.records("options.changed")
    assert changed["persons"] == [STAFF_NUMBER_BY_ROLE[Role.TECHNICIAN], STAFF_NUMBER_BY_ROLE[Role.MANAGER]]
    alone = {
        **changed,
        "form": "options_game",
        "persons": (STAFF_NUMBER_BY_ROLE[Role.TECHNICIAN],),
        "on": "yes",
    }
    rig.engine.handle(
        EventType.CHANGE_OPTIONS, **{k: v for k, v in alone.items() if k not in {"before", "after"}}
    )
    assert rig.notice == "refused.authorised"
    rig.close()


def test_a_restart_is_requested_by_a_named_person(menu):
    menu.home().open_and_fill_form("restart")
    assert menu.machine.component(ServiceDesk).is_restart_requested
    assert menu.rig.records("machine.restart") == [{"person": STAFF_NUMBER_BY_ROLE[Role.TECHNICIAN]}]


@pytest.mark.not_audited
def test_options_about_removed_games_do_not_affect_others(tmp_path):
    rig = room_of(tmp_path)
    options = OperatorOptions(
        games_not_offered=("gone",), denominations_cents={"maple-classic": (999,)}, bet_limit_cents=None
    )
    write_undeclared_entry(rig.machine, "options.changed", state={"options": options})
    rig.close()
    restarted = room_of(tmp_path)
    assert (
        restarted.machine.denominations_cents
        == restarted.machine.component(InstalledGames).denominations_cents
    )
    restarted.close()


def test_every_option_amount_is_stored_recorded_and_requested_under_one_name():
    for option in AMOUNT_OPTIONS:
        name = f"{option}_cents"
        for record in (OperatorOptions, OptionValues, OptionsForm, OptionsChanged):
            assert name in {field.name for field in fields(record)}, f"{record.__name__} has no field {name}"
        (field,) = OPTION_FORM_BY_NAME[option].fields
        assert field.name == name
    with pytest.raises(EventError, match="bet_limit_cents is -1, not above zero"):
        Event(EventType.CHANGE_OPTIONS, OptionsForm(option="bet_limit", bet_limit_cents=-1))
