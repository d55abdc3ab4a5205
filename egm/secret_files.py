"""Files that are secrets only while nobody but their owner can read them."""

from pathlib import Path

from egm.errors import OperatorError


def require_private(*paths: Path) -> None:
    """Raise OperatorError for the first of these files that others than its owner may read or write.

    A file that is not there is nobody's to read.
    """
    for path in paths:
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            raise OperatorError(f"{path}: {error.strerror}") from None
        if mode & 0o077:
            raise OperatorError(
                f"{path}: others than its owner may read or write it (mode {mode & 0o777:o}): a secret they "
                "may have read should be made anew; else make it its owner's only with chmod 600"
            )
