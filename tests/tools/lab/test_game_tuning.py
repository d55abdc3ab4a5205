"""``egm game new`` and ``egm game tune`` write the definition of exactly the game that they found."""

import re
import tomllib
from fractions import Fraction

import pytest
from click.testing import CliRunner

from paytables import list_non_table_games, load_game
from paytables.definition import parse, read_source
from paytables.wording import format_percent
from tools.cli import main
from tools.lab.rewriting import RewriteError, rewrite_definition
from tools.lab.tuning import (
    REACHED_DISTANCE_MAX,
    compute_bet_returns,
    compute_hit_frequency,
    compute_rtp,
    get_value_at,
    list_pay_paths,
    replace_value,
    tune_pays,
)


def run(*args, code=0):
    result = CliRunner().invoke(main, [str(a) for a in args])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def definition_file(tmp_path):
    file = tmp_path / "mine.toml"
    run("game", "new", file)
    return file


def test_a_template_has_no_warnings(tmp_path):
    for family in ("reels", "keno", "wheel", "roulette", "sic-bo", "craps"):
        file = tmp_path / f"{family}.toml"
        run("game", "new", file, "--family", family)
        assert "warning" not in run("game", "check", file)


@pytest.mark.parametrize(
    ("family", "plainest"),
    [
        ("war", "quebec-war"),
        ("baccarat", "quebec-baccarat"),
        ("blackjack", "quebec-blackjack"),
        ("poker", "quebec-three-card-poker"),
        ("video-poker", "jacks-or-better-9-6"),
    ],
)
def test_a_family_without_a_template_starts_from_its_plainest_game(family, plainest, tmp_path):
    output = run("game", "new", tmp_path / "cards.toml", "--family", family)
    assert f"a copy of {plainest};" in output
    assert "cards 0.1.0 is valid" in run("game", "check", tmp_path / "cards.toml")


def test_copied_figures_are_rejected_after_a_rule_changes(tmp_path):
    file = tmp_path / "one.toml"
    run("game", "new", file, "--from", "quebec-blackjack")
    for output in (run("game", "check", file), run("par", file)):
        assert "one: the figures are those stated in the definition, not computed here" in output
    assert "stated in the definition" not in run("game", "check", "maple-classic")
    text = file.read_text(encoding="utf-8")
    assert "\ndecks = 6\n" in text
    file.write_text(text.replace("\ndecks = 6\n", "\ndecks = 2\n"), encoding="utf-8")
    line = text[: text.index("sha256 = ")].count("\n") + 1
    output = run("game", "check", file, code=1)
    assert f"{file}, line {line}: proved.sha256: is of other rules or other figures" in output
    assert f"`python -m tools.dev prove {file}`" in output


def test_tuning_its_own_template_reaches_the_goal_and_is_written_on_request(definition_file):
    before = definition_file.read_text(encoding="utf-8")
    for goal in ("0.92", "0.85", "0.95"):
        output = run("game", "tune", definition_file, "--return", goal)
        assert "->" in output
        assert definition_file.read_text(encoding="utf-8") == before
    run("game", "tune", definition_file, "--return", "0.92", "--write")
    assert abs(compute_rtp(parse(read_source(definition_file))) - Fraction(92, 100)) <= REACHED_DISTANCE_MAX
    after = definition_file.read_text(encoding="utf-8")
    comments = [line.split("#", 1)[1] for line in before.splitlines() if "#" in line]
    assert [line.split("#", 1)[1] for line in after.splitlines() if "#" in line] == comments


def test_every_bet_with_its_own_pays_is_tuned_to_the_return(tmp_path):
    """Regression: if bets had their own pay columns, only the lowest bet was tuned."""
    definition_file = tmp_path / "mine.toml"
    run("game", "new", definition_file, "--from", "seven-rivers")
    output = run("game", "tune", definition_file, "--return", "0.88", "--write")
    data = parse(read_source(definition_file))
    returns = compute_bet_returns(data)
    assert list(returns) == ["one", "two", "three"]
    assert all(abs(rtp - Fraction(88, 100)) <= REACHED_DISTANCE_MAX for rtp in returns.values())
    for name, rtp in returns.items():
        assert re.search(rf"return of bet {name} \d+\.\d+ % -> {format_percent(rtp)}", output)
    run("game", "tune", definition_file, "--return", "0.9", "--bet", "two", "--write")
    assert [
        abs(rtp - Fraction(9, 10)) <= REACHED_DISTANCE_MAX
        for rtp in compute_bet_returns(parse(read_source(definition_file))).values()
    ] == [
        False,
        True,
        False,
    ]


@pytest.mark.slow
def test_tuned_strips_and_hit_frequency_are_written(definition_file, tmp_path):
    tuned_file = tmp_path / "other.toml"
    run("game", "tune", definition_file, "--return", "0.9", "--hit", "0.19", "--strips", "--out", tuned_file)
    data = parse(read_source(tuned_file))
    assert abs(compute_rtp(data) - Fraction(9, 10)) <= REACHED_DISTANCE_MAX
    assert abs(compute_hit_frequency(data) - Fraction(19, 100)) <= REACHED_DISTANCE_MAX
    assert "was not changed" in run(
        "game", "tune", definition_file, "--return", "0.9", "--out", tuned_file, code=1
    )


