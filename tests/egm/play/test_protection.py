"""Player protection: sessions, reminders, limits and pauses are counted exactly, also across restarts."""

import asyncio
from datetime import timedelta

import pytest

from egm.app.view import build_snapshot
from egm.app.wiring import build_event_from_intent
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.kernel.events import EventType, State
from egm.kernel.messages import Intent
from egm.kernel.services import MachineContext
from egm.play.feature import PLAY_FEATURE
from egm.play.keys import PlayKey
from egm.play.player_protection import find_due_reminder, find_next_reminder_time
from egm.play.reminders import ReminderService, create_reminder_service
from egm.profiles import profile as profiles
from egm.testing.machine import MachineRig, ScriptedGenerator
from rng.draws import Draw
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

GENERIC = (profiles._PROFILES_FOLDER / "generic.toml").read_text()


@pytest.fixture
def make(tmp_path):
    """Return a function that starts machines with these protection rules on one state folder."""
    rigs = []

    def open_rig(rules: str, *, generator=None, state: str = "state") -> MachineRig:
        for rig in rigs:
            rig.close()
        path = tmp_path / "place.toml"
        path.write_text(f"{GENERIC}\n[protection]\n{rules}\n")
        rig = MachineRig(tmp_path / state, profile=path, generator=generator, devices=("printer",)).boot()
        if rigs:
            rig.clock.wall = rigs[-1].clock.wall
        rigs.append(rig)
        return rig

    yield open_rig
    for rig in rigs:
        rig.close()


def play(rig, times: int = 1) -> None:
    for _ in range(times):
        rig.play()
        assert rig.state is State.PLAYING, rig.notice
        rig.report_shown()


def minutes(rig, count: float) -> None:
    rig.clock.pass_seconds(count * 60)


@pytest.mark.requirement("N-02", "D-02")
def test_a_reminder_of_time_comes_after_sixty_minutes_and_then_every_thirty(make):
    rig = make("remind_minutes = [60, 30]").insert(10000)
    play(rig)
    for after, expected in ((59, None), (1, "time"), (29, None), (1, "time"), (29, None), (1, "time")):
        minutes(rig, after)
        assert find_due_reminder(rig.machine) == expected
        if expected:
            rig.engine.handle(EventType.REMINDER_DUE)
            rig.play()
            assert (rig.state, rig.notice) == (State.IDLE, "refused.no_reminder_is_active")
            rig.engine.handle(EventType.DISMISS_REMINDER)
            play(rig)
    reminders = [(record["kind"], record["minutes"]) for record in rig.records("protection.reminder")]
    assert reminders == [("time", 60), ("time", 90), ("time", 120)]
    assert len(rig.records("protection.acknowledged")) == 3
    assert rig.journal.meters().values["reminders.time"] == 3
    minutes(rig, 300)  # the machine was left alone over several: one is enough
    rig.engine.handle(EventType.REMINDER_DUE)
    rig.engine.handle(EventType.DISMISS_REMINDER)
    assert find_due_reminder(rig.machine) is None
    assert find_next_reminder_time(rig.machine) > rig.clock.now()


@pytest.mark.requirement("N-02", "N-03")
def test_amount_spent_is_wagers_minus_wins_and_exact_over_a_restart(make):
    rig = make("remind_spend_cents = 50").insert(10000)
    rig.engine.handle(EventType.SELECT_BET, value=10)
    spent_cents = -1
    while spent_cents < 50:
        play(rig)
        spent_cents = 10000 - rig.credit_cents
        assert build_snapshot(rig.engine).session.spent_cents == spent_cents
    rig = make("remind_spend_cents = 50")
    assert build_snapshot(rig.engine).session.spent_cents == spent_cents
    rig.engine.handle(EventType.REMINDER_DUE)
    seen = build_snapshot(rig.engine).reminder
    assert (seen.kind, seen.spent_cents, seen.until_utc) == ("spend", spent_cents, "")
    rig = make("remind_spend_cents = 50")  # it stays active until it has been read
    rig.play()
    assert rig.notice == "refused.no_reminder_is_active"
    rig.engine.handle(EventType.DISMISS_REMINDER)
    assert find_due_reminder(rig.machine) is None  # until as much more is spent
    play(rig)


