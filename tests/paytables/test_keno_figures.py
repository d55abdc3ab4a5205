"""Exact Keno figures, against published tables and independent enumerations."""

import json
import random
from fractions import Fraction
from math import comb
from pathlib import Path

import keno_brute as brute
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paytables import AnalysisDepth, WinDistribution, analyse, build_game
from paytables.errors import AnalysisError
from paytables.keno import bounds, figures, win_distribution
from paytables.keno.joint import JointCalculation, JointSelection
from tests.rigs.examples import scale_examples

VECTORS = Path(__file__).parents[1] / "vectors" / "keno" / "published_tables.json"
PUBLISHED = json.loads(VECTORS.read_text(encoding="utf-8"))
TEXT = {"en": "text", "fr": "texte"}


def build_test_game(data):
    return build_game(data, "test.toml")


def compute_exact_distribution(data, selections, **options):
    """Return the distribution that the package computes for one draw, as {(credits, levels): probability}."""
    rules = build_test_game(data).rules
    ticket = rules.build_ticket({"selections": selections, **options})
    found = win_distribution.compute_one_draw_distribution(rules.definition, rules.keno_pays, ticket)
    ids = [p.id for p in rules.definition.progressive_levels]
    return {
        (won, frozenset(name for i, name in enumerate(ids) if levels >> i & 1)): Fraction(n, found.case_count)
        for (won, levels), n in found.case_count_by_win.items()
        if n
    }


@pytest.mark.requirement("M-10", "B-13")
@pytest.mark.parametrize("row", PUBLISHED, ids=lambda r: f"{r['spots']} of {r['numbers']}")
def test_published_tables_are_reproduced_to_every_digit(row):
    data = brute.definition(
        field={"numbers": row["numbers"], "drawn": row["drawn"]},
        table=[{"spots": row["spots"], "pays": {str(i): p for i, p in enumerate(row["pays_for_one"])}}],
        form=[{"id": "one", "name": TEXT, "spots": row["spots"]}],
        marks={"stakes": [1]},
    )
    bet = analyse(build_test_game(data)).bets[0]
    assert bet.rtp == Fraction(row["rtp_exact"])
    assert bet.cycle == comb(row["numbers"], row["drawn"])
    assert float(bet.variance) == pytest.approx(row["variance"], rel=1e-12)
    assert float(bet.hit_probability) == pytest.approx(row["hit"], rel=1e-12)
    assert bet.rtp == sum(p.rtp for p in bet.prizes)
    if "published_rtp_pct" in row:
        assert round(100 * float(bet.rtp), 2) == row["published_rtp_pct"]
    if "published_variance" in row:
        assert round(float(bet.variance), 2) == row["published_variance"]


TICKETS = {
    "one selection": [{"groups": [[1, 5, 9]], "stakes": {"3": 2}}],
    "two apart": [{"groups": [[1, 2, 3]], "stakes": {"3": 1}}, {"groups": [[7, 8]], "stakes": {"2": 5}}],
    "two overlapping": [
        {"groups": [[1, 2, 3, 4]], "stakes": {"4": 1}},
        {"groups": [[3, 4, 5]], "stakes": {"3": 2}},
    ],
    "the same twice": [{"groups": [[2, 4]], "stakes": {"2": 1}}, {"groups": [[2, 4]], "stakes": {"2": 1}}],
    "ways": [{"groups": [[1, 2], [3, 4], [5]], "stakes": {"2": 1, "3": 2, "4": 1}}],
    "kings": [{"groups": [[1], [2], [3], [4], [5]], "stakes": {"2": 1, "3": 1}}],
    "overlapping ways": [
        {"groups": [[1, 2], [3, 4]], "stakes": {"2": 1, "4": 1}},
        {"groups": [[4], [5, 1], [9]], "stakes": {"3": 5, "2": 1}},
        {"groups": [[9, 3]], "stakes": {"2": 2}},
    ],
}
BONUSES = [
    {"kind": "ball", "id": "last", "name": TEXT, "ball": 3, "factor": 4},
    {"kind": "ball", "id": "first", "name": TEXT, "ball": 1, "factor": 2, "fee": 1},
    {"kind": "multiplier", "id": "boost", "name": TEXT, "weights": {"1": 5, "2": 3, "10": 1}, "fee": 2},
]
LEVELS = [
    {"id": "p2", "name": TEXT, "spots": 2, "catch": 2, "reset_credits": 50, "increment": "1/100"},
    {"id": "p3", "name": TEXT, "spots": 3, "catch": 3, "stake": 2, "reset_credits": 500, "increment": "1/50"},
]


