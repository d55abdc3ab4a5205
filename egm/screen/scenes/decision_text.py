"""The texts of a player decision: the question, and each option with its cost."""

import re
from typing import Final

from egm.kernel.messages import DecisionRequest
from egm.screen.scenes.drawing_context import DrawingContext

#: More options than this are not listed in a line; the field shows them.
_LISTED_OPTIONS_MAX: Final = 4
#: Notices that a shared table is waiting for one player's decision.
_TURN_NOTICE_CODES: Final = frozenset({"answer_within", "answer_within_bank", "seat_answers"})


def format_option(context: DrawingContext, decision: DecisionRequest, option: str) -> str:
    """Return the text of an option of a decision, with the amount that it adds to the stake, if any."""
    text = format_option_name(context, option)
    cost = decision.costs.get(option, 0)
    return f"{text}  +{context.format_money(cost * context.view.denomination_cents)}" if cost else text


def format_option_name(context: DrawingContext, option: str) -> str:
    """Return the text of an option from its id ``option``.

    For ``raise-3`` it is the text of ``raise`` with the number 3. Without a text, it is the id in capital letters.
    """
    name, _, count = option.rpartition("-")
    if context.texts.has_text(f"decide.{option}"):
        return context.texts.translate(f"decide.{option}")
    if count.isdecimal() and context.texts.has_text(f"decide.{name}"):
        return context.texts.translate(
            "decide.many", option=context.texts.translate(f"decide.{name}"), count=count
        )
    return re.sub(r"[_-]", " ", option).upper()


def format_question(context: DrawingContext, decision: DecisionRequest) -> str:
    """Return the question of a decision as text.

    If there is no question for this kind of decision, return a text that lists the options or, if they cannot be
    listed, a general text. If another player decides and there is no text for it, return a text that asks to wait.
    """
    key = f"decide.{decision.kind}"
    answer_kinds = {str(option).rstrip("-0123456789") for option in decision.options}
    if not decision.options and not context.texts.has_text(key):
        return context.texts.translate("decide.waits")
    # If an option has the name of the kind, the text names the option and is no question.
    if context.texts.has_text(key) and decision.kind not in answer_kinds:
        return context.texts.translate(key)
    answer_list = _format_option_list(context, decision)
    return (
        context.texts.translate("decide.of", options=answer_list)
        if answer_list
        else context.texts.translate("decide.other")
    )


def format_question_with_time_left(context: DrawingContext, decision: DecisionRequest) -> str:
    """Return the question of a decision, with the time left if other players at the table wait for it.

    If it is another player's decision, return a text that says so.
    """
    text, snapshot = format_question(context, decision), context.view.snapshot
    turn_notice = (
        next((notice for notice in snapshot.notices if notice.code in _TURN_NOTICE_CODES), None)
        if snapshot
        else None
    )
    if turn_notice is None:
        return text
    notice_text = context.texts.translate(f"notice.{turn_notice.code}", **turn_notice.values)
    return f"{text}  \u00b7  {notice_text}" if decision.options else notice_text


def describe_decision_before_play(context: DrawingContext, decision: DecisionRequest) -> str:
    """Return the text that says which decision the player must make before PLAY has an effect."""
    answer_list = _format_option_list(context, decision)
    return (
        context.texts.translate("decide.first", options=answer_list)
        if answer_list
        else format_question(context, decision)
    )


def describe_offered_options(context: DrawingContext, decision: DecisionRequest) -> str:
    """Return the text that is shown after the machine has refused the player's choice in a decision.

    It lists the options on offer, or says that the player's choice is not among them.
    """
    answer_list = _format_option_list(context, decision)
    key = "decide.not_offered" if answer_list else "notice.refused.choice_is_offered"
    return context.texts.translate(key, options=answer_list)


def _format_option_list(context: DrawingContext, decision: DecisionRequest) -> str:
    """Return the options of a decision as one line of text.

    Empty if there are too many, or if one has no text, such as a box that is known by its number.
    """
    options = [option for option in decision.options if isinstance(option, str)]
    if not options or len(options) < len(decision.options) or len(options) > _LISTED_OPTIONS_MAX:
        return ""
    return " / ".join(format_option(context, decision, option) for option in options)
