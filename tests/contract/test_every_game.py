"""What every game of the library must do: each test runs for each game, also for a game that is added later.

A table lists the forbidden wagers with the section of the regulation. The limits, help and recall of a game are
checked against its rules; the figures shown to a player and a host are checked against the journal.
"""

import json
import re
import tomllib
from dataclasses import replace
from functools import cache
from random import Random
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from rigs.seated import SEVERAL_PLAYER_GAMES

from egm.app.view import build_game_view, build_snapshot
from egm.config.cabinet_file import DEFAULT_CABINET
from egm.config.levels import ProgressiveLevelTable
from egm.kernel.events import EventType, State
from egm.kernel.games import InstalledGames
from egm.kernel.messages import DecisionRequest, Hello
from egm.links.sas.readout_builder import MeterReadingCache, ReadoutBuilder
from egm.play.game_messages import find_pending_decision
from egm.play.installed_games import InstalledGame
from egm.play.records.games import GameInProgress
from egm.play.records.tables import list_tables_with_standing_bets
from egm.play.selections import find_highest_stake_credits
from egm.play.wager_texts import SETTLED_RESULT_NAMES
from egm.profiles import load_profile
from egm.progressive.pools import ProgressivePools
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.painter import Painter
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.help import describe_bet_limits
from egm.screen.scenes.keno import format_catch_award, list_keno_prizes
from egm.screen.scenes.status import choose_status_text_and_colour
from egm.screen.scenes.table_side_panels import find_settled_step, format_spot_lines
from egm.screen.text import Texts
from egm.screen.theme import load_theme
from egm.screen.view import View
from egm.testing.machine import MachineRig
from paytables import WagerError, list_shipped_games, list_table_games, load_game
from paytables.definition import read_source
from tools.cli import main
from tools.lab.certification.finding import CertificationCase, FindingStatus
from tools.lab.certification.rules import check_bet_limit

GAMES = list_shipped_games()
#: Enough credit for any round of these tests.
CREDIT_CENTS = 100_000

