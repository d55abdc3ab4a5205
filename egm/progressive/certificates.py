"""Reading of certificates, certificate requests and keys from outside: the library's errors become ValueError."""

from collections.abc import Iterator
from contextlib import contextmanager

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm


@contextmanager
def convert_read_errors() -> Iterator[None]:
    """Convert the errors that the certificate library raises in the ``with`` block into ValueError.

    They are: an unknown X.509 version, an unknown algorithm, and an extension that is missing, duplicated or of
    an unknown kind. ``InvalidSignature`` is not converted.
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
