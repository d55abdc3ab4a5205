"""Slot worth: what a ccTalk coin acceptor says its slots take, held against the cabinet file.

It answers 184 with a country, three digits and an issue (``US025A``). Where a slot takes something else, or
nothing, no coin is taken in any: the machine would make money up, or lose it. A model that does not answer,
or not in digits, cannot say. The country is not held against anything.
"""

from collections.abc import Mapping
from typing import Final

from egm.devices.cctalk.codec import Header
from egm.devices.cctalk.talk import CctalkDriver
from egm.devices.interface import FaultCode

_COUNTRY: Final = 2


class Worth:
    """What an acceptor has said so far: a slot is asked in each cycle, so that no event waits for it."""

    def __init__(self, slots: Mapping[int, int]) -> None:
        """``slots`` maps each to what it is worth here, in minor units."""
        self._left = dict(slots)
        self._differs: list[str] = []
        self._is_told = True

    @property
    def is_known(self) -> bool:
        """Whether every slot has been asked about."""
        return not self._left

    @property
    def differs(self) -> bool:
        """Whether a slot takes other money than the cabinet file says."""
        return bool(self._differs)

    @property
    def faults(self) -> dict[FaultCode, str]:
        """What is told of it."""
        if self._differs:
            return {FaultCode.WRONG_VALUES: "; ".join(self._differs)}
        return {} if self._is_told else {FaultCode.VALUES_UNTOLD: ""}

    async def ask_next(self, driver: CctalkDriver) -> None:
        """Ask about one more slot, or about none where all are known."""
        if not self._left:
            return
        slot, cents = next(iter(self._left.items()))
        answer = await driver.ask(Header.COIN_ID, bytes((slot,)))
        name = "" if answer is None else answer.decode("ascii", "replace")
        told_cents = _told_cents(name)
        if told_cents is None:
            self._is_told, self._left = False, {}
            return
        del self._left[slot]
        if told_cents != cents:
            self._differs.append(f"{slot} takes {name}, not {cents} cents")


def _told_cents(name: str) -> int | None:
    """The minor units of a name, 0 for a slot that takes nothing; None where that cannot be told."""
    digits = name[_COUNTRY:-1]
    if set(name) == {"."}:
        return 0
    return int(digits) if digits.isascii() and digits.isdigit() else None
