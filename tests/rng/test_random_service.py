"""The random service: its steps, its policy and its failures."""

import pytest
from service_rig import Clock, Failing, Log, sequence, start

import rng.self_test
from rng import (
    InvalidPolicy,
    InvalidRange,
    MechanismName,
    OutOfService,
    RandomService,
    ReseedNotAllowed,
    ReseedPolicy,
    SelfTestFailed,
    StepMisused,
)


class TestStep:
    def test_each_step_uses_one_generate_and_discards_the_remainder(self) -> None:
        service = start()
        for _ in range(100):
            with service.step() as draws:
                for i in range(5):
                    draws.below(22, f"reel {i}")
                assert draws.request_count == 1
            assert draws._buffer == b""
        assert service.read_statistics()["generates"] == 100

    def test_nothing_is_generated_before_a_number_is_requested(self) -> None:
        service = start()
        with service.step():
            pass
        assert service.read_statistics()["generates"] == 0

    def test_a_step_uses_another_generate_if_needed(self) -> None:
        with start().step() as draws:
            values = [draws.below(256) for _ in range(1000)]
            assert draws.request_count > 1
        assert len(set(values)) > 200

    def test_draws_are_recorded_in_order_with_their_purpose(self) -> None:
        with start().step() as draws:
            value = draws.below(22, "reel 1")
            draws.below(6, "die")
        assert [(d.bound, d.purpose) for d in draws.draws] == [(22, "reel 1"), (6, "die")]
        assert draws.draws[0].value == value

    @pytest.mark.requirement("B-11")
    def test_drawing_outside_the_step_is_refused(self) -> None:
        step = start().step()
        with pytest.raises(StepMisused):
            step.below(22)
        with step:
            step.below(22)
        with pytest.raises(StepMisused):
            step.below(22)

    def test_a_step_opened_again_is_refused(self) -> None:
        step = start().step()
        with step:
            step.below(22)
        with pytest.raises(StepMisused, match="a step was opened a second time"), step:
            pass

    def test_a_step_inside_another_is_refused_and_the_outer_continues(self) -> None:
        service = start()
        with service.step() as outer:
            with pytest.raises(StepMisused, match="inside another"), service.step():
                pass
            outer.below(22)

    def test_an_invalid_range_is_refused_and_the_service_stays_in_service(self) -> None:
        service = start()
        with service.step() as draws:
            for bound in (0, -1):
                with pytest.raises(InvalidRange):
                    draws.below(bound)
            draws.below(22)
        assert service.state == "in service"