@pytest.mark.parametrize("ticket", TICKETS.values(), ids=TICKETS)
@pytest.mark.parametrize("bought", [(), ("first", "boost")], ids=["plain", "with bonuses"])
@pytest.mark.requirement("M-04", "M-05", "M-10", "B-09")
def test_every_ticket_has_the_distribution_over_all_draws(ticket, bought):
    data = brute.definition(bonus=BONUSES, progressive=LEVELS)
    assert compute_exact_distribution(data, ticket, bonuses=bought) == brute.law_of_ticket(
        data, ticket, bought
    )


def test_the_limit_applies_to_the_total_win_of_a_draw():
    data = brute.definition(
        limit={"credits": 150}, marks={"stakes": [1, 2, 5], "selections": 6, "groups": 6, "cost": 40}
    )
    ticket = TICKETS["overlapping ways"] + [{"groups": [[1, 3, 9]], "stakes": {"3": 5}}]
    found = compute_exact_distribution(data, ticket)
    assert found == brute.law_of_ticket(data, ticket)
    assert max(won for won, _ in found) == 150


def test_quick_picks_are_independent_of_each_other():
    data = brute.definition(
        field={"numbers": 6, "drawn": 2, "columns": 3},
        table=[{"spots": 2, "pays": {"1": 1, "2": 5}}, {"spots": 3, "pays": {"0": 1, "2": 7}}],
        bonus=[{"kind": "ball", "id": "last", "name": TEXT, "ball": 2, "factor": 3}],
        progressive=[LEVELS[0]],
    )
    ticket = [{"groups": [2], "stakes": {"2": 1}}, {"groups": [3], "stakes": {"3": 2}}]
    assert compute_exact_distribution(data, ticket) == brute.mix(data, [(2, 1), (3, 2)])


@st.composite
def small_games(draw):
    """Return a random field, tables, bonuses and levels, and a random ticket whose groups may overlap."""
    numbers = draw(st.integers(4, 8))
    drawn = draw(st.integers(1, min(4, numbers - 1)))
    tables = []
    for spots in range(1, min(4, numbers - 1) + 1):
        possible = range(max(0, drawn - (numbers - spots)), min(spots, drawn) + 1)
        pays = draw(st.dictionaries(st.sampled_from(possible), st.integers(1, 20), min_size=1))
        tables.append({"spots": spots, "pays": {str(c): p for c, p in pays.items()}})
    bonus = []
    if draw(st.booleans()):
        ball = draw(st.integers(1, drawn))
        bonus.append(
            {"kind": "ball", "id": "b", "name": TEXT, "ball": ball, "factor": draw(st.integers(2, 5))}
        )
    if draw(st.booleans()):
        bonus.append({"kind": "multiplier", "id": "m", "name": TEXT, "weights": {"1": 2, "3": 1}, "fee": 1})
    selections = []
    for _ in range(draw(st.integers(1, 3))):
        marks = draw(st.permutations(range(1, numbers + 1)))[: draw(st.integers(1, min(5, numbers)))]
        cuts = sorted(draw(st.sets(st.integers(1, len(marks)), max_size=3)) | {len(marks)})
        groups = [list(marks[a:b]) for a, b in zip([0, *cuts], cuts, strict=False)]
        sums = {0}
        for group in groups:
            sums |= {s + len(group) for s in sums}
        offered = sorted(s for s in sums if 0 < s <= len(tables))
        if offered:
            spots = draw(st.sets(st.sampled_from(offered), min_size=1))
            selections.append({"groups": groups, "stakes": {str(s): draw(st.integers(1, 3)) for s in spots}})
    data = brute.definition(
        field={"numbers": numbers, "drawn": drawn},
        table=tables,
        bonus=bonus,
        marks={"stakes": [1, 2, 3], "selections": 3, "groups": 5, "draws": 2},
        form=[{"id": "one", "name": TEXT, "spots": 1}],
    )
    return data, selections


