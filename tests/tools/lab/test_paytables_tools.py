"""The commands that mathematicians and laboratories run on games."""

import csv
import html
import io
import json
import re
import shutil
from collections import Counter
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from paytables import FAMILY_MODULE_BY_NAME, find_family, list_non_table_games, load_game
from paytables.definition import parse, read_source
from tools.cli import main
from tools.cli.commands import simulate
from tools.lab.certification import bundle
from tools.lab.parsheet import format_one_in
from tools.lab.simulation import INTERVAL_Z_SCORE, SimulationTally
from tools.lab.tuning import (
    TuningError,
    compute_rtp,
    list_pay_paths,
    parse_key,
    round_to_nice_pay,
    tune_pays,
    tune_strips,
)

VECTORS = Path(__file__).parents[2] / "vectors" / "paytables"


def run(*args, code=0):
    result = CliRunner().invoke(main, [str(a) for a in args])
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.requirement("R-02", "R-03", "C-26")
def test_the_json_sheet_contains_what_a_laboratory_requires():
    data = json.loads(run("par", VECTORS / "bell-21.toml", "--json"))
    assert data["digest_sha256"] == load_game(VECTORS / "bell-21.toml").digest
    assert (data["version"], data["date"]) == ("1.0.0", "2026-11-21")
    bet = data["bets"][0]
    assert bet["return"] == {"exact": "1889/2000", "decimal": 0.9445}
    assert sum(Fraction(p["return"]["exact"]) for p in bet["prizes"]) == Fraction(1889, 2000)
    assert [reel["stops"] for reel in data["reels"]] == [20, 20, 20]
    assert data["reels"][0]["counts"]["plum"] == 7
    counts = [Counter(reel["strip"]) for reel in data["reels"]]
    assert counts == [reel["counts"] for reel in data["reels"]]
    hits = {prize["prize"]: prize["hits"] for prize in bet["prizes"]}
    assert (hits["7 7 7"], hits["plum plum plum"]) == (1, 63)
    assert (bet["cycle"], round(bet["sigma_bets"], 6)) == (8000, 5.751601)
    assert Fraction(bet["variance_credits"]["exact"]) == Fraction(132323679, 4000000)
    shares = [Fraction(c["probability"]["exact"]) for c in bet["distribution"]["classes"]]
    assert sum(shares) == Fraction(bet["hit_frequency"]["exact"]) == Fraction(1073, 8000)
    returns = [Fraction(c["return"]["exact"]) for c in bet["distribution"]["classes"]]
    assert sum(returns) == Fraction(1889, 2000)
    assert [b["games"] for b in bet["volatility"][0]["bands"]] == [10**n for n in range(3, 9)]
    at_95 = next(row for row in bet["volatility"] if row["quantile"] == "95 %")
    assert round(at_95["index"], 5) == round(5.751601 * 1.959963985, 5)


@pytest.mark.requirement("R-02")
def test_the_sheet_states_the_frequency_of_each_prize_and_how_it_is_derived():
    data = json.loads(run("par", VECTORS / "bell-21.toml", "--json"))
    (bet,) = data["bets"]
    for prize in bet["prizes"]:
        assert Fraction(prize["per_game"]["exact"]) == Fraction(prize["hits"], bet["cycle"])
        assert Fraction(prize["return"]["exact"]) == Fraction(prize["hits"] * prize["credits"], bet["cycle"])
    assert bet["max_win_credits"] == max(prize["credits"] for prize in bet["prizes"])
    highest = sum(prize["hits"] for prize in bet["prizes"] if prize["credits"] == bet["max_win_credits"])
    assert Fraction(bet["max_win_odds"]["exact"]) == Fraction(highest, bet["cycle"])
    assert data["derivation"].startswith("Exact: integer counts over the full cycle, by dynamic programming")
    unstated = [
        name for name in FAMILY_MODULE_BY_NAME if find_family(name).counted_cases == "over all results"
    ]
    assert unstated == []


