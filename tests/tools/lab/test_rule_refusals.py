"""Every certification rule refuses its planted case: a definition, or a machine that plays differently."""

import copy
import dataclasses
import re
from fractions import Fraction

import pytest

from egm.profiles import load_profile
from paytables import AnalysisDepth, Settlement, analyse, build_game, list_remarks, load_game
from paytables.definition import parse, read_source
from paytables.reels.bonus import WheelBonus
from tools.dev.gallery import FixedDraws
from tools.lab.certification import chance, rules
from tools.lab.certification.finding import CertificationCase, FindingStatus


def build_changed_game(name, **values_by_path):
    """Return a library game with values changed, for example ``stage__base__strips=...``."""
    data = copy.deepcopy(parse(read_source(name)))
    for path, value in values_by_path.items():
        *keys, last = path.split("__")
        inner = data
        for key in keys:
            inner = inner[int(key)] if isinstance(inner, list) else inner[key]
        if value is None:
            del inner[last]
        else:
            inner[int(last) if isinstance(inner, list) else last] = value
    return build_game(data, "changed")


def build_case(game, profile="quebec-casino", *, path="", games=0, depth=AnalysisDepth.FULL, **tables):
    loaded = load_profile(profile)
    for table, values in tables.items():
        loaded = loaded.model_copy(update={table: getattr(loaded, table).model_copy(update=values)})
    return CertificationCase(game, path or game.id, analyse(game, depth), loaded, FixedDraws("case"), games)


def prize(stage, n, pays):
    return {f"stage__{stage}__pay__{n}__pays": pays}


def remove_rule_words(words, game):
    """Return the rules text of a game without some words, in both languages."""
    text = dict(game.help)
    for old in words:
        text = {
            code: sentence.replace(old, "x").replace(old.capitalize(), "x") for code, sentence in text.items()
        }
    return text


def level(**changes):
    name = {"en": "Grand", "fr": "Grand"}
    return [{"id": "grand", "name": name, "reset_credits": 1000, "increment": "1/100", **changes}]


CLASSIC = load_game("maple-classic")
SAME = {"en": "Malfunction voids. Défectuosité.", "fr": "Malfunction voids. Défectuosité."}
ALWAYS = {
    "stage__base__strips": ["pine"] * 3,
    "stage__base__heights": [1, 1, 1],
    "stage__base__lines": [[0, 0, 0]],
}
ONLY_PINE = {"stage__base__pay": [{"of": "pine", "pays": {3: 1}}]}

#: Two bets of one credit, and on one of them the level is likelier.
UNEQUAL = {
    "bets__mode": [{"id": "line", "cost": 1}, {"id": "rich", "cost": 1, "stage": "rich"}],
    "progressive": level(),
    "stage__base__pay__1__gives": [{"progressive": "grand"}],
    "stage__rich": {
        "like": "base",
        "strips": [["maple", *["pine", "birch", "loon", "canoe", "lantern", "trillium"]]] * 3,
    },
}

REFUSED = {
    "return-floor": lambda: build_case(build_changed_game("maple-classic", **prize("base", 4, {3: 1}))),
    "return-ceiling": lambda: build_case(build_changed_game("maple-classic", **prize("base", 0, {3: 50_000})), returns={"return_max": 1}),
    "largest-win": lambda: build_case(build_changed_game("maple-classic", **prize("base", 0, {3: 20_000})), "quebec-vlt"),
    "progressive-levels": lambda: build_case(build_changed_game("maple-classic", progressive=level(one_in=100))),
    "progressive-stakes": lambda: build_case(build_changed_game("maple-classic", **UNEQUAL)),
    "prizes-in-kind": lambda: build_case(load_game("orchard-picnic"), handpay={"prizes_in_kind": "refused"}),
    "languages": lambda: build_case(build_changed_game("maple-classic", game__help=SAME)),
    "void-rule": lambda: build_case(
        build_changed_game("maple-classic", game__help={"en": "A malfunction voids all.", "fr": "Toute défectuosité annule tout."})
    ),
    "longest-odds": lambda: build_case(CLASSIC, awards={"longest_odds_one_in": 100}),
    "levy": lambda: build_case(load_game("monaco-chemin-de-fer")),
    "long-odds": lambda: build_case(CLASSIC, awards={"top_award_odds_shown_beyond": 2, "other_award_odds_shown_beyond": 2}),
    "return-by-stake": lambda: build_case(build_changed_game("seven-rivers", stage__base__pay__0__pays={3: [0, 33, 300]})),
    "bet-limit": lambda: build_case(CLASSIC, play={"bet_max_cents": 2}),
    "double-up": lambda: build_case(build_changed_game("orchard-picnic", double_up={"most_rounds": 1, "most_credits": 1})),
    "chance-decides": lambda: build_case(build_changed_game("maple-classic", **ALWAYS, **ONLY_PINE)),
    "draw-on-every-path": lambda: build_case(build_changed_game("maple-classic", **ALWAYS, **ONLY_PINE)),
    "strategy": lambda: build_case(
        build_changed_game("hold-fast", game__help=remove_rule_words(["hold", "held", "garde", "conserv", "bloqu", "reten"], load_game("hold-fast")))
    ),
    "depicted-odds": lambda: build_case(
        build_changed_game("maple-classic", stage__base__weights=[[0] + [1] * 23, [1] * 24, [1] * 24])
    ),
    "prizes-at-every-bet": lambda: build_case(
        build_changed_game("maple-classic", stage__base__pay__6={"of": "maple", "pays": {3: 1}, "id": "less"})
    ),
    "pay-tables": lambda: build_case(build_changed_game("quebec-three-card-poker", proved__main__won=[]), depth=AnalysisDepth.PRIZES),
    "stages-played": lambda: build_case(
        build_changed_game("maple-classic", stage__lost={"like": "base", "multiplier": 2})
    ),
    "same-file": lambda: build_case(build_changed_game("maple-classic", game__version="9.9.9"), path="maple-classic"),
}  # fmt: skip
#: Rules that examine what the machine plays, not what the definition says; each has its own test below.
OF_PLAY = {"simulation", "replay"}
#: A fact a laboratory must read, that no profile here forbids.
ONLY_NOTED = {"levy", "long-odds", "return-by-stake"}
OF_DEFINITIONS = [
    rule for rule in rules.CERTIFICATION_RULES if rule not in {rules.check_simulation, rules.check_replay}
]


