"""Payloads of the staff's events: keys, the service menu, device tests, and the forms that staff fill in.

Every field of a form has a default for the case that it is not filled in. The service menu submits a form only when
its required fields are filled in; some rules have guards that check this again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from egm.kernel.events import EmptyPayload, EventName, EventType, Payload
from egm.record_codec import stored_as
from egm.staff.records import CollectedBox, OptionName, OptionValues, WorkKind
from meters.transaction import JSON

#: Ways to inform the control service of an incident (Monaco art. 24); the officer informed is named.
INCIDENT_NOTIFICATION_MEANS: Final = ("present", "telephone", "message", "letter")


# ---------------------------------------------------------------------------------------------- keys and the menu
@dataclass(frozen=True, slots=True, kw_only=True)
class Authorisation:
    """Base class of the events that members of staff cause, by turning a key switch or with PINs."""

    key: str | None = None
    """The name of the key switch that was turned; None if only PINs authorise the event."""
    person: str | None = None
    """The staff number of the person who acted; None if only a key was turned."""
    persons: tuple[str, ...] = ()
    """The staff numbers of all who have authorised the event with their PIN, ``person`` first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySwitchChange:
    """Event: a key switch was turned on or off."""

    key: str
    is_on: bool = field(metadata=stored_as("on"))
    was_unobserved: bool | None = field(default=None, metadata=stored_as("unattended"))
    """Whether it was turned while the machine was off, or received no reports of the I/O board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuRequest:
    """Event: a person opens the service menu, by a key or from the screen."""

    key: str = "screen"
    person: str = ""
    """The staff number of the person who is signed in at another player position, or empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuMove:
    """Event: the service menu continues on the screen of another player position."""

    position_number: int = field(default=0, metadata=stored_as("position"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuClosed:
    """Event: the service menu must be closed; ``reason`` says why."""

    reason: str = field(metadata=stored_as("why"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageInput:
    """The id of the service page on which a person has acted, and the text that they entered there."""

    page_id: JSON = field(default=None, metadata=stored_as("page"))
    entered_text: JSON = field(default=None, metadata=stored_as("input"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAnswer:
    """Event: a person has touched an action of a service page."""

    action: JSON = field(default=None, metadata=stored_as("value"))
    """The id that the page gave to the touched action, such as a button or a line of a list."""
    page_input: PageInput = field(default=PageInput(), metadata=stored_as("options"))


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionRead:
    """Event: the monitoring system has read who is working in the intervention with this id."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTest(Authorisation):
    """Event: a person starts a test of a device; each kind of test has its own parameters."""

    device: str = ""
    test_kind: Literal["print", "pay", "take", "light", "calibrate"] | None = field(
        default=None, metadata=stored_as("test")
    )
    coin_count: int | None = field(default=None, metadata=stored_as("coins"))
    """For a test of the hopper: the number of coins to pay."""
    takes_paper: bool | None = field(default=None, metadata=stored_as("on"))
    """For a test of the bill acceptor: whether it takes bills and tickets during the test."""
    outputs: tuple[str, ...] | None = None
    """For a test of the I/O board: the names of the outputs to switch on."""
    matrix: tuple[int, ...] = ()
    """For a calibration: the six coefficients of the new touch calibration."""


# ---------------------------------------------------------------------------------------------- forms
@dataclass(frozen=True, slots=True, kw_only=True)
class FilledForm(Authorisation):
    """A form that staff have filled in; ``form_id`` is its id.

    It is the payload of a form without fields, and the base class of all others.
    """

    form_id: str | None = field(default=None, metadata=stored_as("form"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingForm(FilledForm):
    """Base class of the forms in which staff decide where disputed or found money goes.

    Forms about unclaimed money or a found ticket use the field ``location``, all others the field ``reason``.
    """

    reason: str = ""
    """Why staff ruled as they did."""
    location: str = field(default="", metadata=stored_as("place"))
    """Where the money or ticket was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionsForm(FilledForm, OptionValues):
    """A form in which staff change one operator option."""

    option: OptionName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffNumberUnlockForm(FilledForm):
    """A form in which staff unlock a locked staff number."""

    staff_number: str = field(default="", metadata=stored_as("number"))
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionForm(FilledForm):
    """A form that opens an intervention (with the reason) or closes it (with the work done and the parts replaced)."""

    kind: WorkKind | None = None
    reason: str = ""
    work: str = ""
    parts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HopperFillForm(FilledForm):
    """A form about coins of the venue that staff added to the hopper; amount in minor units."""

    amount_cents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxCountForm(FilledForm):
    """A form about a cash box that staff counted; amount in minor units."""

    box: CollectedBox | None = None
    counted_cents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CabinetBaseForm(FilledForm):
    """A form about withdrawing or returning the machine's stand (base), with its lock and the main cashier."""

    base_number: str = field(default="", metadata=stored_as("base"))
    lock_number: str = field(default="", metadata=stored_as("lock"))
    cashier: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterNoteForm(FilledForm):
    """Base class of the forms that add a note to a register of the venue."""

    play_id: str | None = None

    @property
    def is_complete(self) -> bool:
        """Return whether every mandatory field of the register note has a text."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeForm(RegisterNoteForm):
    """A note about a dispute: what the player claims, the mechanic who was called, and the decision."""

    claim: str = ""
    mechanic_statement: str = field(default="", metadata=stored_as("mechanic"))
    decision: str = ""

    @property
    def is_complete(self) -> bool:
        """Return whether every mandatory field of the dispute note has a text."""
        return are_texts_filled_in(self.claim, self.mechanic_statement, self.decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionForm(RegisterNoteForm):
    """A note about an excluded player."""

    reason: str = ""
    player_name: str = field(default="", metadata=stored_as("who"))
    """The player's name, which is stored only in the register of identities."""

    @property
    def is_complete(self) -> bool:
        """Return whether every mandatory field of the exclusion note has a text."""
        return are_texts_filled_in(self.reason, self.player_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentForm(RegisterNoteForm):
    """A note about an incident: what happened, how management judged it, and how the control service was informed."""

    incident_description: str = field(default="", metadata=stored_as("what"))
    """What happened, as staff entered it."""
    judgement: str = ""
    notification_means: str = field(default="", metadata=stored_as("informed"))
    """By which means the control service was informed."""
    officer_and_time: str = field(default="", metadata=stored_as("officer"))
    """The officer of the control service who was informed, and when."""

    @property
    def is_complete(self) -> bool:
        """Return whether every mandatory field has a text, and ``notification_means`` names a known means."""
        return self.notification_means in INCIDENT_NOTIFICATION_MEANS and are_texts_filled_in(
            self.incident_description, self.judgement, self.officer_and_time
        )


def are_texts_filled_in(*texts: str | None) -> bool:
    """Return whether each of the given texts is present and not blank."""
    return all(text is not None and text.strip() for text in texts)


PAYLOAD_CLASS_BY_EVENT: Final[Mapping[EventName, type[Payload]]] = {
    EventType.TOGGLE_SERVICE_CALL: EmptyPayload,
    EventType.KEY_SWITCH_CHANGED: KeySwitchChange,
    EventType.KEY_TURNED: Authorisation,
    EventType.OPEN_SERVICE_MENU: MenuRequest,
    EventType.SERVICE_MENU_MOVED: MenuMove,
    EventType.SERVICE_MENU_CLOSED: MenuClosed,
    EventType.ANSWER_SERVICE_PAGE: PageAnswer,
    EventType.START_DEVICE_TEST: DeviceTest,
    EventType.CHANGE_OPTIONS: OptionsForm,
    EventType.RESTART: FilledForm,
    EventType.UNLOCK_STAFF_NUMBER: StaffNumberUnlockForm,
    EventType.INTERVENTION_OPENED: InterventionForm,
    EventType.INTERVENTION_CLOSED: InterventionForm,
    EventType.INTERVENTION_READ_BY_MONITORING: InterventionRead,
    EventType.HOPPER_FILLED: HopperFillForm,
    EventType.CASH_BOX_COUNTED: BoxCountForm,
    EventType.CABINET_BASE_WITHDRAWN: CabinetBaseForm,
    EventType.CABINET_BASE_RETURNED: CabinetBaseForm,
    EventType.DISPUTE_DECIDED: DisputeForm,
    EventType.PLAYER_EXCLUSION_NOTED: ExclusionForm,
    EventType.INCIDENT_JUDGED: IncidentForm,
}
