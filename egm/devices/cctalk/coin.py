"""The ccTalk coin acceptor's driver.

A coin that passed is in: there is no escrow. The acceptor counts its events and keeps the last five; the
ledger keeps how far they are credited, moved in the same transaction as the credit, so a coin is counted once
whatever dies when. An acceptor that lost power inhibits every coin until it is told otherwise, and it is told
only after its reset has been seen: no coin can hide behind one. A coin that passed in the instant before a
power loss, unreported, shows in the life-time accept counter and is a
:class:`~egm.devices.interface.Disputed` event.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

from egm.devices.cctalk import codec
from egm.devices.cctalk.codec import CoinError, Header, Pair
from egm.devices.cctalk.events import accepted_since, mark_of, news_since, unchanged
from egm.devices.cctalk.talk import RENEW_SECONDS, CctalkDriver
from egm.devices.framing import ProtocolError
from egm.devices.interface import CoinAccepted, Disputed, EventSink, FaultCode, Ready, Rejected
from egm.devices.ledgers import CoinLedger
from egm.devices.line import SerialLine

#: How long a coin fault is shown after its event: the acceptor says when it begins, never when it ends.
_FAULT_SECONDS: Final = 3.0

_FAULTS: Final[Mapping[int, FaultCode]] = {
    CoinError.CREDIT_SENSOR_BLOCKED: FaultCode.JAM,
    CoinError.SORTER_TIMEOUT: FaultCode.DIVERTER,
    CoinError.SORTER_BLOCKED: FaultCode.DIVERTER,
    CoinError.BACKWARDS: FaultCode.COIN_CHEAT,
    CoinError.ON_STRING: FaultCode.COIN_CHEAT,
}


class CctalkCoinDriver(CctalkDriver):
    """A :class:`~egm.devices.interface.CoinAcceptor` that speaks ccTalk."""

    address = codec.COIN_ADDRESS

    def __init__(
        self,
        name: str,
        line: SerialLine,
        sink: EventSink,
        ledger: CoinLedger,
        coins: Mapping[int, int] = codec.COINS,
    ) -> None:
        """``coins`` maps coin slots (1 to 16) to minor units."""
        super().__init__(name, line, sink, codec.cut, codec.PROTOCOL)
        self._ledger = ledger
        self._coins = dict(coins)
        self._denominations: frozenset[int] = frozenset()
        self._path = codec.PATH_HOPPER
        self._applied: dict[tuple[Header, int], bytes] = {}
        self._identified = False
        self._ready: bool | None = None
        self._fault: FaultCode | None = None
        self._fault_until = 0.0
        self._renew_at = 0.0

    # ------------------------------------------------------------ the machine's side
    @property
    def values_cents(self) -> frozenset[int]:
        """The coins it can name, in minor units."""
        return frozenset(self._coins.values())

    def enable(self, denominations_cents: frozenset[int]) -> None:
        """Accept these coins, as far as the acceptor has a slot for them."""
        self._denominations = denominations_cents
        self._wake.set()

    def disable(self) -> None:
        """Accept none: coins fall through to the tray."""
        self.enable(frozenset())

    def divert(self, *, to_hopper: bool) -> None:
        """Where accepted coins go: the hopper, or the drop box in the base."""
        self._path = codec.PATH_HOPPER if to_hopper else codec.PATH_DROP_BOX
        self._wake.set()

    # ------------------------------------------------------------ the cycle
    def _session_begins(self) -> None:
        self._renew_at = 0.0
        self._identified = False
        self._ready = None

    async def _cycle(self) -> None:
        try:
            answer = await self._ask(Header.READ_CREDITS)
            if answer is not None and await self._take(codec.read_events(answer)):
                await self._apply()
                self._identified = self._identified or await self._identify()
        except ProtocolError as error:
            self._refused(error)
        self._show_fault()
        await self._pause()

    async def _take(self, events: codec.Events) -> bool:
        """Record what is new; False when the acceptor fell silent over it or was just then busy."""
        position = self._ledger.position()
        if position is not None and unchanged(position, events):
            return True
        instant = await self._at_once(Header.READ_CREDITS)
        if instant is None:
            return False
        events, accepted = instant
        if position is None:
            self._ledger.coins_in((), mark_of(events, accepted))
            return True
        if position == mark_of(events, accepted):
            return True
        news = news_since(position, events)
        if events.counter == 0 or news.restarted:
            self._applied.clear()
        coins = tuple(
            (self._coins[pair.a], pair.b == codec.PATH_HOPPER) for pair in news.pairs if pair.a in self._coins
        )
        passed = accepted_since(position, accepted)
        unseen = passed - sum(pair.a > 0 for pair in news.pairs)
        if unseen < 0:  # its own counter knows of fewer: believe the smaller, the first ones reported
            coins = coins[:passed]
        self._ledger.coins_in(coins, mark_of(events, accepted))
        for amount_cents, to_hopper in coins:
            self._emit(CoinAccepted(device=self.name, amount_cents=amount_cents, to_hopper=to_hopper))
        self._unexplained(unseen, news.lost)
        for pair in news.pairs:
            self._not_a_coin(pair)
        return True

    def _unexplained(self, unseen: int, lost: int) -> None:
        if unseen < 0:
            text = f"{-unseen} coins reported that the acceptor did not count; not credited"
        elif unseen or lost:
            text = f"{unseen} coins were accepted and {lost} events lost that were never reported"
        else:
            return
        self._emit(Disputed(device=self.name, text=text))

    def _not_a_coin(self, pair: Pair) -> None:
        if pair.a:
            if pair.a not in self._coins:
                self._emit(Disputed(device=self.name, text=f"coin in slot {pair.a}, which has no value here"))
        elif pair.b in _FAULTS:
            self._fault = _FAULTS[pair.b]
            self._fault_until = asyncio.get_running_loop().time() + _FAULT_SECONDS
        else:
            self._emit(Rejected(device=self.name, reason=f"coin event {pair.b}"))

    def _show_fault(self) -> None:
        if self._fault is not None and asyncio.get_running_loop().time() >= self._fault_until:
            self._fault = None
        self._show_faults({} if self._fault is None else {self._fault: ""})

    # ------------------------------------------------------------ what it should be set to
    async def _apply(self) -> None:
        """Make the acceptor's settings what they should be, the master inhibit last."""
        mask = sum(1 << slot - 1 for slot, cents in self._coins.items() if cents in self._denominations)
        accepting = bool(self._denominations)
        wished: dict[tuple[Header, int], bytes] = {
            **{(Header.SORTER_PATH, slot): bytes((slot, self._path)) for slot in self._coins},
            (Header.INHIBIT_MASK, 0): mask.to_bytes(2, "little"),
            (Header.MASTER_INHIBIT, 0): bytes((accepting,)),
        }
        if asyncio.get_running_loop().time() >= self._renew_at:  # lest it lost them unnoticed
            self._applied.clear()
        for setting, data in wished.items():
            if self._applied.get(setting) == data:
                continue
            self._renew_at = asyncio.get_running_loop().time() + RENEW_SECONDS
            if not await self._tell(setting[0], data):
                return
            self._applied[setting] = data
        if self._ready is not accepting:
            self._ready = accepting
            self._emit(Ready(device=self.name, accepting=accepting))
