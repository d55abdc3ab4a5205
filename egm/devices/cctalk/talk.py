"""ccTalk exchange: one question, one answer, our own echo and other devices' answers passed over."""

from typing import Final

from egm.devices.cctalk.codec import HOST, Events, Frame, Header, read_count, read_events
from egm.devices.driver import LineDriver
from egm.devices.framing import FrameReader
from egm.devices.interface import FaultCode, Identified
from egm.devices.line import LineSettings

LINE: Final = LineSettings(baud=9600)
#: A question without an answer is asked again, this often in all.
_TRIES: Final = 3
#: A device that answers other questions has failed once one that is needed has gone unanswered this often.
_MISSING_ANSWERS: Final = 5
#: Questions that a device need not know, or whose refusal its driver handles itself.
_MAY_BE_UNANSWERED: Final = frozenset(
    {
        Header.COIN_ID,
        Header.BILL_ID,
        Header.COUNTRY_SCALING,
        Header.READ_BARCODE,
        Header.SORTER_PATH,
        Header.HIGH_LOW,
        Header.DISPENSE,
    }
)
#: Settings are told again this often: no ccTalk device says that it has forgotten them.
RENEW_SECONDS: Final = 5.0


class CctalkDriver(LineDriver[Frame]):
    """The common half of the ccTalk drivers; ``address`` is the device's.

    Several drivers may be given the same line: then it is their bus, and they take turns.
    """

    address: int = 0
    _missing: dict[Header, int] | None = None
    """How often in a row a question was the only one that went unanswered."""

    def _lost(self, why: str) -> None:
        self._missing = None
        super()._lost(why)

    def _is_for_us(self, message: Frame) -> bool:
        return (
            message.destination == HOST and message.source == self.address and message.header == Header.REPLY
        )

    async def _ask(self, header: Header, data: bytes = b"", *, tries: int = _TRIES) -> bytes | None:
        """The answer's data, or None for silence. What may not be done twice is asked with one try.

        An answer does not say to what: whatever is still on the line from before is thrown away first.
        """
        for _ in range(tries):
            async with self._line.turn:
                await self._line.read(0)
                self._reader = FrameReader(self._cutter)
                answers = await self._exchange(Frame(self.address, HOST, header, data).encode())
            if answers:
                self._note_answered(header)
                return answers[-1].data
        self._note_unanswered(header, tries)
        return None

    def _note_unanswered(self, header: Header, tries: int) -> None:
        """Count a question that alone goes unanswered; without the answer the device cannot be used."""
        if header in _MAY_BE_UNANSWERED or self._silent_questions != tries:
            return
        self._missing = self._missing or {}
        self._missing[header] = self._missing.get(header, 0) + 1
        if self._missing[header] >= _MISSING_ANSWERS:
            self._set_found(FaultCode.FAILURE, _no_answer_to(header))

    def _note_answered(self, header: Header) -> None:
        if self._missing is not None:
            self._missing.pop(header, None)
        if self._found.get(FaultCode.FAILURE) == _no_answer_to(header):
            self._set_found(FaultCode.FAILURE, None)

    async def _tell(self, header: Header, data: bytes) -> bool:
        """Ask for something to be done; whether it was acknowledged."""
        return await self._ask(header, data) == b""

    async def _at_once(self, events: Header) -> tuple[Events, int] | None:
        """The device's events and its accept counter, of one instant.

        The counter is asked between two equal answers about events; None when they differ (ask again in the
        next cycle) or for silence. Raises :class:`~egm.devices.framing.ProtocolError`.
        """
        before = await self._ask(events)
        count = await self._ask(Header.ACCEPT_COUNT)
        after = await self._ask(events)
        if before is None or count is None or before != after:
            return None
        return read_events(before), read_count(count)

    async def _identify(self) -> bool:
        """Ask maker, product and serial number, and tell; False for silence."""
        words = []
        for header in (Header.MANUFACTURER, Header.PRODUCT, Header.SERIAL):
            answer = await self._ask(header)
            if answer is None:
                return False
            is_number = header is Header.SERIAL
            words.append(
                str(int.from_bytes(answer, "little")) if is_number else answer.decode("ascii", "replace")
            )
        self._emit(Identified(device=self.name, identity=" ".join(words)))
        return True


def _no_answer_to(header: Header) -> str:
    return f"it does not answer header {header.value} ({header.name.lower()})"
