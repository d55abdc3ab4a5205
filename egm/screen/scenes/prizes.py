"""The texts about merchandise prizes, used wherever a win is named."""

from collections.abc import Sequence

from egm.kernel.messages import PrizeInKind
from egm.screen.scenes.stage import Stage


def format_prize_names(stage: Stage, prizes: Sequence[PrizeInKind]) -> str:
    """Return the names of merchandise prizes as one text. A prize that was won several times has its count."""
    names = [stage.texts.choose_translation(prize.names, prize.id) for prize in prizes]
    count_by_name = {name: names.count(name) for name in names}
    return "  ·  ".join(
        name if count == 1 else stage.texts.say("help.kind", count=count, name=name)
        for name, count in count_by_name.items()
    )


def format_prizes_won(stage: Stage, prizes: Sequence[PrizeInKind]) -> str:
    """Return the text that announces the merchandise prizes won."""
    return stage.texts.say("win.prize", name=format_prize_names(stage, prizes))
