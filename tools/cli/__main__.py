"""``python -m tools.cli``: the ``egm`` command where its script is not installed."""

import sys

from tools.cli import main

sys.exit(main(prog_name="egm"))
