"""Poker against the bank and video poker, in cards and in tiles."""
