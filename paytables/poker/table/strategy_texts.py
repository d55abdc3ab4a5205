"""Descriptions of poker strategies, generated from the lines of a definition or from the rule behind its figures.

A definition does not contain these texts itself, so they cannot contradict its figures.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from paytables.cards import get_rank, parse_cards
from paytables.cards.ranking import HandRanking
from paytables.poker.pays import CATEGORY_NAMES
from paytables.poker.table.schema import RANKING_RULES_BY_NAME, AdviceLine, PokerDefinition

#: How a strategy decides, as text: by the exact mean of each answer.
_HIGHEST_MEAN_TEXT: Final = "at each question the answer with the highest exact mean"
#: The strategy of a bet about which nothing is decided, as text.
_NO_DECISION_TEXT: Final = "nothing is decided"
_LEAVE_WINNING_BETS_TEXT: Final = "leave a bet only where the cards seen win already"
_NEVER_WITHDRAW_TEXT: Final = "never take the bet back"
#: The names of the ranks, from the two.
_RANK_NAMES: Final = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace",
)  # fmt: skip


def describe_best_play(definition: PokerDefinition, spot: str | None) -> str:
    """Return the best strategy as text for the player.

    It is the strategy for the independent bet on ``spot``, or for the ante and the bets placed together with it.
    """
    if spot is not None and not _can_be_withdrawn(definition, spot):
        return _NO_DECISION_TEXT
    return (
        _format_lines(definition, definition.best_strategy)
        if definition.best_strategy
        else _HIGHEST_MEAN_TEXT
    )


def describe_simplest_play(definition: PokerDefinition, spot: str | None) -> str:
    """Return, as text, the simplest published strategy for which a separate return is stated.

    ``spot`` is as in :func:`describe_best_play`.
    """
    if spot is not None:
        return _NEVER_WITHDRAW_TEXT
    return (
        _format_lines(definition, definition.simplest_strategy)
        if definition.can_have_strategy_lines
        else _LEAVE_WINNING_BETS_TEXT
    )


def _can_be_withdrawn(definition: PokerDefinition, spot: str) -> bool:
    """Return whether some player decision can withdraw the bet on ``spot``."""
    options = (option for step in definition.steps for option in step.options)
    return any(option.spot == spot and option.returned_share is not None for option in options)


def _format_lines(definition: PokerDefinition, lines: Sequence[AdviceLine]) -> str:
    """Return the lines of a poker strategy as one text; of several lines that fit a hand, the first applies."""
    if lines[0].lowest_hand is None:
        return f"always {lines[0].option_id}"
    ranking_name = "five" if definition.duel is None else definition.duel.ranking_name
    ranking = HandRanking(RANKING_RULES_BY_NAME[ranking_name])
    sentences = [
        f"otherwise {line.option_id}"
        if line.lowest_hand is None
        else f"{line.option_id} with {_format_hand(line.lowest_hand, ranking)} or better"
        for line in lines
    ]
    return ", ".join(sentences)


def _format_hand(card_names: str, ranking: HandRanking) -> str:
    """Return a poker hand as text: its ranks, those that occur most often first, and its category if it has one."""
    cards = parse_cards(card_names)
    count_by_rank = Counter(map(get_rank, cards))
    ranks = sorted(map(get_rank, cards), key=lambda rank: (count_by_rank[rank], rank), reverse=True)
    category = ranking.find_category(cards)
    category_text = "" if category == "high-card" else f" ({CATEGORY_NAMES[category][0].lower()})"
    return "-".join(_RANK_NAMES[rank] for rank in ranks) + category_text
