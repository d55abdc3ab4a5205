"""The wheel family: definitions, play, and figures that equal an independent enumeration."""

import json
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paytables import (
    AnalysisDepth,
    DefinitionError,
    RecordingDrawSource,
    ReplayDrawSource,
    WagerError,
    analyse,
    build_game,
    load_game,
    play_through,
    play_with_choices,
)
from paytables.wheel.figures import analyse_bets

TEXT = {"en": "text", "fr": "texte"}


def definition(parts="a b a b a b a b c", spin_again_factors=(), most_factor=1, **changes):
    """Return a small wheel as plain data."""
    ids = list(dict.fromkeys(parts.split()))
    factors = dict(spin_again_factors)
    paying = [i for i in ids if i not in factors]
    data = {
        "game": {
            "id": "tiny-wheel",
            "family": "wheel",
            "version": "1.0.0",
            "date": "2026-01-01",
            "title": TEXT,
            "help": TEXT,
            "denominations_cents": [25],
        },
        "wheel": {"parts": parts, "most_factor": most_factor},
        "symbol": [{"id": i, "name": TEXT, **({"again": factors[i]} if i in factors else {})} for i in ids],
        "area": [{"id": f"on-{i}", "name": TEXT, "pays": {i: n + 2}} for n, i in enumerate(paying)],
        "layout": {"stakes": [1, 2, 5]},
        "form": [{"id": "first", "name": TEXT, "areas": [f"on-{paying[0]}"]}],
    }
    return {**data, **changes}


class Given:
    def __init__(self, values):
        self.values = list(values)

    def below(self, bound, purpose):
        value = self.values.pop(0)
        assert 0 <= value < bound
        return value


class Chance:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def below(self, bound, purpose):
        return self.random.randrange(bound)


def tree(data, stakes, depth=40):
    """Return the distribution of the win over every sequence of spins, to a depth that no sequence exceeds."""
    parts = data["wheel"]["parts"].split()
    spin_again_factors = {s["id"]: s["again"] for s in data["symbol"] if "again" in s}
    pays = {a["id"]: a["pays"] for a in data["area"]}
    law = {}
    now = {1: Fraction(1)}
    for _ in range(depth):
        after = {}
        for factor, p in now.items():
            for symbol in parts:
                q = p / len(parts)
                if symbol in spin_again_factors:
                    grown = min(factor * spin_again_factors[symbol], data["wheel"]["most_factor"])
                    after[grown] = after.get(grown, 0) + q
                else:
                    win = sum(n * pays[area].get(symbol, 0) for area, n in stakes.items()) * factor
                    law[win] = law.get(win, 0) + q
        now = after
    return law, sum(now.values())


#: Monaco, arrêté 88-384, art. 3.4 and 7: 54 parts, odds to one, and the control return of each bet.
BIG_WHEEL = {
    "joker-black": (1, 40, "41/54"),
    "joker-yellow": (1, 40, "41/54"),
    "twenty": (2, 20, "7/9"),
    "ten": (4, 10, "22/27"),
    "five": (7, 5, "7/9"),
    "two": (15, 2, "5/6"),
    "one": (24, 1, "8/9"),
}


@pytest.mark.requirement("P-07", "B-09")
def test_the_big_wheel_of_monaco_has_the_known_return():
    parts = " ".join(" ".join([name] * n) for name, (n, _, _) in BIG_WHEEL.items())
    areas = [{"id": i, "name": TEXT, "pays": {i: odds + 1}} for i, (_, odds, _) in BIG_WHEEL.items()]
    data = definition(parts, area=areas, form=[{"id": "all", "name": TEXT, "areas": list(BIG_WHEEL)}])
    found = {bet.bet: bet for bet in analyse(build_game(data, "test.toml")).bets}
    for name, (n, odds, rtp) in BIG_WHEEL.items():
        bet = found[name]
        assert bet.rtp == Fraction(rtp)
        assert (bet.cycle, bet.max_win_credits, bet.hit_probability) == (54, odds + 1, Fraction(n, 54))
        assert bet.variance == Fraction(n * (odds + 1) ** 2, 54) - bet.rtp**2
    edges = ["1/9", "1/6", "2/9", "5/27", "2/9", "13/54"]  # of 1, 2, 5, 10, 20 and the jokers, as published
    order = ["one", "two", "five", "ten", "twenty", "joker-black"]
    assert [1 - found[name].rtp for name in order] == [Fraction(edge) for edge in edges]
    assert found["all"].hit_probability == 1
    assert found["all"].rtp == sum(found[name].rtp for name in BIG_WHEEL) / 7


@pytest.mark.requirement("P-07")
def test_several_bets_at_once_have_the_distribution_over_the_parts():
    data = definition("a b c a b a b a c a")
    game = build_game(data, "test.toml")
    bet = game.rules.analyse_wager(game.build_wager(7, bets={"on-a": 5, "on-c": 2}))
    assert bet.distribution.case_count == 10
    assert bet.distribution.case_count_by_win == {0: 3, 10: 5, 8: 2}
    assert bet.win_at_least_bet_probability == Fraction(7, 10)
    assert bet.rtp == Fraction(66, 70) == sum(p.rtp for p in bet.prizes)


