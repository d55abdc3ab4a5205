"""Interface of a carrier of the link's messages, such as MQTT."""

from typing import Protocol

from egm.progressive.messages import FromController, FromMachine


class CarrierListener(Protocol):
    """Receiver of a carrier's events. All methods are called on the machine's event loop."""

    def connected(self) -> None:
        """Handle a new connection to the controller; called again after each interruption."""
        ...

    def disconnected(self, why: str) -> None:
        """Handle the loss of the connection."""
        ...

    def received(self, message: FromController) -> None:
        """Handle a message. Messages may arrive twice, late, and out of order."""
        ...

    def misunderstood(self, text: str) -> None:
        """Handle data that is not a valid message; ``text`` says what is wrong."""
        ...


class Carrier(Protocol):
    """A connection to a controller. It stores nothing: the link sends lost messages again."""

    async def run(self, ears: CarrierListener) -> None:
        """Carry messages until cancelled, reconnecting after each interruption; ``ears`` receives them."""
        ...

    def send(self, message: FromMachine) -> None:
        """Send a message, or drop it without a connection; never waits."""
        ...
