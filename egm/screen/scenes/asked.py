"""What a game asks, in words: the question, and each answer with what it costs."""

import re
from typing import Final

from egm.kernel.messages import Decision
from egm.screen.scenes.stage import Stage

#: More answers than this are not listed in a line: the field shows them.
_LISTED: Final = 4
#: Whose answer a table of several waits for.
_TURN: Final = frozenset({"answer_within", "seat_answers"})


def answer_words(stage: Stage, asked: Decision, option: str) -> str:
    """An option in words, with what it adds to the stake."""
    words = option_words(stage, option)
    cost = asked.costs.get(option, 0)
    unit_cents = stage.view.snapshot.denomination_cents if stage.view.snapshot else 1
    return f"{words}  +{stage.money(cost * unit_cents)}" if cost else words


def option_words(stage: Stage, option: str) -> str:
    """An option in words; ``raise-3`` is so many times what ``raise`` is."""
    name, _, count = option.rpartition("-")
    if stage.texts.has(f"decide.{option}"):
        return stage.texts.say(f"decide.{option}")
    if count.isdecimal() and stage.texts.has(f"decide.{name}"):
        return stage.texts.say("decide.many", option=stage.texts.say(f"decide.{name}"), count=count)
    return re.sub(r"[_-]", " ", option).upper()


def question_words(stage: Stage, asked: Decision) -> str:
    """The question; of a kind that has no words, which choice is to be made."""
    key, kinds = f"decide.{asked.kind}", {str(option).rstrip("-0123456789") for option in asked.options}
    if not asked.options and not stage.texts.has(key):
        return stage.texts.say("decide.waits")
    if stage.texts.has(key) and asked.kind not in kinds:  # else the word is an answer's
        return stage.texts.say(key)
    listed = _listed(stage, asked)
    return stage.texts.say("decide.of", options=listed) if listed else stage.texts.say("decide.other")


def turn_words(stage: Stage, asked: Decision) -> str:
    """The question, and where others wait for its answer how long; of another's, that he is deciding."""
    words, snapshot = question_words(stage, asked), stage.view.snapshot
    turn = next((each for each in snapshot.notices if each.code in _TURN), None) if snapshot else None
    if turn is None:
        return words
    said = stage.texts.say(f"notice.{turn.code}", **turn.values)
    return f"{words}  \u00b7  {said}" if asked.options else said


def first_words(stage: Stage, asked: Decision) -> str:
    """PLAY does nothing before the question is answered: which one."""
    listed = _listed(stage, asked)
    return stage.texts.say("decide.first", options=listed) if listed else question_words(stage, asked)


def _listed(stage: Stage, asked: Decision) -> str:
    """The answers beside each other, where they are few words."""
    options = [option for option in asked.options if isinstance(option, str)]
    if not options or len(options) < len(asked.options) or len(options) > _LISTED:
        return ""
    return " / ".join(answer_words(stage, asked, option) for option in options)