@pytest.mark.requirement("N-03")
def test_at_a_limit_play_pauses_cash_out_does_not_and_the_pause_ends(make):
    rig = make("limit_minutes = 30\npause_minutes = 5").insert(2000)
    play(rig)
    minutes(rig, 30)
    rig.engine.handle(EventType.REMINDER_DUE)
    seen = build_snapshot(rig.engine).reminder
    assert (seen.kind, seen.until_utc[11:16], seen.is_own) == ("time_limit", "00:35", False)
    rig.engine.handle(EventType.DISMISS_REMINDER)
    assert rig.notice == "refused.reminder_may_go"
    assert rig.engine.accepts_event_type(EventType.CASH_OUT)
    rig.engine.handle(EventType.PLAY_PAUSE_OVER)
    assert rig.machine.memory.get(PlayKey.REMINDER) is not None
    minutes(rig, 5)
    rig.engine.handle(EventType.PLAY_PAUSE_OVER)
    play(rig)
    assert find_due_reminder(rig.machine) is None  # counted anew


@pytest.mark.requirement("N-02", "N-03")
@pytest.mark.parametrize("minutes_set", [-50, 50])
def test_a_clock_corrected_by_less_than_an_hour_moves_no_limit_and_no_pause(make, minutes_set):
    """A time server's correction needs no confirmation; it counts neither as play time nor as a pause."""
    rig = make("limit_minutes = 60\npause_minutes = 15").insert(10000)
    minutes(rig, 120)
    play(rig)
    minutes(rig, 20)
    rig.clock.wall += timedelta(minutes=minutes_set)
    assert rig.machine.timekeeper.is_clock_trusted
    assert find_due_reminder(rig.machine) is None
    minutes(rig, 39)
    assert find_due_reminder(rig.machine) is None
    minutes(rig, 1)
    assert find_due_reminder(rig.machine) == "time_limit"
    rig.engine.handle(EventType.REMINDER_DUE)
    rig.clock.wall -= timedelta(minutes=minutes_set)
    minutes(rig, 14)
    assert not rig.engine.accepts_event_type(EventType.PLAY_PAUSE_OVER)
    minutes(rig, 1)
    assert rig.engine.accepts_event_type(EventType.PLAY_PAUSE_OVER)


@pytest.mark.requirement("N-02")
def test_a_clock_set_far_ahead_triggers_no_reminder_until_confirmed(make):
    """This happens after an empty battery: a time server moves the clock from 1970 to today, or to any later date."""
    rig = make("remind_minutes = [60, 30]").insert(10000)
    play(rig)
    rig.clock.wall = rig.clock.wall.replace(year=9990)
    assert find_due_reminder(rig.machine) is None
    rig.machine.timekeeper.confirm_time()
    assert find_due_reminder(rig.machine) == "time"
    rig.engine.handle(EventType.REMINDER_DUE)
    rig.engine.handle(EventType.DISMISS_REMINDER)
    assert find_due_reminder(rig.machine) is None
    for after, expected in ((29, None), (1, "time")):
        minutes(rig, after)
        assert find_due_reminder(rig.machine) == expected
    assert find_next_reminder_time(rig.machine) == rig.clock.wall


@pytest.mark.requirement("N-02", "N-03")
def test_at_a_limit_the_profile_may_cash_the_player_out(make):
    rig = make('limit_spend_cents = 5\nat_limit = "cash_out"').insert(2000)
    while find_due_reminder(rig.machine) is None:
        play(rig)
    rig.engine.handle(EventType.REMINDER_DUE)
    assert (rig.state, rig.credit_cents) == (State.PAYING, 0)
    assert rig.hands.jobs


