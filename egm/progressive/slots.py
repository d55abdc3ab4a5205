"""The levels a cabinet file configures, and the link to a controller."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from egm.progressive.definition import Kind, LevelId
from egm.progressive.exact import Rational

GROUPS_MAX: Final = 255
LEVELS_MAX: Final = 32
"""How many SAS numbers: a byte of groups, and 32 levels each."""


def _is_broadcast(name: str) -> bool:
    group, _, level = name.partition(".")
    return (
        group.isdecimal()
        and level.isdecimal()
        and 1 <= int(group) <= GROUPS_MAX
        and 1 <= int(level) <= LEVELS_MAX
    )


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class LevelSlot(_Table):
    """One ``[[progressives]]``: how a level of a resident game is kept.

    A stand-alone level is kept for every stake the game is offered at, each with its own amount, because
    every wager that feeds an amount must have the same stake and the same chance (Québec by-law, s.92). Its
    base and increment are the game's; ``hidden`` is the share of wagers that pays for resets, and
    ``ceiling_bases`` the most it shows, in bases (a game's own ceiling comes first).

    A linked or wide-area level is kept by a controller: ``stakes`` names the controller's level for each
    stake (minor units), or with the carrier ``sas`` the group and level broadcast, ``1.4``. The game is
    offered at those stakes only.
    """

    game: str
    level: str
    kind: Kind = Kind.STAND_ALONE
    hidden: Rational = Fraction(0)
    ceiling_bases: Annotated[int, Field(ge=2, strict=True)] | None = None
    carrier: Literal["controller", "sas"] = "controller"
    """A controller on the network, or a host that broadcasts amounts on a SAS line (polls 80 and 86)."""
    stakes: dict[Annotated[str, Field(pattern=r"^[1-9]\d*$")], LevelId] = {}

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "LevelSlot":
        if self.kind is Kind.STAND_ALONE:
            if self.stakes:
                raise ValueError(
                    f"{self.game} {self.level}: stakes name a controller's levels; link it, or not"
                )
        elif not self.stakes:
            raise ValueError(f"{self.game} {self.level}: a {self.kind} level needs stakes")
        elif self.carrier == "sas" and not all(_is_broadcast(name) for name in self.stakes.values()):
            raise ValueError(f"{self.game} {self.level}: a SAS level is group.level, 1.1 to 255.32")
        elif self.hidden or self.ceiling_bases is not None:
            raise ValueError(f"{self.game} {self.level}: hidden and ceiling are the controller's to say")
        return self


class LinkSlot(_Table):
    """``[progressive_link]``: where the controller's broker is, and who this machine is to it.

    ``certificate`` and ``key`` are the machine's, ``authority`` is who signed the broker's (PEM files).
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535, strict=True)] = 8883
    authority: Path
    certificate: Path
    key: Path
