r"""Digests of the software: SHA-256 of each file and of each component, and keyed signatures of components.

The signature of a component (:func:`compute_signatures`) covers all of its files, in the order of their names (as UTF-8
bytes): for each file one header line ``<size in bytes> <name>\n``, then its bytes. Anybody can rebuild this from the
files alone. The digest of a component (:func:`compute_component_digests`) is the SHA-256 of the list that ``sha256sum``
prints for its files. For a symbolic link, both use the path to which it points, not the content there.
"""

import hashlib
import hmac
from collections import defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from egm.errors import LocalError, OperatorError
from egm.verify.software_files import find_component_of_file
from paytables.source import SourceFile
from paytables.wording import format_known_names

#: A symbolic link is digested and signed as this prefix and the path to which the link points.
_LINK_DIGEST_PREFIX: Final = b"symbolic link\0"
#: Takes the place of the digest of a file that could not be read; the reason follows.
_UNREADABLE_PREFIX: Final = "unreadable: "


class SignatureAlgorithm(StrEnum):
    """The algorithms of a component's signature: HMAC (RFC 2104) with the verifier's seed, or a plain digest."""

    SHA1_HMAC = "sha1-hmac"
    SHA256_HMAC = "sha256-hmac"
    SHA256 = "sha256"


class _HashObject(Protocol):
    """The interface of a hash object of :mod:`hashlib`."""

    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


#: Longest seed: the block size of SHA-1 and SHA-256; HMAC would hash a longer one first.
HMAC_SEED_BYTES_MAX: Final = 64


def read_seed(text: str) -> bytes:
    """Return the seed that a verifier gave as hexadecimal text; the text may be empty.

    Raises OperatorError if it is not hexadecimal, or longer than :data:`HMAC_SEED_BYTES_MAX`.
    """
    try:
        seed = bytes.fromhex(text)
    except ValueError:
        raise OperatorError(f"seed {text[:32]!r}: not hexadecimal digits in pairs") from None
    if len(seed) > HMAC_SEED_BYTES_MAX:
        raise OperatorError(f"seed of {len(seed)} bytes: {HMAC_SEED_BYTES_MAX} at most")
    return seed


def compute_digests(files: Mapping[str, Path], opened_files: Iterable[SourceFile] = ()) -> dict[str, str]:
    """Return the SHA-256 of each file in hexadecimal, or the reason why it cannot be read, by file name.

    :func:`is_digest` distinguishes digest and reason. ``opened_files`` has the files that this process has
    already read and uses. For these, the bytes that were read are digested, whatever is on the disk now.
    Opened files that are not in ``files`` are added to the component ``own``, the cabinet's own files: the name of
    each is ``own`` and its absolute path.
    """
    opened_digest_by_path = {source.path: source.digest for source in opened_files}
    digests = {
        name: opened_digest_by_path.get(path) or _digest_file(path) for name, path in sorted(files.items())
    }
    listed_paths = frozenset(files.values())
    return digests | {
        f"own{path.as_posix()}": digest
        for path, digest in opened_digest_by_path.items()
        if path not in listed_paths
    }


def _digest_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal, or the reason why it cannot be read.

    For a symbolic link, the path to which it points is digested, not the content there.
    """
    try:
        if path.is_symlink():
            return hashlib.sha256(_LINK_DIGEST_PREFIX + str(path.readlink()).encode()).hexdigest()
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"{_UNREADABLE_PREFIX}{error.strerror}"


def is_digest(digest_or_reason: str) -> bool:
    """Return whether a result of :func:`compute_digests` is a digest.

    If not, it is the reason why the file could not be read.
    """
    return not digest_or_reason.startswith(_UNREADABLE_PREFIX)


def compute_component_digests(digests: Mapping[str, str]) -> dict[str, str]:
    """Return one SHA-256 for each software component, by component name.

    It is computed over the lines ``<digest>  <name>`` (two spaces) of the component's files.
    """
    lines_by_component: defaultdict[str, list[bytes]] = defaultdict(list)
    for name in sorted(digests, key=str.encode):
        lines_by_component[find_component_of_file(name)].append(f"{digests[name]}  {name}\n".encode())
    return {
        name: hashlib.sha256(b"".join(lines_of_component)).hexdigest()
        for name, lines_of_component in sorted(lines_by_component.items())
    }


def compute_signatures(
    files: Mapping[str, Path], algorithm: SignatureAlgorithm, seed: bytes, components: Iterable[str] = ()
) -> dict[str, str]:
    """Return the signature of each software component in hexadecimal, by component name.

    If ``components`` is given, only these are signed. Raises OperatorError for an unknown component, or for a
    ``seed`` with an algorithm that takes none; LocalError for a file that cannot be read.
    """
    if seed and algorithm is SignatureAlgorithm.SHA256:
        raise OperatorError(f"{algorithm} takes no seed; {SignatureAlgorithm.SHA256_HMAC} does")
    names_by_component: defaultdict[str, list[str]] = defaultdict(list)
    for name in files:
        names_by_component[find_component_of_file(name)].append(name)
    missing_components = sorted(set(components) - names_by_component.keys())
    if missing_components:
        hint = format_known_names(missing_components[0], sorted(names_by_component))
        raise OperatorError(f"no component {missing_components[0]!r}; {hint}")
    component_names = sorted(components) or sorted(names_by_component)
    return {
        name: _compute_signature(files, sorted(names_by_component[name], key=str.encode), algorithm, seed)
        for name in component_names
    }


def _compute_signature(
    files: Mapping[str, Path], names: list[str], algorithm: SignatureAlgorithm, seed: bytes
) -> str:
    """Return the signature of a component in hexadecimal: over the names, lengths and contents of its files.

    For a symbolic link, the path to which it points is signed instead of the content.
    """
    hasher: _HashObject
    if algorithm is SignatureAlgorithm.SHA256:
        hasher = hashlib.sha256()
    else:
        hasher = hmac.new(seed, digestmod="sha1" if algorithm is SignatureAlgorithm.SHA1_HMAC else "sha256")
    for name in names:
        try:
            data = (
                _LINK_DIGEST_PREFIX + str(files[name].readlink()).encode()
                if files[name].is_symlink()
                else None
            )
            data = files[name].read_bytes() if data is None else data
        except OSError as error:
            raise LocalError(f"{name}: cannot be read: {error.strerror}") from error
        hasher.update(f"{len(data)} {name}\n".encode())
        hasher.update(data)
    return hasher.hexdigest()
