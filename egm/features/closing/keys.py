"""The storage key for the closing of the tables."""

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey


class ClosingKey(StorageKey):
    """The storage key for the closing of the tables."""

    TABLES_CLOSING_TIME = "tables_closing", ClearAction.KEEP, KeyOwner.MACHINE
    """The time at which the last rounds of the tables begin; absent if no closing is announced."""
