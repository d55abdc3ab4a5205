"""Blackjack, of Québec's by-law (ss. 13-26.7) and of the Monaco order (art. 5), with its side bets."""
