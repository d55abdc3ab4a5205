"""The central computer of a venue's Keno: it records tickets, holds the draws and decides every claim.

``office`` is the whole of it. The life of a ticket and what is printed on it are shared with the game library
(:mod:`paytables.keno.claims`, :mod:`paytables.keno.paper`); what happened is in a journal like a machine's.
"""