@given(
    st.lists(st.sampled_from("aabbbcdxy"), min_size=9, max_size=20).filter(
        lambda parts: 2 * sum(p in "xy" for p in parts) <= len(parts)
    ),
    st.integers(1, 5),
    st.integers(1, 3),
    st.sampled_from([5, 6, 8]),
    st.data(),
)
def test_spinning_again_has_the_distribution_of_all_sequences_of_spins(parts, x, y, most, data_source):
    text = " ".join(parts)
    spin_again_factors = {k: f for k, f in (("x", x), ("y", y)) if k in parts}
    data = definition(text, spin_again_factors=spin_again_factors, most_factor=most)
    if len(data["symbol"]) < 2:
        return
    game = build_game(data, "test.toml")
    areas = data_source.draw(st.sets(st.sampled_from([a["id"] for a in data["area"]]), min_size=1))
    stakes = {area: data_source.draw(st.sampled_from([1, 2, 5])) for area in sorted(areas)}
    bet = analyse_bets(game.rules.definition, stakes, "some")
    law, share_left = tree(data, stakes)
    assert share_left <= Fraction(1, 2**40)
    found = {
        win: Fraction(n, bet.distribution.case_count) for win, n in bet.distribution.case_count_by_win.items()
    }
    assert set(law) <= set(found)
    for win, p in found.items():
        assert law.get(win, 0) <= p <= law.get(win, 0) + share_left
    assert sum(found.values()) == 1
    assert bet.mean_credits == bet.distribution.compute_moment(1)
    quick = analyse_bets(game.rules.definition, stakes, "some", AnalysisDepth.RETURN)
    assert quick.rtp == bet.rtp
    base_mean_credits = bet.mean_credits - sum(f.rtp * bet.cost_credits for f in bet.features)
    plain = [p.win_count * p.credits for p in bet.prizes]
    assert base_mean_credits == Fraction(sum(plain), len(parts))


@pytest.mark.requirement("B-14")
@pytest.mark.parametrize("count", [8, 61, 1])
def test_a_wheel_has_nine_to_sixty_parts(count):
    with pytest.raises(DefinitionError) as raised:
        build_game(definition(" ".join(["a", *["b"] * (count - 1)])), "test.toml")
    assert raised.value.key == "wheel.parts"
    assert f"9 to 60 parts, not {count}" in raised.value.reason


@pytest.mark.requirement("B-14")
@pytest.mark.parametrize("count", [9, 60])
def test_nine_and_sixty_parts_are_played(count):
    game = build_game(definition(" ".join(["a", *["b"] * (count - 1)])), "test.toml")
    assert analyse(game).bets[0].cycle == count
    stopped_at = []
    for part in range(count):
        draw = RecordingDrawSource(Given([part]))
        (spin,) = play_through(game, game.build_wager(1), draw).display["steps"]
        assert [bound for bound, _, _ in draw.records] == [count]  # each part is as likely as any other
        stopped_at.append(spin["part"])
    assert stopped_at == list(range(count))


@pytest.mark.requirement("B-14")
@pytest.mark.library_only("B-15")
@pytest.mark.parametrize(
    ("changes", "key", "reason"),
    [
        ({"wheel": {"parts": "a b a b a b a b c", "widths": [1] * 8 + [2]}}, "wheel", "must be equally wide"),
        (
            {"wheel": {"parts": "a b a b a b a b c", "widths": [1, 2, *[1] * 7]}},
            "wheel",
            "must be equally wide",
        ),
        (
            {"wheel": {"parts": "a b a b a b a b c", "widths": [1] * 8}},
            "wheel",
            "expected one for each of the 9 parts, found 8",
        ),
        ({"wheel": {"parts": "a b a b a b a b c", "revolutions": 2}}, "wheel.revolutions", "at least"),
        ({"wheel": {"parts": "a b a b a b a b z"}}, "wheel.parts.8", "unknown symbol 'z'"),
        ({"wheel": {"parts": "a b a b a b a b a"}}, "symbol.c", "is on no part"),
        ({"symbol": [{"id": i, "name": TEXT} for i in "abca"]}, "symbol", "same id"),
        (
            {"symbol": [{"id": i, "name": TEXT, "again": 1} for i in "abc"]},
            "wheel.parts",
            "never ends",
        ),
        (
            {"symbol": [{"id": "a", "name": TEXT, "again": 2}] + [{"id": i, "name": TEXT} for i in "bc"]},
            "wheel.most_factor",
            "less than the factor of a, 2",
        ),
        (
            {"symbol": [{"id": "a", "name": TEXT, "again": 1}] + [{"id": i, "name": TEXT} for i in "bc"]},
            "area.on-a.pays.a",
            "pays nothing",
        ),
        ({"area": [{"id": "on", "name": TEXT, "pays": {"q": 2}}]}, "area.on.pays.q", "unknown symbol"),
        ({"area": [{"id": "on", "name": TEXT, "pays": {"a": 0}}]}, "area.0.pays.a", "greater than 0"),
        ({"form": [{"id": "f", "name": TEXT, "areas": ["on-q"]}]}, "form.0.areas", "no area 'on-q'"),
        (
            {"form": [{"id": "f", "name": TEXT, "areas": ["on-a", "on-a"]}]},
            "form.0.areas",
            "an area is listed twice",
        ),
        ({"layout": {"stakes": [5], "cost": 4}}, "form.0", "costs more than layout.cost, 4"),
        ({"layout": {"stakes": [5, 5]}}, "layout", "ascending"),
    ],
)
def test_a_wheel_that_cannot_be_played_is_refused_by_key_and_reason(changes, key, reason):
    with pytest.raises(DefinitionError) as raised:
        build_game(definition(**changes), "test.toml")
    assert raised.value.key == key
    assert reason in raised.value.reason


