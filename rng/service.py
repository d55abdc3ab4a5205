"""The random number service, from which a cabinet draws every outcome.

Random bytes are never generated ahead: a step generates its bytes when its first number is drawn, and again if it needs
more. It uses them at once and in order, and discards the rest when it ends. Any failure puts the service out of
service; only a new :meth:`RandomService.start`, under authority, ends that state.
"""

import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, Self

from rng.draws import WordDraws
from rng.errors import (
    OutOfService,
    RejectionLimit,
    ReseedNotAllowed,
    RngError,
    StepMisused,
)
from rng.mechanisms import MECHANISMS
from rng.policy import Personalization, ReseedPolicy
from rng.seeding import SeedGatherer, pack_carry_over, unpack_carry_over
from rng.self_test import run_self_test
from rng.sources import EntropySource, list_available_sources

#: Random bytes that a step generates at a time: 32 draws below 256 for the cost of one request.
BYTES_PER_STEP_REQUEST = 64
#: Fresh random bytes mixed into each request if the policy asks for it.
_FRESH_INPUT_SIZE_BYTES = 16
#: Background cycling discards the output of 1 to this many requests.
_CYCLE_REQUESTS_MAX = 8

#: Receiver of the service's events: a code, and values by name.
EventListener = Callable[[str, Mapping[str, object]], None]


def _ignore_event(code: str, values: Mapping[str, object]) -> None:
    """Ignore an event of the random number service; used if no other receiver of events is given."""


class DrawStep(WordDraws):
    """The random draws of one step of a game; a context manager, opened once and used only inside its ``with``.

    Raises :class:`~rng.errors.StepMisused` if used outside or reopened, and :class:`~rng.errors.OutOfService`
    once the service has failed, even for bytes that the step already holds.
    """

    __slots__ = ("_buffer", "_has_ended", "_is_open", "_service", "_used_byte_count", "request_count")

    def __init__(self, service: "RandomService") -> None:
        super().__init__(self._take)
        self._service = service
        self._is_open = self._has_ended = False
        self._buffer = b""
        """Bytes from the generator that this step has fetched."""
        self._used_byte_count = 0
        """The number of bytes of the buffer that this step has used."""
        self.request_count = 0
        """The number of requests for output that this step has made to the generator."""

    def __enter__(self) -> Self:
        if self._has_ended:
            raise StepMisused("a step was opened a second time; each step has its own draws")
        self._service._open_step(self)  # noqa: SLF001 (steps are part of the service)
        self._is_open = True
        return self

    def __exit__(self, *_: object) -> None:
        self._is_open = False
        self._has_ended = True
        self._buffer = b""
        self._service._close_step(self)  # noqa: SLF001

    def _take(self, count: int) -> bytes:
        """Return the next ``count`` random bytes of this step; generate more if the step's buffer has too few."""
        if not self._is_open:
            raise StepMisused("a number was drawn outside the step it belongs to")
        if self._service._failure is not None:  # noqa: SLF001 (the step's remaining bytes must not be used)
            self._service._check_in_service()  # noqa: SLF001
        end = self._used_byte_count + count
        if end > len(self._buffer):
            unused_bytes = self._buffer[self._used_byte_count :]
            missing_count = max(count, BYTES_PER_STEP_REQUEST) - len(unused_bytes)
            self._buffer = unused_bytes + self._service._generate(missing_count)  # noqa: SLF001
            self.request_count += 1
            self._used_byte_count, end = 0, count
        taken_bytes = self._buffer[self._used_byte_count : end]
        self._used_byte_count = end
        return taken_bytes

    def _raise_rejection_limit(self, bound: int) -> NoReturn:
        """Put the service out of service and raise :class:`OutOfService`.

        It is called if too many words in a row were rejected for this bound, so the words cannot be random.
        """
        try:
            super()._raise_rejection_limit(bound)
        except RejectionLimit as error:
            self._service._take_out_of_service(error)  # noqa: SLF001