@pytest.mark.requirement("R-02")
def test_the_sheet_states_the_frequency_of_a_feature_and_the_held_reels():
    """Two of the wheel's 54 segments turn it again; the player holds some of the reels."""
    (bet, *_) = json.loads(run("par", "river-wheel", "--json"))["bets"]
    (again_feature,) = bet["features"]
    assert (again_feature["feature"], again_feature["per_game"]["exact"]) == ("again", "1/27")
    (bet, *_) = json.loads(run("par", "hold-fast", "--json"))["bets"]
    assert bet["choices"] == "hold the reels worth most on average, as the game advises"
    best, worst = (Fraction(bet[name]["exact"]) for name in ("return", "return_of_the_worst_choices"))
    assert 1 > best > worst > 0


@pytest.mark.requirement("R-02")
def test_the_sheet_is_printed_as_csv_text_and_html(tmp_path):
    rows = list(csv.reader(io.StringIO(run("par", "seven-rivers", "--csv"))))
    values_by_row = {(r[0], r[2], r[3]): r[4] for r in rows if r}
    assert Fraction(values_by_row["three", "three", "return"]) == compute_rtp(
        parse(read_source("seven-rivers")), "three"
    )
    assert ("", "base reel 1", "stops") in values_by_row
    sheet = run("par", "lantern-harbour")
    assert "Lantern Harbour / Port des lanternes" in sheet
    assert "'trade 90 %' uses z = 1.65" in " ".join(sheet.split())
    assert re.search(r"hamper .* 12,000 .* 0\.004687 % .* 0\.000937 %", run("par", "orchard-picnic"))
    page = tmp_path / "par.html"
    run("par", "orchard-picnic", "--html", "--out", page)
    text = page.read_text(encoding="utf-8")
    assert "Pique-nique au verger" in text
    assert "Un panier d&#39;osier" in text
    assert text.count("data:image/png;base64,") == 2  # a plot a bet
    assert "http" not in text  # one file, nothing fetched


@pytest.mark.requirement("R-02")
@pytest.mark.requirement("P-02:b")
@pytest.mark.parametrize("game", ["monaco-blackjack", pytest.param("quebec-craps", marks=pytest.mark.slow)])
def test_the_sheet_lists_the_departures_from_the_usual_rules(game):
    """Blackjack is used, because the HTML sheet of craps has 39 plots in the same template."""
    departures = load_game(game).departures
    assert len(departures) > 1
    report = json.loads(run("par", game, "--json"))
    assert report["departures"] == list(departures)
    written = html.unescape(run("par", game, "--html"))
    assert [text for words in departures for text in words.values() if text not in written] == []


@pytest.mark.requirement("O-02", "R-02")
def test_sheet_and_certification_state_the_levy_of_a_game_between_players():
    chemin = "monaco-chemin-de-fer"
    assert json.loads(run("par", chemin, "--json"))["levy"] == {"exact": "1/20", "decimal": 0.05}
    words = "levy (the certified figure of games between players): 5.0000 %"
    assert words in run("par", chemin)
    assert [line for line in run("par", chemin, "--csv").splitlines() if ",levy,1/20,0.05" in line]
    report = json.loads(run("certify", chemin, "--jurisdiction", "monaco", "--games-played", 200, "--json"))
    (finding,) = [finding for finding in report[0]["findings"] if finding["rule"] == "levy"]
    assert (finding["status"], "levy of 5.0000 % = 1/20" in finding["evidence"]) == ("noted", True)
    assert json.loads(run("par", "quebec-war", "--json"))["levy"] is None


def test_a_sheet_explains_multiplied_wins_and_raises_deducted_from_them():
    """Three maples pay 60, 120 with one lantern and 240 with two: 11 hits come to 1,680 credits."""
    text = run("par", "maple-classic")
    assert re.search(r"3 maple +60 +152\.73 +11 ", text)
    assert text.count("note: the credits of a prize are those of a win without a multiplier") == 1
    assert "a win that nothing multiplies" not in run("par", "hold-fast")
    (bet,) = json.loads(run("par", "maple-classic", "--json"))["bets"]
    maple = next(prize for prize in bet["prizes"] if prize["prize"] == "3 maple")
    assert Fraction(maple["mean_credits"]["exact"]) == Fraction(1680, 11)
    for game in ("quebec-three-card-poker", "quebec-blackjack", "quebec-war"):
        text = run("par", game)
        assert text.count("credits to the bet on average (doubles, splits, raises)") == 1, game
        assert "highest win, raises deducted" in text
    assert "what was added" not in run("par", "quebec-let-it-ride")


