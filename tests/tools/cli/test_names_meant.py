"""A name that is none is answered with those that were probably meant."""

import pytest
from click.testing import CliRunner

from paytables import DefinitionError, load_game
from paytables.wording import among, nearest
from tools.cli import main


def test_names_that_are_near_are_told_and_short_lists_whole():
    assert nearest("lst", ["list", "check"]) == ("list",)
    assert nearest("classic", ["maple-classic", "reels"]) == ("maple-classic",)
    assert nearest("x", ["x-ray"]) == ()
    assert among("lst", ["list", "check"]) == "there are: list, check; did you mean list?"
    assert among("zzz", ["list", "check"]) == "there are: list, check"
    many = [f"game-{n:02}" for n in range(40)]
    assert among("gme-07", many).startswith("did you mean game-07")
    assert among("zzz", many) == f"there are: {', '.join(many)}"
    assert among("zzz", []) == "there are: none"


def test_a_game_that_is_none_is_answered_with_what_was_meant():
    with pytest.raises(DefinitionError, match=r"not in the library; did you mean maple-classic,"):
        load_game("maple-clasic")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        (("par", "maple-clasic"), "did you mean maple-classic,"),
        (("simulate", "maple-clasic"), "did you mean maple-classic,"),
        (("keno", "odds", "aurora-kno", "1,2"), "did you mean aurora-keno"),
        (("certify", "maple-clasic", "--jurisdiction", "generic"), "did you mean maple-classic,"),
        (("profile", "show", "quebec-vt"), "did you mean quebec-vlt"),
        (("gmae", "list"), "Did you mean 'game'"),
        (("game", "lst"), "Did you mean 'list'"),
        (("game", "schema", "reel"), "did you mean reels"),
    ],
)
def test_every_command_answers_a_wrong_name_so(asked, meant):
    result = CliRunner().invoke(main, asked)
    assert result.exit_code != 0
    assert meant in result.output
