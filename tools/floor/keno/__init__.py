"""The central computer of a venue's Keno: it records tickets, holds the draws and decides every claim.

The module ``office`` does all of this. The game library has the states of a ticket and its printed
text (:mod:`paytables.keno.claims`, :mod:`paytables.keno.printed_ticket`). Every action is recorded in a journal of
the same format as a machine's.
"""
