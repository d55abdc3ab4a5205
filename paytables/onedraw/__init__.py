"""Tables with one draw: all bets are placed, one result is drawn, and it settles every bet.

Roulettes, boule, wheels of fortune and three dice differ only in their results and bets.
"""
