"""Run Python processes isolated: they load code from the installation only.

Python normally looks for modules in the working directory and in ``PYTHONPATH`` first, so anyone who can write there
could replace the machine's code or its verifier. With the option ``-I`` it looks in the installation only.
"""

import sys

from egm.errors import OperatorError


def build_python_command(name: str, *arguments: str) -> tuple[str, ...]:
    """Return the command line that runs the installed module ``name`` with this Python and the option ``-I``."""
    unwritten = ("-B",) if sys.dont_write_bytecode else ()
    return (sys.executable, "-I", *unwritten, "-m", name, *arguments)


def require_isolated_mode(name: str) -> None:
    """Raise OperatorError unless this process runs with Python's option ``-I``; ``name`` is the module that it runs.

    Without the option it could have loaded modules from the working directory.
    """
    if not sys.flags.safe_path:
        raise OperatorError(
            f"{name}: Python was started with the working directory among its modules; "
            f"run `egm run`, or `python -I -m {name}`"
        )
