"""Statistical tests on final outcomes, as laboratories run them: after scaling and shuffling.

``independent`` tests numbers drawn with replacement (reels, dice, wheels), ``selection`` tests selections
without (keno, cards), ``judgement`` judges a family of results together, and ``run`` runs all of it with the
retest rule. Statistics see large bias only; that scaling has none is proved by exhaustion, not here.
"""
