"""The strategy sheet of a blackjack table: its chart by totals, and the returns of strategies."""

from fractions import Fraction

from paytables import Analysis
from paytables.blackjack.definition import BlackjackDefinition
from paytables.blackjack.figures import find_exact_figures
from paytables.blackjack.rules import BlackjackRules
from paytables.blackjack.schema import ACE_VALUE
from tools.lab.parsheet.figures import to_exact_data
from tools.lab.parsheet.sheet_data import LabelledValues, SheetData, build_sheet_data

#: The meaning of the chart's letters.
_CHART_LEGEND = "S stand, H hit, D double else hit, E double else stand, P split, . by its total"


def build_sheets(rules: BlackjackRules, _analysis: Analysis) -> list[SheetData]:
    """Return the sheet of the basic-strategy chart: a row per total or pair, a column per dealer's up card."""
    from paytables.blackjack.chart import DEALER_UP_CARDS, parse_chart  # noqa: PLC0415 (needs numpy, unlike the other sheets)

    definition = rules.definition
    exact_figures = find_exact_figures(definition)
    parse_chart(exact_figures.chart)  # refuse an invalid chart
    mean_by_strategy = {
        "return by the cards of the hand, of a fresh shoe": exact_figures.best_mean,
        "return by this chart": exact_figures.chart_mean,
        "return by the dealer's own rules": exact_figures.dealer_rule_mean,
        "return of the worst choices": exact_figures.worst_mean,
    }
    labelled_values: LabelledValues = [
        (label, to_exact_data(1 + Fraction(mean))) for label, mean in mean_by_strategy.items()
    ]
    labelled_values += _build_insurance_rows(definition)
    labelled_values += [
        ("mean total stake per credit of the first bet", to_exact_data(Fraction(exact_figures.mean_stake))),
        ("key", _CHART_LEGEND),
        (
            "each hand of a split",
            "is played by its own cards and the dealer's first, whatever the other hands are",
        ),
    ]
    rows = []
    for line in exact_figures.chart:
        hand_kind, total, letters = line.split()
        hand_name_by_kind = {"pair": f"pair of {'aces' if total == str(ACE_VALUE) else total}"}
        rows.append([hand_name_by_kind.get(hand_kind, f"{hand_kind} {total}"), *letters])
    columns = ["hand", *("A" if up_card == ACE_VALUE else str(up_card) for up_card in DEALER_UP_CARDS)]
    return [build_sheet_data("chart", labelled_values, columns, rows)]


def _build_insurance_rows(definition: BlackjackDefinition) -> LabelledValues:
    """Return the PAR sheet's rows on insurance: what it pays, and its return.

    The return is that for a fresh shoe from which only the dealer's ace was dealt.
    """
    odds = definition.house_rules.insurance_odds
    if odds is None:
        return []
    deck_count = definition.shoe.deck_count
    mean_return = (1 + odds.net) * Fraction(16 * deck_count, 52 * deck_count - 1)
    return [
        ("insurance", f"half of the bet, at a dealer's ace; pays {odds.text}"),
        ("return of insurance, always taken, fresh shoe", to_exact_data(mean_return)),
    ]