#: Wagers that a regulation forbids: game, section of the regulation, bets, and a part of the error message.
FORBIDDEN = [
    ("france-casino-holdem", "55-18-1", {"ante": 2, "super-ante": 2, "bonus": 22}, "20 at most"),
    ("france-casino-holdem", "55-18-1", {"bonus": 1}, "needs a bet on 'ante'"),
    ("france-casino-holdem", "55-18-1", {"ante": 2}, "expected 1 times the bet on 'ante'"),
    ("france-casino-holdem", "55-18-1", {"ante": 2, "super-ante": 4}, "expected 1 times the bet on 'ante'"),
    ("france-casino-holdem", "55-18-3", {"ante": 500, "super-ante": 500}, "2 to 400"),
    ("monaco-blackjack", "5.2-6", {"pairs": 1}, "needs a bet on 'main'"),
    ("monaco-blackjack", "5.2-7", {"twenty-one-plus-three": 1}, "needs a bet on 'main'"),
    ("monaco-blackjack-split-aces", "5.2-8", {"split-aces": 1}, "needs a bet on 'main'"),
    ("monaco-trente-et-quarante", "9", {"red-insured": 1}, "needs a bet on 'red'"),
    ("monaco-trente-et-quarante", "9", {"red": 200, "red-insured": 1}, "one for each 100 credits"),
    ("quebec-baccarat", "30", {"bank": 2001}, "20 to 2,000"),
    ("quebec-blackjack-options", "21.1", {"twelve-sixteen": 1}, "needs a bet on 'main'"),
    ("quebec-blackjack-options", "21.1", {"main": 2, "twelve-sixteen": 3}, "2 at most"),
    ("quebec-blackjack-options", "21.3", {"sevens": 1}, "needs a bet on 'main'"),
    ("quebec-blackjack-options", "21.3", {"main": 2, "sevens": 2}, "1 to 1"),
    ("quebec-blackjack-options", "21.4", {"over": 1}, "needs a bet on 'main'"),
    ("quebec-blackjack-options", "21.4", {"under": 1}, "needs a bet on 'main'"),
    ("quebec-blackjack-progressive-1", "21.2", {"progressive": 1}, "needs a bet on 'main'"),
    ("quebec-blackjack-progressive-2", "21.2", {"progressive": 1}, "needs a bet on 'main'"),
    ("quebec-blackjack-progressive-3", "21.2", {"progressive": 1}, "needs a bet on 'main'"),
    ("quebec-boston-poker", "67.56", {"bonus": 1}, "needs a bet on 'ante'"),
    ("quebec-boston-poker", "67.56", {"ante": 1}, "expected 2 times the bet on 'ante'"),
    ("quebec-boston-poker", "67.56", {"ante": 2, "first": 2}, "expected 2 times the bet on 'ante'"),
    ("quebec-caribbean-stud", "67.21", {"progressive": 1}, "needs a bet on 'ante'"),
    ("quebec-craps", "95.11", {"field": 1}, "a bet on pass or don't pass"),
    ("quebec-craps", "95.16", {"odds-come-4": 1}, "needs a bet on 'come-4'"),
    ("quebec-crazy-four-poker", "67.79", {"ante": 1}, "expected 1 times the bet on 'ante'"),
    ("quebec-crazy-four-poker", "67.79", {"ante": 1, "super-bonus": 2}, "expected 1 times the bet on 'ante'"),
    ("quebec-crazy-four-poker", "67.87", {"queens-up": 1}, "needs a bet on 'ante'"),
    ("quebec-four-card-poker", "67.70", {"raise": 1}, "the spot is closed"),
    ("quebec-let-it-ride", "67.4", {"bet-3": 1, "bet-1": 1}, "expected 1 times the bet on 'bet-3'"),
    ("quebec-let-it-ride", "67.4", {"bet-3": 1, "bet-1": 2, "bet-2": 1}, "expected 1 times the bet"),
    ("quebec-let-it-ride", "67.8", {"side": 1}, "needs a bet on 'bet-3'"),
    ("quebec-multi-action-blackjack", "26.3", {"main": 2}, "needs a bet on 'second'"),
    ("quebec-multi-action-blackjack", "26.3", {"main": 2, "third": 2}, "needs a bet on 'second'"),
    ("quebec-pai-gow", "111", {"stake": 30}, "not a multiple of 20"),
    ("quebec-pai-gow-poker", "48", {"under": 2}, "needs a bet on 'stake'"),
    ("quebec-pai-gow-poker", "48", {"over": 2}, "needs a bet on 'stake'"),
    ("quebec-pai-gow-poker", "48", {"exactly": 2}, "needs a bet on 'stake'"),
    ("quebec-pai-gow-poker", "48.1", {"position-3": 2}, "needs a bet on 'stake'"),
    ("quebec-poker-3-5-7", "67.45", {"three": 1}, "needs a bet on 'five'"),
    ("quebec-poker-3-5-7", "67.45", {"five": 1}, "needs a bet on 'three'"),
    ("quebec-poker-3-5-7", "67.45", {"seven": 2}, "needs a bet on 'five'"),
    ("quebec-poker-3-5-7", "67.45", {"three": 1, "seven": 2}, "needs a bet on 'five'"),
    ("quebec-red-dog", "65", {"ante": 501}, "1 to 500"),
    ("quebec-three-card-poker", "67.28", {"play": 1}, "the spot is closed"),
    ("quebec-war", "67.36", {"tie": 1}, "needs a bet on 'main'"),
]


@cache
def rules_of(game):
    return load_game(game).rules


@pytest.fixture
def rig(tmp_path):
    """Start a machine with one game, with all its levels and credit."""
    rooms = []

    def start(game, **options):
        levels = tuple(
            ProgressiveLevelTable(game=game, level=play.level) for play in rules_of(game).list_every_level()
        )
        rooms.append(MachineRig(tmp_path / f"m{len(rooms)}", games=(game,), levels=levels, **options).boot())
        return rooms[-1]

    yield start
    for rig in rooms:
        rig.close()


def with_credit(rig, cents):
    """Insert bills for at least the given credit."""
    while rig.credit_cents < cents:
        missing = cents - rig.credit_cents
        rig.insert(max((bill for bill in (500, 1000, 2000, 5000, 10_000) if bill <= missing), default=500))
    return rig


def lay(rig, bets):
    """Place bets; return whether the machine has accepted them."""
    rig.engine.handle(
        EventType.SELECT_BET, value=sum(bet for bet in bets.values() if bet > 0), options={"bets": bets}
    )
    return rig.machine.selection.options == {"bets": bets}


