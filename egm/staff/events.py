"""Payloads of the staff's events: keys, the service menu, device tests, and the forms that staff fill in.

Every field of a form has a default, which stands for a field that is not filled in: an incomplete form is refused
by the guards of its rule, with a message to the person.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from egm.kernel.events import EventName, EventType, NoData, Payload
from egm.staff.records import CollectedBox, OptionName, OptionValues, WorkKind
from meters.transaction import JSON

#: Ways to inform the control service of an incident (Monaco art. 24); the officer informed is named.
INCIDENT_NOTIFICATION_WAYS: Final = ("present", "telephone", "message", "letter")


# ---------------------------------------------------------------------------------------------- keys and the menu
@dataclass(frozen=True, slots=True, kw_only=True)
class Authorisation:
    """Base of the events that members of staff cause: the key switch turned, and the persons verified by PIN."""

    key: str | None = None
    person: str | None = None
    """The staff number of the person who acted."""
    persons: tuple[str, ...] = ()
    """All who have authorised the event, ``person`` first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySwitched:
    """Event: a key switch was turned on or back. ``unattended`` means that this happened while the machine was off."""

    key: str
    on: bool
    unattended: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuRequest:
    """Event: the service menu is to be opened, by a key or from the screen.

    ``person`` is the person already signed in at another player position, or empty.
    """

    key: str = "screen"
    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuMove:
    """Event: the service menu is to continue at another player position."""

    position: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuEnd:
    """Event: the service menu is to be closed, and why."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageInput:
    """The service page that a person has answered, and the text they have entered, as received from the screen."""

    page: JSON = None
    input: JSON = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAnswer:
    """Event: a person has touched an action of a service page."""

    value: JSON = None
    """The touched action, as the page named it."""
    options: PageInput = PageInput()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSeen:
    """Event: the monitoring system has read who is at work in the intervention with this id."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTest(Authorisation):
    """Event: a device is to be tested; each test has its own parameters."""

    device: str = ""
    test: Literal["print", "pay", "take", "light", "calibrate"] | None = None
    coins: int | None = None
    """For a test of the hopper: the number of coins to pay."""
    on: bool | None = None
    """For a test of the bill acceptor: whether it is to take bills and tickets."""
    outputs: tuple[str, ...] | None = None
    """For a test of the I/O board: the outputs to switch on."""
    matrix: tuple[int, ...] = ()
    """For a calibration: the six coefficients of the new touch calibration."""


# ---------------------------------------------------------------------------------------------- forms
@dataclass(frozen=True, slots=True, kw_only=True)
class FilledForm(Authorisation):
    """A form that staff have filled in; ``form`` is its id. Forms without fields have this payload."""

    form: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingForm(FilledForm):
    """Base of the forms in which staff decide where disputed or found money goes.

    A form has either the field ``reason`` or the field ``place``.
    """

    reason: str = ""
    """Why staff ruled as they did."""
    place: str = ""
    """Where the disputed or found money or ticket was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionsForm(FilledForm, OptionValues):
    """A form in which staff change one operator option."""

    option: OptionName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberForm(FilledForm):
    """A form in which staff unlock a locked staff number."""

    number: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionForm(FilledForm):
    """A form that opens an intervention (why) or closes it (what was done, and which parts were replaced)."""

    kind: WorkKind | None = None
    reason: str = ""
    work: str = ""
    parts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FillForm(FilledForm):
    """A form in which staff record coins added to the hopper, in minor units."""

    amount_cents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CountForm(FilledForm):
    """A form about the content of a box that was counted, in minor units."""

    box: CollectedBox | None = None
    counted_cents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseForm(FilledForm):
    """A form about the machine's stand (base), withdrawn or returned, with its lock and the main cashier."""

    base: str = ""
    lock: str = ""
    cashier: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteForm(FilledForm):
    """Base of a form that adds a note to a register of the venue."""

    play_id: str | None = None

    @property
    def is_complete(self) -> bool:
        """Return whether every mandatory field of the register note has a text."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeForm(NoteForm):
    """A note about a player's dispute: what they claim, the mechanic who was called, and the decision."""

    claim: str = ""
    mechanic: str = ""
    decision: str = ""

    @property
    def is_complete(self) -> bool:
        """Return whether every mandatory field of the dispute note has a text."""
        return are_texts_filled_in(self.claim, self.mechanic, self.decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionForm(NoteForm):
    """A note about an excluded player; ``who`` goes to the register of identities only."""

    reason: str = ""
    who: str = ""

    @property
    def is_complete(self) -> bool:
        """Return whether every mandatory field of the exclusion note has a text."""
        return are_texts_filled_in(self.reason, self.who)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentForm(NoteForm):
    """A register note about an incident.

    It states the judgement, how the venue informed the control service, and which officer.
    """

    what: str = ""
    judgement: str = ""
    informed: str = ""
    officer: str = ""

    @property
    def is_complete(self) -> bool:
        """Return whether every mandatory field of the incident note has a text, and ``informed`` names a known way."""
        return self.informed in INCIDENT_NOTIFICATION_WAYS and are_texts_filled_in(
            self.what, self.judgement, self.officer
        )


def are_texts_filled_in(*texts: str | None) -> bool:
    """Return whether each of the texts is neither missing nor blank."""
    return all(text is not None and text.strip() for text in texts)


EVENTS: Final[Mapping[EventName, type[Payload]]] = {
    EventType.SERVICE: NoData,
    EventType.KEY_MOVED: KeySwitched,
    EventType.KEY_TURNED: Authorisation,
    EventType.MENU: MenuRequest,
    EventType.MENU_MOVED: MenuMove,
    EventType.MENU_CLOSED: MenuEnd,
    EventType.ANSWER: PageAnswer,
    EventType.TEST: DeviceTest,
    EventType.OPTIONS: OptionsForm,
    EventType.RESTART: FilledForm,
    EventType.NUMBER_UNLOCKED: NumberForm,
    EventType.INTERVENTION_OPENED: InterventionForm,
    EventType.INTERVENTION_CLOSED: InterventionForm,
    EventType.INTERVENTION_SEEN: WorkSeen,
    EventType.HOPPER_FILLED: FillForm,
    EventType.BOX_COUNTED: CountForm,
    EventType.BASE_WITHDRAWN: BaseForm,
    EventType.BASE_RETURNED: BaseForm,
    EventType.DISPUTE_DECIDED: DisputeForm,
    EventType.EXCLUSION_NOTED: ExclusionForm,
    EventType.INCIDENT_JUDGED: IncidentForm,
}
