"""Features of the machine: each declares in one place all that it adds; the composition root adds them up."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from prometheus_client.core import Metric

from egm.errors import invariant
from egm.kernel.keys import Key, Keys
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.kernel.rules import DerivedState, Rule, Rules
from egm.kernel.services import Attachment, MachineContext, Make

T = TypeVar("T")

#: The languages every text of the machine exists in.
LANGUAGES: Final = ("en", "fr")


def _nothing(_: Machine) -> tuple[()]:
    """What a feature tells that tells nothing."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """What one feature adds to the machine. Whatever a field does not name, the feature does not have."""

    name: str
    keys: type[Key] | None = None
    """What of the machine's memory is its own; each key says its fate at a clear, and its owner."""
    rules: tuple[Rule[Machine], ...] = ()
    """Its rows of the state table, in the order in which they are tried."""
    states: tuple[DerivedState[Machine], ...] = ()
    """What its memory says the machine is doing."""
    services: tuple[Make, ...] = ()
    """What works beside the devices, once a machine."""
    position_services: tuple[Make, ...] = ()
    """The same, once a player position."""
    offers: tuple[object, ...] = ()
    """What it brings to the tables of other features: forms and pages of the service menu."""
    notices: Callable[[Machine], Iterable[Notice]] = _nothing
    """What it tells whoever stands before the machine, as long as it is so."""
    metrics: Callable[[Machine], Iterable[Metric]] = _nothing
    """What monitoring reads of it, beside the meters of the journal."""
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Its texts beside the screen's own catalogues: by language, then by key as in those (``notice.x``)."""


class Features:
    """All that a machine can do: the sum of its features, in the order in which their rules are tried."""

    def __init__(self, features: Iterable[Feature]) -> None:
        """Raises InvariantError where two have one name, key or text, or their rules are no state table."""
        self.all: Final = tuple(features)
        names = [feature.name for feature in self.all]
        for name in names:
            invariant(names.count(name) == 1, f"two features are called {name}")
        self.keys: Final = Keys(feature.keys for feature in self.all if feature.keys is not None)
        self.rules: Final[Rules[Machine]] = Rules(
            (rule for feature in self.all for rule in feature.rules),
            (state for feature in self.all for state in feature.states),
        )

        self.words: Final = {language: self._texts(language) for language in LANGUAGES}

    def _texts(self, language: str) -> dict[str, str]:
        texts: dict[str, str] = {}
        for feature in self.all:
            mine = feature.words.get(language, {})
            for key in (key for each in feature.words.values() for key in each):
                invariant(key in mine, f"{feature.name} does not say {key!r} in {language!r}")
                invariant(key not in texts, f"two features say {key!r}")
            texts |= mine
        return texts

    def attach(self, context: MachineContext) -> tuple[Attachment, ...]:
        """What works beside the devices of a machine, as its cabinet file asks for it."""
        made = (one for feature in self.all for make in feature.services for one in make(context))
        return (*made, *self.attach_to_position(context))

    def attach_to_position(self, context: MachineContext) -> tuple[Attachment, ...]:
        """The same of one player position."""
        return tuple(
            one for feature in self.all for make in feature.position_services for one in make(context)
        )

    def offered(self, kind: type[T]) -> tuple[T, ...]:
        """Everything of a class that a feature brings to others."""
        return tuple(one for feature in self.all for one in feature.offers if isinstance(one, kind))

    def notices(self, machine: Machine) -> Iterable[Notice]:
        """What every feature tells whoever stands before the machine."""
        return (notice for feature in self.all for notice in feature.notices(machine))

    def metrics(self, machine: Machine) -> Iterable[Metric]:
        """What monitoring reads of every feature."""
        return (metric for feature in self.all for metric in feature.metrics(machine))
