"""Topics of a progressive link on an MQTT broker: an uplink and a downlink per machine, one per level.

Each sign on the floor has one for its heartbeat. The broker lets a machine publish only on its own uplink,
named by its certificate, and read only its own downlink and the values: so the topic of a message identifies
its sender.
"""

from typing import Final

#: The beginning of every topic of the link.
PREFIX: Final = "egm/progressive"
#: Subscription to the messages of all machines.
ALL_UP: Final = f"{PREFIX}/machine/+/up"
#: Subscription to the amounts of all levels.
ALL_VALUES: Final = f"{PREFIX}/level/+/value"
#: Subscription to the wins of all levels.
ALL_WINS: Final = f"{PREFIX}/level/+/won"
#: Subscription to the heartbeats of all signs.
ALL_SIGNS: Final = f"{PREFIX}/sign/+/beat"


def build_uplink_topic(machine: str) -> str:
    """Return the topic of a machine's messages to the controller."""
    return f"{PREFIX}/machine/{machine}/up"


def build_downlink_topic(machine: str) -> str:
    """Return the topic of the controller's messages to a machine."""
    return f"{PREFIX}/machine/{machine}/down"


def build_value_topic(level: str) -> str:
    """Return the topic on which a progressive level's value is published as a retained message."""
    return f"{PREFIX}/level/{level}/value"


def build_win_topic(level: str) -> str:
    """Return the topic on which signs receive who has just won a progressive level."""
    return f"{PREFIX}/level/{level}/won"


def build_heartbeat_topic(sign: str) -> str:
    """Return the MQTT topic on which a jackpot sign repeatedly reports what it shows."""
    return f"{PREFIX}/sign/{sign}/beat"


def parse_sign(topic: str) -> str:
    """Return the name of the jackpot sign to which a heartbeat topic belongs; empty for any other topic."""
    start, end = f"{PREFIX}/sign/", "/beat"
    return topic[len(start) : -len(end)] if topic.startswith(start) and topic.endswith(end) else ""


def parse_machine(topic: str) -> str:
    """Return the serial number of the machine that an uplink topic belongs to."""
    return topic.removeprefix(f"{PREFIX}/machine/").removesuffix("/up")
