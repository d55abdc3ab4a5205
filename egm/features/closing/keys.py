"""The storage key of the tables' closing."""

from egm.kernel.keys import ClearAction, Key, Owner


class ClosingKey(Key):
    """Storage key of the tables' closing."""

    TABLES = "tables_closing", ClearAction.IDENTITY, Owner.MACHINE
    """When the last rounds of the tables begin; absent while no closing is announced."""
