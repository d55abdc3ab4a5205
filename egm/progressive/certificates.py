"""Reading of external certificates, requests and keys: every error of the library becomes a ValueError."""

from collections.abc import Iterator
from contextlib import contextmanager

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm


@contextmanager
def raise_read_errors() -> Iterator[None]:
    """Turn the errors of the certificate library in the ``with`` block into ValueError.

    ``InvalidSignature`` is not changed. The library's own errors are not ValueErrors: an unknown version of
    X.509, an unknown algorithm, an extension that is missing, duplicated or of an unknown kind.
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
