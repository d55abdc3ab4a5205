"""Games: declarative definitions, play, evaluation and exact analysis.

Everything here counts in credits (int) and exact fractions. It knows nothing of cents, meters or cabinets,
and takes its chance from whoever plays it: any object with ``below(bound, purpose)``.
"""