def test_every_format_of_a_sheet_states_who_signs_it(tmp_path):
    signing_text = "In a bundle of `egm certify` it is signed with the laboratory's key"
    assert signing_text in run("par", "hold-fast")
    assert signing_text in json.loads(run("par", "hold-fast", "--json"))["signature"]
    page = tmp_path / "sheet.html"
    run("par", "hold-fast", "--html", "--out", page)
    assert signing_text in html.unescape(page.read_text(encoding="utf-8"))


@pytest.mark.requirement("R-02")
def test_insurance_has_its_own_return():
    """In six full decks without the dealer's ace, 96 of 311 cards are tens, which pay 2 to 1."""
    (sheet,) = json.loads(run("par", "quebec-blackjack", "--json"))["feature_sheets"]
    assert dict(sheet["facts"])["return of insurance, always taken, fresh shoe"]["exact"] == str(
        Fraction(3 * 96, 311)
    )


@pytest.mark.requirement("C-05", "R-09")
def test_a_return_below_the_floor_fails_with_the_jurisdiction_named(tmp_path):
    low = tmp_path / "low.toml"
    low.write_text(
        read_source("maple-classic")
        .path.read_text(encoding="utf-8")
        .replace("pays = { 3 = 60 }", "pays = { 3 = 10 }")
    )
    output = run("par", low, "--jurisdiction", "quebec-casino", code=1)
    assert "on each bet; quebec-casino requires 83.0000 % on each bet" in output
    assert "quebec-casino" in run("par", "maple-classic", "--jurisdiction", "quebec-casino")
    assert "quebec-casino requires 83.0000 %" in run(
        "game", "check", low, "--jurisdiction", "quebec-casino", code=1
    )
    assert "is valid" in run("game", "check", "maple-classic", "--jurisdiction", "quebec-casino")
    output = run("certify", low, "--jurisdiction", "quebec-casino", "--games-played", 100, code=1)
    assert "not certified for quebec-casino: maple-classic" in output
    assert "jurisdiction profile mars: not in the library" in run(
        "par", low, "--jurisdiction", "mars", code=1
    )


def test_a_game_beyond_exact_analysis_is_checked_with_a_simulated_interval(tmp_path, monkeypatch):
    monkeypatch.setattr("paytables.reels.enumerated.ENUMERATED_WINDOWS_MAX", 1000)
    own_game_file = (
        tmp_path / "icebreak.toml"
    )  # another game than the library's, which may have been enumerated before
    own_game_file.write_bytes(read_source("icebreak").data)
    monkeypatch.setattr("tools.cli.commands.par.ESTIMATE_GAMES", 2000)
    output = run("game", "check", own_game_file)
    assert "at most 1,000 can be enumerated" in output
    assert "Simulated, not exact: 2,000 games" in output
    assert "99.9 % interval" in output
    assert f"icebreak {load_game(own_game_file).version} is valid" in output
    sample_output = run("simulate", own_game_file, "--games", 1000)
    assert "1,000 games, production path" in sample_output
    assert "by the sample's own deviation" in sample_output
    assert "no exact return: stage base" in sample_output
    data = json.loads(run("simulate", own_game_file, "--games", 1000, "--json"))
    assert data["exact_return"] is None
    assert data["interval"][0] < data["return"] < data["interval"][1]
    assert "has no bet 'x'" in run("simulate", own_game_file, "--bet", "x", code=1)
    assert "no exact return to check" in run(
        "game", "check", own_game_file, "--jurisdiction", "generic", code=1
    )


