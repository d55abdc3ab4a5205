"""Jurisdiction profiles and cabinet files, which load or are refused with file, key and reason; games they admit."""

import json
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

import egm.profiles
from egm.config.cabinet_file import GameTable, StateFolder, find_default_state_folder, load_cabinet
from egm.errors import OperatorError
from egm.play.installed_games import admit_games
from egm.play.prize_limits import compute_largest_prizes
from egm.play.stored_prizes import build_prize_computer_with_cache
from egm.profiles import list_profile_ids, load_profile
from meters import Journal
from paytables import AnalysisDepth, analyse, load_game
from paytables.definition import read_source
from paytables.wording import format_percent
from tools.cli import main

GOOD = (Path(egm.profiles.__file__).parent / "generic.toml").read_text()


@pytest.mark.parametrize("name", list_profile_ids())
def test_every_shipped_profile_loads(name):
    profile = load_profile(name)
    assert profile.id == name
    assert {"en", "fr"} <= set(profile.languages)


@pytest.mark.requirement("C-05", "C-06", "R-09")
def test_the_quebec_casino_profile_has_the_minimum_returns_of_the_by_law():
    returns = load_profile("quebec-casino").returns
    floors = (returns.find_minimum("reels"), returns.find_minimum("keno"), returns.find_minimum("wheel"))
    assert [floor.required_return for floor in floors] == [
        Fraction(83, 100),
        Fraction(65, 100),
        Fraction(75, 100),
    ]
    assert {floor.applies_to for floor in floors} == {"bet"}


@pytest.mark.requirement("C-05", "C-07")
def test_each_profile_applies_the_minimum_return_of_a_table_game_as_its_rules_require():
    returns = {"red": Fraction(9, 10), "tie": Fraction(8, 10)}
    floors = {name: load_profile(name).returns.find_minimum("roulette") for name in list_profile_ids()}
    bets_below_by_profile = {name: floor.find_bet_below(returns) for name, floor in floors.items()}
    assert bets_below_by_profile == {
        "quebec-casino": None,
        "quebec-vlt": "tie",
        "monaco": None,
        "generic": None,
    }
    assert floors["quebec-casino"].find_bet_below({"tie": returns["tie"]}) == "tie"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('reels = "0.75"', "reels = 0.75", "returns.reels"),
        ('reels = "0.75"', 'reels = "1.2"', "returns.reels"),
        ("credit_limit_cents = 300000", "credit_limit_cents = -1", "value_in.credit_limit_cents"),
        ("credit_limit_cents = 300000", "credit_limit_cents = 3000.0", "value_in.credit_limit_cents"),
        ('currency = "USD"', 'currency = "dollars"', "currency"),
        ("bills_cents = [100, 500,", "bills_cents = [500, 100,", "smallest first"),
        ('languages = ["en", "fr"]', 'languages = ["en", "de"]', "title: no text for de"),
        ('defect = "refund"', 'defect = "shrug"', "pay_out.defect"),
        ("every_generates = 4096", "every_generates = -4", "chance"),
        ('id = "generic"', 'id = "generic"\nsurprise = 1', "surprise"),
        ('id = "generic"', "id = ", "not TOML"),
    ],
)
def test_an_invalid_profile_is_refused_with_its_file_and_key(tmp_path, old, new, message):
    assert old in GOOD
    path = tmp_path / "place.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(OperatorError, match=r"place\.toml") as refusal:
        load_profile(path)
    assert message in str(refusal.value)


def test_a_profile_error_states_the_byte_of_a_bad_encoding_and_the_expected_type(tmp_path):
    path = tmp_path / "place.toml"
    path.write_bytes(b"a = '\xff'")
    with pytest.raises(OperatorError, match=r"^place\.toml: not UTF-8 at byte 6$"):
        load_profile(path)
    path.write_text(GOOD.replace("credit_limit_cents = 300000", 'credit_limit_cents = "much"'))
    with pytest.raises(OperatorError, match=r"credit_limit_cents: must be a whole number, not 'much'$"):
        load_profile(path)
    path.write_text("sound = 1\n" + GOOD)
    with pytest.raises(OperatorError, match=r"sound: must be a table, not 1(\n|$)"):
        load_profile(path)


