"""The central computer of a venue's Keno: it records tickets, holds the draws and decides every claim.

Module ``office`` does all of this. The states of a ticket and the printed text are shared with the game
library (:mod:`paytables.keno.claims`, :mod:`paytables.keno.paper`). Every action is recorded in a journal
like a machine's.
"""