@pytest.mark.requirement("R-05", "R-07")
def test_a_certified_bundle_is_signed_completely_and_any_change_is_detected(tmp_path):
    arguments = ("certify", "orchard-picnic", "--jurisdiction", "quebec-casino", "--games-played", 500)
    bundle_folder, key_file = tmp_path / "handed", tmp_path / "laboratory" / "own.key"
    run(*arguments, "--out", bundle_folder, "--key", key_file)
    folder = bundle_folder / "orchard-picnic"
    key = bytes.fromhex((folder / "signer.pub").read_text())
    facts = bundle.verify_bundle(folder, key)
    assert facts["certified"] is True
    assert facts["digest_sha256"] == load_game(folder / "orchard-picnic.toml").digest
    findings = json.loads((folder / "findings.json").read_text())
    assert {f["rule"] for f in findings} >= {"return-floor", "languages", "simulation", "replay", "same-file"}
    (hamper,) = (f["evidence"] for f in findings if f["rule"] == "prizes-in-kind")
    assert "hamper: described; worth 12,000 minor units, not included in the return: bet nine" in hamper
    sheet = json.loads((folder / "par.json").read_text())
    assert sheet["bets"][0]["merchandise"][0]["return_at_5_cents"]["exact"] == "3/64000"
    assert key_file.stat().st_mode & 0o077 == 0
    with pytest.raises(bundle.BundleError, match="is not the laboratory's key"):
        bundle.verify_bundle(folder, bytes(32))
    output = run("certify", "--verify", folder, "--signer", key.hex())
    assert "intact, and signed by the key given with --signer; orchard-picnic" in output
    assert "is certified for quebec-casino" in output
    assert "is not the laboratory's key" in run("certify", "--verify", folder, "--signer", "00" * 32, code=1)
    assert run("certify", "--verify", bundle_folder, "--signer", key.hex()) == output
    assert "is not a bundle: neither it nor any folder in it has a manifest.json" in run(
        "certify", "--verify", tmp_path / "laboratory", code=1
    )
    assert "--jurisdiction" in run("certify", "orchard-picnic", code=2)
    for name in ("orchard-picnic.toml", "par.json", "manifest.json"):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content.replace(b"1", b"2", 1))
        with pytest.raises(bundle.BundleError):
            bundle.verify_bundle(folder)
        (folder / name).write_bytes(content)
    (folder / "par.csv").unlink()
    with pytest.raises(bundle.BundleError, match=r"par\.csv: No such file"):
        bundle.verify_bundle(folder)
    key_file.write_text("xyz\n")
    with pytest.raises(bundle.BundleError, match="expected a signing key of 32 bytes"):
        bundle.load_laboratory_key(key_file)


@pytest.mark.requirement("R-05")
def test_the_private_key_is_never_in_the_output_folder(tmp_path):
    bundle_folder = tmp_path / "handed"
    arguments = (
        "certify",
        "orchard-picnic",
        "--jurisdiction",
        "quebec-casino",
        "--games-played",
        50,
        "--out",
        bundle_folder,
    )
    for inside in (
        bundle_folder / "own.key",
        bundle_folder / "orchard-picnic" / "own.key",
        bundle_folder / ".." / "handed" / "own.key",
    ):
        assert "must not be in" in run(*arguments, "--key", inside, code=1)
    assert not bundle_folder.exists()  # refused before anything was played, and before a key was made
    run(*arguments)
    key_file = bundle.find_key_path(None, bundle_folder)
    secret = key_file.read_bytes().strip()
    handed = [path for path in bundle_folder.rglob("*") if path.is_file()]
    assert handed
    assert [path for path in handed if secret in path.read_bytes() or path.suffix == ".key"] == []
    shutil.copy(key_file, bundle_folder / "laboratory.key")  # as the first edition left it there
    assert "must not be in" in run(*arguments, code=1)


@pytest.mark.parametrize("bet", ["bank", "stake"])
def test_a_bet_is_simulated_with_the_bets_it_needs_and_those_of_other_seats(bet):
    """With only two games, no result is significantly far from the exact one."""
    data = json.loads(run("simulate", "quebec-super-pan-9", "--bet", bet, "--games", 2, "--json"))
    assert (data["bet"], data["games"], data["agrees"]) == (bet, 2, True)