def test_an_unknown_profile_is_refused_with_the_list_of_known_profiles(tmp_path):
    with pytest.raises(OperatorError, match="quebec-casino"):
        load_profile("atlantis")


@pytest.mark.requirement("C-05")
def test_a_game_below_the_minimum_return_is_refused_with_both_figures(tmp_path):
    strict = tmp_path / "strict.toml"
    strict.write_text(GOOD.replace('reels = "0.75"', 'reels = "0.99"'))
    installed, refusals = admit_games((GameTable(game="maple-classic"),), load_profile(strict))
    assert installed == {}
    assert "87.3770 % at bet line" in refusals[0].reason
    assert "99.00 %" in refusals[0].reason


@pytest.mark.requirement("C-05", "C-07", "B-12")
def test_the_minimum_return_and_the_longest_odds_are_compared_exactly():
    """The exact return and odds of the game are admitted; the smallest difference beyond them is refused."""
    profile = load_profile("generic")
    slots = (GameTable(game="maple-classic"),)
    exact = admit_games(slots, profile)[0]["maple-classic"].lowest_return

    def is_offered(table, **keys):
        changed = getattr(profile, table).model_copy(update=keys)
        return bool(admit_games(slots, profile.model_copy(update={table: changed}))[0])

    assert is_offered("returns", reels_return_min=exact)
    assert not is_offered("returns", reels_return_min=exact + Fraction(1, 10**12))
    assert is_offered("awards", longest_odds_one_in=13824)
    assert not is_offered("awards", longest_odds_one_in=13823)


@pytest.mark.requirement("C-07")
@pytest.mark.parametrize("name", ["hold-fast", "jacks-or-better-8-5"])
def test_a_game_of_skill_is_admitted_by_the_return_of_its_best_strategy(name):
    """A minimum equal to that return admits the game; a higher one refuses it, and the reason names the minimum."""
    profile = load_profile("generic")
    best = analyse(load_game(name), AnalysisDepth.RETURN).minimum_rtp

    def admit(minimum):
        returns = profile.returns.model_copy(update={"reels_return_min": minimum})
        return admit_games((GameTable(game=name),), profile.model_copy(update={"returns": returns}))

    installed, refusals = admit(best)
    assert (installed[name].lowest_return, refusals) == (best, ())
    installed, (refusal,) = admit(best + Fraction(1, 1000))
    assert (dict(installed), refusal.game_id_or_path) == ({}, name)
    assert f"requires at least {format_percent(best + Fraction(1, 1000))} %" in refusal.reason


@pytest.mark.requirement("C-06", "M-10", "R-09")
@pytest.mark.parametrize(
    ("game", "prize", "lower_prize", "message"),
    [
        ("aurora-keno", "{ 2 = 9, 1 = 1 }", "{ 2 = 4, 1 = 1 }", "requires at least 65.00 % of a keno game"),
        ("river-wheel", "{ star = 45 }", "{ star = 30 }", "requires at least 75.00 % of a wheel game"),
    ],
)
def test_quebec_casino_has_separate_minimum_returns_for_keno_and_wheel_games(
    tmp_path, game, prize, lower_prize, message
):
    """Québec admits the library's game, but not the same game with one lower prize."""
    text = read_source(game).path.read_text("utf-8")
    assert text.count(prize) == 1
    low = tmp_path / "low.toml"
    low.write_text(text.replace(prize, lower_prize).replace(f'id = "{game}"', 'id = "low"'), "utf-8")
    installed, refusals = admit_games(
        (GameTable(game=game), GameTable(game=str(low))), load_profile("quebec-casino")
    )
    assert list(installed) == [game]
    assert message in refusals[0].reason


