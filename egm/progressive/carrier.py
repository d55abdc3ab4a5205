"""Carrier of a link's messages: MQTT, or anything else that does as this says."""

from typing import Protocol

from egm.progressive.messages import FromController, FromMachine


class CarrierListener(Protocol):
    """Who a carrier tells. Everything is called on the machine's event loop."""

    def connected(self) -> None:
        """There is a way to the controller. Called again after each interruption."""
        ...

    def disconnected(self, why: str) -> None:
        """There is none any more."""
        ...

    def received(self, message: FromController) -> None:
        """The controller says something. Messages may come twice, late, and in another order."""
        ...

    def misunderstood(self, text: str) -> None:
        """Something came that is no message: what was wrong with it."""
        ...


class Carrier(Protocol):
    """A way to a controller. It keeps nothing: what is lost on it, the link sends again."""

    async def run(self, ears: CarrierListener) -> None:
        """Connect, and connect again after each interruption, until cancelled."""
        ...

    def send(self, message: FromMachine) -> None:
        """Send, or lose it where there is no connection; never waits."""
        ...
