"""The closing of the tables: staff announce it, the last rounds are counted, and then no table takes bets."""