@pytest.mark.requirement("N-03")
def test_the_players_own_limits_bind_at_once_and_loosen_with_the_next_session(make):
    rig = make("own_limits = true\nlimit_minutes = 120")
    limit = {"of": "minutes"}
    rig.engine.handle(EventType.SET_OWN_LIMIT, value=20, options=limit)
    assert rig.notice == "refused.limit_is_offered"  # nobody is playing
    rig.insert(2000)
    for value, options in (
        (-1, limit),
        (10**9, limit),
        ("20", limit),
        (20, {"of": "spins"}),
        (20, None),
    ):
        intent = Intent(name="limit", value=value, options=options)
        rig.engine.submit(build_event_from_intent(intent, rig.engine.rules.payloads))
        assert rig.notice == "refused.limit_is_offered"
    rig.engine.handle(EventType.SET_OWN_LIMIT, value=20, options=limit)
    rig.engine.handle(EventType.SET_OWN_LIMIT, value=1000, options={"of": "cents"})
    for value in (21, 0):
        rig.engine.handle(EventType.SET_OWN_LIMIT, value=value, options=limit)
        assert rig.notice == "refused.limit_is_offered"
    rig.engine.handle(EventType.SET_OWN_LIMIT, value=10, options=limit)
    play(rig)
    session = build_snapshot(rig.engine).session
    assert (session.limit_minutes, session.limit_cents) == (10, 1000)
    minutes(rig, 10)
    assert find_due_reminder(rig.machine) == "time_limit"
    rig.engine.handle(EventType.REMINDER_DUE)
    assert build_snapshot(rig.engine).reminder.is_own
    rig.cash_out_ticket()
    rig.engine.handle(EventType.PLAYER_SESSION_OVER)
    rig.insert(2000)
    rig.engine.handle(EventType.SET_OWN_LIMIT, value=60, options=limit)
    assert rig.notice == "limit_set"
    assert [record["value"] for record in rig.records("protection.limit_set")] == [20, 1000, 10, 60]


@pytest.mark.requirement("N-03")
def test_play_pauses_as_soon_as_the_players_own_limit_of_cost_is_reached(make):
    rig = make("own_limits = true\nlimit_spend_cents = 1000", generator=ScriptedGenerator(0, 0, 0)).insert(
        2000
    )
    wager_cents = rig.machine.selection.bet_credits * rig.machine.selection.denomination_cents
    rig.engine.handle(EventType.SET_OWN_LIMIT, value=wager_cents, options={"of": "cents"})
    play(rig)
    assert rig.credit_cents == 2000 - wager_cents
    assert find_due_reminder(rig.machine) == "spend_limit"
    rig.engine.handle(EventType.REMINDER_DUE)
    seen = build_snapshot(rig.engine).reminder
    assert (seen.kind, seen.spent_cents, seen.is_own) == ("spend_limit", wager_cents, True)
    rig.play()
    assert (rig.state, rig.notice) == (State.IDLE, "refused.no_reminder_is_active")


@pytest.mark.requirement("N-02")
def test_a_session_ends_only_without_credit_bets_or_payments(make):
    rig = make("remind_minutes = [60]").insert(500)
    rig.engine.handle(EventType.PLAYER_SESSION_OVER)
    play(rig)
    rig.engine.handle(EventType.PLAYER_SESSION_OVER)
    assert rig.machine.memory.get(PlayKey.SESSION) is not None  # credits are left
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.PLAYER_SESSION_OVER)
    assert rig.machine.memory.get(PlayKey.SESSION) is not None  # and now they are on their way
    rig.engine.handle(EventType.TICKET_PRINT_FAILED, why="test")
    rig.engine.handle(EventType.PLAYER_SESSION_OVER)
    assert rig.machine.memory.get(PlayKey.SESSION) is not None
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    rig.engine.handle(EventType.PLAYER_SESSION_OVER)
    assert rig.machine.memory.get(PlayKey.SESSION) is None
    (ended,) = rig.records("protection.session_ended")
    assert ended["minutes"] == 0


class CountingChance:
    """A random service that records every requested draw and answers from a fixed sequence."""

    def __init__(self):
        self.requests = []

    def step(self):
        return self

    def __enter__(self):
        self.draws = []
        return self

    def __exit__(self, *_):
        pass

    def below(self, bound, purpose=""):
        value = pow(5, len(self.requests) + 1, 10007) % bound
        self.requests.append((bound, purpose))
        self.draws.append(Draw(bound, value, purpose))
        return value


