"""Progressive levels in the cabinet file, and the link to their controller."""

import re
from contextlib import suppress
from enum import StrEnum
from fractions import Fraction
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from egm.config.documented_fields import DocumentedFieldsMixin
from egm.exact import Rational

#: The id of a progressive level: a word that can be part of an account name and of an MQTT topic.
LevelId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]


class LevelScope(StrEnum):
    """The scope of a progressive level: one machine, the machines of one venue, or the machines of several venues."""

    STAND_ALONE = "stand_alone"
    """A level of one machine alone."""
    LINKED = "linked"
    """A level shared by the machines of one venue."""
    WIDE_AREA = "wide_area"
    """A level shared by machines of several venues."""


#: The highest progressive group that SAS can address (one byte).
SAS_PROGRESSIVE_GROUP_MAX: Final = 255
#: The maximum number of progressive levels that SAS can address in a group.
SAS_LEVELS_PER_GROUP_MAX: Final = 32
#: The form of one label of a host name (RFC 1123), with ``_`` allowed.
_HOST_LABEL_PATTERN: Final = "[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
#: The form of a host name.
_HOST_NAME_PATTERN: Final = re.compile(rf"{_HOST_LABEL_PATTERN}(\.{_HOST_LABEL_PATTERN})*\.?")
#: The form of an IP address, perhaps with a zone.
_IP_ADDRESS_PATTERN: Final = re.compile(r"[0-9A-Fa-f:.]+(%[A-Za-z0-9_.-]{1,15})?")


def _is_sas_broadcast_level(name: str) -> bool:
    """Return whether ``name`` has the form ``GROUP.LEVEL`` of a level that a host broadcasts on a SAS line."""
    group, _, level = name.partition(".")
    return (
        group.isdecimal()
        and level.isdecimal()
        and 1 <= int(group) <= SAS_PROGRESSIVE_GROUP_MAX
        and 1 <= int(level) <= SAS_LEVELS_PER_GROUP_MAX
    )


class _StrictTable(DocumentedFieldsMixin, BaseModel):
    """Base class of the tables of a cabinet file's levels; an unknown key is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)


class ProgressiveLevelTable(_StrictTable):
    """How one progressive level of a game is run: its scope, its carrier and its stakes.

    A stand-alone level has a separate amount for every stake of the game, because every wager that feeds an
    amount must have the same stake and the same chance (Québec by-law, s.92). Its base and increment are
    taken from the game's definition. A linked or wide-area level is managed by a controller or a host.
    """

    game_id: str = Field(examples=["lantern-harbour"], alias="game")
    """The id of the game that plays for the level."""
    level_name: str = Field(examples=["harbour"], alias="level")
    """The name of the level in the game's definition."""
    scope: LevelScope = Field(LevelScope.STAND_ALONE, alias="kind")
    """Whether the level belongs to this machine alone, to one venue or to several venues."""
    hidden_share: Rational = Field(Fraction(0), examples=["1/1000"], alias="hidden")
    """The share of wagers that goes to the hidden reserve, from which the level is reset after a hit: `"1/1000"`."""
    ceiling_in_bases: Annotated[int, Field(ge=2, strict=True)] | None = Field(
        None, examples=[20], alias="ceiling_bases"
    )
    """The highest amount shown, as a multiple of the level's base; a game's own ceiling takes precedence."""
    carrier: Literal["controller", "sas"] = "controller"
    """What sends the level's amounts: a controller on the network, or a host that broadcasts them on a SAS line
    (polls 80 and 86)."""
    level_id_by_stake: dict[Annotated[str, Field(pattern=r"^[1-9]\d*$")], LevelId] = Field(
        {}, examples=[{"100": "harbour-1"}], alias="stakes"
    )
    """For each stake in minor units, the controller's level; with the carrier `sas`, group and level of the
    broadcast (`1.4`). Bets that play for the level are offered at these stakes only."""

    @model_validator(mode="after")
    def _check_scope(self) -> "ProgressiveLevelTable":
        """Return the table; raise an error if it has keys that do not belong to a level of this scope."""
        if self.scope is LevelScope.STAND_ALONE:
            if self.level_id_by_stake:
                raise ValueError(
                    f"{self.game_id} {self.level_name}: stakes belong to a level of a controller or host: "
                    "remove stakes, or set kind to linked or wide_area"
                )
        elif not self.level_id_by_stake:
            raise ValueError(
                f"{self.game_id} {self.level_name}: a {self.scope} level needs `stakes`: "
                "the id of the level for each stake"
            )
        elif self.carrier == "sas" and not all(
            _is_sas_broadcast_level(name) for name in self.level_id_by_stake.values()
        ):
            raise ValueError(
                f"{self.game_id} {self.level_name}: stakes: a level on a SAS line is written as GROUP.LEVEL, "
                f"1.1 to {SAS_PROGRESSIVE_GROUP_MAX}.{SAS_LEVELS_PER_GROUP_MAX}"
            )
        elif self.hidden_share or self.ceiling_in_bases is not None:
            raise ValueError(
                f"{self.game_id} {self.level_name}: hidden and ceiling_bases belong to a stand-alone level: "
                f"remove them, because the controller of a {self.scope} level defines them"
            )
        return self


def is_host_name_or_address(text: str) -> bool:
    """Return whether the text is a host name (RFC 1123, also with ``_``) or an IP address.

    An IPv6 address may have a zone.
    """
    if _IP_ADDRESS_PATTERN.fullmatch(text):
        with suppress(ValueError):
            ip_address(text)
            return True
    return len(text) <= 253 and _HOST_NAME_PATTERN.fullmatch(text) is not None


def _check_host_name_or_address(text: str) -> str:
    """Return the text if it is a host name or an address. Raises ValueError otherwise."""
    if not is_host_name_or_address(text):
        raise ValueError(f"{text!r} is neither a host name nor an address")
    return text


class ProgressiveLinkTable(_StrictTable):
    """The progressive controller's broker, and this machine's certificate for it (`egm progressive certificates`)."""

    host: Annotated[str, AfterValidator(_check_host_name_or_address)] = "127.0.0.1"
    """The broker's host name or address."""
    port: Annotated[int, Field(ge=1, le=65535, strict=True)] = 8883
    """The broker's port for MQTT over TLS."""
    authority: Path
    """The file with the certificate of the authority that signed the broker's certificate (PEM)."""
    certificate: Path
    """The file with this machine's certificate (PEM)."""
    key: Path
    """The file with this machine's private key (PEM), readable by its owner only."""
