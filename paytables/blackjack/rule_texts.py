"""The house rules of a blackjack table as sentences for the player, generated from the definition's keys."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from paytables.bank.dealing import ShoeRules
from paytables.blackjack.results import EVEN_MONEY_RESULT, SUITED_678_RESULT, THREE_SEVENS_RESULT
from paytables.blackjack.schema import BlackjackSideBet, HouseRules, MainBet, NamedPay
from paytables.definition import Text
from paytables.layout import Odds

#: Texts about the shoe.
_SHOE_TEXTS: Final = (
    Text(
        en="Decks: {0}, shuffled again when the stop card appears.",
        fr="Paquets de cartes : {0}, mêlés de nouveau lorsque la carte d'arrêt apparaît.",
    ),
    Text(en="Decks: {0}, shuffled for every round.", fr="Paquets de cartes : {0}, mêlés à chaque coup."),
    Text(
        en="Decks: {0}, shuffled after every second round.",
        fr="Paquets de cartes : {0}, mêlés tous les deux coups.",
    ),
)
#: Text by the rule on a soft 17.
_SOFT_17_TEXTS: Final = {
    "hit": Text(
        en="The dealer draws to 16 and to a soft 17, and stands on a hard 17 and more.",
        fr="Le croupier tire jusqu'à 16 et sur un 17 facile; il reste sur un 17 difficile et plus.",
    ),
    "stand": Text(
        en="The dealer draws to 16 and stands on every 17 and more.",
        fr="Le croupier tire jusqu'à 16 et reste sur tout 17 et plus.",
    ),
}
#: Text by when the dealer's second card is drawn.
_SECOND_CARD_TEXTS: Final = {
    "after": Text(
        en="The dealer's second card is drawn after the hands have been played.",
        fr="Le croupier prend sa deuxième carte une fois les mains jouées.",
    ),
    "hole": Text(
        en="The dealer's second card is dealt face down with yours; a dealer blackjack ends the round at once.",
        fr="Le croupier prend sa deuxième carte en même temps que vous, face cachée; son blackjack met fin au "
        "coup.",
    ),
}
#: Texts about the stakes that a dealer's blackjack wins.
_ORIGINAL_BETS_ONLY_TEXTS: Final = (
    Text(
        en="A dealer blackjack wins all bets on any hand that is not a blackjack.",
        fr="Le blackjack du croupier emporte tout ce qui est misé sur une main moindre.",
    ),
    Text(
        en="A dealer blackjack wins only the first bet of any hand that is not a blackjack: amounts added by "
        "doubling or splitting are returned.",
        fr="Le blackjack du croupier n'emporte que la mise initiale d'une main moindre : ce qui a été ajouté "
        "en doublant ou en partageant est rendu.",
    ),
)
#: Text about doubling.
_DOUBLE_TEXT: Final = Text(
    en="Double, for one more card, on two cards that total {0}, an ace as 1 or 11; {1} after a split.",
    fr="On double, pour une seule carte de plus, sur deux cartes totalisant {0}, l'as valant 1 ou 11; "
    "{1} après un partage.",
)
#: Words for doubling after a split.
_DOUBLE_AFTER_SPLIT_TEXTS: Final = (Text(en="not", fr="non"), Text(en="also", fr="aussi"))
#: Text by what may be split.
_SPLIT_TEXTS: Final = {
    "value": Text(
        en="Split two cards of the same value, to {0} hands at most; aces to {1}.",
        fr="On partage deux cartes de même valeur, jusqu'à {0} mains; les as, jusqu'à {1}.",
    ),
    "rank": Text(
        en="Split two cards of the same rank, to {0} hands at most; aces to {1}.",
        fr="On partage deux cartes identiques, jusqu'à {0} mains; les as, jusqu'à {1}.",
    ),
}
#: Text about split aces.
_SPLIT_ACES_TEXT: Final = Text(
    en="Split aces take one card each.", fr="Les as partagés ne reçoivent qu'une carte chacun."
)
#: Text about 21 after a split.
_NO_BLACKJACK_AFTER_SPLIT_TEXT: Final = Text(
    en="After a split, 21 in two cards is not a blackjack.",
    fr="Après un partage, 21 en deux cartes n'est pas un blackjack.",
)
#: Text about insurance.
_INSURANCE_TEXT: Final = Text(
    en="If the dealer shows an ace, you may bet half of your bet more as insurance against a blackjack.",
    fr="Si la première carte du croupier est un as, vous pouvez vous assurer contre son blackjack pour la "
    "moitié de votre mise.",
)
#: Text by when even money is offered.
_EVEN_MONEY_TEXTS: Final = {
    "ace": Text(
        en="If the dealer shows an ace, a blackjack may take even money at once.",
        fr="Devant un as du croupier, un blackjack peut être payé aussitôt à égalité.",
    ),
    "ten": Text(
        en="If the dealer shows an ace, a ten or a face card, a blackjack may take even money at once.",
        fr="Devant un as, un dix ou une figure du croupier, un blackjack peut être payé aussitôt à égalité.",
    ),
}
#: Text of each hand that wins at once.
_IMMEDIATE_WIN_TEXTS: Final = {
    THREE_SEVENS_RESULT: Text(
        en="Three sevens win at once, whatever the dealer has.",
        fr="Trois sept gagnent aussitôt, quelle que soit la main du croupier.",
    ),
    SUITED_678_RESULT: Text(
        en="6, 7 and 8 of one suit, in three cards, win at once, whatever the dealer has.",
        fr="6, 7 et 8 de même couleur, en trois cartes, gagnent aussitôt, quelle que soit la main du "
        "croupier.",
    ),
}
#: Text about bets on another player's hand.
_BACK_BETS_TEXT: Final = Text(
    en="Without a bet of your own, you may bet on other players' hands, within the limit of a hand. Your bet follows "
    "that player's decisions but is never insured, doubled or split: it stays on the first hand.",
    fr="Sans mise de votre côté, vous pouvez miser sur la main d'autres joueurs, dans la limite d'une main. Votre mise "
    "suit les décisions de ce joueur, mais n'est jamais assurée, doublée ni partagée : elle reste sur la première "
    "main.",
)
#: Text about several hands of the dealer.
_SEVERAL_DEALER_HANDS_TEXT: Final = Text(
    en="The dealer plays {0} hands of the same first card against yours; bet against at least {1} of them. "
    "Doubling or splitting adds to each of these bets.",
    fr="Le croupier joue {0} mains de même première carte contre la vôtre; misez contre au moins {1} d'entre "
    "elles. Doubler ou partager ajoute à chacune de ces mises.",
)
#: Words between two alternatives.
_ALTERNATIVES_TEXT: Final = Text(en="{0} or {1}", fr="{0} ou {1}")
#: Words between the ends of a range.
_RANGE_TEXT: Final = Text(en="{0} to {1}", fr="{0} à {1}")


def describe_rules(
    shoe: ShoeRules, main_bet: MainBet, rules: HouseRules, pays: Sequence[NamedPay], language: str
) -> list[str]:
    """Return a blackjack table's house rules as sentences in one language, one per rule."""
    lines = [
        _choose_language(
            _SHOE_TEXTS[0 if shoe.cards_behind_stop_card is not None else shoe.rounds_per_shuffle], language
        ).format(shoe.deck_count),
        (
            f"{_choose_language(_SOFT_17_TEXTS[rules.soft_17_action], language)} "
            f"{_choose_language(_SECOND_CARD_TEXTS[rules.second_card_time], language)}"
        ),
        _choose_language(_ORIGINAL_BETS_ONLY_TEXTS[rules.original_bets_only], language),
    ]
    if rules.double_rules.permitted_totals:
        split_text = _choose_language(
            _DOUBLE_AFTER_SPLIT_TEXTS[rules.double_rules.is_permitted_after_split], language
        )
        lines.append(
            _choose_language(_DOUBLE_TEXT, language).format(_format_totals(rules, language), split_text)
        )
    if rules.split_rules.hands_max > 1:
        split = _choose_language(_SPLIT_TEXTS[rules.split_rules.pair_equality], language).format(
            rules.split_rules.hands_max, rules.split_rules.ace_hands_max
        )
        aces = [_choose_language(_SPLIT_ACES_TEXT, language)] if rules.split_rules.aces_get_one_card else []
        lines.append(" ".join([split, *aces, _choose_language(_NO_BLACKJACK_AFTER_SPLIT_TEXT, language)]))
    if rules.insurance_odds is not None:
        lines.append(_choose_language(_INSURANCE_TEXT, language))
    if rules.even_money_against != "no":
        lines.append(_choose_language(_EVEN_MONEY_TEXTS[rules.even_money_against], language))
    lines += [
        _choose_language(_IMMEDIATE_WIN_TEXTS[name], language)
        for _, name, _, _ in pays
        if name in _IMMEDIATE_WIN_TEXTS
    ]
    if rules.accepts_back_bets:
        lines.append(_choose_language(_BACK_BETS_TEXT, language))
    if main_bet.dealer_hand_count > 1:
        lines.append(
            _choose_language(_SEVERAL_DEALER_HANDS_TEXT, language).format(
                main_bet.dealer_hand_count, main_bet.dealer_hands_min
            )
        )
    return lines


