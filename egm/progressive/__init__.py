"""Progressives: prizes that grow at a pre-established rate with each wager (Québec by-law, s.91)."""