# ---------------------------------------------------------------------------------- accepted bets
@pytest.mark.requirement("C-04", "S-30", "P-01:b")
@pytest.mark.parametrize(
    ("game", "section", "bets", "reason"), FORBIDDEN, ids=lambda parameter: str(parameter)[:40]
)
def test_a_wager_that_the_rules_forbid_is_refused_by_game_and_machine(rig, game, section, bets, reason):
    assert section
    with pytest.raises(WagerError, match=re.escape(reason)):
        rules_of(game).build_wager(sum(bets.values()), bets=bets)
    machine = with_credit(rig(game), CREDIT_CENTS)
    assert not lay(machine, bets)
    machine.engine.handle(EventType.PLAY)
    assert machine.state is State.IDLE


@pytest.mark.parametrize("game", list_table_games())
def test_each_spot_is_accepted_with_the_bets_it_requires(game):
    rules = rules_of(game)
    for spot in rules.list_spots():
        shut = {other.id for other in rules.list_spots() if not other.accepts_bets}
        if spot.accepts_bets and spot.required_spot not in shut:
            bets = rules.table_layout.find_smallest_bets_with(spot, spot.bet_min)
            first = {"pass": 1} | bets if "craps" in game else bets
            assert rules.build_wager(sum(first.values()), bets=first).bets_by_seat[0] == first


# ---------------------------------------------------------------------------------- the cost of a round
#: The tables at which a decision of the certified strategy may add to the stake.
RAISED = tuple(
    name
    for name in list_table_games()
    if any(spot.reserve_per_credit for spot in load_game(name).rules.list_spots())
)
LIMIT_CENTS = load_profile("generic").play.bet_max_cents


def lead_of(rules):
    return max(rules.list_spots(), key=lambda spot: spot.reserve_per_credit)


