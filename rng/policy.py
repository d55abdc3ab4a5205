"""Settings of the random number generator: when it is reseeded and cycled, and the identity of the machine."""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, Self

from rng.errors import InvalidPolicy
from rng.mechanism import RESEED_INTERVAL, MechanismName


@dataclass(frozen=True, slots=True, kw_only=True)
class ReseedPolicy:
    """A jurisdiction's settings for the random number generator: mechanism, reseeding, cycling and self-test.

    Seeding from fresh entropy at boot always happens and is not a setting. The regulations contradict each other
    (reseed often with external entropy; reseed as little as possible and never under an operator's control; cycle in
    the background), so each rule is a setting. Every reseed is an event with its reason and counters.

    A *request* is one call of the generator for output (SP 800-90A: generate). A *step* is one use of the service
    (``with service.step()``), which may make many requests.

    Background cycling discards output of the generator at random intervals. With ``fresh_input_each_request``, the
    generator also receives randomness of the kernel with each request. This is not counted as entropy: it only makes
    two machines diverge at once if both were started from one snapshot of the memory.
    """

    mechanism: MechanismName = MechanismName.CTR_AES_256_DF
    """The deterministic generator (a mechanism of SP 800-90A) that the service uses."""
    every_generates: int = 10_000
    """Reseed before the next step once this many requests were served since the last seeding; 0: never."""
    every_seconds: int = 86_400
    """Reseed before the next step once this many seconds have passed since the last seeding; 0: never."""
    on_event: frozenset[str] = frozenset({"door_closed", "game_installed", "configuration_changed"})
    """The events of the machine after which the generator may be reseeded.

    They are the reasons that :meth:`RandomService.reseed` accepts. The service itself also reseeds for
    its own reasons, such as the age of the seed.
    """
    prediction_resistance: bool = False
    """Whether to reseed before every step (SP 800-90A: before every request)."""
    fresh_input_each_request: bool = field(default=True, metadata={"profile_key": "fresh_input_each_step"})
    """Whether each request mixes 16 bytes of the kernel's randomness into the generator."""
    cycle_min_ms: int = 0
    """The shortest time between two discards of output (background cycling), in milliseconds; 0: no cycling."""
    cycle_max_ms: int = 0
    """The longest time between two discards of output (background cycling), in milliseconds; 0: no cycling."""
    self_test_every_generates: int = 100_000
    """The number of requests after which the generator and its entropy sources are tested again; 0: never."""

    def __post_init__(self) -> None:
        for name in (
            "every_generates",
            "every_seconds",
            "cycle_min_ms",
            "cycle_max_ms",
            "self_test_every_generates",
        ):
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise InvalidPolicy(f"{name} is {value!r}; expected a whole number, 0 or more")
        if self.every_generates > RESEED_INTERVAL:
            raise InvalidPolicy(
                f"every_generates is {self.every_generates}; one seed may serve at most {RESEED_INTERVAL} requests"
            )
        if bool(self.cycle_min_ms) != bool(self.cycle_max_ms) or self.cycle_min_ms > self.cycle_max_ms:
            raise InvalidPolicy(
                f"cycle_min_ms {self.cycle_min_ms} and cycle_max_ms {self.cycle_max_ms}: expected both 0, or a range"
            )
        if self.mechanism is MechanismName.CTR_AES_256:
            raise InvalidPolicy(
                f"{self.mechanism} cannot combine several entropy sources in one seed; "
                f"use {MechanismName.CTR_AES_256_DF}"
            )

    @classmethod
    def get_field_by_profile_key(cls) -> dict[str, Field[object]]:
        """Return each field of the policy by its key in a jurisdiction's profile.

        The key is the field's name, unless the field's metadata has a ``profile_key``.
        """
        return {setting.metadata.get("profile_key", setting.name): setting for setting in fields(cls)}

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any]) -> Self:
        """Return the reseed policy made from a profile's settings; a setting that is missing has its default.

        Raises :class:`InvalidPolicy`.
        """
        field_by_key = cls.get_field_by_profile_key()
        if unknown_keys := sorted(settings.keys() - field_by_key.keys()):
            raise InvalidPolicy(
                f"unknown setting {unknown_keys[0]!r}; expected one of {', '.join(sorted(field_by_key))}"
            )
        values = {field_by_key[key].name: value for key, value in settings.items()}
        if "mechanism" in values:
            try:
                values["mechanism"] = MechanismName(values["mechanism"])
            except ValueError:
                raise InvalidPolicy(
                    f"unknown mechanism {values['mechanism']!r}; expected one of {', '.join(MechanismName)}"
                ) from None
        if "on_event" in values:
            reasons = values["on_event"]
            if isinstance(reasons, str) or not all(isinstance(reason, str) for reason in reasons):
                raise InvalidPolicy(f"on_event is {reasons!r}; expected a list of reasons")
            values["on_event"] = frozenset(reasons)
        for key in ("prediction_resistance", "fresh_input_each_step"):
            if not isinstance(settings.get(key, False), bool):
                raise InvalidPolicy(f"{key} is {settings[key]!r}; expected true or false")
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Personalization:
    """The identity of one random number generator instance, which makes its sequence unique.

    Two instances never produce the same sequence, even from equal seeds.
    """

    product: str
    """The name of the product."""
    version: str
    """The version of the software."""
    machine_serial: str
    """The serial number of the machine."""
    instance: int
    """The number that distinguishes this generator from the machine's other generators."""
    boot_counter: int
    """The number of times that the machine has started; it never repeats."""

    def __post_init__(self) -> None:
        for name in ("product", "version", "machine_serial"):
            if not getattr(self, name):
                raise InvalidPolicy(f"personalization: {name} is empty")
        for name in ("instance", "boot_counter"):
            if not 0 <= getattr(self, name) < 1 << 64:
                raise InvalidPolicy(
                    f"personalization: {name} is {getattr(self, name)}; expected 0 to 2**64 - 1"
                )

    def encode(self) -> bytes:
        """Return the generator's personalization string: each text preceded by its length, so encodings are unique."""
        texts = (text.encode() for text in (self.product, self.version, self.machine_serial))
        return b"".join(len(text).to_bytes(4) + text for text in texts) + self.build_nonce()

    def build_nonce(self) -> bytes:
        """Return the 16-byte nonce (SP 800-90A section 8.6.7) from ``instance`` and ``boot_counter``.

        No pair of the two numbers is ever used twice.
        """
        return self.instance.to_bytes(8) + self.boot_counter.to_bytes(8)
