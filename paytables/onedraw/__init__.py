"""Tables of one draw: all bets are laid, one result is drawn, and every bet is settled by it.

Roulettes, boule, wheels of fortune and three dice differ in their results and in what is laid on them alone.
"""
