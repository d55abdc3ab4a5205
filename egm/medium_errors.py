"""Code of a storage medium's error, for the notice that instructs staff."""

import errno
from collections.abc import Mapping
from typing import Final

#: Error number of a failed medium -> the code of ``notice.refused`` that instructs staff.
_FAILURE_CODE_BY_ERRNO: Final[Mapping[int | None, str]] = {
    errno.ENOSPC: "medium_full",
    errno.EDQUOT: "medium_full",
    errno.EROFS: "medium_locked",
    errno.EIO: "medium_fails",
}


def find_medium_failure_code(error: OSError) -> str:
    """Return the code for a storage medium's failure, such as a full disk.

    It is the key of a text in the section ``notice.refused`` of the catalogue.
    """
    return _FAILURE_CODE_BY_ERRNO.get(error.errno, "medium_other")
