"""A listener that receives every published value, as the public sees it, and records any that was ever too low."""

from egm.progressive.messages import LevelWin, Value


class Witness:
    """Holds each value of a level against the one before. It listens as a sign does."""

    def __init__(self) -> None:
        self._last: dict[str, Value] = {}
        self._highest: dict[tuple[str, int], int] = {}
        self.seen = 0

    def update_value(self, value: Value, now_ns: int, *, retained: bool = False) -> str:
        """Take a value; return what is wrong with it, or nothing. One that comes late is passed over."""
        del now_ns, retained
        last = self._last.get(value.level)
        if last is not None and value.sequence <= last.sequence:
            return ""
        self._last[value.level] = value
        self._highest[value.level, value.falls] = value.amount_cents
        self.seen += 1
        return "" if last is None else value.find_contradiction(last.amount_cents, last.falls)

    def update_win(self, won: LevelWin, now_ns: int) -> None:
        """Do nothing: who has won moves no level."""

    def highest_cents(self, level: str, falls: int) -> int:
        """Return the highest value shown of a level after ``falls`` resets, in minor units; 0 if none was shown."""
        return self._highest.get((level, falls), 0)
