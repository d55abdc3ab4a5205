"""Tickets: numbers, the paper, and the ledger that says which is owed."""
