"""The topics of a progressive link on an MQTT broker: one way up and one down for each machine, one a level.

The broker lets a machine publish only on its own way up, named by its certificate, and read only its own way
down and the values: so the topic a message came on says who sent it.
"""

from typing import Final

PREFIX: Final = "egm/progressive"
ALL_UP: Final = f"{PREFIX}/machine/+/up"
ALL_VALUES: Final = f"{PREFIX}/level/+/value"


def up(machine: str) -> str:
    """What a machine says to the controller."""
    return f"{PREFIX}/machine/{machine}/up"


def down(machine: str) -> str:
    """What the controller says to a machine."""
    return f"{PREFIX}/machine/{machine}/down"


def value(level: str) -> str:
    """What a level shows; retained."""
    return f"{PREFIX}/level/{level}/value"


def machine_of(topic: str) -> str:
    """Who sent what came on a way up."""
    return topic.removeprefix(f"{PREFIX}/machine/").removesuffix("/up")