@pytest.mark.requirement("C-05", "R-09")
@pytest.mark.parametrize(
    ("game", "prize", "lower_prize", "family"),
    [
        ("maple-classic", "pays = { 3 = 60 }", "pays = { 3 = 38 }", "reels"),
        ("aurora-keno", "{ 2 = 9, 1 = 1 }", "{ 2 = 7, 1 = 1 }", "keno"),
        ("river-wheel", "{ star = 45 }", "{ star = 40 }", "wheel"),
    ],
)
def test_quebec_video_lottery_requires_a_return_of_83_percent_from_every_game_family(
    tmp_path, game, prize, lower_prize, family
):
    """Outside Québec's casinos, Keno and the wheel have no lower minimum; each game has one bet below 83 %."""
    text = read_source(game).path.read_text("utf-8")
    assert text.count(prize) == 1
    low = tmp_path / "low.toml"
    low.write_text(text.replace(prize, lower_prize), "utf-8")
    slots = (GameTable(game=str(low)),)
    installed, (refusal,) = admit_games(slots, load_profile("quebec-vlt"))
    assert not installed
    assert f"the profile quebec-vlt requires at least 83.00 % of a {family} game" in refusal.reason
    admitted, _ = admit_games(slots, load_profile("quebec-casino"))
    assert bool(admitted) == (family != "reels")


@pytest.mark.requirement("M-10")
@pytest.mark.parametrize("name", list_profile_ids())
def test_no_profile_of_the_product_admits_keno_below_65_percent(name):
    assert load_profile(name).returns.find_minimum("keno").required_return >= Fraction(65, 100)


@pytest.mark.requirement("B-12")
@pytest.mark.parametrize(
    ("rule", "game", "reason"),
    [
        ("longest_one_in = 13823", "maple-classic", "3 lantern is won once in 13,824 games at bet line"),
        ("every_prize_at_every_bet = true", "seven-rivers", "bet one cannot win 3 salmon, 3 seven"),
    ],
)
def test_a_profile_may_limit_the_odds_and_require_every_prize_at_every_bet(tmp_path, rule, game, reason):
    path = tmp_path / "strict.toml"
    path.write_text(f"{GOOD}\n[awards]\n{rule}\n")
    strict = load_profile(path)
    installed, refusals = admit_games((GameTable(game=game), GameTable(game="northern-ways")), strict)
    assert game not in installed
    assert reason in refusals[0].reason
    path.write_text(f"{GOOD}\n[awards]\nlongest_one_in = 13824\n")
    installed, _ = admit_games(
        (GameTable(game="maple-classic"), GameTable(game="northern-ways")), load_profile(path)
    )
    assert list(installed) == ["maple-classic"]


@pytest.mark.requirement("B-12")
def test_a_game_with_a_prize_that_no_result_wins_is_refused(tmp_path):
    text = read_source("maple-classic").path.read_text("utf-8")
    hidden = '[[stage.base.pay]]\nof = "maple"\nid = "less"\npays = { 3 = 1 }\n'
    path = tmp_path / "hidden.toml"
    path.write_text(f"{text}\n{hidden}", "utf-8")
    installed, refusals = admit_games((GameTable(game=str(path)),), load_profile("generic"))
    assert installed == {}
    assert "no result of bet line wins 3 less" in refusals[0].reason


@pytest.mark.requirement("B-15")
@pytest.mark.parametrize(("revolutions", "is_offered"), [(2, False), (3, True), (4, True)])
def test_a_wheel_whose_spins_make_fewer_than_three_turns_is_refused(tmp_path, revolutions, is_offered):
    text = read_source("river-wheel").path.read_text("utf-8")
    assert text.count("revolutions = 3") == 1
    wheel = tmp_path / "wheel.toml"
    wheel.write_text(text.replace("revolutions = 3", f"revolutions = {revolutions}"), "utf-8")
    installed, refusals = admit_games((GameTable(game=str(wheel)),), load_profile("generic"))
    assert bool(installed) is is_offered
    assert ["at least 3" in refusal.reason for refusal in refusals] == ([] if is_offered else [True])


@pytest.mark.requirement("B-16:a")
@pytest.mark.parametrize(("revolutions", "is_offered"), [(6, False), (7, True), (8, True)])
def test_a_roulette_whose_spins_make_fewer_than_seven_turns_is_refused(tmp_path, revolutions, is_offered):
    text = read_source("quebec-roulette-french").path.read_text("utf-8")
    assert text.count("revolutions = 7") == 1
    roulette = tmp_path / "roulette.toml"
    roulette.write_text(text.replace("revolutions = 7", f"revolutions = {revolutions}"), "utf-8")
    installed, refusals = admit_games((GameTable(game=str(roulette)),), load_profile("quebec-casino"))
    assert bool(installed) is is_offered
    assert ["at least 7" in refusal.reason for refusal in refusals] == ([] if is_offered else [True])