def list_playable_selections(selections):
    """Omit selections with a group that is in no way, because such selections are refused."""
    playable_selections = []
    for selection in selections:
        used = set().union(*(numbers for numbers, _ in brute.ways_of(selection)), set())
        if used == {n for group in selection["groups"] for n in group}:
            playable_selections.append(selection)
    return playable_selections


@settings(max_examples=scale_examples(150))
@given(small_games())
def test_random_games_and_tickets_have_the_distribution_over_all_draws(case):
    data, selections = case
    ticket = list_playable_selections(selections)
    if not ticket:
        return
    assert compute_exact_distribution(
        data, ticket, bonuses=[b["id"] for b in data["bonus"] if b.get("fee")]
    ) == brute.law_of_ticket(data, ticket, ("m",))


@settings(max_examples=scale_examples(100))
@given(small_games())
def test_bounds_hold_and_moments_are_exact_if_the_distribution_is_known(case):
    data, selections = case
    ticket = list_playable_selections(selections)
    if not ticket:
        return
    rules = build_test_game(data).rules
    checked_ticket = rules.build_ticket(
        {"selections": ticket, "bonuses": [b["id"] for b in data["bonus"] if b.get("fee")]}
    )
    known = figures.analyse_ticket(rules.definition, rules.keno_pays, checked_ticket, "known")
    found = bounds.compute_bounded_figures(
        rules.definition, rules.keno_pays, checked_ticket, "bounded", "as a check"
    )
    assert (found.rtp, found.variance) == (known.rtp, known.variance)
    words = found.notes[1].split()
    least, most = Fraction(words[words.index("between") + 1]), Fraction(words[words.index("and") + 1])
    assert least <= known.hit_probability <= most


def test_without_a_distribution_return_and_variance_stay_exact_with_a_note():
    """Twenty overlapping cards have an exact return and variance, and a bounded hit rate with a note."""
    row = next(r for r in PUBLISHED if r["spots"] == 6 and r["numbers"] == 80)
    data = brute.definition(
        field={"numbers": 80, "drawn": 20},
        table=[{"spots": 6, "pays": {str(i): p for i, p in enumerate(row["pays_for_one"])}}],
        marks={"stakes": [1], "selections": 20, "groups": 1},
        form=[{"id": "one", "name": TEXT, "spots": 6}],
    )
    rules = build_test_game(data).rules
    shuffled = random.Random(20)
    cards = [shuffled.sample(range(1, 81), 6) for _ in range(20)]
    ticket = rules.build_ticket({"selections": [{"groups": [c], "stakes": {"6": 1}} for c in cards]})
    with pytest.raises(AnalysisError, match="too costly to compute exactly"):
        win_distribution.compute_one_draw_distribution(rules.definition, rules.keno_pays, ticket)
    bet = figures.analyse_ticket(rules.definition, rules.keno_pays, ticket, "twenty")
    assert bet.rtp == Fraction(row["rtp_exact"])
    assert bet.distribution is None
    assert bet.hit_probability is None
    assert "P(any win) lies between" in bet.notes[1]
    single = row["variance"]
    pairs = sum(covariance(row, len(set(a) & set(b))) for a in cards for b in cards if a is not b)
    assert float(bet.variance) == pytest.approx(20 * single + float(pairs), rel=1e-12)


