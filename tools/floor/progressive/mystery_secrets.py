"""The secrets of mystery levels: a generator that draws them, and a key that encrypts them.

The secret of a prize is its *trigger* (:class:`MysteryTrigger`): the amount that wins it, with the salt of the
published commitment. The controller's store has each secret encrypted (AES-256-GCM) until the prize is won, so
reading the store reveals nothing. The key is a file next to the controller's certificate; all controllers that
may take the store over have the same key.
"""

import base64
import hashlib
import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from egm.errors import LocalError, OperatorError
from egm.private_files import replace_private_file, require_private_files
from egm.progressive.trigger import MysteryTrigger, RandomSource
from rng import Personalization, RandomService, RngError

#: File name of the key.
MYSTERY_KEY_FILE_NAME: Final = "mystery.key"
#: Length of the key, in bytes.
_KEY_SIZE_BYTES: Final = 32
#: Length of a nonce, in bytes.
_NONCE_SIZE_BYTES: Final = 12
#: What to do about a missing or wrong key, for the text of errors.
_KEY_REMEDY: Final = (
    "put a copy of the right one back; if no mystery level has used it yet, remove it and run `egm "
    "progressive certificates`"
)


class SecretError(LocalError):
    """The secret of a mystery prize cannot be drawn or read; the controller must stop."""


def make_key(folder: Path) -> None:
    """Create the key file in ``folder`` if none exists. Raises OperatorError for an invalid key file."""
    if (folder / MYSTERY_KEY_FILE_NAME).exists():
        read_key(folder)
    else:
        replace_private_file(
            folder / MYSTERY_KEY_FILE_NAME, AESGCM.generate_key(8 * _KEY_SIZE_BYTES).hex() + "\n"
        )


def read_key(folder: Path) -> bytes:
    """Return the key that encrypts the secrets of mystery prizes. Raises OperatorError naming the file."""
    path = folder / MYSTERY_KEY_FILE_NAME
    require_private_files(path)
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise OperatorError(
            f"{path}: not a key for the secrets of mystery levels: {error}: {_KEY_REMEDY}"
        ) from None
    if len(key) != _KEY_SIZE_BYTES:
        raise OperatorError(
            f"{path}: the key has {len(key)} bytes instead of {_KEY_SIZE_BYTES}: {_KEY_REMEDY}"
        )
    return key


def start_generator(term: int) -> RandomService:
    """Return a new, seeded random number generator that passed all its tests. Raises :class:`SecretError`.

    ``term`` is the number of the controller's term: how often a controller has taken the store over. It
    distinguishes this generator from those of all other terms.
    """
    personalization = Personalization(
        product="open-egm controller",
        version=version("open-egm"),
        machine_serial="controller",
        instance=1,
        boot_counter=term,
    )
    try:
        return RandomService.start(personalization=personalization)
    except RngError as error:
        raise SecretError(f"the random number generator cannot be started: {error}") from error


class MysterySecrets:
    """Draws the secrets of mystery prizes, and encrypts and decrypts them for the controller's store.

    The random number generator starts with the first draw.
    """

    def __init__(
        self, key: bytes, start_new_generator: Callable[[int], RandomService] = start_generator
    ) -> None:
        """Create it with a key of 32 bytes; ``start_new_generator`` starts the generator of a controller's term."""
        self._cipher = AESGCM(key)
        self._start_generator = start_new_generator
        self._generator: RandomService | None = None

    def draw(self, draw_trigger: Callable[[RandomSource], MysteryTrigger], term: int) -> MysteryTrigger:
        """Return a new secret for a mystery prize. Raises :class:`SecretError` if the generator fails.

        ``draw_trigger`` draws it from the random source that it receives; ``term`` is the number of the controller's
        term.
        """
        if self._generator is None:
            self._generator = self._start_generator(term)
        try:
            with self._generator.step() as step:
                return draw_trigger(step)
        except RngError as error:
            raise SecretError(f"the secret of a mystery prize cannot be drawn: {error}") from error

    def encrypt(self, trigger: MysteryTrigger) -> str:
        """Return a mystery prize's secret encrypted; the nonce is derived from the prize's unique commitment."""
        encrypted = self._cipher.encrypt(_derive_nonce(trigger.commitment), trigger.to_text().encode(), None)
        return base64.b64encode(encrypted).decode("ascii")

    def decrypt(self, encrypted: str, commitment: str) -> MysteryTrigger:
        """Return a mystery prize's secret decrypted.

        Raises :class:`SecretError` if key, text and commitment do not agree.
        """
        try:
            text = self._cipher.decrypt(
                _derive_nonce(commitment), base64.b64decode(encrypted, validate=True), None
            )
            trigger = MysteryTrigger.from_json(json.loads(text))
        except (InvalidTag, ValueError) as error:
            raise SecretError(
                f"the secret of a mystery prize cannot be decrypted: {MYSTERY_KEY_FILE_NAME} is perhaps not "
                f"the key it was stored with ({error!r})"
            ) from None
        if trigger.commitment != commitment:
            raise SecretError(f"level {trigger.level_id}: its secret does not match the commitment")
        return trigger


def _derive_nonce(commitment: str) -> bytes:
    """Return the nonce for encrypting the secret with this commitment."""
    return hashlib.sha256(commitment.encode("ascii")).digest()[:_NONCE_SIZE_BYTES]
