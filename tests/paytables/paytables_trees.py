"""Small definitions, and the whole tree of a game's draws, with which the tests of features compare."""

import itertools
from collections import Counter
from fractions import Fraction

import paytables_brute as brute
from rigs.rounds import play_decisions

from paytables import AnalysisDepth, Choice, analyse, build_game

TEXT = {"en": "x", "fr": "x"}


def definition(stages, *, symbols=("a", "b", "w", "s"), cost=1, **sections):
    return {
        "game": {
            "id": "t",
            "family": "reels",
            "version": "1.0.0",
            "date": "2026-11-21",
            "title": TEXT,
            "help": TEXT,
            "denominations_cents": [1],
        },
        "bets": {"mode": [{"id": "m", "cost": cost}]},
        "symbol": [
            {"id": s, "name": TEXT, **({"substitutes": ["*"], "not_for": ["s"]} if s == "w" else {})}
            for s in symbols
        ],
        "stage": stages,
        **sections,
    }


class MoreDrawsError(Exception):
    """Raised when the game requests a draw beyond the prefix."""


class PrefixDraw:
    """Draws with known answers; then the bound of the next request is raised as an exception."""

    def __init__(self, values):
        self.values = list(values)

    def below(self, bound, purpose):
        del purpose
        if self.values:
            return self.values.pop(0)
        raise MoreDrawsError(bound)


class TooManyOutcomesError(Exception):
    """Raised when the tree is larger than the test permits."""


def compute_outcome_distribution(game, credits_, of=lambda outcome: outcome.returned_credits, most=None):
    """Return the exact distribution of a game by walking the tree of its draws, without any analysis.

    ``of`` selects the value of an outcome; by default it is the credits won. Decisions take their first option, which
    makes no difference in the games walked here. Raises TooManyOutcomesError if more than ``most`` plays would be
    needed.
    """
    law = Counter()
    todo = [((), Fraction(1))]
    wager = game.build_wager(credits_)
    for walked in itertools.count():
        if not todo:
            break
        if most is not None and walked + len(todo) > most:
            raise TooManyOutcomesError
        prefix, p = todo.pop()
        play = play_decisions(game, wager, PrefixDraw(prefix))
        try:
            decision = next(play)
            while True:
                decision = play.send(Choice(decision.options[0]))
        except StopIteration as end:
            law[of(end.value)] += p
        except MoreDrawsError as request:
            (bound,) = request.args
            todo += [((*prefix, v), p / bound) for v in range(bound)]
    assert sum(law.values()) == 1
    return law


def moments_match(data, *, cost=1, most=None):
    game = build_game(data, "test")
    law = compute_outcome_distribution(game, cost, most=most)
    mean, variance = brute.moments(law)
    (bet,) = analyse(game, AnalysisDepth.FULL).bets
    assert bet.rtp == mean / cost
    assert bet.variance == variance
    assert sum(p.rtp for p in bet.prizes) == bet.rtp
    assert bet.max_win_credits == max(law)
    assert bet.max_win_probability == law[max(law)]
    assert bet.distribution is not None
    for (
        win,
        p,
    ) in law.items():  # every count is a lower bound, and the tail is their largest error
        count = Fraction(bet.distribution.case_count_by_win.get(win, 0), bet.distribution.case_count)
        assert p - bet.distribution.unlisted_probability <= count <= p
    return bet