def test_a_goal_that_cannot_be_reached_is_reported_and_nothing_is_written(definition_file):
    before = definition_file.read_bytes()
    output = run(
        "game",
        "tune",
        definition_file,
        "--return",
        "0.05",
        "--pay",
        "stage.base.pay.0.pays.3",
        "--write",
        code=1,
    )
    assert "even pays of zero would leave too high a return" in output
    output = run(
        "game",
        "tune",
        definition_file,
        "--return",
        "0.9",
        "--pay",
        "stage.base.pay.3.pays.3",
        "--write",
        code=1,
    )
    assert "not reached: the return wanted is 90.0000 %, the nearest found" in output
    assert definition_file.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "expected_text"),
    [
        (("--return", "2"), "--return: 2 is 200.0000 %, the machine would lose"),
        (("--return", "92"), "--return: 92 is 9200.0000 %"),
        (("--return", "0"), "--return: 0 is not above 0"),
        (("--return", "-1"), "--return: -1 is not above 0"),
        (("--return", "lots"), "--return: 'lots' is not a share"),
        (("--return", "0.9", "--strips", "--hit", "7"), "--hit: 7 is 700.0000 %"),
        (("--return", "0.9", "--strips", "--hit", "often"), "--hit: 'often' is not a share"),
        (("--return", "0.9", "--hit", "0.2"), "needs --strips"),
        (("--return", "0.9", "--strips", "--pay", "stage.base.pay.0.pays.3"), "cannot be combined"),
        (("--return", "0.9", "--pay", "stage.base.pay.9.pays.3"), "stage.base.pay.9.pays.3: there is no 9"),
        (("--return", "0.9", "--strips", "--stage", "attic"), "stage.attic"),
    ],
)
def test_an_invalid_goal_is_refused_by_its_option(definition_file, options, expected_text):
    result = CliRunner().invoke(main, ["game", "tune", str(definition_file), *options])
    assert result.exit_code in {1, 2}
    assert expected_text in " ".join(result.output.split())


def test_a_copy_of_a_library_game_has_its_own_id_and_leaves_the_library_unchanged(tmp_path):
    for name in list_non_table_games():
        file = tmp_path / f"my-{name}.toml"
        run("game", "new", file, "--from", name)
        own_data, library_data = parse(read_source(file)), parse(read_source(name))
        assert own_data["game"].pop("id") == f"my-{name}"
        assert own_data["game"].pop("version") == "0.1.0"
        assert {**library_data["game"], "id": "", "version": ""} == {
            **own_data["game"],
            "id": "",
            "version": "",
        }
        assert {**library_data, "game": 0} == {**own_data, "game": 0}
        assert load_game(file).digest != load_game(name).digest
    library_file = read_source("maple-classic").path.read_bytes()
    output = run("game", "tune", "maple-classic", "--return", "0.9", "--write", code=2)
    assert "is a game of the library" in output
    assert read_source("maple-classic").path.read_bytes() == library_file
    assert "not in the library" in run("game", "new", tmp_path / "x.toml", "--from", "waltz", code=1)
    assert "is not a valid id" in run("game", "new", tmp_path / "x.toml", "--id", "my game", code=1)


def test_every_pay_of_the_library_can_be_rewritten_in_its_file():
    """Each pay is changed alone in the file's text; the parsed file then has that pay and no other change."""
    written = 0
    for name in list_non_table_games():
        source = read_source(name)
        data = parse(source)
        for key in list_pay_paths(data)[::7]:
            changed = replace_value(data, key, get_value_at(data, key) + 1)
            text = rewrite_definition(source.data.decode(), changed, [key])
            assert get_value_at(tomllib.loads(text), key) == get_value_at(data, key) + 1
            assert len(text.splitlines()) >= len(source.data.decode().splitlines()) - 12
            written += 1
    assert written > 30


def test_a_value_that_is_not_on_its_own_line_is_refused():
    text = "a.b.c = 1\n"
    with pytest.raises(RewriteError, match=r"a\.b\.c: not found in the expected notation"):
        rewrite_definition(text, {"a": {"b": {"c": 2}}}, [("a", "b", "c")])


def test_tuning_keeps_the_order_of_the_pays():
    data = parse(read_source("maple-classic"))
    keys = list_pay_paths(data)
    for goal in ("0.8", "0.95"):
        tuned = tune_pays(data, Fraction(goal), keys)
        assert abs(compute_rtp(tuned) - Fraction(goal)) <= REACHED_DISTANCE_MAX
        pairs = sorted((get_value_at(data, k), get_value_at(tuned, k)) for k in keys)
        assert [new for _, new in pairs] == sorted(new for _, new in pairs)


def test_an_unknown_profile_is_refused_before_anything_is_done():
    output = run("game", "check", "maple-classic", "--jurisdiction", "narnia", code=1)
    assert output.startswith("Error: jurisdiction profile narnia: not in the library; there are: generic, ")
