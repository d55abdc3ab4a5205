"""Self-test of all code of random number generation, from AES to unbiased numbers.

It runs at start-up, on demand, and between games if the policy asks for it (SP 800-90A section 11.3). It tests the code
with fixed inputs; it neither reads nor changes the state of the generator in use.
"""

from collections.abc import Callable
from fractions import Fraction
from io import BytesIO
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from rng.ctr_drbg import CtrDrbg, block_cipher_df
from rng.draws import WordDraws
from rng.errors import (
    EntropyFailed,
    HealthTestFailed,
    RequestTooLarge,
    ReseedRequired,
    RngError,
    SelfTestFailed,
)
from rng.health import HealthTests
from rng.known_answers import AES_256_KNOWN_ANSWER, KNOWN_ANSWERS, KnownAnswer
from rng.mechanism import REQUEST_BYTES_MAX, RESEED_INTERVAL, Mechanism, MechanismName
from rng.mechanisms import MECHANISMS

#: The result of block_cipher_df for the bytes 0 to 99, computed independently, block by block.
_DERIVATION_FUNCTION_ANSWER: Final = bytes.fromhex(
    "1647e68c0842ec4b98c8873a25008617b4f56aeaf8d99c6fac618e7ae1c18b9bd8843996b0cf331ac47e4ed228a35416"
)


def _check_answer(test_name: str, answer: object, expected: object) -> None:
    """Raise :class:`SelfTestFailed` unless ``answer``, the result of the test ``test_name``, is as ``expected``."""
    if answer != expected:
        raise SelfTestFailed(f"self-test: {test_name} gave another result than the known one")


def _check_refused(test_name: str, error: type[RngError], action: Callable[[], object]) -> None:
    """Raise :class:`SelfTestFailed` unless ``action`` raises an error of the type ``error``.

    ``test_name`` is the name of the test.
    """
    try:
        action()
    except error:
        return
    raise SelfTestFailed(f"self-test: {test_name} was not refused")


def _test_aes() -> None:
    """Check AES-256 with the known answer of FIPS 197."""
    key, plaintext, ciphertext = AES_256_KNOWN_ANSWER
    block = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()  # noqa: S305 (one block, as in the published test)
    _check_answer("AES-256", block.update(plaintext), ciphertext)


def _test_derivation_function() -> None:
    """Check the derivation function with a known answer."""
    _check_answer("Block_Cipher_df", block_cipher_df(bytes(range(100))), _DERIVATION_FUNCTION_ANSWER)


def _generate_answer(mechanism: type[Mechanism], case: KnownAnswer) -> bytes:
    """Return the second output of a generator for the inputs of a known-answer case."""
    drbg = mechanism(case.entropy, case.nonce, case.personalization)
    if case.reseed_entropy:
        drbg.reseed(case.reseed_entropy, case.reseed_additional_input)
    drbg.generate(len(case.output), case.first_additional_input, fresh_entropy=case.first_fresh_entropy)
    return drbg.generate(
        len(case.output), case.second_additional_input, fresh_entropy=case.second_fresh_entropy
    )


def _build_mechanism_test(name: MechanismName) -> Callable[[], None]:
    """Return the known-answer test of the generator of this name."""

    def test() -> None:
        """Check the generator's output against its known answer."""
        _check_answer(
            name, _generate_answer(MECHANISMS[name], KNOWN_ANSWERS[name]), KNOWN_ANSWERS[name].output
        )

    return test


class _ExhaustedGenerator(CtrDrbg):
    """A generator for the self-test that has served as many requests as one seed allows, and must refuse the next."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(bytes(range(48)), bytes(16))
        self._reseed_counter = RESEED_INTERVAL + 1


def _test_refusals() -> None:
    """Check that a generator refuses too large a request, too short a seed, and a request beyond its last."""
    drbg = CtrDrbg(bytes(range(48)), bytes(16))
    _check_refused("a request over the limit", RequestTooLarge, lambda: drbg.generate(REQUEST_BYTES_MAX + 1))
    _check_refused("a seed without enough entropy", EntropyFailed, lambda: drbg.reseed(bytes(31)))
    _check_refused(
        "a request past the reseed interval", ReseedRequired, lambda: _ExhaustedGenerator().generate(1)
    )


def _test_health_tests() -> None:
    """Check that the health tests reject a source stuck at one value, and a source of only two values."""
    _check_refused(
        "a stuck source", HealthTestFailed, lambda: HealthTests("stuck", Fraction(8), 40).feed(bytes(6))
    )
    pair = bytes(i % 2 for i in range(512))
    _check_refused(
        "a source of two values", HealthTestFailed, lambda: HealthTests("pair", Fraction(8), 40).feed(pair)
    )


def create_word_draws(values: list[int]) -> WordDraws:
    """Return a source of draws that uses the 16-bit words ``values`` instead of random ones, for the self-test."""
    stream = iter(values)
    return WordDraws(lambda count: b"".join(next(stream).to_bytes(2, "little") for _ in range(count // 2)))


def _test_scaling() -> None:
    """Check how the lowest and highest words are scaled to outcomes.

    With the bounds 22 and 80, the word 65,535 must be rejected; with 22, the word 65,515 is the last of outcome 21.
    """
    draws = create_word_draws([0xFFFF, 65_515, 65_516, 0, 0xFFFF, 0xFFFF, 12_345])
    _check_answer(
        "below(22)",
        [draws.below(22), draws.below(22), draws.below(80)],
        [21, 0, 12_345 // 819],
    )
    _check_answer("rejections", draws.rejected_word_count, 4)


def _test_every_word() -> None:
    """Check how all 256 one-byte words are scaled, for some bounds.

    As the word grows, the outcome must grow from the lowest to the highest, each with the same number of words.
    """
    for bound in (2, 3, 7, 22, 37, 52, 80, 255):
        words_per_outcome = 256 // bound
        stream = BytesIO(bytes(range(256)))
        draws = WordDraws(stream.read, lambda n: (1, 256 // n))
        drawn_numbers = [draws.below(bound) for _ in range(words_per_outcome * bound)]
        _check_answer(
            f"every word below {bound}",
            drawn_numbers,
            [outcome for outcome in range(bound) for _ in range(words_per_outcome)],
        )


#: Every self-test by its name.
SELF_TESTS: Final[dict[str, Callable[[], None]]] = {
    "AES-256": _test_aes,
    "Block_Cipher_df": _test_derivation_function,
    **{name.value: _build_mechanism_test(name) for name in MechanismName},
    "refusals": _test_refusals,
    "health tests": _test_health_tests,
    "scaling": _test_scaling,
    "every word": _test_every_word,
}


def run_self_test() -> tuple[str, ...]:
    """Run every self-test of random number generation and return the names of those passed.

    Raises :class:`SelfTestFailed` at the first failure.
    """
    for name, test in SELF_TESTS.items():
        try:
            test()
        except SelfTestFailed:
            raise
        except Exception as error:
            raise SelfTestFailed(f"self-test: {name} was ended by an error: {error!r}") from error
    return tuple(SELF_TESTS)
