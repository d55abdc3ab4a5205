"""Results of a blackjack hand that have a pay of their own."""

from typing import Final

#: Results of a blackjack hand other than won, lost and push: special pays, by their names.
BLACKJACK: Final = "blackjack"
EVEN_MONEY: Final = "even-money"
SEVENS: Final = "three-sevens"
SUITED: Final = "6-7-8"