@pytest.mark.parametrize(
    ("rules", "own_limits", "reached"),
    [
        pytest.param("remind_minutes = [1]", {}, "time", marks=pytest.mark.requirement("N-09:a")),
        pytest.param("remind_spend_cents = 5", {}, "spend", marks=pytest.mark.requirement("N-09:a")),
        pytest.param(
            "own_limits = true\npause_minutes = 1",
            {"minutes": 5, "cents": 10_000},
            "time_limit",
            marks=pytest.mark.requirement("N-09:b"),
        ),
        pytest.param(
            "limit_minutes = 5\npause_minutes = 1",
            {},
            "time_limit",
            marks=pytest.mark.requirement("N-09:c"),
        ),
        pytest.param(
            "limit_spend_cents = 5\npause_minutes = 1",
            {},
            "spend_limit",
            marks=pytest.mark.requirement("N-09:c"),
        ),
    ],
    ids=[
        *("reminders of time", "reminders of spending", "own limits"),
        *("limit of time of the profile", "limit of spending of the profile"),
    ],
)
def test_player_protection_draws_nothing_and_changes_no_outcome(make, rules, own_limits, reached):
    """The same numbers give the same games and wins with each protection feature and without any."""
    games = {}
    for state, in_force in (("plain", ""), ("protected", rules)):
        generator = CountingChance()
        rig = make(in_force, generator=generator, state=state).insert(2000)
        for of, value in own_limits.items() if in_force else ():
            rig.engine.handle(EventType.SET_OWN_LIMIT, value=value, options={"of": of})
            assert rig.notice == "limit_set"
        for _ in range(12):
            if find_due_reminder(rig.machine):
                rig.engine.handle(EventType.REMINDER_DUE)
                minutes(rig, 1)
                rig.engine.handle(EventType.PLAY_PAUSE_OVER)
                rig.engine.handle(EventType.DISMISS_REMINDER)
            play(rig)
            minutes(rig, 2)
        games[state] = generator.requests, [record["outcome"] for record in rig.records("game.start")]
    assert games["plain"] == games["protected"]
    assert any(outcome["win_credits"] for outcome in games["plain"][1])
    assert {record["kind"] for record in rig.records("protection.reminder")} == {reached}


def test_without_the_profiles_rules_no_time_or_cost_is_counted(make):
    rig = make("clock = true").insert(500)
    play(rig)
    assert rig.machine.memory.get(PlayKey.SESSION) is None
    seen = build_snapshot(rig.engine)
    assert (seen.session, seen.reminder, seen.protection.must_show_clock) == (None, None, True)


@pytest.mark.requirement("N-01", "N-08")
def test_quebecs_machines_always_show_the_time_and_where_help_is(tmp_path):
    for name in ("quebec-vlt", "quebec-casino"):
        rig = MachineRig(tmp_path / name, profile=name).boot()
        shown = build_snapshot(rig.engine).protection
        assert shown.must_show_clock
        assert all("aidejeu.ca" in shown.help_line[code] for code in ("en", "fr"))
        rig.close()


@pytest.mark.requirement("N-02", "N-03")
def test_quebec_video_lottery_reminds_of_the_time_and_takes_the_players_own_limits(tmp_path):
    rig = MachineRig(tmp_path, profile="quebec-vlt", generator=ScriptedGenerator(0, 0, 0)).boot().insert(2000)
    rig.engine.handle(EventType.SET_OWN_LIMIT, value=100, options={"of": "minutes"})
    assert rig.notice == "limit_set"
    play(rig)
    for after, due in ((59, None), (1, "time"), (29, None), (1, "time"), (9, None), (1, "time_limit")):
        minutes(rig, after)
        assert find_due_reminder(rig.machine) == due
        if due:
            rig.engine.handle(EventType.REMINDER_DUE)
            rig.engine.handle(EventType.DISMISS_REMINDER)
    rig.close()


# ---------------------------------------------------------------------------------------------- the attachment
def context(rig, tmp_path) -> MachineContext:
    return MachineContext(
        engine=rig.engine,
        cabinet_file=load_cabinet(),
        state_folder=StateFolder(tmp_path / "run"),
        clock=rig.clock,
        submit_event=rig.engine.submit,
    )


async def let_attachment_work(attachment: ReminderService, rig) -> None:
    """Let the attachment process what has happened, until it waits again."""
    attachment.process_change(build_snapshot(rig.engine))
    for _ in range(20):  # turns of the loop, not time
        await asyncio.sleep(0)


