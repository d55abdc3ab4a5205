"""Statistical tests on final outcomes, as laboratories run them: after scaling and shuffling.

:mod:`~rng.battery.independent` tests numbers drawn with replacement (reels, dice, wheels),
:mod:`~rng.battery.selection` tests selections without (keno, cards), :mod:`~rng.battery.judgement` judges a
family of results together, and :mod:`~rng.battery.run` runs all of it with the retest rule. Statistics see
large bias only; that scaling has none is proved by exhaustion, not here.
"""