def list_findings(case):
    return [found for rule in rules.CERTIFICATION_RULES for found in rule(case)]


@pytest.mark.requirement("C-05", "C-07", "C-20", "B-12", "C-25", "C-26")
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_each_rule_refuses_its_planted_case(name):
    status = FindingStatus.NOTED if name in ONLY_NOTED else FindingStatus.FAIL
    case = REFUSED[name]()
    findings = [f for rule in OF_DEFINITIONS for f in rule(case) if f.rule == name]
    assert status in {f.status for f in findings}, [f.evidence for f in findings]


def test_every_rule_has_a_case_that_it_refuses():
    """The findings on these games include one of every rule."""
    named = set()
    for game in (
        "maple-classic",
        "hold-fast",
        "orchard-picnic",
        "summit-keno",
        "icebreak",
        "river-wheel",
        "monaco-chemin-de-fer",
    ):
        named |= {
            f.rule for f in list_findings(build_case(load_game(game), games=20, depth=AnalysisDepth.PRIZES))
        }
    named |= {f.rule for f in list_findings(build_case(CLASSIC, games=20))}
    named |= {f.rule for f in list_findings(build_case(load_game("quebec-three-card-poker"), games=20))}
    assert named == set(REFUSED) | OF_PLAY


@pytest.mark.requirement("C-26")
@pytest.mark.parametrize("name", ["quebec-three-card-poker", "monaco-craps", "maple-classic", "river-wheel"])
def test_a_rule_that_does_not_apply_is_reported_and_passes_nothing(name):
    """Every rule reports a result for every game, and no rule passes if it has checked nothing."""
    case = build_case(load_game(name), games=20, depth=AnalysisDepth.PRIZES)
    findings = rules.check_every_rule(case)
    answered = {f.rule for f in findings}
    assert {
        rule.__name__.removeprefix("check_").replace("_", "-") for rule in rules.CERTIFICATION_RULES
    } <= answered
    empty = re.compile(r"\b0 (prize|game|stage|bet|way|award|word|part|stop)s?\b|up to 0\)")
    assert not [f for f in findings if f.status is FindingStatus.PASS and empty.search(f.evidence)]
    none = {f.rule: f.evidence for f in findings if f.status is FindingStatus.NOT_APPLICABLE}
    assert none["double-up"] == "not applicable: the game has no double-up"
    assert none["prizes-in-kind"] == "not applicable: the game gives no prize in kind"


@pytest.mark.requirement("B-12")
def test_a_bet_without_a_pay_table_is_checked_by_what_it_can_win():
    """The main bet of blackjack has no pay table, and under some rules no distribution; such bets are simulated."""
    full = build_case(load_game("quebec-blackjack"))
    law, back = chance.check_prizes_at_every_bet(full)
    assert law.status is back.status is FindingStatus.PASS
    assert "no pay table; it returns 99.1092 %, " in law.evidence
    assert law.evidence.endswith(", 3 wins of 4 to 6")
    bare = build_case(load_game("monaco-blackjack"), depth=AnalysisDepth.RETURN)
    findings = list(chance.check_prizes_at_every_bet(bare))
    assert [f.status for f in findings] == [FindingStatus.PASS] * len(findings)
    assert all(f.evidence.endswith(" was the first to win") for f in findings)


