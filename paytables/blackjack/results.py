"""Names of the results of a blackjack hand that have their own pay, such as a blackjack."""

from typing import Final

#: The result of a blackjack that is paid at its own odds.
BLACKJACK_RESULT: Final = "blackjack"
#: The result of a blackjack that took even money.
EVEN_MONEY_RESULT: Final = "even-money"
#: The result of a hand of three sevens.
THREE_SEVENS_RESULT: Final = "three-sevens"
#: The result of a hand of 6, 7 and 8 of one suit.
SUITED_678_RESULT: Final = "6-7-8"