def find_highest_bets(rules, cents):
    """Return the smallest bets with the highest bet on the spot with the largest raise, and that spot."""
    lead = lead_of(rules)
    most = rules.find_highest_bet(LIMIT_CENTS // cents)[lead.id]
    return rules.table_layout.find_smallest_bets_with(lead, most), lead


@pytest.mark.requirement("C-04")
@pytest.mark.parametrize("game", RAISED)
def test_a_first_bet_is_limited_so_that_every_raise_fits_the_bet_limit(rig, game):
    machine = with_credit(rig(game), CREDIT_CENTS)
    rules = rules_of(game)
    for cents in machine.machine.denominations_cents[game]:
        machine.engine.handle(EventType.SELECT_DENOMINATION, value=cents)
        bets, lead = find_highest_bets(rules, cents)
        assert lay(machine, bets), (cents, bets)
        raised_credits = bets[lead.id] + lead.bet_step
        higher = rules.table_layout.find_smallest_bets_with(lead, raised_credits)
        if raised_credits <= lead.bet_max:
            assert not lay(machine, higher), (cents, higher)
    for _ in range(12):
        with_credit(machine, CREDIT_CENTS)
        assert lay(machine, bets)
        machine.engine.handle(EventType.PLAY)
        while machine.state is State.PLAYING and isinstance(machine.hands.messages[-1], DecisionRequest):
            decision = machine.machine.component(GameInProgress).stepped_game.decision
            certified = [option for option in decision.options if option != "insurance"]
            assert set(certified) <= set(find_pending_decision(machine.machine).options)
            machine.engine.handle(EventType.CHOOSE, value=max(certified, key=decision.get_added_credits))
        machine.report_shown()
        if machine.state is State.HANDPAY:
            machine.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert machine.state is State.IDLE


@pytest.mark.parametrize("game", RAISED)
def test_a_round_starts_only_if_the_credit_covers_every_raise(rig, game):
    machine, rules = rig(game), rules_of(game)
    cents = machine.machine.selection.denomination_cents
    lead = lead_of(rules)
    for credits_ in range(lead.bet_min, lead.bet_max + 1, lead.bet_step):
        bets = rules.table_layout.find_smallest_bets_with(lead, credits_)
        cost_cents, whole_cents = (
            sum(bets.values()) * cents,
            rules.table_layout.compute_round_cost(bets) * cents,
        )
        less_cents = (whole_cents - 1) // 500 * 500
        if cost_cents <= less_cents:
            break
    with_credit(machine, less_cents)
    assert machine.credit_cents == less_cents
    assert lay(machine, bets)
    machine.engine.handle(EventType.PLAY)
    assert (machine.state, machine.notice) == (State.IDLE, "refused.raises_are_covered")
    with_credit(machine, whole_cents)
    machine.engine.handle(EventType.PLAY)
    assert machine.state is State.PLAYING


@pytest.mark.parametrize("game", RAISED)
def test_certification_states_how_far_the_bet_limit_reduces_a_bet(game):
    profile, loaded = load_profile("generic"), load_game(game)
    findings = list(check_bet_limit(CertificationCase(loaded, game, None, profile, None, 0)))
    rules = loaded.rules
    remarks = [finding.evidence for finding in findings if finding.status is FindingStatus.NOTED]
    for cents in loaded.denominations_cents:
        bets, lead = find_highest_bets(rules, cents)
        if bets[lead.id] < min(lead.bet_max, LIMIT_CENTS // cents):
            assert any(
                f"at most {bets[lead.id]:,} of {lead.bet_max:,} on {lead.id}:" in remark for remark in remarks
            )


def test_the_cabinet_check_states_how_far_the_bet_limit_reduces_a_bet(tmp_path):
    machine = DEFAULT_CABINET.read_text().partition("[[games]]")[0]
    file = tmp_path / "cabinet.toml"
    file.write_text(f'{machine}\n[[games]]\ngame = "quebec-three-card-poker"\n')
    result = CliRunner().invoke(main, ["cabinet", "check", "--json", str(file)])
    output = [fault["what"] for fault in json.loads(result.output) if fault["key"] == "games[1].game"]
    limit = load_profile("generic").play.bet_max_cents
    reduced = f"the highest bet is {limit // 2 // 500} credits on ante (the game's definition: 500)"
    assert any(reduced in fault_text for fault_text in output), output


# ---------------------------------------------------------------------------------- reported limits
def find_bets_of_cost(rules, expected):
    """Return bets whose round may cost exactly ``wanted``, with raises and insurance; None if there are none."""
    spots = [spot for spot in rules.list_spots() if not spot.added_bet_multiples]
    for lead in sorted(
        spots, key=lambda spot: -spot.bet_max * (1 + spot.reserve_per_credit + spot.optional_per_credit)
    ):
        for credits_ in range(lead.bet_max, lead.bet_min - 1, -lead.bet_step):
            bets = rules.table_layout.find_smallest_bets_with(lead, credits_)
            remaining_credits = expected - rules.table_layout.compute_round_cost(bets)
            for optional in {
                0,
                int(
                    sum(
                        rules.table_layout.spot_by_id[name].optional_per_credit * n
                        for name, n in bets.items()
                    )
                ),
            }:
                laid, missing_credits = dict(bets), remaining_credits - optional
                for spot in spots:
                    if (
                        missing_credits <= 0
                        or spot.id in laid
                        or spot.required_multiple is not None
                        or (spot.required_spot or lead.id) not in laid
                    ):
                        continue
                    cap = spot.bet_max
                    cap = (
                        cap
                        if spot.required_multiple_max is None
                        else min(cap, spot.required_multiple_max * laid[spot.required_spot])
                    )
                    cap = cap if spot.insured_credits_per_credit is None else 0
                    unit = 1 + spot.reserve_per_credit
                    added_credits = int(min(cap, missing_credits // unit)) // spot.bet_step * spot.bet_step
                    if added_credits >= spot.bet_min:
                        laid[spot.id], missing_credits = (
                            added_credits,
                            missing_credits - int(added_credits * unit),
                        )
                if missing_credits == 0:
                    return laid
    return None


@pytest.mark.requirement("G-09")
@pytest.mark.parametrize("game", GAMES)
def test_hosts_read_the_highest_stake_of_a_round(rig, game):
    machine = rig(game)
    rules, cents = rules_of(game), machine.machine.denominations_cents[game][0]
    reported_credits = (
        ReadoutBuilder(SimpleNamespace(machine=machine.machine), MeterReadingCache(machine.journal))
        ._games[0]
        .bet_max_credits
    )
    assert (
        reported_credits == find_highest_stake_credits(machine.machine, game, cents) <= LIMIT_CENTS // cents
    )
    if not rules.list_spots():
        assert reported_credits == max(bet for bet in rules.bet_options if bet * cents <= LIMIT_CENTS)
        return
    assert find_bets_of_cost(rules, reported_credits) is not None
    over = reported_credits + 1
    if over * cents <= LIMIT_CENTS and len(rules.list_spots()) < 12:
        assert find_bets_of_cost(rules, over) is None


@pytest.fixture(scope="module")
def theme():
    return load_theme()


def build_context(machine, theme, language):
    """Return the screen of a machine in its current state."""
    machine.engine.handle(EventType.SELECT_LANGUAGE, value=language)
    views = tuple(
        build_game_view(
            InstalledGame(
                game,
                machine.machine.denominations_cents[name],
                machine.machine.component(InstalledGames).lowest_return_by_game[name],
                ProgressivePools(),
            )
        )
        for name, game in machine.machine.games.items()
    )
    view = apply_message(
        apply_message(View(now=100.0, last_activity_at=100.0), Hello(games=views)),
        build_snapshot(machine.engine),
    )
    return DrawingContext(Painter(theme), Texts(language), LANDSCAPE_LAYOUT, view)


@pytest.mark.requirement("C-22", "S-04")
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("game", list_table_games())
def test_the_help_states_the_limits_of_every_spot(rig, theme, game, language):
    machine, rules = with_credit(rig(game), CREDIT_CENTS), rules_of(game)
    context = build_context(machine, theme, language)
    limits_text = describe_bet_limits(context)
    cents = context.view.snapshot.denomination_cents
    if not rules.list_spots():
        costs = [bet for bet in rules.bet_options if bet * cents <= LIMIT_CENTS]
        words = {
            "least": context.texts.format_number(min(costs)),
            "most": context.texts.format_number(max(costs)),
        }
        assert limits_text == context.texts.translate(
            "help.unit", amount=context.format_money(cents), **words
        )
        return
    room_ = LIMIT_CENTS // cents
    on = rules.find_highest_bet(room_)
    spots = [spot for spot in rules.list_spots() if not spot.added_bet_multiples]
    taken = {spot.id: min(spot.bet_max, room_, on.get(spot.id, spot.bet_max)) for spot in spots}
    for credits_ in (
        min(spot.bet_min for spot in spots),
        max(taken.values()),
        rules.find_highest_stake(room_),
    ):
        assert context.format_money(credits_ * cents) in limits_text
    for spot in spots if len(spots) < 12 else ():  # each stated limit of a spot is the accepted one
        shown = context.view.table.spots[spot.id]
        lines = [words for words, _ in format_spot_lines(context, shown, cents)]
        least, most = (
            context.format_money(credits_ * cents)
            for credits_ in (spot.bet_min, taken[spot.id] // spot.bet_step * spot.bet_step)
        )
        assert any(least in words and most in words for words in lines), (spot.id, lines)


# ---------------------------------------------------------------------------------- results of rounds
FAMILIES = {name: tomllib.loads(read_source(name).path.read_text())["game"]["family"] for name in GAMES}
PAY_TABLES = tuple(name for name, family in FAMILIES.items() if family in {"video-poker", "reels", "keno"})


class Round:
    """A round at a machine with random decisions, and the messages sent to the screen."""

    def __init__(self, machine, theme, game, rng):
        self.machine, self.rng = machine, rng
        with_credit(machine, CREDIT_CENTS)
        before = machine.journal.meters().values
        rules = rules_of(game)
        if rules.list_spots():
            forms = rng.sample(rules.table_layout.preset_bets, len(rules.table_layout.preset_bets))
            assert any(lay(machine, form.bets) for form in forms)
        self.view = build_context(machine, theme, "en").view
        self.applied_count = len(machine.hands.messages)
        machine.engine.handle(EventType.PLAY)
        assert machine.state is State.PLAYING, machine.notice
        while machine.state is State.PLAYING and isinstance(machine.hands.messages[-1], DecisionRequest):
            self.listen()
            machine.engine.handle(EventType.CHOOSE, value=rng.choice(machine.hands.messages[-1].options))
        self.listen()
        self.view = replace(self.view, now=self.view.now + 3600.0)
        self.context = DrawingContext(Painter(theme), Texts("en"), LANDSCAPE_LAYOUT, self.view)
        self.words = choose_status_text_and_colour(self.context)[0]
        machine.report_shown()
        if machine.state is State.HANDPAY:
            machine.engine.handle(EventType.KEY_TURNED, key="attendant")
        after = machine.journal.meters().values
        self.grew = {name: after[name] - before[name] for name in after}

    def listen(self):
        self.view = apply_message(self.view, build_snapshot(self.machine.engine))
        for message in self.machine.hands.messages[self.applied_count :]:
            self.view = apply_message(self.view, message)
        self.applied_count = len(self.machine.hands.messages)


@pytest.mark.requirement("D-15")
@pytest.mark.parametrize("game", [game for game in GAMES if game not in SEVERAL_PLAYER_GAMES])
def test_stake_and_return_shown_to_the_player_equal_the_journal(rig, theme, game):
    machine, rng = rig(game), Random(game)
    least_paid = 0
    for _ in range(24 if rules_of(game).list_spots() == () and game in list_table_games() else 4):
        while list_tables_with_standing_bets(machine.machine):
            machine.engine.handle(EventType.SELECT_BET, value=0, options={"bets": {}})
            machine.play()
            machine.report_shown()
        played = Round(machine, theme, game, rng)
        over, cents = find_settled_step(played.context), machine.machine.selection.denomination_cents
        returned_cents = played.grew["coin_out"]
        if over is None or list_tables_with_standing_bets(machine.machine):
            continue
        staked_cents = sum(int(settlement.get("staked", 0)) for settlement in over.settlements) * cents
        spots = {spot.id for spot in rules_of(game).list_spots()} or {""}
        assert {settlement.get("spot", "") for settlement in over.settlements} <= spots
        pay_names = {pay["name"] for pay in rules_of(game).build_presentation().get("pays", ())}
        if rules_of(game).list_spots():
            assert {
                str(settlement["name"]) for settlement in over.settlements
            } <= SETTLED_RESULT_NAMES | pay_names
        if staked_cents:  # in a game with spots each stake is settled once
            assert staked_cents == played.grew["coin_in"], (played.words, over.settlements)
        back_cents = sum(int(settlement["credits"]) for settlement in over.settlements) * cents
        assert back_cents <= returned_cents
        named = sum(
            int(settlement["credits"])
            for settlement in over.settlements
            if 0 < int(settlement["credits"]) <= int(settlement.get("staked", 0))
            and not settlement.get("pays")
        )
        assert named * cents == played.grew["push"]
        if game in PAY_TABLES:
            assert played.grew["push"] == played.grew["games_pushed"] == 0
            assert played.words != played.context.texts.translate(
                "status.bet_returned", amount=played.context.format_money(back_cents)
            )
            least_paid += any(
                0 < settlement["credits"] <= settlement.get("staked", 0) for settlement in over.settlements
            )
    assert least_paid or game not in PAY_TABLES or game not in list_table_games()


@pytest.mark.requirement("M-01", "M-17")
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("game", [name for name, family in FAMILIES.items() if family == "keno"])
def test_a_keno_glass_shows_every_prize_and_level(rig, theme, game, language):
    """A level won by a catch is shown as its prize, with or instead of the pay, and raises no remark."""
    context, loaded = build_context(rig(game), theme, language), load_game(game)
    for level in loaded.rules.definition.progressive_levels:
        assert context.texts.choose_translation(level.name.model_dump()) in format_catch_award(
            context, level.spot_count, level.catch_count
        )
    for table in loaded.rules.definition.pay_tables:
        for catch, pay in table.pay_by_catch.items():
            assert not pay or context.texts.format_number(pay) in format_catch_award(
                context, table.spot_count, catch
            )
    spots, shown = list_keno_prizes(context)
    (pays,) = [
        table.pay_by_catch for table in loaded.rules.definition.pay_tables if table.spot_count == spots
    ]
    levels = {
        level.catch_count for level in loaded.rules.definition.progressive_levels if level.spot_count == spots
    }
    assert {catch for catch, _ in shown} == levels | pays.keys()
    assert all(context.texts.format_number(pays[catch]) in text for catch, text in shown if pays.get(catch))
    assert loaded.rules.list_remarks() == ()
