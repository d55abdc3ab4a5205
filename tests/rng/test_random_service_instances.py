"""No two instances of the service share a sequence: boots, machines, snapshots and forks."""

import copy
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from service_rig import WHO, Log, Repeating, sequence, start

import rng.self_test
from rng import (
    InvalidPolicy,
    OutOfService,
    ReseedPolicy,
    RngError,
    SeedRepeated,
)
from rng.seeding import unpack_carry_over


class TestBoots:
    @pytest.mark.requirement("B-05")
    def test_a_thousand_boots_with_a_repeating_source_share_no_sequence(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            rng.service, "run_self_test", tuple
        )  # a thousand times the same would only take long
        policy = ReseedPolicy(fresh_input_each_request=False)
        sequences = set()
        for boot in range(1000):
            personalization = replace(WHO, boot_counter=boot)
            sequences.add(
                sequence(start(personalization=personalization, sources=[Repeating()], policy=policy))
            )
        assert len(sequences) == 1000

    def test_the_same_personalization_with_a_repeating_source_repeats_the_sequence(self) -> None:
        policy = ReseedPolicy(fresh_input_each_request=False)
        twins = [start(sources=[Repeating()], policy=policy) for _ in range(2)]
        assert sequence(twins[0]) == sequence(twins[1])

    @pytest.mark.requirement("B-05")
    @pytest.mark.parametrize(
        "changes",
        [{"product": "p"}, {"version": "2"}, {"machine_serial": "A2"}, {"instance": 1}, {"boot_counter": 2}],
    )
    def test_each_part_of_the_personalization_changes_the_sequence(self, changes: dict[str, object]) -> None:
        policy = ReseedPolicy(fresh_input_each_request=False)
        first_service = start(sources=[Repeating()], policy=policy)
        second_service = start(sources=[Repeating()], policy=policy, personalization=replace(WHO, **changes))
        assert sequence(first_service) != sequence(second_service)

    def test_different_personalizations_encode_differently(self) -> None:
        names = [
            replace(WHO, product="ab", version="c"),
            replace(WHO, product="a", version="bc"),
            replace(WHO, version="1A", machine_serial="1"),
            WHO,
        ]
        assert len({name.encode() for name in names}) == len(names)

    @pytest.mark.parametrize("changes", [{"machine_serial": ""}, {"boot_counter": -1}, {"instance": 1 << 64}])
    def test_an_invalid_personalization_is_refused(self, changes: dict[str, object]) -> None:
        with pytest.raises(InvalidPolicy, match=next(iter(changes))):
            replace(WHO, **changes)

    @pytest.mark.requirement("B-05")
    def test_carried_over_output_changes_the_sequence(self) -> None:
        carried = start().build_carry_over()
        policy = ReseedPolicy(fresh_input_each_request=False)
        without = start(sources=[Repeating()], policy=policy)
        with_it = start(sources=[Repeating()], policy=policy, carry_over=carried)
        assert sequence(without) != sequence(with_it)

    def test_carried_over_output_is_one_way_and_never_repeats(self) -> None:
        service = start()
        carried = [service.build_carry_over() for _ in range(100)]
        outputs = {unpack_carry_over(text)[0] for text in carried}
        assert len(outputs) == 100
        assert not any(bytes(service._drbg._key) in text for text in carried)

    @pytest.mark.requirement("B-05")
    def test_a_source_that_repeats_over_power_cycles_is_detected(self) -> None:
        log = Log()
        carried = start(sources=[Repeating()]).build_carry_over()
        with pytest.raises(SeedRepeated):
            start(log, sources=[Repeating()], carry_over=carried)
        assert log.codes == ["rng_out_of_service"]

    def test_a_damaged_carry_over_is_refused_at_start(self) -> None:
        with pytest.raises(RngError, match="damaged"):
            start(carry_over=b"torn")


class TestCopies:
    @pytest.mark.requirement("B-05")
    def test_two_copies_of_one_memory_state_diverge_at_once(self) -> None:
        service = start()
        snapshot = copy.deepcopy(service._drbg)
        first = sequence(service)
        service._drbg = snapshot
        assert sequence(service) != first

    def test_without_fresh_input_two_copies_of_one_memory_state_repeat(self) -> None:
        service = start(policy=ReseedPolicy(fresh_input_each_request=False))
        snapshot = copy.deepcopy(service._drbg)
        first = sequence(service)
        service._drbg = snapshot
        assert sequence(service) == first

    @pytest.mark.requirement("B-05")
    def test_the_child_of_a_fork_never_draws_and_the_parent_continues(self) -> None:
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

    @pytest.mark.requirement("B-05")
    def test_the_child_of_a_fork_within_a_step_draws_none_of_its_buffered_output(self) -> None:
        program = """
import os, sys, rng
service = rng.RandomService.start(
    personalization=rng.Personalization(
        product="p", version="1", machine_serial="s", instance=0, boot_counter=1
    )
)
with service.step() as draws:
    draws.below(22)
    child = os.fork()
    if child == 0:
        try:
            draws.below(22)
        except rng.OutOfService as error:
            os._exit(42 if "forked" in str(error) else 1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    draws.below(22)
    assert draws.request_count == 1
sys.exit(os.waitstatus_to_exitcode(status))
"""
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 42

    def test_another_process_id_alone_ends_service(self, monkeypatch: pytest.MonkeyPatch) -> None:
        service = start()
        monkeypatch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(OutOfService, match="forked"):
            sequence(service)


def test_the_start_event_names_mechanism_and_sources() -> None:
    log = Log()
    start(log)
    code, values = log.events[0]
    assert code == "rng_started"
    assert values["mechanism"] == "ctr-drbg-aes-256-df"
    assert values["sources"] == ("getrandom",)