@pytest.mark.parametrize(
    ("games", "plain"),
    [(2_500, "maple-classic"), pytest.param(25_000, "aurora-twenty", marks=pytest.mark.slow)],
)
def test_simulation_uses_the_production_code_or_the_compiled_one(tmp_path, games, plain):
    # the certified generator takes no seed, so that this game always returns one credit
    sure = tmp_path / "sure.toml"
    text = read_source("maple-classic").path.read_text(encoding="utf-8").split("[stage.base]")[0]
    sure.write_text(
        text + '[stage.base]\nheights = [1]\nlines = [[0]]\nstrips = ["birch birch"]\n'
        '[[stage.base.pay]]\nof = "birch"\npays = { 1 = 1 }\n',
        encoding="utf-8",
    )
    output = run("simulate", sure, "--games", games, "--workers", 1, "--json")
    data = json.loads(output[output.index("{") :])
    assert (data["games"], data["credits_won"], data["z"], data["agrees"]) == (games, games, 0.0, True)
    assert data["path"] == "production"
    compiled = json.loads(run("simulate", plain, "--games", 50_000, "--compiled", "--seed", 3, "--json"))
    assert compiled["agrees"] is True
    assert compiled["games"] == 50_000
    assert "stage base is not a plain spin" in run("simulate", "icebreak", "--compiled", code=1)
    assert "has no bet 'x'" in run("simulate", "icebreak", "--bet", "x", code=1)


@pytest.fixture
def judge_wins(tmp_path, monkeypatch):
    """Return a function that lets ``egm simulate`` judge given wins of a game that pays 0, 1, 2 or 3 credits."""
    game = tmp_path / "three.toml"
    text = read_source("maple-classic").path.read_text(encoding="utf-8").split("[stage.base]")[0]
    pays = "".join(
        f'[[stage.base.pay]]\nof = "{symbol}"\npays = {{ 1 = {credits_} }}\n'
        for credits_, symbol in enumerate(("birch", "pine", "loon"), 1)
    )
    strips = 'heights = [1]\nlines = [[0]]\nstrips = ["birch pine loon trillium"]\n'
    game.write_text(f"{text}[stage.base]\n{strips}{pays}", encoding="utf-8")

    def judge(wins, *, code):
        games = wins.total()
        tally = SimulationTally(
            games,
            sum(win * times for win, times in wins.items()),
            sum(win * win * times for win, times in wins.items()),
            games - wins[0],
            max(wins),
            wins,
        )
        monkeypatch.setattr(simulate, "simulate", lambda *_: iter([tally]))
        output = run("simulate", game, "--games", games, "--json", code=code)
        return json.loads(output[output.index("{") :])

    return judge


@pytest.mark.requirement("R-10:b")
def test_a_simulation_with_another_win_distribution_and_the_same_return_is_refused(judge_wins):
    """The definition has prizes of 1, 2 and 3, but the game always wins 2, so that only the distribution differs."""

    def played(wins, code):
        data = judge_wins(wins, code=code)
        return data["z"], data["hit_frequency_z"], data["agrees"]

    assert played(Counter({0: 100, 1: 100, 2: 100, 3: 100}), 0) == (0.0, 0.0, True)
    assert played(Counter({0: 100, 2: 300}), 1) == (0.0, 0.0, False)


@pytest.mark.requirement("R-10:a")
@pytest.mark.parametrize(("wins", "code"), [({1: 2, 2: 8, 3: 2}, 0), ({3: 12}, 1)])
def test_a_simulation_is_refused_for_its_return_alone(judge_wins, wins, code):
    """Twelve games are too few to judge a distribution, and each of them may win; only the return can differ."""
    data = judge_wins(Counter(wins), code=code)
    assert data["distribution_classes"] is None
    assert abs(data["hit_frequency_z"]) < INTERVAL_Z_SCORE
    assert data["agrees"] is (code == 0)