@pytest.mark.requirement("B-01")
def test_a_game_that_draws_no_number_is_refused(tmp_path):
    text = read_source("maple-classic").path.read_text("utf-8")
    path = tmp_path / "sure.toml"
    stage = 'heights = [1, 1, 1]\nlines = [[0, 0, 0]]\nstrips = ["maple", "maple", "maple"]\n'
    stage += '[[stage.base.pay]]\nof = "maple"\npays = { 3 = 1 }\n'
    path.write_text(text[: text.index("heights")] + stage, "utf-8")
    installed, refusals = admit_games((GameTable(game=str(path)),), load_profile("generic"))
    assert installed == {}
    assert "no number is drawn" in refusals[0].reason


@pytest.mark.requirement("B-01")
def test_a_game_with_a_bet_that_draws_no_number_is_refused(tmp_path):
    text = read_source("maple-classic").path.read_text("utf-8")
    mode = '[[bets.mode]]\nid = "sure"\ncost = 5\nstage = "sure"\nname = { en = "Sure", fr = "Sûr" }\n'
    stage = '[stage.sure]\nheights = [1, 1, 1]\nlines = [[0, 0, 0]]\nstrips = ["pine", "pine", "pine"]\n'
    stage += '[[stage.sure.pay]]\nof = "pine"\npays = { 3 = 5 }\n'
    line = '[[bets.mode]]\nid = "line"\ncost = 1\n'
    assert line in text
    named = line + 'name = { en = "Line", fr = "Ligne" }\n'
    path = tmp_path / "one.toml"
    path.write_text(text.replace(line, named + mode) + stage, "utf-8")
    installed, refusals = admit_games((GameTable(game=str(path)),), load_profile("generic"))
    assert installed == {}
    assert "no number is drawn" in refusals[0].reason


def test_unknown_games_unplayable_denominations_and_duplicate_ids_are_refused():
    slots = (
        GameTable(game="no-such-game"),
        GameTable(game="maple-classic", denominations_cents=(3,)),
        GameTable(game="maple-classic"),
        GameTable(game="maple-classic"),
    )
    installed, refusals = admit_games(slots, load_profile("generic"))
    assert list(installed) == ["maple-classic"]
    reasons = [refusal.reason for refusal in refusals]
    assert "no-such-game" in reasons[0]
    assert "denominations [3]" in reasons[1]
    assert "another game with the id" in reasons[2]


@pytest.mark.requirement("F-11", "N-02", "N-07")
def test_quebec_video_lottery_limits_credits_bets_and_prizes():
    vlt = load_profile("quebec-vlt")
    slots = tuple(GameTable(game=name) for name in ("maple-classic", "seven-rivers", "aurora-twenty"))
    installed, refusals = admit_games(slots, vlt)
    assert installed["maple-classic"].denominations_cents == (5, 25)  # 3 x 500 x $0.25 = $375; no $1 credit
    assert installed["seven-rivers"].denominations_cents == (25,)  # 1506 x $0.25 = $376.50
    for game in installed.values():
        assert max(game.denominations_cents) <= 25
    assert {refusal.game_id_or_path for refusal in refusals} <= {"aurora-twenty"}
    play = vlt.play
    assert (play.bet_max_cents, play.win_max_cents, play.denomination_max_cents) == (250, 100000, 25)
    assert vlt.pay_out.automatic_payout_min_cents == 100000
    assert vlt.value_in.credit_limit_cents == 100000
    reminders = vlt.protection
    assert ([*reminders.reminder_intervals_minutes], reminders.reminder_spending_cents) == ([60, 30], 10000)
    assert reminders.shows_clock
    assert reminders.allows_own_limits


