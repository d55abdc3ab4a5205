"""Check every published value of a level against the previous one, as a sign receives them."""

from egm.progressive.messages import LevelValue, LevelWin


class ValueChecker:
    """A comparison of each published value of a level with the previous one."""

    def __init__(self) -> None:
        self._last: dict[str, LevelValue] = {}
        self._highest: dict[tuple[str, int], int] = {}
        self.value_count = 0

    def update_value(self, value: LevelValue, now_ns: int, *, retained: bool = False) -> str:
        """Compare a value with the level's previous value; return the contradiction as text, or an empty string.

        A value that arrives after a newer one is ignored.
        """
        del now_ns, retained
        last = self._last.get(value.level_id)
        if last is not None and value.sequence <= last.sequence:
            return ""
        self._last[value.level_id] = value
        self._highest[value.level_id, value.fall_count] = value.amount_cents
        self.value_count += 1
        return "" if last is None else value.find_amount_error(last.amount_cents, last.fall_count)

    def update_win(self, won: LevelWin, now_ns: int) -> None:
        """Do nothing, because a win message does not change a level."""

    def highest_cents(self, level: str, falls: int) -> int:
        """Return the highest value published of a level after ``falls`` resets, in minor units; 0 if there was none."""
        return self._highest.get((level, falls), 0)
