"""The self-test fails when any part of the chain is broken."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import modes

import rng.self_test
from rng import SelfTestFailed
from rng.draws import WordDraws
from rng.known_answers import KNOWN_ANSWERS, KnownAnswer
from rng.self_test import SELF_TESTS, run_self_test

VECTORS = Path(__file__).parents[1] / "vectors" / "drbg"


def test_every_self_test_passes() -> None:
    assert run_self_test() == tuple(SELF_TESTS)


@pytest.mark.parametrize("case", KNOWN_ANSWERS.values(), ids=KNOWN_ANSWERS.keys())
def test_every_known_answer_is_a_published_case(case: KnownAnswer) -> None:
    published = {
        vector["Output"]: vector
        for path in VECTORS.glob("*DRBG_*.json")
        if not path.name.startswith("ACVP")
        for group in json.loads(path.read_text())
        for vector in group["cases"]
    }
    vector = published[case.output.hex()]
    assert case.entropy.hex() == vector["Entropy"]
    assert case.personalization.hex() == vector["PersonalisationString"]
    assert case.first_additional_input.hex() == vector["AdditionalInputA"]


class Modulo(WordDraws):
    """A common mistake: the remainder of a word, without rejection."""

    def below(self, bound: int, purpose: str = "") -> int:
        return int.from_bytes(self._read(2), "little") % bound


Patch = Callable[[pytest.MonkeyPatch], None]

BREAKS: dict[str, tuple[Patch, str]] = {
    "wrong block mode": (
        lambda p: p.setattr("rng.self_test.modes.ECB", lambda: modes.CBC(b"1" * 16)),
        "AES-256",
    ),
    "derivation function": (
        lambda p: p.setattr("rng.ctr_drbg._DF_STARTS", bytes(48)),
        "Block_Cipher_df",
    ),
    "counter": (lambda p: p.setattr("rng.ctr_drbg._COUNTER_MASK", 0), "ctr-drbg-aes-256-df"),
    "HMAC update": (
        lambda p: p.setattr("rng.hmac_drbg.HmacDrbg._update", lambda *_: None),
        "hmac-drbg-sha-256",
    ),
    "hash": (lambda p: p.setattr("rng.hash_drbg.HashDrbgSha512.HASH_NAME", "sha384"), "hash-drbg-sha-512"),
    "request limit": (
        lambda p: p.setattr("rng.mechanism.REQUEST_BYTES_MAX", 1 << 20),
        "a request over the limit",
    ),
    "entropy limit": (
        lambda p: p.setattr("rng.mechanism.Mechanism.ENTROPY_BYTES", (0, 99)),
        "without enough entropy",
    ),
    "reseed interval": (
        lambda p: p.setattr("rng.mechanism.RESEED_INTERVAL", 1 << 60),
        "past the reseed interval",
    ),
    "repetition count": (
        lambda p: p.setattr("rng.health.compute_repetition_cutoff", lambda *_: 1 << 20),
        "a stuck source",
    ),
    "adaptive proportion": (
        lambda p: p.setattr("rng.health.compute_proportion_cutoff", lambda *_: 1 << 20),
        "a source of two values",
    ),
    "scaling": (lambda p: p.setattr("rng.self_test.WordDraws", Modulo), r"below\(22\)"),
}


@pytest.mark.parametrize(("broken", "named"), BREAKS.values(), ids=BREAKS.keys())
def test_a_broken_part_fails_its_self_test(
    broken: Patch, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    with pytest.raises(SelfTestFailed, match=named):
        run_self_test()


def test_a_self_test_that_raises_an_error_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def explode() -> None:
        raise ZeroDivisionError

    monkeypatch.setitem(rng.self_test.SELF_TESTS, "AES-256", explode)
    with pytest.raises(SelfTestFailed, match="AES-256 was ended by an error: ZeroDivisionError"):
        run_self_test()
