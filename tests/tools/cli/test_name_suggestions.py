"""An unknown name is refused with the names that were probably meant."""

import pytest
from click.testing import CliRunner

from paytables import DefinitionError, load_game
from paytables.definition import read_source
from paytables.wording import find_nearest_words, format_known_names
from tools.cli import main


def test_similar_names_are_suggested_and_short_lists_are_shown_whole():
    assert find_nearest_words("lst", ["list", "check"]) == ("list",)
    assert find_nearest_words("classic", ["maple-classic", "reels"]) == ("maple-classic",)
    assert find_nearest_words("x", ["x-ray"]) == ()
    assert format_known_names("lst", ["list", "check"]) == "there are: list, check; did you mean list?"
    assert format_known_names("zzz", ["list", "check"]) == "there are: list, check"
    many = [f"game-{n:02}" for n in range(40)]
    assert format_known_names("gme-07", many).startswith("did you mean game-07")
    assert format_known_names("zzz", many) == f"there are: {', '.join(many)}"
    assert format_known_names("zzz", []) == "there are none"


def test_an_unknown_game_is_refused_with_the_nearest_names():
    with pytest.raises(DefinitionError, match=r"not in the library; did you mean maple-classic,"):
        load_game("maple-clasic")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("par", "maple-clasic"), "did you mean maple-classic,"),
        (
            ("par", "quebec-roulette-french", "--bet", f"red={'9' * 5000}"),
            "write SPOT=CREDITS, a whole number",
        ),
        (("par", "maple-classic", "--meter", f"grand={'9' * 5000}"), "write LEVEL=CREDITS, a whole number"),
        (("simulate", "maple-clasic"), "did you mean maple-classic,"),
        (("keno", "odds", "aurora-kno", "1,2"), "did you mean aurora-keno"),
        (("certify", "maple-clasic", "--jurisdiction", "generic"), "did you mean maple-classic,"),
        (("profile", "show", "quebec-vt"), "did you mean quebec-vlt"),
        (("gmae", "list"), "Did you mean 'game'"),
        (("game", "lst"), "Did you mean 'list'"),
        (("game", "schema", "reel"), "did you mean reels"),
    ],
)
def test_every_command_suggests_the_nearest_name_for_an_unknown_one(arguments, meant):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code != 0
    assert meant in result.output


@pytest.mark.parametrize(
    "command", [("par",), ("game", "check"), ("run", "--game"), ("simulate",)], ids=" ".join
)
def test_a_definition_file_must_end_in_toml(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.tml").write_text("")
    for number, (name, expected_text) in enumerate(
        (
            ("mine.tml", "mine.tml: the name of a definition file must end in .toml"),
            ("./mine", "./mine: the name of a definition file must end in .toml"),
            ("", "'': the name is empty"),
            ("x" * 5000, "not in the library"),
        )
    ):
        state = ("--state", str(tmp_path / str(number))) if command[0] == "run" else ()
        run = CliRunner().invoke(main, [*command, name, *state])
        assert run.exit_code == 1, run.output
        assert expected_text in " ".join(run.output.split())
        assert "there are" not in run.output or name.startswith("xx")


@pytest.mark.parametrize("key", ["\N{SUPERSCRIPT TWO}", "1\N{SUPERSCRIPT TWO}", "9" * 5000])
@pytest.mark.parametrize("command", [("par",), ("game", "check")], ids=" ".join)
def test_a_key_with_unusual_digits_is_refused_by_its_name(tmp_path, command, key):
    file = tmp_path / "own.toml"
    file.write_text(
        f'"{key}" = 1\n' + read_source("maple-classic").path.read_text(encoding="utf-8"), encoding="utf-8"
    )
    result = CliRunner().invoke(main, [*command, str(file)])
    assert result.exit_code == 1
    assert f"{key}: " in result.output
