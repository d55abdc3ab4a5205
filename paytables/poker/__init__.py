"""Poker against the bank and video poker, with cards and with tiles."""