def covariance(row, common):
    """Return the covariance of two pick-6 cards that share ``common`` numbers, from the hypergeometric distribution."""
    pays, spots = row["pays_for_one"], row["spots"]
    own_spots, unmarked = spots - common, row["numbers"] - 2 * spots + common
    total = mean = 0
    for c in range(common + 1):
        for a in range(own_spots + 1):
            for b in range(own_spots + 1):
                n = (
                    comb(common, c)
                    * comb(own_spots, a)
                    * comb(own_spots, b)
                    * comb(unmarked, row["drawn"] - a - b - c)
                )
                total += n * pays[c + a] * pays[c + b]
                mean += n * pays[c + a]
    cases = comb(row["numbers"], row["drawn"])
    return Fraction(total, cases) - Fraction(mean, cases) ** 2


def test_a_ticket_of_twenty_kings_has_an_exact_distribution():
    data = brute.definition(
        field={"numbers": 80, "drawn": 20},
        table=[{"spots": 3, "pays": {"2": 1, "3": 45}}],
        marks={"stakes": [1], "groups": 20},
        form=[{"id": "one", "name": TEXT, "spots": 3}],
    )
    game = build_test_game(data)
    kings = {"groups": [[n] for n in range(1, 21)], "stakes": {"3": 1}}
    bet = game.rules.analyse_wager(game.build_wager(comb(20, 3), selections=[kings]))
    hits = {k: comb(20, k) * comb(60, 20 - k) for k in range(21)}
    wins = {k: comb(k, 2) * (20 - k) + 45 * comb(k, 3) for k in hits}
    assert bet.mean_credits == Fraction(sum(hits[k] * wins[k] for k in hits), comb(80, 20))
    assert bet.distribution.compute_chance_of_at_least(1) == 1 - Fraction(hits[0] + hits[1], comb(80, 20))


def test_a_named_ball_in_no_group_is_counted_too():
    """The placements of a named ball, against the closed form of the hypergeometric distribution."""
    part = JointSelection(
        (frozenset(range(3)),), frozenset({3}), lambda caught: (next(iter(caught))[1] * 10, 0)
    )
    counted = JointCalculation(
        [part], number_count=9, drawn_count=4, named_ball_count=1
    ).compute_distribution()
    for catch in range(4):
        assert Fraction(counted.case_count_by_win[catch * 10, 0], counted.case_count) == Fraction(
            comb(3, catch) * comb(6, 4 - catch), comb(9, 4)
        )


def test_several_draws_are_settled_each_and_add():
    data = brute.definition(progressive=LEVELS)
    rules = build_test_game(data).rules
    selections = {"selections": TICKETS["two overlapping"]}
    one_draw = figures.analyse_ticket(
        rules.definition, rules.keno_pays, rules.build_ticket(selections), "one"
    )
    three = figures.analyse_ticket(
        rules.definition, rules.keno_pays, rules.build_ticket({**selections, "draws": 3}), "three"
    )
    assert (three.rtp, three.cost_credits) == (one_draw.rtp, 3 * one_draw.cost_credits)
    assert three.variance == 3 * one_draw.variance == three.distribution.compute_variance()
    assert three.hit_probability == three.distribution.compute_chance_of_at_least(1)
    assert three.max_win_probability == three.distribution.compute_chance_of_at_least(three.max_win_credits)
    assert three.progressives[0].rate == 3 * one_draw.progressives[0].rate


@pytest.mark.requirement("C-06")
def test_both_analysis_depths_agree_and_the_limit_costs_equal_selections_most():
    data = brute.definition(
        bonus=BONUSES[2:],
        limit={"credits": 1500},
        marks={"stakes": [1, 5], "selections": 30, "groups": 2, "cost": 90},
        form=[{"id": "ten", "name": TEXT, "spots": 3, "selections": 6, "bonuses": ["boost"]}],
    )
    game = build_test_game(data)
    quick, full = analyse(game, AnalysisDepth.RETURN), analyse(game)
    assert quick.bets == full.bets[: len(quick.bets)]
    assert quick.minimum_rtp == full.minimum_rtp
    assert [b.bet for b in full.bets[len(quick.bets) :]] == ["ten at 1", "ten at 5"]
    dearest = next(b for b in full.bets if b.bet == "90 credits on the same 3 spots + boost")
    same = [{"groups": [[1, 2, 3]], "stakes": {"3": 5}}] * 6
    laws = brute.law_of_ticket(data, same, ("boost",))
    assert dearest.rtp == sum(won * p for (won, _), p in laws.items()) / 90
    plain = next(b for b in full.bets if b.bet == "3 spots at 1 + boost")
    assert dearest.rtp < plain.rtp
    spread = [{"groups": [[1, 2, 3]], "stakes": {"3": 5}}] * 3 + [
        {"groups": [[4, 5, 6]], "stakes": {"3": 5}}
    ] * 3
    other = brute.law_of_ticket(data, spread, ("boost",))
    assert dearest.rtp < sum(won * p for (won, _), p in other.items()) / 90
    assert full.minimum_rtp <= dearest.rtp


