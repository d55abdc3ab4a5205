"""A SAS host: our second reading of the tables, written apart from the machine's.

The simulation and the power-cut tests drive it over a wire in memory, the end-to-end tests over serial lines.
Only the checksum and the tables of names are shared with the machine's side (:mod:`egm.links.sas`): the
shapes of requests and answers, the order of a conversation and the money's ledger here are this package's
own, so that the two sides agreeing is evidence.
"""
