"""The service: steps, policy, failure, boots, forks and snapshots."""

import copy
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

import rng.self_test
from rng import (
    EntropyFailed,
    InvalidPolicy,
    InvalidRange,
    KernelSource,
    MechanismName,
    OutOfService,
    Personalization,
    RandomService,
    ReseedNotAllowed,
    ReseedPolicy,
    RngError,
    SeedRepeated,
    SelfTestFailed,
    StepClosed,
)
from rng.seeding import START_UP_SAMPLES, unpack_carry_over

WHO = Personalization(product="open-egm", version="1", machine_serial="A1", instance=0, boot_counter=1)


class Log:
    """The events, in order."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, object]]] = []

    def __call__(self, code: str, values: Mapping[str, object]) -> None:
        self.events.append((code, dict(values)))

    @property
    def codes(self) -> list[str]:
        return [code for code, _ in self.events]


class Clock:
    """A monotonic clock that a test turns."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


class Repeating:
    """A broken source: the same noise at every boot, though none that a health test would notice."""

    name, entropy_bits, claim = "repeating", Fraction(8), "a test's"
    noise = bytes((i * i * 31 + 7 * i + (i >> 8)) & 0xFF for i in range(START_UP_SAMPLES + 48))

    def samples(self, count: int) -> bytes:
        return self.noise[:count]


class Failing(KernelSource):
    """The kernel's source, until a test breaks it."""

    broken = False

    def samples(self, count: int) -> bytes:
        if self.broken:
            raise EntropyFailed("the source has died")
        return super().samples(count)


def start(log: Log | None = None, **changes: object) -> RandomService:
    settings = {"personalization": WHO, "sources": [KernelSource()], "on_event": log or Log(), **changes}
    return RandomService.start(**settings)


def sequence(service: RandomService, count: int = 16) -> tuple[int, ...]:
    with service.step() as draws:
        return tuple(draws.below(256) for _ in range(count))


class TestStep:
    def test_one_generate_serves_a_step_and_what_is_left_is_thrown_away(self) -> None:
        service = start()
        for _ in range(100):
            with service.step() as draws:
                for i in range(5):
                    draws.below(22, f"reel {i}")
                assert draws.generates == 1
            assert draws._buffer == b""
        assert service.statistics()["generates"] == 100

    def test_a_deck_or_a_keno_draw_is_one_generate(self) -> None:
        service = start()
        for _ in range(50):
            with service.step() as draws:
                draws.shuffle(range(52), "deck")
                assert draws.generates == 1
            with service.step() as draws:
                draws.sample(80, 20, "keno")
                assert draws.generates == 1

    def test_nothing_is_generated_before_a_number_is_asked_for(self) -> None:
        service = start()
        with service.step():
            pass
        assert service.statistics()["generates"] == 0

    def test_a_step_goes_on_past_one_generate_where_it_must(self) -> None:
        with start().step() as draws:
            values = [draws.below(256) for _ in range(1000)]
            assert draws.generates > 1
        assert len(set(values)) > 200

    def test_a_shoe_of_60_000_cards_is_served_in_requests_of_lawful_size(self) -> None:
        with start().step() as draws:
            order = draws.shuffle(range(60_000))
            assert draws.generates >= 3
        assert sorted(order) == list(range(60_000))

    def test_draws_are_recorded_in_order_with_their_purpose(self) -> None:
        with start().step() as draws:
            value = draws.below(22, "reel 1")
            draws.below(6, "die")
        assert [(d.bound, d.purpose) for d in draws.draws] == [(22, "reel 1"), (6, "die")]
        assert draws.draws[0].value == value

    @pytest.mark.requirement("B-11")
    def test_drawing_outside_the_step_is_refused(self) -> None:
        step = start().step()
        with pytest.raises(StepClosed):
            step.below(22)
        with step:
            step.below(22)
        with pytest.raises(StepClosed):
            step.below(22)

    def test_a_step_inside_another_is_refused_and_the_outer_goes_on(self) -> None:
        service = start()
        with service.step() as outer:
            with pytest.raises(StepClosed, match="inside another"), service.step():
                pass
            outer.below(22)

    def test_a_bad_range_is_the_callers_mistake_and_leaves_the_service_in_service(self) -> None:
        service = start()
        with service.step() as draws:
            for bound in (0, -1):
                with pytest.raises(InvalidRange):
                    draws.below(bound)
            draws.below(22)
        assert service.state == "in service"