@pytest.mark.requirement("F-11", "N-07")
def test_a_game_whose_largest_prize_exceeds_the_win_limit_is_refused(tmp_path):
    text = (Path(egm.profiles.__file__).parent / "quebec-vlt.toml").read_text()
    path = tmp_path / "low.toml"
    path.write_text(text.replace("win_limit_cents = 100000", "win_limit_cents = 7000"))
    installed, refusals = admit_games((GameTable(game="maple-classic"),), load_profile(path))
    assert installed == {}
    assert (
        "it can win $75.00 in one game at $0.05 a credit; the profile quebec-vlt allows $70.00"
        in refusals[0].reason
    )


def test_the_largest_prize_is_computed_once_per_game_definition_and_code_version(tmp_path, monkeypatch):
    computed = []

    def compute(game):
        computed.append(game.id)
        return compute_largest_prizes(game)

    def start():
        with Journal.open(tmp_path / "state", now=lambda: datetime(2026, 1, 1, tzinfo=UTC)) as journal:
            known = build_prize_computer_with_cache(journal, compute)
            installed, _ = admit_games(
                (GameTable(game="maple-classic"),), load_profile("quebec-vlt"), (), known
            )
            return installed["maple-classic"].denominations_cents

    assert start() == start() == (5, 25)
    assert computed == ["maple-classic"]
    monkeypatch.setattr("egm.play.stored_prizes.compute_code_digest", lambda: "another")
    assert start() == (5, 25)
    assert computed == ["maple-classic"] * 2


CABINET = """
[machine]
serial = "EGM-1"
operator_number = "1"
site = "somewhere"
profile = "generic"
[[games]]
game = "maple-classic"
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CABINET.replace('serial = "EGM-1"', 'serial = "egm one"'), "machine.serial"),
        (CABINET + "[metrics]\nport = 70000\n", "metrics.port"),
        (CABINET + "[devices.bill]\n", "devices.bill.protocol"),
        (CABINET + "surprise = 1\n", "surprise"),
        ("[machine", "not TOML"),
    ],
)
def test_an_invalid_cabinet_file_is_refused_with_its_file_and_key(tmp_path, text, message):
    path = tmp_path / "cabinet.toml"
    path.write_text(text)
    with pytest.raises(OperatorError, match=r"cabinet\.toml") as refusal:
        load_cabinet(path)
    assert message in str(refusal.value)


def test_the_default_cabinet_file_is_loaded_and_a_missing_file_is_refused(tmp_path):
    assert list(load_cabinet().devices) == ["bill", "printer", "coin", "hopper", "io"]
    with pytest.raises(OperatorError, match="No such file"):
        load_cabinet(tmp_path / "nowhere.toml")


def test_an_unusable_state_folder_is_refused_with_the_reason(tmp_path):
    regular_file = tmp_path / "file"
    regular_file.write_text("")
    with pytest.raises(OperatorError, match="cannot write"):
        StateFolder(regular_file / "state").create_private_folders()
    with pytest.raises(OperatorError, match="file is not a folder"):
        StateFolder(regular_file).create_private_folders()


def test_the_default_state_folder_follows_xdg_state_home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert find_default_state_folder() == tmp_path / "open-egm"


def test_the_example_cabinet_file_of_the_wiring_page_is_valid(tmp_path):
    page = (Path(__file__).parents[3] / "egm/devices/WIRING.md").read_text(encoding="utf-8")
    file = tmp_path / "cabinet.toml"
    file.write_text(page.split("```toml\n", 1)[1].split("```", 1)[0], encoding="utf-8")
    cabinet = load_cabinet(file)
    assert cabinet.machine.profile == "quebec-vlt"
    assert cabinet.machine.venue.licence_holder
    assert set(cabinet.devices) == {"bill", "printer", "io"}


def test_a_set_of_a_profile_is_printed_as_a_sorted_list():
    """Regression: `egm profile show` printed it as the text of a frozenset, in an order that varied."""
    result = CliRunner().invoke(main, ["profile", "show", "generic"])
    assert result.exit_code == 0, result.output
    events = json.loads(result.output)["chance"]["on_event"]
    assert events == sorted(load_profile("generic").reseed_policy.on_event)
    assert events
