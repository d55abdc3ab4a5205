"""A definition with invalid content is refused with file, key and reason."""

import copy
import time

import pytest
from click.testing import CliRunner

from paytables import (
    ChoiceError,
    DefinitionError,
    ReplayDrawSource,
    ReplayError,
    WagerError,
    build_game,
    load_game,
    play_through,
)
from paytables.definition import compute_digest

TEXT = {"en": "x", "fr": "x"}
GOOD = {
    "game": {
        "id": "t",
        "family": "reels",
        "version": "1.0.0",
        "date": "2026-11-21",
        "title": TEXT,
        "help": TEXT,
        "denominations_cents": [1],
    },
    "bets": {"mode": [{"id": "m", "cost": 2}], "levels": [1, 3]},
    "symbol": [{"id": s, "name": TEXT} for s in ("a", "b", "s")]
    + [{"id": "w", "name": TEXT, "substitutes": ["*"], "not_for": ["s"]}],
    "stage": {
        "base": {
            "heights": [2, 2],
            "strips": ["a b s w", "a b s w"],
            "lines": [[0, 0]],
            "pay": [
                {"of": "a", "pays": {2: 4}},
                {"on": "scatter", "of": "s", "pays": {2: 2}, "gives": [{"stage": "free", "times": 3}]},
            ],
        },
        "free": {"like": "base", "multiplier": 2},
    },
}
BASE = ("stage", "base")


def change_definition(path, value):
    data = copy.deepcopy(GOOD)
    here = data
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = value
    return data