class TestFailure:
    def out_of_service(self, service: RandomService, log: Log) -> None:
        """Everything refuses, for good; one event was sent."""
        assert service.state.startswith("out of service: ")
        assert log.codes.count("rng_out_of_service") == 1
        for action in (
            lambda: service.step().__enter__(),
            lambda: service.reseed("door_closed"),
            service.self_test,
            service.carry_over,
            service.cycle,
        ):
            with pytest.raises(OutOfService):
                action()

    def test_a_failed_self_test_at_start_gives_no_service(self, monkeypatch: pytest.MonkeyPatch) -> None:
        log = Log()
        monkeypatch.setattr("rng.ctr_drbg._DF_STARTS", bytes(48))
        with pytest.raises(SelfTestFailed):
            start(log)
        assert log.codes == ["rng_out_of_service"]
        assert log.events[0][1]["error"] == "SelfTestFailed"

    def test_a_failed_self_test_on_demand_ends_service(self, monkeypatch: pytest.MonkeyPatch) -> None:
        log = Log()
        service = start(log, policy=ReseedPolicy(cycle_min_ms=1, cycle_max_ms=2))
        with monkeypatch.context() as broken:
            broken.setattr("rng.health.repetition_cutoff", lambda *_: 1 << 30)
            with pytest.raises(OutOfService, match="stuck source"):
                service.self_test()
        self.out_of_service(service, log)

    def test_a_periodic_self_test_runs_when_due_and_ends_service(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log = Log()
        policy = ReseedPolicy(self_test_every_generates=10, cycle_min_ms=1, cycle_max_ms=2)
        service = start(log, policy=policy)
        for _ in range(25):
            sequence(service)
        assert log.codes == ["rng_started", "rng_self_tested", "rng_self_tested"]

        def broken() -> None:
            raise SelfTestFailed("self-test: planted")

        monkeypatch.setitem(rng.self_test.TESTS, "AES-256", broken)
        for _ in range(5):
            sequence(service)
        with pytest.raises(OutOfService, match="planted"):
            sequence(service)
        self.out_of_service(service, log)

    def test_a_source_that_dies_at_a_reseed_ends_service(self) -> None:
        log, source = Log(), Failing()
        service = start(log, sources=[source], policy=ReseedPolicy(cycle_min_ms=1, cycle_max_ms=2))
        source.broken = True
        with pytest.raises(OutOfService, match="the source has died"):
            service.reseed("door_closed")
        self.out_of_service(service, log)

    def test_words_never_in_range_end_service_in_the_middle_of_a_step(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log = Log()
        service = start(log, policy=ReseedPolicy(cycle_min_ms=1, cycle_max_ms=2))
        monkeypatch.setattr("rng.ctr_drbg.CtrDrbg._generate", lambda _self, count, _more: b"\xff" * count)
        with service.step() as draws, pytest.raises(OutOfService, match="16 words in a row"):
            draws.below(22)
        self.out_of_service(service, log)

    def test_only_a_new_start_leaves_the_state(self) -> None:
        source = Failing()
        service = start(sources=[source])
        source.broken = True
        with pytest.raises(OutOfService):
            service.reseed("door_closed")
        source.broken = False
        with pytest.raises(OutOfService):
            sequence(service)
        sequence(start(sources=[source]))

    def test_the_state_is_wiped(self) -> None:
        source = Failing()
        service = start(sources=[source])
        source.broken = True
        with pytest.raises(OutOfService):
            service.reseed("door_closed")
        assert bytes(service._drbg._key) == bytes(32)
        assert service._drbg._v == 0


class TestPolicy:
    @pytest.mark.requirement("B-04")
    def test_reseeds_after_so_many_requests(self) -> None:
        log = Log()
        service = start(log, policy=ReseedPolicy(every_generates=10))
        for _ in range(35):
            sequence(service)
        reseeds = [values for code, values in log.events if code == "rng_reseeded"]
        assert [values["reason"] for values in reseeds] == ["every_generates"] * 3
        assert all(values["generates"] == 10 for values in reseeds)

    @pytest.mark.requirement("B-04")
    def test_reseeds_after_so_long(self) -> None:
        log, clock = Log(), Clock()
        service = start(log, clock=clock, policy=ReseedPolicy(every_seconds=60))
        clock.now = 59_999_999_999
        sequence(service)
        assert log.codes == ["rng_started"]
        clock.now = 60_000_000_000
        sequence(service)
        sequence(service)
        assert log.codes == ["rng_started", "rng_reseeded"]

    @pytest.mark.requirement("B-05")
    def test_reseeding_is_for_the_policys_reasons_only(self) -> None:
        log = Log()
        service = start(log, policy=ReseedPolicy(on_event=frozenset({"door_closed"})))
        service.reseed("door_closed")
        with pytest.raises(ReseedNotAllowed, match="operator"):
            service.reseed("operator")
        assert log.codes == ["rng_started", "rng_reseeded"]
        assert service.state == "in service"

    def test_prediction_resistance_reseeds_before_every_step(self) -> None:
        service = start(policy=ReseedPolicy(prediction_resistance=True))
        for _ in range(5):
            sequence(service)
        assert service.statistics()["reseeds"] == 5

    @pytest.mark.requirement("B-04")
    def test_background_cycling_changes_the_idle_state_and_draws_its_own_intervals(self) -> None:
        service = start(policy=ReseedPolicy(cycle_min_ms=5, cycle_max_ms=50, fresh_input_each_step=False))
        states, pauses = set(), set()
        for _ in range(200):
            pauses.add(service.cycle())
            states.add(bytes(service._drbg._key))
        assert len(states) == 200
        assert len(pauses) > 150
        assert min(pauses) >= 5_000_000
        assert max(pauses) <= 50_000_000
        assert service.statistics()["cycles"] == 200

    def test_no_cycling_where_the_policy_has_none(self) -> None:
        service = start()
        assert service.cycle() == 0
        assert service.statistics()["generates"] == 0

    def test_cycling_inside_a_step_leaves_the_steps_numbers_alone(self) -> None:
        service = start(policy=ReseedPolicy(cycle_min_ms=5, cycle_max_ms=50))
        with service.step() as draws:
            draws.below(22)
            assert service.cycle() > 0
            draws.below(22)
            assert draws.generates == 1
        assert service.statistics()["cycles"] == 0

    @pytest.mark.parametrize("name", sorted(set(MechanismName) - {MechanismName.CTR_AES_256}))
    def test_every_mechanism_serves(self, name: MechanismName) -> None:
        service = start(policy=ReseedPolicy(mechanism=name, every_generates=3))
        assert len({sequence(service) for _ in range(10)}) == 10

    @pytest.mark.parametrize(
        ("settings", "match"),
        [
            ({"every_generates": -1}, "every_generates is -1"),
            ({"every_seconds": 1.5}, "every_seconds is 1.5"),
            ({"every_generates": 2**49}, "one seed serves"),
            ({"cycle_min_ms": 5}, "cycle_min_ms 5 and cycle_max_ms 0"),
            ({"cycle_min_ms": 5, "cycle_max_ms": 4}, "or a range"),
            ({"mechanism": "mersenne-twister"}, "mechanism 'mersenne-twister'"),
            ({"mechanism": "ctr-drbg-aes-256"}, "takes no seed of several sources"),
            ({"on_event": "door_closed"}, "on_event"),
            ({"on_event": [1]}, "on_event"),
            ({"prediction_resistance": "yes"}, "prediction_resistance is 'yes'"),
            ({"seed": 42}, "unknown setting 'seed'"),
        ],
    )
    def test_a_policy_that_cannot_be_is_refused(self, settings: dict[str, object], match: str) -> None:
        with pytest.raises(InvalidPolicy, match=match):
            ReseedPolicy.from_mapping(settings)

    def test_a_policy_is_read_as_a_profile_states_it(self) -> None:
        stated = {"mechanism": "hmac-drbg-sha-512", "every_seconds": 0, "on_event": ["door_closed"]}
        policy = ReseedPolicy.from_mapping(stated)
        assert policy.mechanism is MechanismName.HMAC_SHA_512
        assert policy.on_event == {"door_closed"}
        assert ReseedPolicy.from_mapping({}) == ReseedPolicy()


class TestBoots:
    @pytest.mark.requirement("B-05")
    def test_a_thousand_boots_of_a_broken_source_share_no_sequence(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            rng.service, "run_self_test", tuple
        )  # a thousand times the same would only take long
        policy = ReseedPolicy(fresh_input_each_step=False)
        sequences = set()
        for boot in range(1000):
            who = replace(WHO, boot_counter=boot)
            sequences.add(sequence(start(personalization=who, sources=[Repeating()], policy=policy)))
        assert len(sequences) == 1000

    def test_without_its_own_name_a_broken_source_would_repeat(self) -> None:
        policy = ReseedPolicy(fresh_input_each_step=False)
        twins = [start(sources=[Repeating()], policy=policy) for _ in range(2)]
        assert sequence(twins[0]) == sequence(twins[1])

    @pytest.mark.parametrize(
        "changes",
        [{"product": "p"}, {"version": "2"}, {"machine_serial": "A2"}, {"instance": 1}, {"boot_counter": 2}],
    )
    def test_each_part_of_the_name_parts_the_sequences(self, changes: dict[str, object]) -> None:
        policy = ReseedPolicy(fresh_input_each_step=False)
        one = start(sources=[Repeating()], policy=policy)
        two = start(sources=[Repeating()], policy=policy, personalization=replace(WHO, **changes))
        assert sequence(one) != sequence(two)

    def test_no_two_names_encode_alike(self) -> None:
        names = [
            replace(WHO, product="ab", version="c"),
            replace(WHO, product="a", version="bc"),
            replace(WHO, version="1A", machine_serial="1"),
            WHO,
        ]
        assert len({name.encode() for name in names}) == len(names)

    @pytest.mark.parametrize("changes", [{"machine_serial": ""}, {"boot_counter": -1}, {"instance": 1 << 64}])
    def test_a_name_that_is_none_is_refused(self, changes: dict[str, object]) -> None:
        with pytest.raises(InvalidPolicy, match=next(iter(changes))):
            replace(WHO, **changes)

    @pytest.mark.requirement("B-05")
    def test_what_is_carried_over_a_power_cycle_changes_the_sequence(self) -> None:
        carried = start().carry_over()
        policy = ReseedPolicy(fresh_input_each_step=False)
        without = start(sources=[Repeating()], policy=policy)
        with_it = start(sources=[Repeating()], policy=policy, carry_over=carried)
        assert sequence(without) != sequence(with_it)

    def test_what_is_carried_over_is_one_way_and_never_twice_the_same(self) -> None:
        service = start()
        carried = [service.carry_over() for _ in range(100)]
        outputs = {unpack_carry_over(text)[0] for text in carried}
        assert len(outputs) == 100
        assert not any(bytes(service._drbg._key) in text for text in carried)

    def test_a_source_that_repeats_over_power_cycles_is_found(self) -> None:
        log = Log()
        carried = start(sources=[Repeating()]).carry_over()
        with pytest.raises(SeedRepeated):
            start(log, sources=[Repeating()], carry_over=carried)
        assert log.codes == ["rng_out_of_service"]

    def test_a_damaged_carry_over_is_refused_at_start(self) -> None:
        with pytest.raises(RngError, match="damaged"):
            start(carry_over=b"torn")


class TestCopies:
    @pytest.mark.requirement("B-05")
    def test_two_copies_of_one_memory_part_at_once(self) -> None:
        service = start()
        snapshot = copy.deepcopy(service._drbg)
        first = sequence(service)
        service._drbg = snapshot
        assert sequence(service) != first

    def test_without_fresh_input_they_would_not(self) -> None:
        service = start(policy=ReseedPolicy(fresh_input_each_step=False))
        snapshot = copy.deepcopy(service._drbg)
        first = sequence(service)
        service._drbg = snapshot
        assert sequence(service) == first

    def test_the_child_of_a_fork_never_draws_and_the_parent_goes_on(self) -> None:
        program = """
import os, sys, rng
service = rng.RandomService.start(
    personalization=rng.Personalization(
        product="p", version="1", machine_serial="s", instance=0, boot_counter=1
    )
)
child = os.fork()
if child == 0:
    try:
        with service.step() as draws:
            draws.below(22)
    except rng.OutOfService as error:
        os._exit(42 if "forked" in str(error) else 1)
    os._exit(0)
_, status = os.waitpid(child, 0)
with service.step() as draws:
    draws.below(22)
sys.exit(os.waitstatus_to_exitcode(status))
"""
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 42

    def test_another_process_number_alone_is_enough(self, monkeypatch: pytest.MonkeyPatch) -> None:
        service = start()
        monkeypatch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(OutOfService, match="forked"):
            sequence(service)


def test_the_start_is_an_event_that_names_mechanism_and_sources() -> None:
    log = Log()
    start(log)
    code, values = log.events[0]
    assert code == "rng_started"
    assert values["mechanism"] == "ctr-drbg-aes-256-df"
    assert values["sources"] == ("getrandom",)
