"""The generator Hash_DRBG with SHA-256 and SHA-512. Source: NIST SP 800-90A Rev. 1, sections 10.1.1 and 10.3.1."""

from hashlib import new as new_hash
from typing import ClassVar

from rng.mechanism import Mechanism


class HashDrbg(Mechanism):
    """The generator Hash_DRBG with the hash function ``HASH_NAME``; V and C have ``seedlen`` bits (10.1, table 2)."""

    __slots__ = ("_c", "_v")

    HASH_NAME: ClassVar[str]
    """The name of the hash function, as :mod:`hashlib` knows it."""
    SEED_BYTES: ClassVar[int]
    """The length of V and C in bytes (``seedlen``)."""

    def _instantiate(self, entropy_input: bytes, nonce: bytes, personalization: bytes) -> None:
        """Set V and C from entropy input, nonce and personalization string."""
        self._seed(entropy_input + nonce + personalization)

    def _reseed(self, entropy_input: bytes, additional_input: bytes) -> None:
        """Mix an entropy input and additional input into V and C."""
        self._seed(b"\x01" + self._v.to_bytes(self.SEED_BYTES) + entropy_input + additional_input)

    def _seed(self, seed_material: bytes) -> None:
        """Set the generator's V and C from seed material."""
        seed = self._hash_df(seed_material)
        self._v = int.from_bytes(seed)
        self._c = int.from_bytes(self._hash_df(b"\x00" + seed))

    def _generate(self, count: int, additional_input: bytes) -> bytes:
        """Return ``count`` bytes (SP 800-90A, Hash_DRBG generate and Hashgen), and update the generator's state."""
        modulus = 1 << 8 * self.SEED_BYTES
        if additional_input:
            mixed_input = self._hash(b"\x02" + self._v.to_bytes(self.SEED_BYTES) + additional_input)
            self._v = (self._v + int.from_bytes(mixed_input)) % modulus
        output = bytearray()
        data = self._v
        while len(output) < count:
            output += self._hash(data.to_bytes(self.SEED_BYTES))
            data = (data + 1) % modulus
        closing = self._hash(b"\x03" + self._v.to_bytes(self.SEED_BYTES))
        self._v = (self._v + int.from_bytes(closing) + self._c + self._reseed_counter) % modulus
        return bytes(output[:count])

    def _hash(self, data: bytes) -> bytes:
        """Return the digest of ``data`` by the generator's hash function."""
        return new_hash(self.HASH_NAME, data).digest()

    def _hash_df(self, data: bytes) -> bytes:
        """Return Hash_df of ``data`` (section 10.3.1), ``seedlen`` bits long."""
        output = bytearray()
        counter = 1
        while len(output) < self.SEED_BYTES:
            output += self._hash(counter.to_bytes(1) + (8 * self.SEED_BYTES).to_bytes(4) + data)
            counter += 1
        return bytes(output[: self.SEED_BYTES])

    def _wipe(self) -> None:
        """Erase V and C."""
        self._v = self._c = 0


class HashDrbgSha256(HashDrbg):
    """The generator Hash_DRBG with SHA-256: 440-bit seeds."""

    __slots__ = ()
    HASH_NAME: ClassVar[str] = "sha256"
    SEED_BYTES: ClassVar[int] = 55


class HashDrbgSha512(HashDrbg):
    """The generator Hash_DRBG with SHA-512: 888-bit seeds."""

    __slots__ = ()
    HASH_NAME: ClassVar[str] = "sha512"
    SEED_BYTES: ClassVar[int] = 111