REFUSED = [
    (("game", "family"), "tarot", "game.family", "there is no family 'tarot'; there are: "),
    (("game", "title"), {"en": "x"}, "game.title.fr", "is missing"),
    (("game", "version"), "1", "game.version", "pattern"),
    (("game", "colour"), "red", "game.colour", "unknown key `colour`"),
    ((*BASE, "linse"), [[0, 0]], "stage.base.linse", "unknown key `linse`; did you mean `lines`?"),
    (("game", "title", "en"), "Gold\x1b[2J", "game.title.en", "control character U+001B as character 5"),
    (("game", "title", "fr"), "d\u202eor", "game.title.fr", "control character U+202E as character 2"),
    ((*BASE, "pay", 0, "pays"), {2: 10**25}, "stage.base.pay.0.pays.2", "less than or equal to 9999999999"),
    (
        (*BASE, "pay", 0, "pays"),
        {2: "x"},
        "stage.base.pay.0.pays.2",
        "must be a whole number, or a list, not 'x'",
    ),
    (("bets", "mode", 0, "cost"), 1.5, "bets.mode.0.cost", "must be a whole number, not 1.5"),
    (("bets", "mode", 0, "cost"), 0, "bets.mode.0.cost", "greater than 0"),
    (("bets", "mode", 0, "stage"), "bass", "bets.mode.m.stage", "no stage 'bass'"),
    (("bets", "mode", 0, "lines"), 2, "bets.mode.m.lines", "is 2 lines, but stage.base has only 1"),
    (("bets", "mode"), [{"id": "m", "cost": 1}] * 2, "bets.mode", "same id"),
    (("symbol", 0, "id"), "b", "symbol", "defined twice: b"),
    (("symbol", 3, "substitutes"), ["q"], "symbol.w", "unknown symbol 'q'"),
    (("groups",), {"ab": ["a", "q"]}, "groups.ab", "unknown symbol 'q'"),
    (("groups",), {"a": ["b"]}, "groups.a", "name of a symbol"),
    ((*BASE, "strips", 0), "a b q", "stage.base.strips.0", "unknown symbol 'q'"),
    ((*BASE, "strips", 1), "a", "stage.base.strips.1", "shorter than its window of 2"),
    ((*BASE, "strips"), ["a b s w"], "stage.base.strips", "1 strip for 2 reels"),
    ((*BASE, "weights"), [[1, 1, 1, 1], [1]], "stage.base.weights.1", "reel 2 has 1 weight for a strip of 4"),
    ((*BASE, "weights"), [[1]], "stage.base.weights", "1 list for 2 reels"),
    ((*BASE, "weights"), [[1, 1, 1, 2 * 10**9]] * 2, "stage.base.weights", "at most 1,048,576 are possible"),
    ((*BASE, "weights_row"), 1, "stage.base.weights_row", "is only valid with `weights`"),
    ((*BASE, "weights"), [[0, 0, 0, 0], [1, 1, 1, 1]], "stage.base.weights.0", "every stop has weight zero"),
    ((*BASE, "lines"), [[0, 2]], "stage.base.lines.0", "reel 1 row 2 is outside"),
    ((*BASE, "lines"), [[0, 0], [0, 0]], "stage.base.lines.1", "defined twice: it is line 1 again"),
    ((*BASE, "lines"), [[[1, 0], [0, 0]]], "stage.base.lines.0", "from left to right"),
    ((*BASE, "pay", 0, "of"), "q", "stage.base.pay.0.of", "unknown symbol 'q'"),
    ((*BASE, "pay", 0, "of"), "*", "stage.base.pay.0.of", "nothing to count"),
    ((*BASE, "pay", 0, "pays"), {3: 1}, "stage.base.pay.0.pays.3", "no line has 3 cells"),
    ((*BASE, "pay", 0, "pays"), {2: -1}, "stage.base.pay.0.pays.2", "greater than or equal to 0"),
    ((*BASE, "pay", 0), {"pattern": "a q", "pay": 1}, "stage.base.pay.0.pattern", "unknown symbol 'q'"),
    ((*BASE, "pay", 0), {"pattern": "a", "pay": 1}, "stage.base.pay.0.pattern", "no line has 1 cell"),
    ((*BASE, "pay", 0), {"of": "a", "pattern": "a a", "pays": {2: 1}}, "stage.base.pay.0", "either"),
    ((*BASE, "pay", 1, "pays"), {5: 1}, "stage.base.pay.1.pays.5", "at most 2 can show"),
    (
        (*BASE, "strips", 1),
        "b b s",
        "stage.base.pay.0",
        "2 a can never be won: some reel shows nothing that fits",
    ),
    ((*BASE, "strips"), ["b s w", "b s w"], "stage.base.pay.0", "2 a can only be won by substitutes alone"),
    ((*BASE, "pay", 1, "needs_own"), True, "stage.base.pay.1", "is only valid for a line prize"),
    ((*BASE, "pay", 0, "lines"), [2], "stage.base.pay.0.lines", "no line 2: there are 1"),
    ((*BASE, "pay", 0, "lines"), [0], "stage.base.pay.0.lines.0", "greater than 0"),
    ((*BASE, "pay", 0, "once_a_reel"), True, "stage.base.pay.0", "for a ways or scatter prize"),
    ((*BASE, "pay", 1, "lines"), [1], "stage.base.pay.1", "for a line prize"),
    ((*BASE, "pay", 1, "gives"), [{"stage": "fry"}], "stage.base.pay.1.gives", "no stage 'fry'"),
    ((*BASE, "pay", 1, "gives"), [{"progressive": "x"}], "stage.base.pay.1.gives", "no progressive 'x'"),
    ((*BASE, "pay", 1, "gives"), [{"stage": "free", "progressive": "x"}], "gives.0", "exactly one of"),
    (
        (*BASE, "pay", 1, "gives"),
        [{"stage": "free", "times": 99}],
        "bets.mode.m",
        "never ends in expectation",
    ),
    (("stage", "free", "like"), "frog", "stage.free.like", "'frog' is not the name of another stage"),
    ((*BASE, "like"), "free", "stage.free.like", "inherits from itself: base is like free is like base"),
    (("stage", "free", "most_runs"), 0, "stage.free.most_runs", "greater than 0"),
    (("stage", "free", "multipliers"), [1, 2], "stage.free", "needs `most_runs`"),
    (("stage", "free", "then"), "free", "stage.free.then", "needs `sticky`"),
    (("stage", "wheel"), {"kind": "wheel", "items": []}, "stage.wheel.items", "at least 1 item"),
    (("stage", "pick"), {"kind": "pick", "items": [{"credits": 1}]}, "stage.pick", "item with `end`"),
    (
        ("stage", "pick"),
        {"kind": "pick", "items": [{"credits": 1}], "picks": 2},
        "stage.pick.picks",
        "2 picks from 1",
    ),
    (
        ("stage", "pick"),
        {"kind": "pick", "items": [{"credits": 1}], "boxes": 3, "picks": 4},
        "stage.pick.picks",
        "4 picks from 3 boxes",
    ),
    (
        ("stage", "pick"),
        {"kind": "pick", "items": [{}], "picks": 1},
        "stage.pick.items.0",
        "must have credits, something it gives, or `end`",
    ),
    (
        ("stage", "hold"),
        {"kind": "hold", "cells": 4, "coin": [3, 3], "items": [{"credits": 1}]},
        "stage.hold.coin",
        "must be less than 1",
    ),
    (
        ("stage", "hold"),
        {"kind": "hold", "cells": 4, "coin": [1, 3], "items": [{"gives": [{"stage": "free"}]}]},
        "stage.hold.items.0",
        "not a stage",
    ),
    (("progressive",), [{"id": "p", "name": TEXT, "reset_credits": 9}], "progressive.p", "exactly one way"),
    (
        ("progressive",),
        [{"id": "p", "name": TEXT, "reset_credits": 9, "ceiling_credits": 9, "increment": "1/9"}],
        "progressive.p.ceiling_credits",
        "must be above reset_credits",
    ),
    (
        ("progressive",),
        [{"id": "p", "name": TEXT, "reset_credits": 9, "one_in": 9, "increment": "3/2"}],
        "progressive.0.increment",
        "3/2 of each bet",
    ),
    (("game", "denominations_cents"), [1, 5, 5], "game.denominations_cents", "5 is listed twice"),
    (
        ("game", "denominations_cents"),
        [25, 5],
        "game.denominations_cents",
        "5 is listed after 25: list different values",
    ),
    (("merchandise",), [{"id": "car", "name": TEXT}], "merchandise.0.description", "is missing"),
    (
        ("merchandise",),
        [{"id": "car", "name": TEXT, "description": TEXT}],
        "merchandise.0.value_cents",
        "is missing",
    ),
    (
        ("merchandise",),
        [{"id": "car", "name": TEXT, "description": TEXT, "value_cents": 0}],
        "merchandise.0.value_cents",
        "greater than 0",
    ),
    (
        ("merchandise",),
        [{"id": "car", "name": TEXT, "description": TEXT, "value_cents": 9}],
        "merchandise.car",
        "no prize gives this merchandise",
    ),
]