@pytest.mark.requirement("B-12")
def test_a_bet_without_a_known_distribution_that_never_wins_is_refused(monkeypatch):
    """Games without prizes or a distribution are simulated; a bet that never wins fails."""
    bare = build_case(load_game("monaco-blackjack"), depth=AnalysisDepth.RETURN)
    monkeypatch.setattr(chance, "_count_games_to_win", lambda *_: 0)
    findings = list(chance.check_prizes_at_every_bet(bare))
    assert {f.status for f in findings} == {FindingStatus.FAIL}
    assert findings[0].evidence.endswith("; none of 400 games won")


@pytest.mark.requirement("B-12", "C-22")
@pytest.mark.parametrize(
    ("hand", "reason"),
    [
        ("four-of-a-kind", "four of three cards"),
        ("full-house", "five cards of three"),
        ("straight-flush", "another row goes before it"),
    ],
)
@pytest.mark.parametrize("bet", ["pair-plus", "main"])
def test_a_poker_pay_row_that_no_hand_wins_is_refused(hand, bet, reason):
    """Regression: Three Card with such a row in Pair Plus or the ante bonus was certified without a finding."""
    definition = copy.deepcopy(parse(read_source("quebec-three-card-poker")))
    row = {"id": "nobody", "hand": hand, "name": {"en": "Nobody's", "fr": "De personne"}, "pays": "1000:1"}
    spot = next(
        candidate for candidate in definition["spot"] if candidate["id"] == {"main": "ante"}.get(bet, bet)
    )
    spot["bonus" if bet == "main" else "pay"].append(row)
    del definition["proved"]
    case = build_case(build_game(definition, "changed"), depth=AnalysisDepth.PRIZES)
    failures = [f.evidence for f in chance.check_prizes_at_every_bet(case) if f.status is FindingStatus.FAIL]
    assert failures == [f"bet {bet}: no result wins {spot['id']} nobody"], reason
    assert [remark.text for remark in list_remarks(case.game, case.analysis) if "nobody" in remark.text] == [
        f"no result wins {spot['id']} nobody: others take its place"
    ]


@pytest.mark.requirement("R-10")
def test_a_simulation_with_no_win_of_a_bet_does_not_pass_it():
    case = build_case(load_game("monaco-craps"), games=20)
    rare = [f for f in rules.check_simulation(case) if f.evidence.startswith("bet craps-12:")]
    assert [f.status for f in rare] == [FindingStatus.NOT_APPLICABLE]


@pytest.mark.requirement("F-11")
def test_the_largest_win_is_checked_at_each_denomination_and_after_a_double_up():
    """A denomination that the machine would not offer is not certified either."""
    noted = build_case(load_game("maple-classic-92"), "quebec-vlt")
    status_by_evidence = {f.evidence: f.status for f in rules.check_largest_win(noted)}
    assert status_by_evidence["25 cents a credit: 41,775 cents at most"] is FindingStatus.PASS
    assert (
        status_by_evidence[
            "100 cents a credit: 111,400 cents: denomination not offered, because the limit is 100,000"
        ]
        is FindingStatus.NOTED
    )
    doubled = build_changed_game("orchard-picnic", double_up={"most_rounds": 10, "most_credits": 1_000_000})
    assert FindingStatus.FAIL in {
        f.status for f in rules.check_largest_win(build_case(doubled, "quebec-vlt"))
    }
    unknown = build_case(load_game("aurora-twenty"), "quebec-vlt", depth=AnalysisDepth.PRIZES)
    (reason,) = {
        f.evidence.partition(": ")[2]
        for f in rules.check_largest_win(unknown)
        if f.status is FindingStatus.FAIL and "exact" in f.evidence
    }
    assert reason == "the largest win has no exact figure"


@pytest.mark.requirement("R-10:a")
def test_a_machine_that_pays_more_than_its_sheet_fails_the_simulation():
    richer = build_changed_game("maple-classic", **prize("base", 4, {3: 50}))
    case = build_case(CLASSIC, games=3000)
    other = CertificationCase(
        richer, case.id_or_path, case.analysis, case.profile, case.draw_source, case.games_per_bet
    )
    assert {f.status for f in rules.check_simulation(other)} == {FindingStatus.FAIL}
    findings = [*rules.check_simulation(case)]
    assert FindingStatus.FAIL not in {f.status for f in findings}
    assert any("the exact return with all wins is" in f.evidence for f in findings)