def test_a_progressive_level_is_stated_separately_with_its_break_even():
    data = brute.definition(progressive=LEVELS)
    bets = {b.bet: b for b in analyse(build_test_game(data)).bets}
    assert bets["3 spots at 1"].progressives == ()
    share = bets["3 spots at 2"].progressives[0]
    assert share.rate == Fraction(1, comb(9, 3))
    assert share.rtp_at_reset == Fraction(500, 2 * comb(9, 3))
    mean = bets["3 spots at 2"].mean_credits
    assert mean + share.rate * share.break_even_credits == 2


def test_capping_the_wins_of_a_distribution_includes_its_tail():
    distribution = WinDistribution(10, {0: 4, 3: 3, 7: 2, 20: 1})
    assert distribution.cap_wins(7).case_count_by_win == {0: 4, 3: 3, 7: 3}
    cut = WinDistribution(10, {0: 4, 3: 3, 7: 2}, unlisted_probability=Fraction(1, 10)).cap_wins(5)
    assert cut.unlisted_probability == 0
    assert {win: Fraction(n, cut.case_count) for win, n in cut.case_count_by_win.items()} == {
        0: Fraction(2, 5),
        3: Fraction(3, 10),
        5: Fraction(3, 10),
    }


def test_every_figure_names_the_wager_it_is_of():
    game = build_test_game(brute.definition(bonus=BONUSES, progressive=LEVELS))
    bets = [bet for bet in analyse(game).bets if bet.variance is not None]
    assert len(bets) > 16
    for bet in bets:
        analysed_alone = game.rules.analyse_wager(game.build_wager(bet.cost_credits, **bet.options))
        assert (analysed_alone.rtp, analysed_alone.distribution, analysed_alone.progressives) == (
            bet.rtp,
            bet.distribution,
            bet.progressives,
        )


@settings(max_examples=scale_examples(120))
@given(small_games(), st.integers(12, 60))
def test_every_ticket_returns_at_least_the_stated_minimum_under_a_limit(case, cost):
    data, selections = case
    ticket = list_playable_selections(selections)
    prize = max(pay for table in data["table"] for pay in table["pays"].values())
    factor = max([b["factor"] for b in data["bonus"] if b["kind"] == "ball"], default=1)
    factor *= 3 if any(b["kind"] == "multiplier" for b in data["bonus"]) else 1
    data = data | {
        "limit": {"credits": prize * 3 * factor},
        "marks": {"stakes": [1, 2, 3], "selections": 60, "groups": 5, "cost": cost},
    }
    game = build_test_game(data)
    bought = [b["id"] for b in data["bonus"] if b.get("fee")]
    unit = 1 + sum(b.get("fee", 0) for b in data["bonus"])
    laid = [s for s in ticket * 8 if s]
    while laid and sum(n * unit for s in laid for _, n in brute.ways_of(s)) > cost:
        laid.pop()
    if not laid:
        return
    law_ = brute.law_of_ticket(data, laid, bought)
    staked = sum(n * unit for s in laid for _, n in brute.ways_of(s))
    returned = sum(won * p for (won, _), p in law_.items()) / staked
    assert returned >= analyse(game, AnalysisDepth.RETURN).minimum_rtp