@pytest.mark.requirement("C-03")
@pytest.mark.parametrize(("path", "value", "key", "reason"), REFUSED, ids=lambda v: str(v)[:40])
def test_a_refusal_names_file_key_and_reason(path, value, key, reason):
    with pytest.raises(DefinitionError) as refusal:
        build_game(change_definition(path, value), "bad.toml")
    assert refusal.value.file == "bad.toml"
    assert key in refusal.value.key
    assert reason in refusal.value.reason
    assert str(refusal.value) == f"bad.toml: {refusal.value.key}: {refusal.value.reason}"


def test_the_valid_definition_is_accepted():
    assert build_game(copy.deepcopy(GOOD), "good.toml").bet_options == (2, 6)


def test_overlapping_ways_are_refused_unless_declared():
    ways = [{"on": "ways", "of": "a", "pays": {2: 4}}, {"on": "ways", "of": "b", "pays": {2: 4}}]
    data = change_definition((*BASE, "pay"), ways)
    del data["stage"]["free"]
    with pytest.raises(DefinitionError, match="overlapping ways: one way can win both a and b"):
        build_game(data, "t")
    data["stage"]["base"]["overlapping_ways"] = True
    build_game(data, "t")
    data["stage"]["base"] |= {"overlapping_ways": False, "strips": ["a b s", "a b s w"]}
    build_game(data, "t")  # no wild on the first reel: no way can win twice


