"""Certification tries every number of every draw: each card, ball, face and part must be as likely as depicted."""

import pytest

from egm.profiles import load_profile
from paytables import AnalysisDepth, analyse, load_game
from paytables.cards import Shoe
from paytables.craps import rules as craps_rules
from paytables.keno import draws as keno_draws
from paytables.poker import two_hands
from paytables.poker.paigow import rules as paigow_rules
from paytables.reels.stage import ReelSet
from paytables.roulette.wheel_table import WheelTable
from paytables.sicbo import table as sicbo_table
from tools.dev.gallery import FixedDraws
from tools.lab.certification import rules
from tools.lab.certification.depicted import check_depicted_odds
from tools.lab.certification.finding import CertificationCase, FindingStatus
from tools.lab.simulation import SimulationTally

ACE_OF_SPADES = "ace of spades"
#: A game for each way to draw: the module or class with its dealing function and that function's name, or the card that
#: the planted mistake never draws.
GAMES = {
    "quebec-three-card-poker": (Shoe, "deal"),
    "jacks-or-better-9-6": (Shoe, "deal"),
    "monaco-punto-banco": ACE_OF_SPADES,
    "quebec-blackjack": ACE_OF_SPADES,
    "summit-keno": (keno_draws, "draw_and_remove_element"),
    "quebec-pai-gow": (two_hands, "draw_and_remove_element"),
    "quebec-pai-gow-poker": (paigow_rules, "draw_and_remove_element"),
    "quebec-sic-bo": (sicbo_table, "throw_dice"),
    "quebec-craps": (craps_rules, "throw_dice"),
    "quebec-roulette-french": (WheelTable, "draw_result"),
    "maple-classic": (ReelSet, "spin"),
    "comet-respin": (ReelSet, "spin_some_reels"),
}


@pytest.mark.parametrize(("holder", "called"), [where for where in GAMES.values() if where != ACE_OF_SPADES])
def test_every_dealing_function_exists(holder, called):
    """A quick test, so that a renamed function is noticed without the slow tests."""
    assert callable(getattr(holder, called))


def build_case(name):
    game = load_game(name)
    return CertificationCase(
        game, name, analyse(game, AnalysisDepth.RETURN), load_profile("generic"), FixedDraws("depicted"), 0
    )


class NeverTheLast:
    """Draws in which the last of several outcomes never occurs and the last but one occurs twice as often."""

    def __init__(self, draw):
        self._draw = draw

    def below(self, bound, purpose):
        return min(self._draw.below(bound, purpose), max(bound - 2, 0))


def plant_mistake(monkeypatch, where):
    """Replace a game's own dealing function by one with the mistake."""
    if where == ACE_OF_SPADES:
        deal = Shoe.deal

        def without(shoe, draw, purpose):
            dealt = deal(shoe, draw, purpose)
            if dealt == 51 and shoe.counts[50]:
                shoe.counts[50], shoe.counts[51] = shoe.counts[50] - 1, shoe.counts[51] + 1
                return 50
            return dealt

        monkeypatch.setattr(Shoe, "deal", without)
        return
    holder, called = where
    original = getattr(holder, called)

    def never(*arguments):
        return original(
            *(NeverTheLast(argument) if hasattr(argument, "below") else argument for argument in arguments)
        )

    monkeypatch.setattr(holder, called, never)


@pytest.mark.requirement("B-09", "B-10", "B-17")
@pytest.mark.parametrize("name", GAMES)
def test_a_piece_that_is_never_dealt_fails(monkeypatch, name):
    case = build_case(name)
    assert {finding.status for finding in check_depicted_odds(case)} == {FindingStatus.PASS}
    plant_mistake(monkeypatch, GAMES[name])
    assert FindingStatus.FAIL in {finding.status for finding in check_depicted_odds(case)}


def test_the_finding_states_how_many_drawn_numbers_were_tried():
    (finding,) = check_depicted_odds(build_case("quebec-three-card-poker"))
    assert finding.evidence == (
        "297 drawn numbers tried: each piece is as likely as with the real object (bank card n, player card n)"
    )


@pytest.mark.requirement("B-09")
def test_a_pack_without_a_card_fails(monkeypatch):
    case = build_case("quebec-war")
    monkeypatch.setattr("paytables.cards.card._count_deck", lambda *_: (*(1,) * 51, 0, 0))
    (finding,) = check_depicted_odds(case)
    assert finding.status is FindingStatus.FAIL
    assert finding.evidence == "seat 0: drawn from 306 numbers, but 52 pieces are depicted"


class TestBetsTogether:
    """A bias that is not significant in any single bet is detected in all bets together."""

    def case(self, monkeypatch, away):
        """Return simulations whose bets are this number of standard errors away from their exact returns."""
        game = load_game("quebec-roulette-french")
        case = CertificationCase(
            game, game.id, analyse(game), load_profile("generic"), FixedDraws("together"), 2_000
        )
        aways = iter(away * len(case.analysis.bets))
        bets = {bet.bet: bet for bet in case.analysis.bets}
        assert len(bets) > len(away)

        def played(_game, cost, options, games, *_more):
            bet = next(bet for bet in bets.values() if bet.options == options)
            most = max(
                w
                for w in bet.distribution.case_count_by_win
                if bet.distribution.compute_chance_of_at_least(w) * games >= 10
            )
            capped = bet.distribution.cap_wins(most)
            mean, error = float(capped.compute_moment(1)), (float(capped.compute_variance()) / games) ** 0.5
            return SimulationTally(game_count=games, win_sum=round(games * (mean + next(aways) * error)))

        monkeypatch.setattr(rules, "play_batch", played)
        return [(finding.status, finding.evidence) for finding in rules.check_simulation(case)]

    @pytest.mark.requirement("R-10", "B-08")
    def test_bets_that_all_deviate_one_way_fail_together(self, monkeypatch):
        findings = self.case(monkeypatch, [2.0])
        assert {status for status, _ in findings[:-1]} == {FindingStatus.PASS}
        assert findings[-1][0] is FindingStatus.FAIL
        assert "bets together: z +" in findings[-1][1]

    @pytest.mark.requirement("R-10", "B-08")
    def test_bets_that_deviate_both_ways_fail_together(self, monkeypatch):
        findings = self.case(monkeypatch, [3.0, -3.0])
        assert {status for status, _ in findings[:-1]} == {FindingStatus.PASS}
        assert findings[-1][0] is FindingStatus.FAIL

    def test_bets_that_deviate_within_chance_pass(self, monkeypatch):
        findings = self.case(monkeypatch, [1.0, -0.8])
        assert {status for status, _ in findings} == {FindingStatus.PASS}

    @pytest.mark.requirement("R-10")
    def test_too_few_games_to_judge_any_bet_fail(self):
        case = build_case("quebec-roulette-french")
        few = CertificationCase(
            case.game, case.id_or_path, analyse(case.game), case.profile, case.draw_source, 2
        )
        assert [
            finding.evidence
            for finding in rules.check_simulation(few)
            if finding.status is FindingStatus.FAIL
        ] == ["2 games of each bet are too few to judge any bet: simulate more"]
