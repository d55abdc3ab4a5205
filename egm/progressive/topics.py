"""MQTT topics of a progressive link.

A machine publishes on its uplink topic and reads its downlink topic. A level has a topic for its amount and one
for its wins. A sign on the floor publishes its heartbeat on its own topic. The broker identifies a
machine by the machine's certificate, and lets it publish only on its own uplink and read only its own downlink and
the amounts. So the topic of a message identifies its sender.
"""

from typing import Final

#: The beginning of every topic of the link.
TOPIC_PREFIX: Final = "egm/progressive"
#: Subscription to the messages of all machines.
MACHINE_UPLINK_TOPIC_FILTER: Final = f"{TOPIC_PREFIX}/machine/+/up"
#: Subscription to the amounts of all levels.
LEVEL_VALUE_TOPIC_FILTER: Final = f"{TOPIC_PREFIX}/level/+/value"
#: Subscription to the wins of all levels.
LEVEL_WIN_TOPIC_FILTER: Final = f"{TOPIC_PREFIX}/level/+/won"
#: Subscription to the heartbeats of all signs.
SIGN_HEARTBEAT_TOPIC_FILTER: Final = f"{TOPIC_PREFIX}/sign/+/beat"


def build_uplink_topic(machine_id: str) -> str:
    """Return the MQTT topic on which a machine publishes its messages to the progressive controller."""
    return f"{TOPIC_PREFIX}/machine/{machine_id}/up"


def build_downlink_topic(machine_id: str) -> str:
    """Return the MQTT topic on which the progressive controller publishes its messages to a machine."""
    return f"{TOPIC_PREFIX}/machine/{machine_id}/down"


def build_level_value_topic(level_id: str) -> str:
    """Return the MQTT topic on which a level's current amount is published as a retained message."""
    return f"{TOPIC_PREFIX}/level/{level_id}/value"


def build_level_win_topic(level_id: str) -> str:
    """Return the MQTT topic on which the wins of a progressive level are published to the floor's signs."""
    return f"{TOPIC_PREFIX}/level/{level_id}/won"


def build_heartbeat_topic(sign_id: str) -> str:
    """Return the MQTT topic on which a jackpot sign repeatedly reports what it shows."""
    return f"{TOPIC_PREFIX}/sign/{sign_id}/beat"


def parse_sign_id(topic: str) -> str:
    """Return the name of the jackpot sign in a heartbeat topic; empty for any other topic."""
    start, end = f"{TOPIC_PREFIX}/sign/", "/beat"
    return topic[len(start) : -len(end)] if topic.startswith(start) and topic.endswith(end) else ""


def parse_machine_id(topic: str) -> str:
    """Return the serial number of the machine in an uplink topic; the caller must know that ``topic`` is one."""
    return topic.removeprefix(f"{TOPIC_PREFIX}/machine/").removesuffix("/up")