def test_equal_part_widths_are_accepted():
    data = definition(wheel={"parts": "a b a b a b a b c", "widths": [7] * 9})
    assert build_game(data, "test.toml").bet_options == (1, 2, 5)


@pytest.mark.requirement("P-07", "B-08")
@pytest.mark.library_only("B-15")
def test_a_spin_pays_every_area_it_wins_and_shows_where_it_stopped():
    data = definition("a b x a b a b a c", spin_again_factors={"x": 3}, most_factor=9)
    data["area"].append({"id": "either", "name": TEXT, "pays": {"a": 2, "b": 3}})
    game = build_game(data, "test.toml")
    wager = game.build_wager(8, bets={"on-a": 1, "either": 5, "on-c": 2})
    outcome = play_through(game, wager, Given([2, 2, 3]))
    steps = outcome.display["steps"]
    assert [step["part"] for step in steps] == [2, 2, 3]
    assert [step["factor"] for step in steps] == [1, 3, 9]
    assert [step["credits"] for step in steps] == [0, 0, 108]
    assert [part["item"] for part in steps[0]["parts"]] == data["wheel"]["parts"].split()
    assert [part["credits"] for part in steps[1]["parts"][:3]] == [(2 + 10) * 3, 15 * 3, 0]
    assert outcome.display["revolutions"] == 3
    assert [(w.name, w.credits) for w in outcome.settlements] == [("on-a a", 18), ("either a", 90)]
    assert outcome.returned_credits == outcome.display["credits"] == 108
    assert play_through(game, wager, Given([8])).returned_credits == 2 * 4
    assert play_through(game, game.build_wager(1), Given([1])).returned_credits == 0


@pytest.mark.parametrize("seed", range(10))
def test_a_recorded_game_replays_to_the_same_outcome(seed):
    game = load_game("river-wheel")
    record = RecordingDrawSource(Chance(seed))
    wager = game.build_wager(6)
    outcome = play_through(game, wager, record)
    replay = ReplayDrawSource(json.loads(json.dumps(record.records)))
    assert play_with_choices(game.play(wager, replay), wager) == outcome
    replay.check_all_numbers_used()
    assert json.loads(json.dumps(outcome.to_json())) == outcome.to_json()


@pytest.mark.requirement("C-04", "P-07")
@pytest.mark.parametrize(
    ("credits_", "options", "reason"),
    [
        (1, {"bets": {"on-z": 1}}, "no spot 'on-z'"),
        (3, {"bets": {"on-a": 3}}, "the stake is 3"),
        (1, {"bets": {"on-a": True}}, "True is not a number"),
        (1, {"bets": {}}, "at least one bet must be staked"),
        (2, {"bets": {"on-a": 1}}, "cost 1 credit, not 2"),
        (8, {"bets": {"on-a": 5, "on-b": 2, "on-c": 1}}, "at most 2 may be staked on"),
        (10, {"bets": {"on-a": 5, "on-b": 5}}, "9 at most"),
        (3, {}, "no bet of 3"),
        (1, {"form": "z"}, "form 'z'"),
        (1, {"lines": 3}, "not lines"),
    ],
)
def test_a_bet_the_wheel_does_not_offer_is_refused(credits_, options, reason):
    data = definition(layout={"stakes": [1, 2, 5], "areas": 2, "cost": 9})
    with pytest.raises(WagerError, match=reason):
        build_game(data, "test.toml").build_wager(credits_, **options)


@pytest.mark.requirement("C-06", "P-07")
def test_the_river_wheel_has_the_parts_that_its_help_states():
    game = load_game("river-wheel")
    shown = game.build_presentation()
    counts = {i: s["parts"] for i, s in shown["symbols"].items()}
    assert len(shown["parts"]) == sum(counts.values()) == 54
    assert all(a != b for a, b in zip(shown["parts"], shown["parts"][1:] + shown["parts"][:1], strict=True))
    words = game.help["en"]
    for area in shown["areas"]:
        ((symbol, pay),) = area["pays"].items()
        assert f"{symbol.title()}: {pay} for 1, stake included" in words
        assert f"{counts[symbol]} {symbol}" in words
    bets = analyse(game).bets
    assert min(bet.rtp for bet in bets) > Fraction(85, 100)
    assert all(bet.hit_probability > 0 for bet in bets)
