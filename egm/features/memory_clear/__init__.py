"""Authorised memory clear: lists what the old memory owes as claims, and settles or carries over each claim."""