@pytest.mark.requirement("N-02")
def test_the_attachment_reminds_ends_pauses_and_ends_sessions_as_time_passes(make, tmp_path):
    rules = "remind_minutes = [60]\nlimit_minutes = 90\npause_minutes = 5\nsession_gap_minutes = 5"
    rig = make(rules).insert(500)
    play(rig)
    (attachment,) = create_reminder_service(context(rig, tmp_path))

    async def session():
        running = asyncio.create_task(attachment.run())
        await let_attachment_work(attachment, rig)
        assert rig.machine.memory.get(PlayKey.REMINDER) is None
        assert attachment._compute_seconds_to_wait() == 3600
        minutes(rig, 60)
        await let_attachment_work(attachment, rig)
        assert rig.machine.memory.get(PlayKey.REMINDER)["kind"] == "time"
        rig.engine.handle(EventType.DISMISS_REMINDER)
        minutes(rig, 30)
        await let_attachment_work(attachment, rig)
        assert rig.machine.memory.get(PlayKey.REMINDER)["kind"] == "time_limit"
        assert attachment._compute_seconds_to_wait() == 300
        minutes(rig, 5)
        await let_attachment_work(attachment, rig)
        assert rig.machine.memory.get(PlayKey.REMINDER) is None
        rig.cash_out_ticket()
        await let_attachment_work(attachment, rig)
        assert rig.machine.memory.get(PlayKey.SESSION) is not None
        assert attachment._compute_seconds_to_wait() == 300
        minutes(rig, 5)
        await let_attachment_work(attachment, rig)
        assert rig.machine.memory.get(PlayKey.SESSION) is None
        assert attachment._compute_seconds_to_wait() is None
        running.cancel()

    asyncio.run(session())


@pytest.mark.requirement("N-02")
def test_events_due_while_the_machine_is_stopped_wait_without_polling(make, tmp_path):
    """Regression: a reminder due while a door was open used a whole processor until the door was closed."""
    rig = make("remind_minutes = [60]\nsession_gap_minutes = 5").insert(500)
    play(rig)
    (attachment,) = create_reminder_service(context(rig, tmp_path))

    async def session():
        running = asyncio.create_task(attachment.run())
        rig.engine.handle(EventType.DOOR_OPENED, door="main")
        minutes(rig, 60)
        await let_attachment_work(attachment, rig)
        assert rig.state is State.DOOR_OPEN
        assert attachment._compute_seconds_to_wait() is None
        close_door(rig)
        await let_attachment_work(attachment, rig)
        assert rig.machine.memory.get(PlayKey.REMINDER)["kind"] == "time"
        rig.engine.handle(EventType.DISMISS_REMINDER)
        rig.cash_out_ticket()
        await let_attachment_work(attachment, rig)
        rig.engine.handle(EventType.DOOR_OPENED, door="main")
        minutes(rig, 5)
        await let_attachment_work(attachment, rig)
        assert attachment._compute_seconds_to_wait() == 55 * 60  # the next reminder
        assert rig.machine.memory.get(PlayKey.SESSION) is not None
        close_door(rig)
        await let_attachment_work(attachment, rig)
        assert rig.machine.memory.get(PlayKey.SESSION) is None
        running.cancel()

    asyncio.run(session())


def close_door(rig):
    """Close the main door, and turn the attendant's key to clear the resulting fault."""
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    if rig.state is State.TILT:
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.state is State.IDLE


def test_without_rules_of_protection_no_task_runs(make, tmp_path):
    assert create_reminder_service in PLAY_FEATURE.position_service_factories
    assert list(create_reminder_service(context(make("clock = true"), tmp_path))) == []


@pytest.mark.requirement("N-03", "A-28")
@pytest.mark.parametrize("pause", ["", "\npause_minutes = 5"])
def test_a_limit_reached_under_other_rules_does_not_stop_the_machine_for_ever(make, tmp_path, pause):
    """If nothing is counted any more, nothing would end the pause, or the session of a player who left."""
    rig = make(f"limit_minutes = 1{pause}").insert(500)
    play(rig)
    minutes(rig, 1)
    rig.engine.handle(EventType.REMINDER_DUE)
    rig = make("clock = true")
    (attachment,) = create_reminder_service(context(rig, tmp_path))

    async def goes_on():
        running = asyncio.create_task(attachment.run())
        await let_attachment_work(attachment, rig)
        rig.play()
        assert rig.notice == "refused.no_reminder_is_active"
        if pause:
            minutes(rig, 6)  # its clock was set after it had started
        else:
            rig.cash_out_ticket()
        await let_attachment_work(attachment, rig)
        running.cancel()

    asyncio.run(goes_on())
    if not pause:
        rig.insert(500)
    play(rig)
    assert Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings == []
