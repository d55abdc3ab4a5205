"""Money: the journal, accounts, meters, recall and audit, in storage that survives a power cut.

Every amount is an ``int`` of minor units whose name carries the unit (``amount_cents``).
"""
