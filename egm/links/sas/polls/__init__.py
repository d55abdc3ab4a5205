"""Every long poll that this machine answers; each module covers one area and lists ``POLL_IMPLEMENTATIONS``."""

from collections.abc import Mapping
from typing import Final

from egm.config.sas_line import SasPollGroup
from egm.errors import check_invariant
from egm.links.sas.poll import PollImplementation
from egm.links.sas.polls import (
    aft,
    control,
    games,
    handpays,
    machine,
    meters,
    progressives,
    signature,
    tickets,
)

#: The modules that list polls.
_POLL_MODULES: Final = (meters, games, machine, handpays, control, signature, tickets, aft, progressives)


def _build_poll_index() -> dict[int, PollImplementation]:
    """Return every long poll that is implemented, by command code."""
    index: dict[int, PollImplementation] = {}
    for module in _POLL_MODULES:
        for poll in module.POLL_IMPLEMENTATIONS:
            check_invariant(poll.code not in index, "sas.poll_built_twice")
            check_invariant(
                (poll.answer_function is None) != (poll.effect_function is None),
                "sas.poll_needs_exactly_one_function",
            )
            index[poll.code] = poll
    return index


#: Every long poll that is implemented, by command code.
IMPLEMENTED_POLLS: Final[Mapping[int, PollImplementation]] = _build_poll_index()


def find_available_polls(groups: frozenset[SasPollGroup]) -> dict[int, PollImplementation]:
    """Return the long polls that a host may use, by command code: all polls of the option groups in ``groups``.

    An option group is a set of polls that the cabinet file switches on together.
    """
    return {code: poll for code, poll in IMPLEMENTED_POLLS.items() if poll.group in groups}
