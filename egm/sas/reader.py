"""Makes the :class:`Readout`: from journal, games and cabinet, on the loop."""

from zoneinfo import ZoneInfo

from egm.cabinet.cabinet import Key
from egm.cabinet.credits import CreditKind
from egm.sas.host import Host
from egm.sas.readout import GameFacts, HandpayFacts, Readout


class Reader:
    """Reads the machine for one host; the journal is read on this thread only."""

    def __init__(self, host: Host) -> None:
        self._host = host
        cabinet = host.cabinet
        self._zone = ZoneInfo(cabinet.identity.house.time_zone)
        self._games = tuple(
            GameFacts(
                number=number,
                id=game.id,
                title=game.title.get("en", game.id),
                version=game.version,
                denominations_cents=cabinet.denominations_cents[game_id],
                max_bet_credits=max(game.bet_options),
                payback=0,
            )
            for number, (game_id, game) in enumerate(cabinet.games.items(), start=1)
        )

    def readout(self) -> Readout:
        """The machine as of now."""
        host, cabinet = self._host, self._host.cabinet
        selection = cabinet.selection
        handpay = cabinet.recall(Key.HANDPAY)
        return Readout(
            reading=cabinet.journal.meters(),
            serial=cabinet.identity.serial,
            currency=cabinet.profile.currency,
            asset_number=host.settings.asset_number,
            denomination_cents=host.settings.denomination_cents,
            games=self._games,
            selected_game=next((g.number for g in self._games if g.id == selection.game_id), 0),
            player_denomination_cents=selection.denomination_cents,
            credit_cents={kind.value: cabinet.kind_cents(kind) for kind in CreditKind},
            handpay=None
            if handpay is None
            else HandpayFacts(handpay["id"], handpay["kind"], handpay["amount_cents"]),
            local_time=cabinet.clock.now().astimezone(self._zone),
            made_ns=cabinet.clock.monotonic_ns(),
            groups=host.settings.groups,
        )
