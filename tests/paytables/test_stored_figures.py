"""Stored figures are bound to their definition: a change of a figure, a pay or a rule is refused."""

import copy
import json
import re
from contextlib import suppress

import pytest
from jsonschema import Draft202012Validator

import paytables
from paytables import DefinitionError, build_game_from_json, load_game
from paytables.definition import parse, read_source
from paytables.figure_binding import add_binding_digest, check_binding_digest
from paytables.game import find_family
from tools.cli.commands.game import add_digest_key

FOLDER = paytables.definition.LIBRARY_FOLDER / "tables"
CARRYING = [name for name in paytables.list_table_games() if "proved" in parse(read_source(name))]
#: Keys that may change without invalidating the figures.
FREE = re.compile(r"^game\.(?!family)|^table\.|(^|\.)(limits|stake)(\.|$)|\.(en|fr)$")


def iter_leaves(data, path=()):
    """Yield every value of a definition that is neither table nor list, with its path."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from iter_leaves(value, (*path, key))
    else:
        yield path


def change_value(data, path):
    """Return the definition with one value replaced by another of the same type."""
    data = copy.deepcopy(data)
    *way, last = path
    table = data
    for key in way:
        table = table[key]
    value = table[last]
    middle = len(str(value)) // 2
    table[last] = (
        not value
        if isinstance(value, bool)
        else value + 1
        if isinstance(value, int)
        else f"{str(value)[:middle]}7{str(value)[middle:]}"
    )
    return data


@pytest.mark.parametrize("name", CARRYING)
def test_the_binding_digest_covers_figures_pays_and_rules_but_no_text_or_limit(name):
    data = parse(read_source(name))
    check_binding_digest(data, name)
    loaded = set()
    for path in iter_leaves(data):
        with suppress(DefinitionError):
            check_binding_digest(change_value(data, path), name)
            loaded.add(".".join(map(str, path)))
    refused_paths = {".".join(map(str, path)) for path in iter_leaves(data)} - loaded
    assert [path for path in loaded if not FREE.search(path)] == []
    assert [path for path in refused_paths if FREE.search(path)] == []
    assert {"proved.sha256", "game.family"} <= refused_paths
    assert any(path.endswith((".policy", ".law.-1/1", ".push")) for path in refused_paths)
    assert {"game.version", "game.title.fr", "game.help.en"} <= loaded


def test_every_family_with_a_proof_has_a_definition_with_stored_figures():
    assert {load_game(name).family for name in CARRYING} == {
        "blackjack",
        "pai-gow",
        "pai-gow-poker",
        "poker",
        "video-poker",
    }


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("jacks-or-better-9-6", "\npays = 9\n", "\npays = 10\n"),
        ("jacks-or-better-9-6", 'worst = "', 'worst = "1'),
        ("quebec-blackjack", "\ndecks = 6\n", "\ndecks = 8\n"),
        ("quebec-blackjack", 'chart = ["hard  4 H', 'chart = ["hard  4 S'),
        ("quebec-pai-gow", "\nof = 20\n", "\nof = 10\n"),
        ("quebec-three-card-poker", '[proved.main.law]\n"', '[proved.main.law]\n"1'),
        ("quebec-caribbean-stud", 'increment = "1/2"', 'increment = "1/3"'),
    ],
)
def test_a_changed_file_is_refused_with_the_command_that_proves_it_again(name, old, new, tmp_path):
    text = (FOLDER / f"{name}.toml").read_text()
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new, 1))
    error_text = (
        f"{path}: proved.sha256: is of other rules or other figures: `python -m tools.dev prove {path}`"
    )
    with pytest.raises(DefinitionError, match=re.escape(error_text)):
        load_game(path)


def test_stored_figures_without_a_digest_are_refused(tmp_path):
    text = (FOLDER / "jacks-or-better-9-6.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(re.sub(r'\nsha256 = "\w+"', "", text))
    with pytest.raises(DefinitionError, match=r"proved\.sha256: is missing"):
        load_game(path)
    path.write_text(text.split("\n[proved", maxsplit=1)[0])
    assert load_game(path).rules.definition.proved is None


def test_a_key_that_no_definition_has_is_refused_by_its_name_first(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text((FOLDER / "jacks-or-better-9-6.toml").read_text().replace("worst =", "wurst =", 1))
    with pytest.raises(DefinitionError, match=r"proved\.most\.w[ou]rst"):
        load_game(path)


def test_journal_from_before_digests_is_still_readable():
    data = json.loads(load_game("jacks-or-better-9-6").text)
    digest = data["proved"].pop("sha256")
    assert build_game_from_json(json.dumps(data), "the journal").rules.definition.proved is not None
    assert add_binding_digest(data)["sha256"] == digest


@pytest.mark.parametrize("name", ["jacks-or-better-9-6", "quebec-blackjack", "quebec-pai-gow-poker"])
def test_the_published_schema_contains_the_digest(name):
    data = json.loads(load_game(name).text)
    schema = Draft202012Validator(
        add_digest_key(find_family(data["game"]["family"]).definition_class.model_json_schema())
    )
    assert list(schema.iter_errors(data)) == []
    data["proved"]["sha256"] = "x"
    assert len(list(schema.iter_errors(data))) == 1
    data["proved"] |= {"sha256": "0" * 64, "most": 3}
    assert len(list(schema.iter_errors(data))) == 1
