"""The shoe of a table: how many decks, when they are shuffled again, and what is left between rounds."""

from typing import Annotated

from pydantic import Field, model_validator

from paytables.cards.card import RANKS, Shoe, card_name, rank_of
from paytables.contract import Cue, Draw
from paytables.definition import Strict

#: Cards that a stop card leaves at least: what the longest round may need.
LEFT_LEAST = 8


class ShoeRules(Strict):
    """``[shoe]``: so many decks; ``stop`` cards lie behind the stop card, or None: shuffled for every round.

    ``burn``: after the shuffle, so many cards as the first one shows are put away unseen, faces as ten; or so
    many as it says.
    """

    decks: Annotated[int, Field(strict=True, ge=1, le=8)] = 8
    stop: Annotated[int, Field(strict=True, ge=LEFT_LEAST)] | None = Field(
        default=None, description="cards behind the stop card; none: a fresh shuffle every round"
    )
    burn: bool | Annotated[int, Field(strict=True, ge=1, le=20)] = False

    @model_validator(mode="after")
    def _enough(self) -> "ShoeRules":
        if self.stop is not None and self.stop >= self.decks * 52:
            raise ValueError(f"{self.stop} cards behind the stop card, of {self.decks * 52}")
        return self


def opened(rules: ShoeRules, table: object, draw: Draw) -> tuple[Shoe, list[Cue]]:
    """Return the shoe a round is dealt from, shuffled and burned where it is new, with the cues of that."""
    if table is not None:
        return shoe_of(rules, table), []
    shoe = Shoe.of(rules.decks)
    if not rules.burn:
        return shoe, [Cue("shuffle", {"decks": rules.decks})]
    if rules.burn is not True:
        for n in range(rules.burn):
            shoe.deal(draw, f"burn {n + 1}")
        return shoe, [Cue("shuffle", {"decks": rules.decks}), Cue("burn", {"cards": rules.burn})]
    shown = shoe.deal(draw, "burn")
    away = min(rank_of(shown) + 2, 10) if RANKS[rank_of(shown)] != "A" else 1
    for n in range(away):
        shoe.deal(draw, f"burn {n + 1}")
    return shoe, [
        Cue("shuffle", {"decks": rules.decks}),
        Cue("burn", {"card": card_name(shown), "cards": away}),
    ]


def left(rules: ShoeRules, shoe: Shoe) -> dict[str, object] | None:
    """Return what the round leaves of its shoe for the next; None: it is shuffled again."""
    if rules.stop is None or shoe.left <= rules.stop:
        return None
    return {"shoe": shoe.to_json()}


def shoe_of(rules: ShoeRules, table: object) -> Shoe:
    """Read a shoe back. Raises ValueError for what no round of these rules leaves."""
    if not isinstance(table, dict) or set(table) != {"shoe"} or not isinstance(table["shoe"], dict):
        raise ValueError(f"the table of a shoe says its cards, and not {table!r}")
    shoe, full = Shoe.from_json(table["shoe"]), Shoe.of(rules.decks)
    if rules.stop is None or shoe.left <= rules.stop:
        raise ValueError(f"a shoe of {shoe.left} cards is shuffled before the next round")
    for card, count in enumerate(shoe.counts):
        if count > full.counts[card]:
            raise ValueError(f"{count} of {card_name(card)} in a shoe of {rules.decks} decks")
    return shoe