def _choose_language(text: Text, language: str) -> str:
    """Return the text in the given language."""
    return text.fr if language == "fr" else text.en


def _format_totals(rules: HouseRules, language: str) -> str:
    """Return the card totals on which a blackjack player may double, as text, with consecutive totals as from-to."""
    total_groups: list[list[int]] = []
    for total in sorted(rules.double_rules.permitted_totals):
        if total_groups and total == total_groups[-1][-1] + 1:
            total_groups[-1].append(total)
        else:
            total_groups.append([total])
    group_texts = [
        _choose_language(_RANGE_TEXT, language).format(total_group[0], total_group[-1])
        if len(total_group) > 1
        else str(total_group[0])
        for total_group in total_groups
    ]
    return (
        group_texts[0]
        if len(group_texts) == 1
        else _choose_language(_ALTERNATIVES_TEXT, language).format(
            ", ".join(group_texts[:-1]), group_texts[-1]
        )
    )


def format_pays(pays: Sequence[NamedPay], side_bets: Sequence[BlackjackSideBet], language: str) -> list[str]:
    """Return a blackjack table's pays other than even money as lines in one language.

    There is one line per pay of the main bet and the insurance, and one per side bet.
    """
    colon = " :" if language == "fr" else ":"
    side_bet_by_id = {side.id: side for side in side_bets}
    lines_by_spot: dict[str, list[str]] = {}
    for spot, name, title, odds in pays:
        if name != EVEN_MONEY_RESULT:
            lines_by_spot.setdefault(spot, []).append(
                f"{_choose_language(title, language)}{colon} {_format_odds(odds, language)}"
            )
    pay_lines = [*lines_by_spot.pop("main"), *lines_by_spot.pop("insurance", [])]
    return pay_lines + [
        _format_side_bet(side_bet_by_id[spot], rows, language, colon) for spot, rows in lines_by_spot.items()
    ]


