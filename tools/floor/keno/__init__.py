"""The central computer of a venue's Keno: it records tickets, holds the draws and decides every claim.

The module ``office`` does all of this. The states of a ticket and its printed text are those of the game
library (:mod:`paytables.keno.claims`, :mod:`paytables.keno.printed_ticket`). Every action is recorded in a journal of
the same format as a machine's.
"""
