"""Tickets: validation numbers, the printed ticket, and the ledger that records which tickets are owed."""