def _format_odds(odds: Odds, language: str) -> str:
    """Return odds as text in one language; a share of a progressive level as printed."""
    return odds.format(language) if odds.level_share else odds.format_by_language()[language]


def _format_side_bet(side_bet: BlackjackSideBet, rows: list[str], language: str, colon: str) -> str:
    """Return a blackjack side bet's name and its rows as one line of text."""
    return f"{_choose_language(side_bet.name, language)}{colon} {'; '.join(rows)}."


#: Names of a chart's lines.
_CHART_TITLE_TEXTS: Final = {
    "hard": Text(en="Hard {0}", fr="{0} difficile"),
    "soft": Text(en="Soft {0}", fr="{0} facile"),
    "pair": Text(en="Pair, {0}", fr="Paire, {0}"),
}


def build_chart_rows(lines: Sequence[str]) -> list[dict[str, object]]:
    """Return the lines of a blackjack chart as data for the screen.

    Each row has its names by language, and a letter for each up card of the dealer, two to ace;
    neighbouring rows with equal letters are combined.
    """
    chart_rows: list[dict[str, object]] = []
    parsed_lines = [(line.split()[0], line.split()[2], line.split()[1]) for line in lines]
    for (kind, cells), alike in groupby(parsed_lines, lambda line: line[:2]):
        totals = ["A" if kind == "pair" and total == "1" else total for _, _, total in alike]
        names = {}
        for language, name in _CHART_TITLE_TEXTS[kind].model_dump().items():
            total_range = (
                totals[0]
                if len(totals) == 1
                else _choose_language(_RANGE_TEXT, language).format(totals[0], totals[-1])
            )
            names[language] = name.format(total_range)
        chart_rows.append({"names": names, "cells": cells})
    return chart_rows
