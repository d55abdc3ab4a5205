"""Features of the machine: each declares in one place everything that it adds to the machine.

:mod:`egm.app.features` lists the features, and :class:`Features` combines their declarations.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from prometheus_client.core import Metric

from egm.errors import check_invariant
from egm.kernel.entries import AnyEntryDeclaration, EntryDeclarations
from egm.kernel.events import EventName, Payload, PayloadClasses
from egm.kernel.keys import StorageKey, StorageKeys
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import DerivedState, Rule, StateTable
from egm.kernel.services import BackgroundService, MachineContext, ServiceFactory

ContributionT = TypeVar("ContributionT")

#: The languages in which every text of the machine exists.
LANGUAGES: Final = ("en", "fr")


def _return_nothing(_: PositionMachine) -> tuple[()]:
    """Return an empty tuple: the notices or metrics of a feature that has none."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """Everything that one feature adds to the machine. Fields left at their default add nothing."""

    name: str
    storage_keys: type[StorageKey] | None = None
    """The feature's storage keys in the machine's memory; each states its owner and its action at a memory clear."""
    value_types: Mapping[StorageKey, object] = field(default_factory=dict)
    """The type of the value under each of the feature's storage keys: a record class, or another field type."""
    entry_declarations: tuple[AnyEntryDeclaration, ...] = ()
    """The kinds of journal entries that the feature writes."""
    payload_classes: Mapping[EventName, type[Payload]] = field(default_factory=dict)
    """The payload class of each event that the feature declares, by event name."""
    rules: tuple[Rule[PositionMachine], ...] = ()
    """The feature's rules in the state table, in the order in which they are tried."""
    derived_states: tuple[DerivedState[PositionMachine], ...] = ()
    """The machine states that the feature's stored values imply; for example, an open hand-pay implies HANDPAY."""
    service_factories: tuple[ServiceFactory, ...] = ()
    """Factories of background services, called once per machine."""
    position_service_factories: tuple[ServiceFactory, ...] = ()
    """Factories of background services, called once per player position."""
    contributions: tuple[object, ...] = ()
    """What the feature adds to others: forms, pages and items of the service menu, staff registers, and so on."""
    list_notices: Callable[[PositionMachine], Iterable[Notice]] = _return_nothing
    """A function that returns the feature's notices to show now to the person at the machine."""
    list_metrics: Callable[[PositionMachine], Iterable[Metric]] = _return_nothing
    """A function that returns the feature's metrics, except the journal's meters, which are exported anyway."""
    texts_by_language: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The feature's texts that the screen's own catalogues lack: by language, then by catalogue key (``notice.x``)."""


class Features:
    """All features of a machine. Their rules are tried in the order of the features."""

    def __init__(self, features: Iterable[Feature]) -> None:
        """Combine the features of a machine.

        Raises InvariantError if two features share a name, key, event payload, entry or text, if a text is missing in
        a language, or if the rules do not form a state table.
        """
        self.features: Final = tuple(features)
        names = [feature.name for feature in self.features]
        for name in names:
            check_invariant(names.count(name) == 1, f"two features have the name {name}")
        self.storage_keys: Final = StorageKeys(
            (feature.storage_keys for feature in self.features if feature.storage_keys is not None),
            {key: value_type for feature in self.features for key, value_type in feature.value_types.items()},
        )
        self.entry_declarations: Final = EntryDeclarations(
            declaration for feature in self.features for declaration in feature.entry_declarations
        )
        self.state_table: Final[StateTable[PositionMachine]] = StateTable(
            (rule for feature in self.features for rule in feature.rules),
            PayloadClasses(feature.payload_classes for feature in self.features),
            (state for feature in self.features for state in feature.derived_states),
        )

        self.texts_by_language: Final = {language: self._merge_texts(language) for language in LANGUAGES}

    def _merge_texts(self, language: str) -> dict[str, str]:
        """Return the texts of all features in a language, by catalogue key.

        Raises InvariantError if a text is missing in this language, or if two features have the same catalogue
        key.
        """
        texts: dict[str, str] = {}
        for feature in self.features:
            translations = feature.texts_by_language.get(language, {})
            for key in (key for catalogue in feature.texts_by_language.values() for key in catalogue):
                check_invariant(
                    key in translations, f"{feature.name}: the text {key!r} is missing in {language!r}"
                )
                check_invariant(key not in texts, f"two features declare the text {key!r}")
            texts |= translations
        return texts

    def create_services(self, context: MachineContext) -> tuple[BackgroundService, ...]:
        """Create the background services that the cabinet file requires, for the machine and for position 1.

        For each further position, only :meth:`create_position_services` is called.
        """
        services = (
            service
            for feature in self.features
            for create_services_of_feature in feature.service_factories
            for service in create_services_of_feature(context)
        )
        return (*services, *self.create_position_services(context))

    def create_position_services(self, context: MachineContext) -> tuple[BackgroundService, ...]:
        """Create the background services that the cabinet file requires for one player position."""
        return tuple(
            service
            for feature in self.features
            for create_services_of_feature in feature.position_service_factories
            for service in create_services_of_feature(context)
        )

    def list_contributions(self, contribution_class: type[ContributionT]) -> tuple[ContributionT, ...]:
        """Return all objects of the class ``contribution_class`` that features contribute to other features."""
        return tuple(
            contribution
            for feature in self.features
            for contribution in feature.contributions
            if isinstance(contribution, contribution_class)
        )

    def iter_notices(self, machine: PositionMachine) -> Iterable[Notice]:
        """Return the notices of every feature for the person at the machine."""
        return (notice for feature in self.features for notice in feature.list_notices(machine))

    def iter_metrics(self, machine: PositionMachine) -> Iterable[Metric]:
        """Return the metrics of every feature."""
        return (metric for feature in self.features for metric in feature.list_metrics(machine))
