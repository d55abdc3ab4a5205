"""``python -m tools.cli``: the ``egm`` command for checkouts where its script is not installed."""

import sys

from tools.cli import main

sys.exit(main(prog_name="egm"))