class RandomService:
    """The seeded and self-tested random number generator of a machine.

    Create it with :meth:`start`. Once it has failed, every method that uses the generator raises OutOfService.
    """

    __slots__ = (
        "__weakref__",
        "_clock",
        "_current_step",
        "_cycle_count",
        "_drbg",
        "_failure",
        "_fresh_input",
        "_gatherer",
        "_last_seeding_ns",
        "_lock",
        "_on_event",
        "_pid",
        "_policy",
        "_rejected_word_count",
        "_request_count",
        "_request_count_at_last_test",
        "_reseed_count",
        "_step_count",
    )  # fmt: skip

    def __init__(
        self,
        gatherer: SeedGatherer,
        policy: ReseedPolicy,
        clock: Callable[[], int],
        on_event: EventListener,
        fresh_input: Callable[[int], bytes],
    ) -> None:
        self._gatherer = gatherer
        self._fresh_input = fresh_input
        """The function that returns fresh random bytes, which are passed to each request as additional input."""
        self._policy = policy
        self._clock = clock
        self._on_event = on_event
        """The function that is called with each event of the service."""
        self._lock = threading.RLock()
        self._pid = os.getpid()
        """The id of the process that started the service; a forked child may not use the service."""
        self._failure: str | None = None
        """Why the service is out of service, or None while it works."""
        self._current_step: DrawStep | None = None
        """The step that is open now, or None."""
        self._request_count = self._request_count_at_last_test = self._reseed_count = self._cycle_count = (
            self._step_count
        ) = self._rejected_word_count = 0

    @classmethod
    def start(
        cls,
        *,
        personalization: Personalization,
        sources: Sequence[EntropySource] | None = None,
        policy: ReseedPolicy | None = None,
        carry_over: bytes | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
        on_event: EventListener = _ignore_event,
        fresh_input: Callable[[int], bytes] = os.getrandom,  # noqa: TID251 (it feeds the generator)
    ) -> Self:
        """Return a new service, after testing the code and the entropy sources and seeding the generator.

        ``sources``: None for every source of this machine. ``carry_over``: the bytes that
        :meth:`build_carry_over` returned in the last power cycle; they are mixed into the personalization and
        not counted as entropy. ``clock``: returns monotonic nanoseconds. ``fresh_input``: returns bytes to mix
        into each request if the policy asks for it; they are not counted as entropy. ``on_event(code, values)``
        receives ``rng_started``, ``rng_reseeded``, ``rng_self_tested`` and ``rng_out_of_service``. If a test or
        a source fails, its error is raised after the event ``rng_out_of_service``.
        """
        policy = policy or ReseedPolicy()
        try:
            passed_tests = cls._run_start_up_self_test()
            reserved_output, known_fingerprints = (
                unpack_carry_over(carry_over) if carry_over is not None else (b"", ())
            )
            gatherer = SeedGatherer(
                list_available_sources() if sources is None else sources, known_fingerprints
            )
            service = cls(gatherer, policy, clock, on_event, fresh_input)
            service._seed(personalization, reserved_output)
        except Exception as error:
            on_event("rng_out_of_service", {"reason": str(error), "error": type(error).__name__})
            raise
        on_event(
            "rng_started",
            {
                "mechanism": policy.mechanism.value,
                "sources": gatherer.source_names,
                "self_tests": len(passed_tests),
                "instance": personalization.instance,
                "boot_counter": personalization.boot_counter,
                "carry_over": carry_over is not None,
            },
        )
        return service

    @staticmethod
    def _run_start_up_self_test() -> tuple[str, ...]:
        """Run the start-up self-test of the generator; return the names of the tests passed."""
        return run_self_test()

    def _seed(self, personalization: Personalization, reserved_output: bytes) -> None:
        """Create the generator from fresh entropy, the personalization, and the last power cycle's reserved output.

        Also arrange that every draw fails in a child process made by fork.
        """
        mechanism = MECHANISMS[self._policy.mechanism]
        self._drbg = mechanism(
            self._gatherer.gather(), personalization.build_nonce(), personalization.encode() + reserved_output
        )
        self._last_seeding_ns = self._clock()
        service = weakref.ref(self)

        def fail_in_forked_child() -> None:
            """Put the forked child's copy of the service out of service."""
            if child := service():
                child._failure = "the process was forked; a copy of a generator never draws"  # noqa: SLF001

        os.register_at_fork(after_in_child=fail_in_forked_child)

    @property
    def state(self) -> str:
        """Return the service's state: ``"in service"``, or ``"out of service: "`` and the reason."""
        return "in service" if self._failure is None else f"out of service: {self._failure}"

    def read_statistics(self) -> dict[str, int | str]:
        """Return counters since the service started, its state and its generator's name, for metrics and audit.

        They reveal nothing about the sequence of numbers.
        """
        return {
            "state": self.state,
            "mechanism": self._policy.mechanism.value,
            "steps": self._step_count,
            "generates": self._request_count,
            "rejected_words": self._rejected_word_count,
            "reseeds": self._reseed_count,
            "cycles": self._cycle_count,
            "since_seeding": self._drbg.reseed_counter,
        }

    def step(self) -> DrawStep:
        """Return a source of draws for one step: ``with service.step() as draws: draws.below(22, "reel 1")``."""
        return DrawStep(self)

    def reseed(self, reason: str) -> None:
        """Reseed the generator now, for a reason that the policy allows.

        Raises :class:`~rng.errors.ReseedNotAllowed`.
        """
        if reason not in self._policy.on_event:
            raise ReseedNotAllowed(f"the policy does not reseed for {reason!r}")
        with self._lock:
            self._check_in_service()
            self._reseed(reason)

    def cycle(self) -> int:
        """Discard a random amount of the generator's output; return the nanoseconds until the next call (0: never).

        The amount and the time until the next call are drawn from the generator itself, so that no player can predict
        them. Call it when the machine is idle; during an open step nothing is discarded.
        """
        cycle_min_ms, cycle_max_ms = self._policy.cycle_min_ms, self._policy.cycle_max_ms
        if not cycle_max_ms:
            return 0
        with self._lock:
            self._check_in_service()
            if self._current_step is None:
                request_count = 1 + self._generate(1)[0] % _CYCLE_REQUESTS_MAX
                for _ in range(request_count):
                    self._generate(BYTES_PER_STEP_REQUEST)
                self._cycle_count += 1
            pause_us = cycle_min_ms * 1000 + int.from_bytes(self._generate(8)) % (
                (cycle_max_ms - cycle_min_ms) * 1000 + 1
            )
            return pause_us * 1000

    def run_self_test(self) -> tuple[str, ...]:
        """Test the code of the generator and the entropy sources on demand; return the names of the tests passed.

        A failure puts the service out of service.
        """
        with self._lock:
            self._check_in_service()
            try:
                passed_tests = run_self_test()
                self._gatherer.run_start_up_test()
            except Exception as error:  # noqa: BLE001 (after any error nothing may be drawn)
                self._take_out_of_service(error)
            self._request_count_at_last_test = self._request_count
            self._on_event("rng_self_tested", {"self_tests": len(passed_tests)})
            return passed_tests

    def build_carry_over(self) -> bytes:
        """Return the data to store for the service's next :meth:`start`: reserved output and seed fingerprints.

        Neither the generator's state nor any outcome can be derived from it. Keep it secret nevertheless, use
        it for one start only, and create the next one right after.
        """
        with self._lock:
            return pack_carry_over(self._generate(32), self._gatherer.fingerprints)

    def _open_step(self, step: DrawStep) -> None:
        """Mark this step as open; run the self-test and reseed if due. Raises StepMisused if another step is open."""
        with self._lock:
            self._check_in_service()
            if self._current_step is not None:
                raise StepMisused("a step was opened inside another; end the first one before")
            self._current_step = step
            self._step_count += 1
            try:
                self._run_due_maintenance()
            except BaseException:
                self._current_step = None
                raise

    def _close_step(self, step: DrawStep) -> None:
        """End the open step of draws and count its rejected words."""
        with self._lock:
            self._current_step = None
            self._rejected_word_count += step.rejected_word_count

    def _run_due_maintenance(self) -> None:
        """Run the self-test if the policy's interval has passed, and reseed if its requests or seconds have passed.

        With prediction resistance, reseed every time.
        """
        policy = self._policy
        test_interval = policy.self_test_every_generates
        if test_interval and self._request_count - self._request_count_at_last_test >= test_interval:
            self.run_self_test()
        if policy.prediction_resistance:
            self._reseed("prediction_resistance")
        elif policy.every_generates and self._drbg.reseed_counter > policy.every_generates:
            self._reseed("every_generates")
        elif policy.every_seconds and self._clock() - self._last_seeding_ns >= policy.every_seconds * 10**9:
            self._reseed("every_seconds")

    def _reseed(self, reason: str) -> None:
        """Reseed the generator from fresh entropy and report it; any error takes the service out of service."""
        request_count = self._drbg.reseed_counter - 1
        try:
            self._drbg.reseed(self._gatherer.gather())
        except Exception as error:  # noqa: BLE001 (as above)
            self._take_out_of_service(error)
        self._last_seeding_ns = self._clock()
        self._reseed_count += 1
        self._on_event(
            "rng_reseeded", {"reason": reason, "reseeds": self._reseed_count, "generates": request_count}
        )

    def _generate(self, count: int) -> bytes:
        """Return ``count`` bytes from the generator; any error takes the service out of service."""
        with self._lock:
            self._check_in_service()
            try:
                fresh_input = (
                    self._fresh_input(_FRESH_INPUT_SIZE_BYTES)
                    if self._policy.fresh_input_each_request
                    else b""
                )
                output = self._drbg.generate(count, fresh_input)
            except Exception as error:  # noqa: BLE001 (as above)
                self._take_out_of_service(error)
            self._request_count += 1
            return output

    def _check_in_service(self) -> None:
        """Raise :class:`OutOfService` if the service has failed, or if this is a child process made by fork."""
        if self._failure is None and os.getpid() != self._pid:
            self._failure = "the process was forked; a copy of a generator never draws"
        if self._failure is not None:
            raise OutOfService(f"the random number generator is out of service: {self._failure}")

    def _take_out_of_service(self, error: Exception) -> NoReturn:
        """Erase the generator's state, report the failure, and raise :class:`OutOfService`."""
        self._failure = str(error) if isinstance(error, RngError) else repr(error)
        self._drbg.uninstantiate()
        self._on_event("rng_out_of_service", {"reason": self._failure, "error": type(error).__name__})
        raise OutOfService(f"the random number generator is out of service: {self._failure}") from error
