"""Paying by hand, by the book: who was paid, how, and what was checked before.

From the profile's amount on, a hand-pay is settled only after its form is filled in: the player's identity
and the means of payment (Monaco 21.1). What identifies the player goes to the register of identities; the
journal has only the commitment to it (:mod:`egm.staff.identities`). Management may have the machine
checked before it pays: the check recomputes the game from its recorded draws, audits the books, and is
recorded with the meters and the journal's head.
"""

import hashlib
from dataclasses import replace
from typing import Any, Final

from egm.errors import InvariantError, LocalError
from egm.kernel.events import Event
from egm.kernel.machine import Cabinet, Key
from egm.kernel.messages import Notice
from egm.kernel.record_codec import to_json
from egm.play.conversation import replay
from egm.play.definitions import definition_of
from egm.records.game_record import GameRecord
from egm.records.games import last_game, open_game
from egm.records.money import HandpayForm, HandpayRecord
from egm.staff.identities import IdentityRegister
from egm.staff.service.desk import who
from meters import Phase, SelfAuditFailed
from paytables import PaytableError

#: What a form must say of the player: name as in the document, its kind and its number.
IDENTITY_FIELDS: Final = ("name", "document", "number")


def persons_of(cabinet: Cabinet, event: Event) -> list[str]:
    """The verified persons behind an event; where nobody had to prove it, the key that was turned."""
    return list(event.data.get("persons") or (who(cabinet, event),))


def says(event: Event, *fields: str) -> bool:
    """Whether the form has a text in each of these fields."""
    return all(str(event.data.get(name) or "").strip() for name in fields)


def ruling_details(cabinet: Cabinet, event: Event, **more: Any) -> dict[str, Any]:
    """What every ruling tells: where, who and why, and its own particulars."""
    return {
        "machine": cabinet.identity.serial,
        "place": str(event.data.get("place") or cabinet.identity.operator_number),
        "reason": str(event.data.get("reason", "")),
        "persons": persons_of(cabinet, event),
        **more,
    }


def _wants_identity(cabinet: Cabinet, amount_cents: int) -> bool:
    from_cents = cabinet.profile.by_hand.identity_cents
    return from_cents is not None and amount_cents >= from_cents


# ---------------------------------------------------------------------------------------------- guards
def handpay_is_in_order(cabinet: Cabinet, _: Event) -> bool:
    """The hand-pay needs no form, or its form is in."""
    handpay = cabinet.memory.require(HandpayRecord, Key.HANDPAY)
    return handpay.form is not None or not _wants_identity(cabinet, handpay.worth_cents)


def form_is_whole(cabinet: Cabinet, event: Event) -> bool:
    """It names a means of payment of this place, and the identity where that is wanted."""
    handpay = cabinet.memory.require(HandpayRecord, Key.HANDPAY)
    identified = says(event, *IDENTITY_FIELDS)
    return event.data.get("method") in cabinet.profile.by_hand.methods and (
        identified or not _wants_identity(cabinet, handpay.worth_cents)
    )


# ---------------------------------------------------------------------------------------------- effects
def record_handpay_form(cabinet: Cabinet, event: Event) -> None:
    """Write down who will be paid and how; filled in again, the later form holds."""
    identities = cabinet.installed(IdentityRegister)
    handpay = cabinet.memory.require(HandpayRecord, Key.HANDPAY)
    identity = ""
    if says(event, *IDENTITY_FIELDS):
        if identities is None:
            raise InvariantError("an identity to be written down, and no register of identities")
        fields = {name: str(event.data[name]).strip() for name in IDENTITY_FIELDS}
        identity = identities.keep(handpay.id, fields, cabinet.clock.now())
    form = HandpayForm(
        method=str(event.data["method"]), persons=tuple(persons_of(cabinet, event)), identity=identity
    )
    cabinet.record(
        "handpay.form",
        state={Key.HANDPAY: replace(handpay, form=form)},
        details={"handpay": handpay.id, "amount_cents": handpay.amount_cents, **to_json(form)},
    )
    cabinet.notice = Notice(code="form_recorded")


def settle_handpay(cabinet: Cabinet, event: Event) -> None:
    """The attendant has paid, and handed over any prize: the reservation is settled and the machine is free.

    The details are the slip (NJD 1.40): running number, amount, kind, prizes, method, tax mark and persons.
    """
    handpay = cabinet.memory.require(HandpayRecord, Key.HANDPAY)
    form = {"method": "cash"} if handpay.form is None else to_json(handpay.form)
    wrote = () if handpay.form is None else handpay.form.persons
    slip = int(cabinet.memory.get(Key.SLIP) or 0) + 1
    tax_cents = cabinet.profile.by_hand.tax_cents
    persons = persons_of(cabinet, event)
    cabinet.record(
        "handpay.paid",
        transaction_id=f"{handpay.id}.paid",
        phase=Phase.SETTLE,
        ref=handpay.id,
        counts={f"handpays.{handpay.kind}": 1},
        state={Key.HANDPAY: None, Key.SLIP: slip},
        details={
            **to_json(replace(handpay, form=None)),
            **form,
            "slip": slip,
            "witness": cabinet.witness,
            "machine": cabinet.identity.serial,
            "taxable": tax_cents is not None and handpay.worth_cents >= tax_cents,
            "person": persons[0],
            "persons": list(dict.fromkeys((*wrote, *persons))),
        },
    )
    code = "prize_delivered" if handpay.prizes else "handpay_paid"
    cabinet.notice = Notice(code=code, values={"amount_cents": handpay.amount_cents})


def record_machine_check(cabinet: Cabinet, event: Event) -> None:
    """Check the machine and keep what was found (Monaco 21.1): game, books, meters, head of the journal."""
    game, last = open_game(cabinet), last_game(cabinet)
    game = last[0] if game is None and last is not None else game
    handpay = cabinet.memory.read(HandpayRecord, Key.HANDPAY)
    values = cabinet.journal.meters().values
    found = {
        "game": "none" if game is None else _replayed(cabinet, game),
        "books": _audited(cabinet),
    }
    cabinet.record(
        "machine.checked",
        details={
            **found,
            "play_id": None if game is None else game.play_id,
            "digest": None if game is None else game.game.digest,
            "software": _software(cabinet),
            "handpay": None if handpay is None else handpay.id,
            "meters": {name: value for name, value in values.items() if value},
            "head": cabinet.journal.head_hash,
            "persons": persons_of(cabinet, event),
            "remark": str(event.data.get("remark", "")),
        },
    )
    right = all(part in {"right", "none"} for part in found.values())
    cabinet.notice = Notice(
        code="machine_checked" if right else "machine_check_failed", severity="info" if right else "alarm"
    )


def _replayed(cabinet: Cabinet, game: GameRecord) -> str:
    try:
        replay(definition_of(cabinet, game.game), game)
    except (LocalError, PaytableError, ValueError, KeyError) as error:
        return str(error)
    return "right"


def _software(cabinet: Cabinet) -> dict[str, str] | None:
    """The software as its manufacturer signed it, in one digest; None where nobody vouches for it."""
    installed = cabinet.memory.get(Key.SOFTWARE)
    if installed is None:
        return None
    listed = "\n".join(f"{name} {digest}" for name, digest in sorted(installed["components"].items()))
    return {
        "version": installed["version"],
        "signer": installed["signer"],
        "sha256": hashlib.sha256(listed.encode()).hexdigest(),
    }


def _audited(cabinet: Cabinet) -> str:
    try:
        cabinet.journal.self_audit()
    except SelfAuditFailed as error:
        return str(error)
    return "right"
