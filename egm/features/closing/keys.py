"""The storage key of the tables' closing."""

from egm.kernel.keys import ClearAction, Key, KeyOwner


class ClosingKey(Key):
    """Storage key of the tables' closing."""

    TABLES = "tables_closing", ClearAction.IDENTITY, KeyOwner.MACHINE
    """When the last rounds of the tables begin; absent while no closing is announced."""
