"""Authorised memory clear: what the old memory owes, claim by claim, and what happens to each claim."""
