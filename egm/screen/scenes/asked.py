"""What a game asks, in words: the question, and each answer with what it costs."""

import re
from typing import Final

from egm.kernel.messages import Decision
from egm.screen.scenes.stage import Stage

#: More answers than this are not listed in a line: the field shows them.
_LISTED: Final = 4


def answer_words(stage: Stage, asked: Decision, option: str) -> str:
    """An option in words, with what it adds to the stake."""
    word = f"decide.{option}"
    words = stage.texts.say(word) if stage.texts.has(word) else re.sub(r"[_-]", " ", option).upper()
    cost = asked.costs.get(option, 0)
    unit_cents = stage.view.snapshot.denomination_cents if stage.view.snapshot else 1
    return f"{words}  +{stage.money(cost * unit_cents)}" if cost else words


def question_words(stage: Stage, asked: Decision) -> str:
    """The question; of a kind that has no words, which choice is to be made."""
    key = f"decide.{asked.kind}"
    if stage.texts.has(key) and asked.kind not in asked.options:  # else the word is an answer's
        return stage.texts.say(key)
    listed = _listed(stage, asked)
    return stage.texts.say("decide.of", options=listed) if listed else stage.texts.say("decide.other")


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