def test_ways_that_no_reel_can_show_and_missing_counts_are_refused():
    data = change_definition((*BASE, "pay"), [{"on": "ways", "of": "a", "pays": {2: 4}}])
    del data["stage"]["free"]
    data["stage"]["base"]["strips"] = ["a b", "b b"]
    with pytest.raises(DefinitionError, match="a never shows on reel 2"):
        build_game(data, "t")
    data["stage"]["base"] |= {"heights": [1] * 4, "strips": ["a b"] * 4, "lines": []}
    data["stage"]["base"]["pay"] = [{"on": "ways", "of": "a", "pays": {1: 1, 3: 4}}]
    with pytest.raises(DefinitionError, match="must follow one another"):
        build_game(data, "t")


def test_files_that_are_missing_or_not_toml_are_refused(tmp_path):
    with pytest.raises(DefinitionError, match=r"nowhere: not in the library; there are: .*maple-classic"):
        load_game("nowhere")
    bad = tmp_path / "bad.toml"
    bad.write_text("[game\n")
    with pytest.raises(DefinitionError, match=r"bad\.toml: TOML: .*line 1"):
        load_game(bad)
    bad.write_bytes(b"a = '\xff'")
    with pytest.raises(DefinitionError, match="encoding: not UTF-8 at byte 6"):
        load_game(bad)
    with pytest.raises(DefinitionError, match=r"gone\.toml: No such file"):
        load_game(tmp_path / "gone.toml")
    bad.write_text("x = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(
        DefinitionError, match=r"bad\.toml: TOML: tables and lists are nested more than 20 deep"
    ):
        load_game(bad)
    bad.write_text("x = " + "[" * 30 + "]" * 30)
    with pytest.raises(DefinitionError, match="more than 20 deep"):
        load_game(bad)
    for deep in ("{} = 1", "[{}]", "[[{}]]", "x = {{ {} = 1 }}"):  # their time grew with the square: 20 s
        for part, between in (("a", "."), ('"a b"', "."), ("'a'", " .\t")):
            bad.write_text(deep.format(between.join([part] * 50_000)))
            began = time.process_time()
            with pytest.raises(DefinitionError, match="more than 20 deep"):
                load_game(bad)
            assert time.process_time() - began < 2
    bad.write_text("x = 1\n")
    with pytest.raises(DefinitionError, match=r"the \[game\] table is missing"):
        load_game(bad)


@pytest.mark.requirement("C-04")
def test_bets_the_game_does_not_offer_are_refused():
    game = build_game(copy.deepcopy(GOOD), "t")
    assert game.build_wager(6).to_json() == {"credits": 6, "options": {"mode": "m", "level": 3}}
    for credits_, options in ((4, {}), (0, {}), (6, {"level": 1}), (2, {"mode": "q"}), (2, {"lines": 3})):
        with pytest.raises(WagerError):
            game.build_wager(credits_, **options)


def test_invalid_choices_and_invalid_records_are_refused(seeded_draw):
    game = load_game("hold-fast")
    wager = game.build_wager(1)
    with pytest.raises(ChoiceError, match="no choice given"):
        play_through(game, wager, seeded_draw(1))
    with pytest.raises(ReplayError, match=r"the game draws below \d+ for base.reel1, the record has"):
        play_through(game, wager, ReplayDrawSource([(5, 1, "base.reel1")]))
    with pytest.raises(ReplayError, match="the record has only 0 draws"):
        play_through(game, wager, ReplayDrawSource([]))


def test_the_digest_covers_every_value_and_no_formatting():
    data = copy.deepcopy(GOOD)
    assert compute_digest(data) == compute_digest(dict(reversed(data.items())))
    assert compute_digest(data) != compute_digest(change_definition((*BASE, "pay", 0, "pays"), {2: 5}))


def test_the_command_line_states_the_reason_of_a_refusal(tmp_path):
    from tools.cli import main

    bad = tmp_path / "bad.toml"
    bad.write_text("x = 1\n")
    result = CliRunner().invoke(main, ["par", str(bad)])
    assert result.exit_code == 1
    assert f"Error: {bad}: game: the [game] table is missing" in result.output.replace("\n", "")