class TestFailure:
    def out_of_service(self, service: RandomService, log: Log) -> None:
        """Check that every call is refused permanently and that one event was sent."""
        assert service.state.startswith("out of service: ")
        assert log.codes.count("rng_out_of_service") == 1
        for action in (
            lambda: service.step().__enter__(),
            lambda: service.reseed("door_closed"),
            service.run_self_test,
            service.build_carry_over,
            service.cycle,
        ):
            with pytest.raises(OutOfService):
                action()

    def test_a_failed_self_test_at_start_prevents_service(self, monkeypatch: pytest.MonkeyPatch) -> None:
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
            broken.setattr("rng.health.compute_repetition_cutoff", lambda *_: 1 << 30)
            with pytest.raises(OutOfService, match="stuck source"):
                service.run_self_test()
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

        monkeypatch.setitem(rng.self_test.SELF_TESTS, "AES-256", broken)
        for _ in range(5):
            sequence(service)
        with pytest.raises(OutOfService, match="planted"):
            sequence(service)
        self.out_of_service(service, log)

    def test_a_source_that_fails_at_a_reseed_ends_service(self) -> None:
        log, source = Log(), Failing()
        service = start(log, sources=[source], policy=ReseedPolicy(cycle_min_ms=1, cycle_max_ms=2))
        source.broken = True
        with pytest.raises(OutOfService, match="the source has died"):
            service.reseed("door_closed")
        self.out_of_service(service, log)

    def test_words_always_out_of_range_end_service_during_a_step(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log = Log()
        service = start(log, policy=ReseedPolicy(cycle_min_ms=1, cycle_max_ms=2))
        monkeypatch.setattr("rng.ctr_drbg.CtrDrbg._generate", lambda _self, count, _more: b"\xff" * count)
        with service.step() as draws, pytest.raises(OutOfService, match="16 words in a row"):
            draws.below(22)
        self.out_of_service(service, log)

    def test_a_failure_during_a_step_ends_it_with_its_buffered_output(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log = Log()
        service = start(log, policy=ReseedPolicy(cycle_min_ms=1, cycle_max_ms=2))
        with service.step() as draws:
            draws.below(22)
            with monkeypatch.context() as broken:
                broken.setattr("rng.health.compute_repetition_cutoff", lambda *_: 1 << 30)
                with pytest.raises(OutOfService, match="stuck source"):
                    service.run_self_test()
            with pytest.raises(OutOfService, match="stuck source"):
                draws.below(22)
        self.out_of_service(service, log)

    def test_an_internal_error_ends_service(self, monkeypatch: pytest.MonkeyPatch) -> None:
        log = Log()
        service = start(log, policy=ReseedPolicy(cycle_min_ms=1, cycle_max_ms=2))
        with monkeypatch.context() as broken:
            broken.setattr("rng.ctr_drbg._df_cipher", lambda: None)
            with service.step() as draws, pytest.raises(OutOfService, match="AttributeError"):
                draws.below(22)
        self.out_of_service(service, log)

    def test_missing_fresh_input_from_the_kernel_ends_service(self, monkeypatch: pytest.MonkeyPatch) -> None:
        log = Log()
        service = start(log, policy=ReseedPolicy(cycle_min_ms=1, cycle_max_ms=2))

        def fail_input(count: int) -> bytes:
            raise OSError(38, "Function not implemented")

        with monkeypatch.context() as broken:
            broken.setattr(service, "_fresh_input", fail_input)
            with service.step() as draws, pytest.raises(OutOfService, match="not implemented"):
                draws.below(22)
        self.out_of_service(service, log)

    def test_only_a_restart_returns_a_failed_service_to_service(self) -> None:
        source = Failing()
        service = start(sources=[source])
        source.broken = True
        with pytest.raises(OutOfService):
            service.reseed("door_closed")
        source.broken = False
        with pytest.raises(OutOfService):
            sequence(service)
        sequence(start(sources=[source]))

    def test_a_failure_wipes_the_generators_state(self) -> None:
        source = Failing()
        service = start(sources=[source])
        source.broken = True
        with pytest.raises(OutOfService):
            service.reseed("door_closed")
        assert bytes(service._drbg._key) == bytes(32)
        assert service._drbg._v == 0


class TestPolicy:
    @pytest.mark.requirement("B-04")
    def test_the_service_reseeds_after_the_stated_number_of_requests(self) -> None:
        log = Log()
        service = start(log, policy=ReseedPolicy(every_generates=10))
        for _ in range(35):
            sequence(service)
        reseeds = [values for code, values in log.events if code == "rng_reseeded"]
        assert [values["reason"] for values in reseeds] == ["every_generates"] * 3
        assert all(values["generates"] == 10 for values in reseeds)

    @pytest.mark.requirement("B-04")
    def test_the_service_reseeds_after_the_stated_time(self) -> None:
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
    def test_only_the_policys_events_reseed(self) -> None:
        log = Log()
        service = start(log, policy=ReseedPolicy(on_event=frozenset({"door_closed"})))
        service.reseed("door_closed")
        with pytest.raises(ReseedNotAllowed, match="operator"):
            service.reseed("operator")
        assert log.codes == ["rng_started", "rng_reseeded"]
        assert service.state == "in service"

    @pytest.mark.requirement("B-04")
    def test_prediction_resistance_reseeds_before_every_step(self) -> None:
        service = start(policy=ReseedPolicy(prediction_resistance=True))
        for _ in range(5):
            sequence(service)
        assert service.read_statistics()["reseeds"] == 5

    @pytest.mark.requirement("B-04")
    def test_background_cycling_changes_the_idle_state_and_draws_its_own_intervals(self) -> None:
        service = start(policy=ReseedPolicy(cycle_min_ms=5, cycle_max_ms=50, fresh_input_each_request=False))
        states, pauses = set(), set()
        for _ in range(200):
            pauses.add(service.cycle())
            states.add(bytes(service._drbg._key))
        assert len(states) == 200
        assert len(pauses) > 150
        assert min(pauses) >= 5_000_000
        assert max(pauses) <= 50_000_000
        statistics = service.read_statistics()
        assert statistics["cycles"] == 200
        assert statistics["generates"] >= 3 * 200  # how much to discard, the discarded output, and the pause

    def test_no_background_cycling_without_a_policy_for_it(self) -> None:
        service = start()
        assert service.cycle() == 0
        assert service.read_statistics()["generates"] == 0

    @pytest.mark.requirement("B-04")
    def test_cycling_during_a_step_does_not_change_the_steps_numbers(self) -> None:
        service = start(policy=ReseedPolicy(cycle_min_ms=5, cycle_max_ms=50))
        with service.step() as draws:
            draws.below(22)
            assert service.cycle() > 0
            draws.below(22)
            assert draws.request_count == 1
        assert service.read_statistics()["cycles"] == 0

    @pytest.mark.parametrize("name", sorted(set(MechanismName) - {MechanismName.CTR_AES_256}))
    def test_every_mechanism_serves_different_sequences(self, name: MechanismName) -> None:
        service = start(policy=ReseedPolicy(mechanism=name, every_generates=3))
        assert len({sequence(service) for _ in range(10)}) == 10

    @pytest.mark.parametrize(
        ("settings", "match"),
        [
            ({"every_generates": -1}, "every_generates is -1"),
            ({"every_seconds": 1.5}, "every_seconds is 1.5"),
            ({"every_generates": 2**49}, "one seed may serve"),
            ({"cycle_min_ms": 5}, "cycle_min_ms 5 and cycle_max_ms 0"),
            ({"cycle_min_ms": 5, "cycle_max_ms": 4}, "or a range"),
            ({"mechanism": "mersenne-twister"}, "mechanism 'mersenne-twister'"),
            ({"mechanism": "ctr-drbg-aes-256"}, "cannot combine several entropy sources"),
            ({"on_event": "door_closed"}, "on_event"),
            ({"on_event": [1]}, "on_event"),
            ({"prediction_resistance": "yes"}, "prediction_resistance is 'yes'"),
            ({"seed": 42}, "unknown setting 'seed'"),
        ],
    )
    def test_an_invalid_policy_is_refused(self, settings: dict[str, object], match: str) -> None:
        with pytest.raises(InvalidPolicy, match=match):
            ReseedPolicy.from_mapping(settings)

    def test_a_policy_is_read_from_a_profile(self) -> None:
        stated = {"mechanism": "hmac-drbg-sha-512", "every_seconds": 0, "on_event": ["door_closed"]}
        policy = ReseedPolicy.from_mapping(stated)
        assert policy.mechanism is MechanismName.HMAC_SHA_512
        assert policy.on_event == {"door_closed"}
        assert ReseedPolicy.from_mapping({}) == ReseedPolicy()
