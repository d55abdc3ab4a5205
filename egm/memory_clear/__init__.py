"""Authorised memory clear: what the old memory owes, claim by claim, and what becomes of it."""
