"""The generators at their limits: refusals, error states, and an independent computation block by block."""

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from rng import EntropyFailed, RequestTooLarge, ReseedRequired, Uninstantiated
from rng.ctr_drbg import CtrDrbg, CtrDrbgWithoutDf, block_cipher_df
from rng.mechanism import RESEED_INTERVAL, Mechanism, MechanismName
from rng.mechanisms import MECHANISMS

ENTROPY = bytes(range(48))
NONCE = bytes(range(16))


def instantiate(mechanism: type[Mechanism]) -> Mechanism:
    return mechanism(ENTROPY, b"" if mechanism.NONCE_BYTES_MIN is None else NONCE, b"one")


def block(key: bytes, text: bytes) -> bytes:
    return Cipher(algorithms.AES256(key), modes.ECB()).encryptor().update(text)


def xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def derived(text: bytes) -> bytes:
    """Return Block_Cipher_df as section 10.3.2 describes it, step by step."""
    s = len(text).to_bytes(4) + (48).to_bytes(4) + text + b"\x80"
    s += bytes(-len(s) % 16)
    temp = b""
    for i in range(3):
        chain = bytes(16)
        data = i.to_bytes(4) + bytes(12) + s
        for offset in range(0, len(data), 16):
            chain = block(bytes(range(32)), xor(chain, data[offset : offset + 16]))
        temp += chain
    key, x, output = temp[:32], temp[32:48], b""
    for _ in range(3):
        x = block(key, x)
        output += x
    return output


class BlockByBlock:
    """CTR_DRBG as section 10.2.1 describes it."""

    def __init__(self, key: bytes, v: int) -> None:
        self.key, self.v = key, v

    def next_block(self) -> bytes:
        self.v = (self.v + 1) % 2**128
        return block(self.key, self.v.to_bytes(16))

    def update(self, provided: bytes) -> None:
        temp = xor(b"".join(self.next_block() for _ in range(3)), provided)
        self.key, self.v = temp[:32], int.from_bytes(temp[32:])

    def generate(self, count: int, additional: bytes) -> bytes:
        extra = derived(additional) if additional else bytes(48)
        if additional:
            self.update(extra)
        output = b"".join(self.next_block() for _ in range(-(-count // 16)))
        self.update(extra)
        return output[:count]


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 23, 24, 48, 1000])
def test_the_derivation_function_matches_an_independent_computation(length: int) -> None:
    text = bytes(i * 7 & 0xFF for i in range(length))
    assert block_cipher_df(text) == derived(text)


@pytest.mark.parametrize("v", [0, 1, 2**64 - 1, 2**128 - 1, 2**128 - 2, 2**128 - 4])
@pytest.mark.parametrize("additional", [b"", b"more"])
def test_generate_matches_an_independent_computation_also_where_the_counter_wraps(
    v: int, additional: bytes
) -> None:
    drbg = CtrDrbg(ENTROPY, NONCE)
    drbg._v = v
    slow = BlockByBlock(bytes(drbg._key), v)
    for count in (1, 16, 17, 100):
        assert drbg.generate(count, additional) == slow.generate(count, additional)
        assert (bytes(drbg._key), drbg._v) == (slow.key, slow.v)


@pytest.mark.parametrize("name", MechanismName)
class TestEveryMechanism:
    def test_a_request_that_is_too_long_is_refused_and_changes_nothing(self, name: MechanismName) -> None:
        drbg, twin = instantiate(MECHANISMS[name]), instantiate(MECHANISMS[name])
        for count in (0, -1, 65_537):
            with pytest.raises(RequestTooLarge, match=str(count)):
                drbg.generate(count)
        with pytest.raises(RequestTooLarge, match="additional input"):
            drbg.generate(1, bytes(65_537))
        with pytest.raises(RequestTooLarge):
            drbg.reseed(bytes(65_537))
        assert drbg.generate(65_536) == twin.generate(65_536)

    def test_too_little_entropy_is_refused(self, name: MechanismName) -> None:
        mechanism = MECHANISMS[name]
        with pytest.raises(EntropyFailed, match="31 bytes"):
            mechanism(bytes(31), NONCE)
        drbg = instantiate(mechanism)
        with pytest.raises(EntropyFailed, match="entropy input of 0 bytes"):
            drbg.reseed(b"")
        with pytest.raises(EntropyFailed):
            drbg.generate(1, fresh_entropy=b"")

    def test_an_exhausted_seed_generates_nothing_until_reseeded(self, name: MechanismName) -> None:
        drbg = instantiate(MECHANISMS[name])
        drbg._reseed_counter = RESEED_INTERVAL
        drbg.generate(1)
        with pytest.raises(ReseedRequired):
            drbg.generate(1)
        drbg.reseed(ENTROPY)
        assert drbg.reseed_counter == 1
        assert len(drbg.generate(1)) == 1

    def test_an_uninstantiated_generator_refuses_every_call(self, name: MechanismName) -> None:
        drbg = instantiate(MECHANISMS[name])
        drbg.uninstantiate()
        for action in (lambda: drbg.generate(1), lambda: drbg.reseed(ENTROPY)):
            with pytest.raises(Uninstantiated):
                action()

    def test_every_input_changes_the_output(self, name: MechanismName) -> None:
        mechanism = MECHANISMS[name]
        nonce = b"" if mechanism.NONCE_BYTES_MIN is None else NONCE
        outputs = {instantiate(mechanism).generate(32)}
        outputs.add(mechanism(ENTROPY, nonce, b"two").generate(32))
        outputs.add(mechanism(bytes(48), nonce, b"one").generate(32))
        outputs.add(instantiate(mechanism).generate(32, b"more"))
        outputs.add(instantiate(mechanism).generate(32, fresh_entropy=ENTROPY))
        reseeded = instantiate(mechanism)
        reseeded.reseed(ENTROPY, b"more")
        outputs.add(reseeded.generate(32))
        second = instantiate(mechanism)
        second.generate(32)
        outputs.add(second.generate(32))
        assert len(outputs) == 7


def test_a_short_nonce_is_refused() -> None:
    with pytest.raises(EntropyFailed, match="nonce of 15 bytes"):
        CtrDrbg(ENTROPY, bytes(15))


def test_without_derivation_function_inputs_must_have_exact_lengths() -> None:
    with pytest.raises(RequestTooLarge, match="takes no nonce"):
        CtrDrbgWithoutDf(ENTROPY, NONCE)
    with pytest.raises(RequestTooLarge, match="entropy input of 49"):
        CtrDrbgWithoutDf(bytes(49))
    with pytest.raises(RequestTooLarge, match="personalization of 49"):
        CtrDrbgWithoutDf(ENTROPY, b"", bytes(49))
