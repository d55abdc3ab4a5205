"""The heartbeat of a sign: its displayed amounts, sent to the controller once a second (Québec by-law, s.91).

It is only sent while the sign draws new frames. A sign whose picture is frozen therefore sends none, although its
network works.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from egm.config.levels import LevelId
from egm.errors import OperatorError
from egm.message_errors import format_first_error
from egm.progressive.messages import MESSAGE_BYTES_MAX, Cents, ProgressiveMessageError
from tools.floor.progressive.sign import Plate

#: Nanoseconds between two heartbeats. It is also the greatest age of a frame for which a heartbeat is sent.
HEARTBEAT_INTERVAL_NS: Final = 1_000_000_000
#: The most levels that one sign reports.
_LEVELS_PER_SIGN_MAX: Final = 256

#: The name of a sign.
SignName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,40}$")]


def check_sign_name(name: str) -> None:
    """Raise OperatorError for an invalid sign name."""
    try:
        TypeAdapter(SignName).validate_python(name)
    except ValidationError:
        raise OperatorError(f"{name!r}: a sign's name has letters, digits, . _ -, at most 40") from None


class _Message(BaseModel):
    """Base class of heartbeat messages; an unknown field is refused."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


class ShownLevel(_Message):
    """One level on a sign: the displayed amount in minor units, or None if the sign shows no amount."""

    level: LevelId
    amount_cents: Cents | None = None


class SignHeartbeat(_Message):
    """The heartbeat message of a sign: the levels that it displays now."""

    type: Literal["beat"] = "beat"
    sign: SignName
    shown: Annotated[tuple[ShownLevel, ...], Field(max_length=_LEVELS_PER_SIGN_MAX)] = ()

    @property
    def level_ids_without_amount(self) -> tuple[str, ...]:
        """Return the ids of the levels for which the sign displays no amount."""
        return tuple(level.level for level in self.shown if level.amount_cents is None)


def read_heartbeat(data: bytes) -> SignHeartbeat:
    """Parse the heartbeat of a sign. Raises ProgressiveMessageError."""
    if len(data) > MESSAGE_BYTES_MAX:
        raise ProgressiveMessageError(f"{len(data)} bytes; at most {MESSAGE_BYTES_MAX} are read")
    try:
        return SignHeartbeat.model_validate_json(data)
    except ValidationError as error:
        raise ProgressiveMessageError(format_first_error(error, data, "beat")) from None


@dataclass(slots=True)
class HeartbeatSource:
    """The source of the heartbeats of one sign.

    The caller stores each drawn frame with ``store_frame``, and calls ``build_due_heartbeat`` repeatedly.
    """

    sign: str
    _plates: tuple[Plate, ...] = ()
    """The plates in the last frame that was drawn; a plate shows one level."""
    _last_frame_ns: int | None = None
    """The monotonic time of the last frame in nanoseconds; None before the first."""
    _last_heartbeat_ns: int | None = None
    """The monotonic time of the last heartbeat in nanoseconds; None before the first."""

    def store_frame(self, plates: tuple[Plate, ...], now_ns: int) -> None:
        """Store the plates of a frame that is now on the display."""
        self._plates, self._last_frame_ns = plates, now_ns

    def build_due_heartbeat(self, now_ns: int) -> bytes | None:
        """Return the heartbeat to send now, or None if none is due.

        A heartbeat is due once a second while frames are being drawn.
        """
        if self._last_frame_ns is None or now_ns - self._last_frame_ns > HEARTBEAT_INTERVAL_NS:
            return None
        if self._last_heartbeat_ns is not None and now_ns - self._last_heartbeat_ns < HEARTBEAT_INTERVAL_NS:
            return None
        self._last_heartbeat_ns = now_ns
        shown_levels = tuple(
            ShownLevel(
                level=plate.level_id,
                amount_cents=None if plate.amount_thousandths is None else plate.amount_thousandths // 1000,
            )
            for plate in self._plates[:_LEVELS_PER_SIGN_MAX]
        )
        return SignHeartbeat(sign=self.sign, shown=shown_levels).model_dump_json().encode()
