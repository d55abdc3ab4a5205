"""Tickets: validation numbers, the printed ticket, and the ticket ledger, which records the tickets that are owed."""
