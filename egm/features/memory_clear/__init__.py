"""Authorised memory clear: what the old memory owes, as a list of claims, and what happens to each claim."""
