"""Tournaments: the published rules, the standings and the prizes (Québec by-law, ss. 123 to 127).

Pure functions over a rules file and the results of a tournament. Nothing here touches a machine's credits,
meters or journal: ``egm tournament`` uses it at the venue's desk.
"""
