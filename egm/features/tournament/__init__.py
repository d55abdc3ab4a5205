"""Tournaments (Québec by-law, ss. 123 to 127): the published rules, the machine's part, standings and prizes.

The rules (``rules``), the standings and the prizes are pure functions over a rules file and the results of a
tournament; ``egm tournament`` uses them at the venue's desk. The machine's part is a feature: with forms, staff install
the rules, put the machine into the tournament, and sell entries. An entry is one participation for one fee. It is
played in rounds with points, which are in a separate account, the purse. Credits, the meters of games for money and
their history do not change.
"""
