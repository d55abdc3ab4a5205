"""Closing of the tables: staff announce when the last rounds begin, and after those rounds no table takes bets."""
