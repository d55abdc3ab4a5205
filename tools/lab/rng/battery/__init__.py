"""Statistical tests on final outcomes, as laboratories run them: after scaling and shuffling.

``independent`` tests numbers drawn with replacement (reels, dice, wheels), ``selection`` tests selections
without replacement (keno, cards), ``judgement`` judges a family of results together, and ``run`` runs
everything with the retest rule. Statistics only detect large bias; that scaling has no bias is proved by
exhaustion instead.
"""
