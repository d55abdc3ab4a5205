"""Write the sounds of one family to standard output: ``python -m egm.screen.audio FAMILY``."""

import os
import signal
import sys

from egm.private_process import make_process_private
from egm.screen.audio.scores import read_sound_table
from egm.screen.audio.sound_store import COMMON_FAMILY, write_family_sounds


def main() -> None:
    """Compute the sounds of the family named on the command line, at low priority, and write them to the output."""
    make_process_private()
    sound_family = sys.argv[1] if len(sys.argv) == 2 else ""
    families = (COMMON_FAMILY, *read_sound_table().family_by_name)
    if sound_family not in families:
        sys.exit(f"expected one family: {', '.join(families)}")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # End when the reader has gone.
    os.nice(10)
    write_family_sounds(sound_family, sys.stdout.buffer)


if __name__ == "__main__":
    main()
