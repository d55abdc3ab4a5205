"""Tournaments (Québec by-law, ss. 123 to 127): the published rules, the machine's part, standings and prizes.

The rules (``rules``), the standings and the prizes are pure functions over a rules file and the results of a
tournament; ``egm tournament`` uses them at the venue's desk. The machine's part is a feature: staff install
the rules, enter the tournament and sell entries at forms; each entry plays its rounds with points, held in a
separate account (the purse). Credits, the meters of games for money and their history never change.
"""
