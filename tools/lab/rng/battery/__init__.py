"""Statistical tests on final outcomes, as laboratories run them: after scaling and shuffling.

``independent`` tests numbers drawn with replacement (reels, dice, wheels), ``selection`` tests selections
without replacement (keno, cards), ``judgement`` judges all results of a game together, and ``run`` runs
everything and repeats a test that had a finding. Statistics only detect large bias; that scaling has no bias
is proved by exhaustion instead.
"""