@pytest.mark.requirement("B-11")
def test_a_machine_that_remembers_earlier_games_fails_the_replay():
    class Remembers:
        """Plays as the rules say, and pays one credit more in every second game."""

        def __init__(self, game):
            self.game, self.played = game, 0

        def __getattr__(self, name):
            return getattr(self.game, name)

        def play(self, wager, draw):
            self.played += 1
            outcome = yield from self.game.play(wager, draw)
            yield Settlement("made up", self.played % 2)
            return outcome

    case = build_case(CLASSIC, games=20)
    lying = CertificationCase(
        Remembers(CLASSIC), case.id_or_path, case.analysis, case.profile, case.draw_source, case.games_per_bet
    )
    assert {f.status for f in rules.check_replay(lying)} == {FindingStatus.FAIL}
    assert {f.status for f in rules.check_replay(case)} == {FindingStatus.PASS}


@pytest.mark.requirement("C-25")
@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("en", "MALFUNCTIONS void all pays."),
        ("fr", "Malfunction voids all pays."),
        (
            "fr",
            "Toute D\N{LATIN CAPITAL LETTER E WITH ACUTE}FECTUOSIT\N{LATIN CAPITAL LETTER E WITH ACUTE} annule.",
        ),
        ("fr", "Toute de\N{COMBINING ACUTE ACCENT}fectuosite\N{COMBINING ACUTE ACCENT} annule."),
        ("fr", "TOUTE DEFECTUOSITE ANNULE."),
    ],
    ids=["plural", "english-in-french", "capitals", "decomposed", "without-accents"],
)
def test_a_malfunction_rule_is_found_in_any_wording(code, rule):
    text = {"en": "Three maples pay.", "fr": "Trois érables paient."}
    case = build_case(
        build_changed_game("maple-classic", game__help={**text, code: f"{text[code]} {rule}"}),
        depth=AnalysisDepth.RETURN,
    )
    status_by_evidence = {finding.evidence[:2]: finding.status for finding in rules.check_void_rule(case)}
    assert status_by_evidence == {
        "en": FindingStatus.PASS,
        "fr": FindingStatus.PASS,
        code: FindingStatus.FAIL,
    }


@pytest.mark.requirement("B-09")
@pytest.mark.parametrize("name", ["river-wheel", "summit-keno"])
def test_a_wheel_or_balls_drawn_otherwise_than_depicted_fail(name):
    class OneMore:
        """Draws as if there were one part, or one ball, more than are shown."""

        def __init__(self, game):
            self.game = game

        def __getattr__(self, attribute):
            return getattr(self.game, attribute)

        def play(self, wager, draw):
            class Draws:
                def below(self, bound, purpose):
                    return min(draw.below(bound + 1, purpose), bound - 1)

            return self.game.play(wager, Draws())

    game = load_game(name)
    fair = build_case(game, depth=AnalysisDepth.PRIZES)
    assert FindingStatus.FAIL not in {f.status for f in chance.check_depicted_odds(fair)}
    unfair = CertificationCase(
        OneMore(game), fair.id_or_path, fair.analysis, fair.profile, fair.draw_source, 0
    )
    assert FindingStatus.FAIL in {f.status for f in chance.check_depicted_odds(unfair)}


@pytest.mark.requirement("B-09")
def test_a_feature_wheel_drawn_otherwise_than_depicted_fails(monkeypatch):
    """The wheel is drawn over twice its depicted parts, as if half of them were hidden."""
    spin = WheelBonus.run

    def hidden(wheel, draw):
        shown = spin(wheel, draw)
        draw.below(2 * len(wheel.segments), "hidden")
        return shown

    case = build_case(load_game("orchard-picnic"), depth=AnalysisDepth.PRIZES)
    assert FindingStatus.FAIL not in {f.status for f in chance.check_depicted_odds(case)}
    monkeypatch.setattr(WheelBonus, "run", hidden)
    assert FindingStatus.FAIL in {f.status for f in chance.check_depicted_odds(case)}


@pytest.mark.requirement("C-07")
def test_a_table_is_checked_against_the_return_ceiling_of_tables():
    """Odds bets return 100 %; the ceiling for other games would refuse every craps table."""
    ceiling = Fraction("0.98")
    craps, classic = load_game("quebec-craps"), CLASSIC

    def found(game, **tables):
        case = build_case(game, depth=AnalysisDepth.RETURN)
        returns = case.profile.returns
        own_tables = returns.tables.model_copy(update=tables)
        return_limits = returns.model_copy(update={"return_max": ceiling, "tables": own_tables})
        profile = case.profile.model_copy(update={"returns": return_limits})
        return {f.status for f in rules.check_return_ceiling(dataclasses.replace(case, profile=profile))}

    assert FindingStatus.FAIL in found(craps)
    assert found(craps, return_max=Fraction(1)) == {FindingStatus.PASS}
    assert FindingStatus.FAIL in found(craps, return_max=Fraction("0.99"))
    assert found(classic, return_max=Fraction("0.5")) == {
        FindingStatus.PASS
    }  # no table: the ceiling of machines
