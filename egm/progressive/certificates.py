"""Certificates, requests and keys from outside: whatever their library fails with is a ValueError here."""

from collections.abc import Iterator
from contextlib import contextmanager

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm


@contextmanager
def reading() -> Iterator[None]:
    """Raise ValueError for what cannot be read; ``InvalidSignature`` stays what it is.

    The library's own kinds are no ValueErrors: another version of X.509, an algorithm it does not know, an
    extension that is missing, twice there, or names something of no known kind.
    """
    try:
        yield
    except (
        TypeError,
        UnsupportedAlgorithm,
        x509.InvalidVersion,
        x509.DuplicateExtension,
        x509.ExtensionNotFound,
        x509.UnsupportedGeneralNameType,
    ) as error:
        raise ValueError(str(error)) from error
