"""Check every published value of a level against the previous one, as a sign receives them."""

from egm.progressive.messages import LevelValue, LevelWin


class ValueChecker:
    """A comparison of each published value of a level with the previous one."""

    def __init__(self) -> None:
        self._previous_values: dict[str, LevelValue] = {}
        self._highest_cents: dict[tuple[str, int], int] = {}
        self.value_count = 0

    def update_value(self, value: LevelValue, now_ns: int, *, retained: bool = False) -> str:
        """Compare a value with the level's previous value; return the contradiction as text, or an empty string.

        A value that arrives after a newer one is ignored.
        """
        del now_ns, retained
        previous_value = self._previous_values.get(value.level_id)
        if previous_value is not None and value.sequence <= previous_value.sequence:
            return ""
        self._previous_values[value.level_id] = value
        self._highest_cents[value.level_id, value.fall_count] = value.amount_cents
        self.value_count += 1
        return (
            ""
            if previous_value is None
            else value.find_amount_error(previous_value.amount_cents, previous_value.fall_count)
        )

    def update_win(self, level_win: LevelWin, now_ns: int) -> None:
        """Do nothing, because a win message does not change a level."""

    def highest_cents(self, level: str, falls: int) -> int:
        """Return the highest value published of a level after ``falls`` resets, in minor units; 0 if there was none."""
        return self._highest_cents.get((level, falls), 0)