def test_games_are_checked_and_listed_and_a_template_is_created(tmp_path):
    for name in ("maple-classic", "aurora-keno"):
        assert f"{load_game(name).version} is valid; SHA-256 {load_game(name).digest}" in run(
            "game", "check", name
        )
    assert "hold-fast" in run("game", "list")
    fresh = tmp_path / "mine.toml"
    run("game", "new", fresh)
    assert "mine 0.1.0 is valid" in run("game", "check", fresh)
    assert Fraction(83, 100) < compute_rtp(parse(read_source(fresh))) < 1
    assert "was not changed" in run("game", "new", fresh, code=1)


def test_the_published_schema_accepts_the_library_and_rejects_a_game_without_help():
    schema = json.loads(run("game", "schema", "reels"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for name in list_non_table_games():
        data = parse(read_source(name))
        if data["game"]["family"] == "reels":
            plain = json.loads(json.dumps(data, default=str))
            validator.validate(plain)
            plain["game"].pop("help")
            assert not validator.is_valid(plain)
    assert "there is no family 'dice'" in run("game", "schema", "dice", code=1)


def test_a_game_beyond_exact_analysis_is_reported_and_estimated(tmp_path, monkeypatch):
    text = read_source("icebreak").path.read_text(encoding="utf-8")
    big = tmp_path / "big.toml"
    data = parse(read_source("icebreak"))
    for strip in data["stage"]["base"]["strips"]:
        text = text.replace(strip, strip * 3)
    big.write_text(text, encoding="utf-8")
    monkeypatch.setattr("tools.cli.commands.par.ESTIMATE_GAMES", 3000)
    output = run("par", big, code=1)
    assert "windows, and at most 400,000 can be enumerated" in output
    assert "Simulated, not exact: 3,000 games at 8 credits return" in output
    assert "99.9 % interval" in output
    assert "cannot be certified" in run("certify", big, "--jurisdiction", "generic", code=1)


def test_pays_are_tuned_to_a_return():
    data = parse(read_source("maple-classic"))
    tuned = tune_pays(data, Fraction(91, 100), list_pay_paths(data))
    assert abs(compute_rtp(tuned) - Fraction(91, 100)) < Fraction(1, 1000)
    tuned_once = tune_pays(data, Fraction(9, 10), [parse_key("stage.base.pay.0.pays.3")])
    assert abs(compute_rtp(tuned_once) - Fraction(9, 10)) < abs(compute_rtp(data) - Fraction(9, 10))
    assert compute_rtp(data) == Fraction(12079, 13824)  # the given file is unchanged
    with pytest.raises(TuningError, match="there is no 'base2'"):
        tune_pays(data, Fraction(9, 10), [parse_key("stage.base2.pay.0.pays.3")])
    with pytest.raises(TuningError, match="is not a pay"):
        tune_pays(data, Fraction(9, 10), [parse_key("stage.base.pay")])
    output = run("game", "tune", "maple-classic", "--return", "0.901", "--pay", "stage.base.pay.1.pays.3")
    assert "stage.base.pay.1.pays.3: 60 -> " in output
    assert "'lots' is not a share" in run("game", "tune", "maple-classic", "--return", "lots", code=1)


def test_strips_are_tuned_to_a_return_and_a_hit_frequency():
    data = parse(read_source(VECTORS / "bell-21.toml"))
    tuned = tune_strips(data, Fraction(92, 100), rounds=2)
    assert abs(compute_rtp(tuned) - Fraction(92, 100)) < Fraction(3, 1000)
    assert [len(s.split()) for s in tuned["stage"]["base"]["strips"]] == [20, 20, 20]


@pytest.mark.parametrize(
    ("value", "pay"), [(0, 1), (19.6, 20), (23, 25), (104, 100), (1234, 1200), (2260, 2500)]
)
def test_tuned_pays_are_round_numbers(value, pay):
    assert round_to_nice_pay(Fraction(value)) == pay


def test_odds_of_any_length_are_formatted():
    assert [format_one_in(Fraction(x)) for x in ("1/4", "0", "1/50000000000000000000")] == [
        "1 in 4.00",
        "never",
        "1 in 5.00e19",
    ]
    assert format_one_in(None) == "-"
