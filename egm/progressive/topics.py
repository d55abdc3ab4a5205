"""The topics of a progressive link on an MQTT broker: a way up and one down for each machine, one a level.

Each sign on the floor has one on which its heart beats. The broker lets a machine publish only on its own way
up, named by its certificate, and read only its own way down and the values: so the topic a message came on
says who sent it.
"""

from typing import Final

PREFIX: Final = "egm/progressive"
ALL_UP: Final = f"{PREFIX}/machine/+/up"
ALL_VALUES: Final = f"{PREFIX}/level/+/value"
ALL_SIGNS: Final = f"{PREFIX}/sign/+/beat"


def up(machine: str) -> str:
    """What a machine says to the controller."""
    return f"{PREFIX}/machine/{machine}/up"


def down(machine: str) -> str:
    """What the controller says to a machine."""
    return f"{PREFIX}/machine/{machine}/down"


def value(level: str) -> str:
    """What a level shows; retained."""
    return f"{PREFIX}/level/{level}/value"


def beat(sign: str) -> str:
    """Where a sign says, again and again, what it shows."""
    return f"{PREFIX}/sign/{sign}/beat"


def sign_of(topic: str) -> str:
    """Whose heart beats there; nothing where it is no sign's topic."""
    start, end = f"{PREFIX}/sign/", "/beat"
    return topic[len(start) : -len(end)] if topic.startswith(start) and topic.endswith(end) else ""


def machine_of(topic: str) -> str:
    """Who sent what came on a way up."""
    return topic.removeprefix(f"{PREFIX}/machine/").removesuffix("/up")
