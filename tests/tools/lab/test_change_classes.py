"""``egm certify --against`` classifies a change: theme, notice or full approval."""

import json

import pytest
from click.testing import CliRunner

from paytables.definition import read_source
from tools.cli import main
from tools.lab.certification import changes as classes

OLD = "maple-classic"


def classify_change(tmp_path, *swaps):
    """Return the class of change and the changed paths of a copy in which texts are replaced."""
    text = read_source(OLD).path.read_text(encoding="utf-8")
    for before, after in swaps:
        assert before in text
        text = text.replace(before, after)
    path = tmp_path / "new.toml"
    path.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["certify", str(path), "--against", OLD, "--json"])
    assert result.exit_code == 0, result.output
    (report,) = json.loads(result.output)
    return report["class"], {change["path"] for change in report["changes"]}


TITLE = ('en = "Maple Classic"', 'en = "Birch Classic"')
NAME = ('en = "Lantern"', 'en = "Lamp"')


@pytest.mark.requirement("R-08")
@pytest.mark.parametrize(
    ("swaps", "asks", "path"),
    [
        ((), "same", None),
        ((('id = "maple-classic"', 'id = "birch-classic"'), TITLE, NAME), "cloned theme", "game.title.en"),
        ((("pine", "spruce"),), "notice only", "game.help.en"),  # the id, and the words of the rules
        ((("pine", "loon-2"), ("loon", "pine")), "full approval", "symbol.2.id"),
        ((('version = "1.', 'version = "2.'), TITLE), "notice only", "game.version"),
        ((("[5, 25, 100]", "[5, 25]"),), "notice only", "game.denominations_cents"),
        ((("[5, 25, 100]", "[5, 25, 100, 200]"),), "full approval", "game.denominations_cents"),
        ((("[5, 25, 100]", "[5, 25, 200]"),), "full approval", "game.denominations_cents.2"),
        ((("levels = [1, 2, 3]", "levels = [1, 2, 4]"),), "full approval", "bets.levels.2"),
        ((("multiplier = 2", "multiplier = 3"), TITLE), "full approval", "symbol.0.multiplier"),
    ],
)
def test_a_change_is_classified_by_its_most_demanding_part(tmp_path, swaps, asks, path):
    approval, paths = classify_change(tmp_path, *swaps)
    assert approval == asks, paths
    assert path is None or path in paths


@pytest.mark.requirement("R-08")
def test_renamed_symbols_are_a_theme_and_exchanged_ones_a_full_approval(tmp_path):
    assert classify_change(tmp_path, ('"lantern"', '"lamp"'), ("lantern ", "lamp "), (" lantern", " lamp"))[
        0
    ] in {
        "cloned theme",
        "notice only",
    }
    swapped = classify_change(tmp_path, ('"maple"', '"@"'), ('"pine"', '"maple"'), ('"@"', '"pine"'))
    assert swapped[0] == "full approval"


@pytest.mark.requirement("R-08")
def test_a_change_of_the_return_always_needs_a_full_approval(tmp_path, monkeypatch):
    """This also applies if the changed part alone would need only a notice or less."""
    monkeypatch.setattr(classes, "_classify_leaf", lambda *_: classes.ApprovalKind.THEME)
    assert classify_change(tmp_path, TITLE)[0] == "cloned theme"
    approval, paths = classify_change(tmp_path, ("multiplier = 2", "multiplier = 3"))
    assert (approval, "return" in paths) == ("full approval", True)
