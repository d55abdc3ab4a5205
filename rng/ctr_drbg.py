"""The generator CTR_DRBG with AES-256, with and without the derivation function.

CTR_DRBG_Update and Generate both encrypt a counter that starts at V + 1 and is as wide as the block, which is
AES in counter mode. So a whole Generate, its closing Update included, is one counter-mode encryption of zeros
(the output) followed by the 48 bytes of additional input (the new Key and V).

Source: NIST SP 800-90A Rev. 1, sections 10.2.1 (CTR_DRBG), 10.3.2 (Block_Cipher_df), 10.3.3 (BCC).
"""

from functools import cache
from typing import ClassVar, Final

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from rng.mechanism import Mechanism

_BLOCK: Final = 16
_KEY: Final = 32
#: Length of a full-entropy seed: Key and V together.
SEED_BYTES: Final = _KEY + _BLOCK
_COUNTER_MASK: Final = (1 << 8 * _BLOCK) - 1
_ZERO_SEED: Final = bytes(SEED_BYTES)
#: The fixed key of Block_Cipher_df: the bytes 0, 1, 2, ... (10.3.2 step 8).
_DF_KEY: Final = bytes(range(_KEY))


#: The initial blocks of the three passes of BCC: the pass number, then zeros (10.3.2 step 9.1).
_DF_STARTS: Final = b"".join(i.to_bytes(4) + bytes(_BLOCK - 4) for i in range(3))


@cache
def _df_cipher() -> CipherContext:
    """Return an AES-256 cipher under the fixed key of Block_Cipher_df, block by block, without state."""
    return Cipher(algorithms.AES256(_DF_KEY), modes.ECB()).encryptor()  # noqa: S305 (BCC is built on the bare block)


def block_cipher_df(text: bytes) -> bytes:
    """Return ``text`` (up to 2**32 - 1 bytes) condensed to 48 bytes by Block_Cipher_df (section 10.3.2).

    The three passes of BCC differ only in their first block and run in parallel. The closing loop, which
    encrypts X repeatedly, is a chained encryption of zeros that starts from X.
    """
    framed = len(text).to_bytes(4) + SEED_BYTES.to_bytes(4) + text + b"\x80"
    framed += bytes(-len(framed) % _BLOCK)
    encrypt = _df_cipher().update
    chains = encrypt(_DF_STARTS)
    for at in range(0, len(framed), _BLOCK):
        block = int.from_bytes(framed[at : at + _BLOCK] * 3)
        chains = encrypt((int.from_bytes(chains) ^ block).to_bytes(SEED_BYTES))
    key, start = chains[:_KEY], chains[_KEY:]
    return Cipher(algorithms.AES256(key), modes.CBC(start)).encryptor().update(_ZERO_SEED)


class CtrDrbg(Mechanism):
    """The generator CTR_DRBG(AES-256) with the derivation function; its entropy input has 32 bytes or more.

    The entropy input may have any distribution.
    """

    __slots__ = ("_key", "_v")

    def _seed_material(self, *parts: bytes) -> bytes:
        """Return 48 bytes of seed material, by the derivation function, from the given parts joined together."""
        return block_cipher_df(b"".join(parts))

    def _instantiate(self, entropy_input: bytes, nonce: bytes, personalization: bytes) -> None:
        """Set Key and V from the seed material of entropy input, nonce and personalization string."""
        self._key = bytearray(_KEY)
        self._v = 0
        self._update(self._seed_material(entropy_input, nonce, personalization))

    def _reseed(self, entropy_input: bytes, additional_input: bytes) -> None:
        """Mix an entropy input and additional input into Key and V."""
        self._update(self._seed_material(entropy_input, additional_input))

    def _generate(self, count: int, additional_input: bytes) -> bytes:
        """Return ``count`` bytes of output, and update Key and V with the additional input."""
        extra = _ZERO_SEED
        if additional_input:
            extra = self._conditioned(additional_input)
            self._update(extra)
        return self._update(extra, count)

    def _conditioned(self, additional_input: bytes) -> bytes:
        """Return the additional input of a Generate condensed to 48 bytes by the derivation function."""
        return block_cipher_df(additional_input)

    def _update(self, provided: bytes, count: int = 0) -> bytes:
        """Return ``count`` bytes of output, then run CTR_DRBG_Update with ``provided`` (48 bytes)."""
        start = ((self._v + 1) & _COUNTER_MASK).to_bytes(_BLOCK)
        stream = Cipher(algorithms.AES256(self._key), modes.CTR(start)).encryptor()
        output = stream.update(bytes(count + -count % _BLOCK)) if count else b""
        seed = stream.update(provided)
        self._key[:] = seed[:_KEY]
        self._v = int.from_bytes(seed[_KEY:])
        return output[:count]

    def _wipe(self) -> None:
        """Overwrite Key and V."""
        self._key[:] = bytes(_KEY)
        self._v = 0


class CtrDrbgWithoutDf(CtrDrbg):
    """The generator CTR_DRBG(AES-256) without derivation function; needs 48 bytes of full entropy and no nonce."""

    __slots__ = ()

    ENTROPY_BYTES: ClassVar[tuple[int, int]] = (SEED_BYTES, SEED_BYTES)
    NONCE_BYTES_MIN: ClassVar[int | None] = None
    ADDITIONAL_BYTES_MAX: ClassVar[int] = SEED_BYTES

    def _seed_material(self, *parts: bytes) -> bytes:
        """Return the entropy input (48 bytes) XORed with each other part, padded with zeros."""
        entropy, *others = parts
        mixed = int.from_bytes(entropy)
        for other in others:
            mixed ^= int.from_bytes(self._conditioned(other))
        return mixed.to_bytes(SEED_BYTES)

    def _conditioned(self, additional_input: bytes) -> bytes:
        """Return the additional input of a Generate padded with zeros to 48 bytes."""
        return additional_input.ljust(SEED_BYTES, b"\0")
