"""The storage key for the closing of the tables."""

from egm.kernel.keys import ClearAction, KeyOwner, StorageKey


class ClosingKey(StorageKey):
    """The storage key for the closing of the tables."""

    TABLES_CLOSING_TIME = "tables_closing", ClearAction.KEEP, KeyOwner.MACHINE
    """The time from which each table plays only its last rounds; absent if no closing is announced."""
