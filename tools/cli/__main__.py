"""``python -m tools.cli``: the ``egm`` command of the checkout or package to which this Python belongs.

:mod:`tools.cli` has restarted itself in isolated mode, so the program need not belong to the checkout in the working
directory. If it belongs to another one, a note on standard error says so.
"""

import sys

from tools.cli import main
from tools.cli.other_checkout import find_other_checkout, format_other_checkout_note
from tools.cli.terminal import echo

if (checkout := find_other_checkout()) is not None:
    echo(format_other_checkout_note(checkout), err=True)
sys.exit(main(prog_name="egm"))
