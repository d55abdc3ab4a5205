"""The hands of cards on a table as data: at the end of a step, or while cards are being dealt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from egm.screen.presentation import StepTimes
from egm.screen.scenes.card_faces import FACE_DOWN_CARD_CODE
from egm.screen.steps import TableStep


@dataclass(frozen=True, slots=True)
class DealtHand:
    """A hand of cards as shown on a table."""

    id: str
    cards: tuple[str, ...]
    """The cards of the hand by their short names. ``??`` is a card face down, an empty name a removed card."""
    value_text_by_language: Mapping[str, str]
    """The value of the hand as text, by language."""
    staked_credits: int = 0
    """The bet on the hand that is not decided yet, in credits."""
    settlements: tuple[str, ...] = ()
    """The result of each bet on the hand, such as ``won`` or ``push``."""
    won_pay_id: str = ""
    """The id of the row of the pay table that the hand wins; empty if it wins nothing."""
    seat: int | None = None
    """At a shared table, the seat of the player who has the hand."""
    is_own: bool = False
    """Whether the player at this machine has the hand."""
    remaining_credits: int | None = None
    """How many credits the hand's player can still bet in this game; None if the game sets no such limit."""
    received_credits: int = 0
    """How many credits the hand's player receives from the pots."""
    pots: tuple[int, ...] = ()
    """The credits in the main pot and in each side pot; empty if there is only one pot."""


def build_current_hands(
    step: TableStep, previous_step: TableStep | None, step_times: StepTimes | None, elapsed_seconds: float
) -> list[DealtHand]:
    """Return the hands of cards as they are shown ``elapsed_seconds`` after the presentation began.

    While cards are dealt, these are the hands of the previous step, changed by the cues shown so far, without values
    and money. Afterwards, they are the hands at the end of the step.
    """
    final_hands = read_final_hands(step.display)
    if step_times is None:
        return final_hands
    cards_by_hand: dict[str, list[str]] = {}
    if previous_step is not None:
        cards_by_hand = _list_cards_held_before_draw(final_hands, step)
        cards_by_hand |= {hand.id: list(hand.cards) for hand in read_final_hands(previous_step.display)}
    for cue, stop_seconds in zip(step.cues, step_times.stop_seconds, strict=True):
        if elapsed_seconds >= stop_seconds:
            _apply_card_cue(cards_by_hand, cue)
    cards_by_hand.pop("", None)  # A burnt card belongs to no hand.
    owner_by_hand = {hand.id: (hand.seat, hand.is_own) for hand in final_hands}
    hand_ids = [*dict.fromkeys([*owner_by_hand, *cards_by_hand])]
    owned_hands = [(hand_id, *owner_by_hand.get(hand_id, (None, False))) for hand_id in hand_ids]
    return [
        DealtHand(hand_id, tuple(cards_by_hand.get(hand_id, ())), {}, seat=seat, is_own=is_own)
        for hand_id, seat, is_own in owned_hands
    ]


def _list_cards_held_before_draw(hands: Sequence[DealtHand], step: TableStep) -> dict[str, list[str]]:
    """Return each hand that draws in this step as it looks before the draw: held cards, and backs for the others.

    Empty if no hand draws cards, as in any game but draw poker.
    """
    drawn_indices_by_hand: dict[str, set[int]] = {}
    for cue in step.cues:
        if cue.get("cue") == "draw":
            drawn_indices_by_hand.setdefault(str(cue["hand"]), set()).add(int(cue["index"]))
    return {
        hand.id: [
            FACE_DOWN_CARD_CODE if index in drawn_indices_by_hand[hand.id] else card
            for index, card in enumerate(hand.cards)
        ]
        for hand in hands
        if hand.id in drawn_indices_by_hand
    }


def read_final_hands(display: Mapping[str, Any]) -> list[DealtHand]:
    """Return the hands of cards at the end of a step of a table round."""
    return [
        DealtHand(
            str(hand_data["id"]),
            tuple(map(str, hand_data["cards"])),
            _read_translations(hand_data.get("says")),
            int(hand_data.get("staked", 0)),
            tuple(map(str, hand_data.get("became", ()))),
            str(hand_data.get("won") or ""),
            hand_data.get("seat"),
            bool(hand_data.get("own")),
            hand_data.get("left"),
            int(hand_data.get("received", 0)),
            tuple(map(int, hand_data.get("pots", ()))),
        )
        for hand_data in display.get("hands", ())
    ]


def _read_translations(text_or_translations: object) -> Mapping[str, str]:
    """Return the value of a hand as text by language.

    A value that is not text, such as a number of points, is the same in every language.
    """
    return (
        text_or_translations
        if isinstance(text_or_translations, Mapping)
        else {"en": str(text_or_translations)}
        if text_or_translations
        else {}
    )


def _apply_card_cue(cards_by_hand: dict[str, list[str]], cue: Mapping[str, Any]) -> None:
    """Change the cards of each hand as an animation cue says. A shuffle or a burnt card changes no hand."""
    if "hand" not in cue:
        return
    hand_cards, cue_kind = cards_by_hand.setdefault(str(cue["hand"]), []), cue.get("cue")
    index, card = int(cue.get("index", len(hand_cards))), str(cue.get("card", ""))
    if cue_kind == "deal":
        hand_cards.append(card)
    elif cue_kind == "split" and hand_cards:
        cards_by_hand.setdefault(str(cue.get("to", "")), []).append(hand_cards.pop())
    elif cue_kind in {"flip", "draw", "discard"} and 0 <= index < len(hand_cards):
        hand_cards[index] = card if cue_kind != "discard" else ""


class FlyingCard(NamedTuple):
    """A card that is moving to a hand: its index there (-1: after the last card), and its progress from 0 to 1."""

    hand_id: str
    card_index: int
    card: str
    progress: float


def find_flying_card(
    step: TableStep, step_times: StepTimes | None, elapsed_seconds: float
) -> FlyingCard | None:
    """Return the card that is moving to a hand now, or None."""
    if step_times is None:
        return None
    for cue_index, (cue, stop) in enumerate(zip(step.cues, step_times.stop_seconds, strict=True)):
        if elapsed_seconds < stop:
            start = step_times.stop_seconds[cue_index - 1] if cue_index else step_times.start_seconds
            if cue.get("cue") not in {"deal", "draw"}:
                return None
            progress = (elapsed_seconds - start) / max(0.01, stop - start)
            card_index = int(cue["index"]) if "index" in cue else -1
            return FlyingCard(
                str(cue.get("hand", "")), card_index, str(cue.get("card", FACE_DOWN_CARD_CODE)), progress
            )
    return None
