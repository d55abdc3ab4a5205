"""Isolated Python processes: started from what is installed, whatever folder and environment they start in.

``python -m NAME`` looks for every module in the working directory first, and where ``PYTHONPATH`` says:
whoever may write there would be the machine, or its verifier. Isolated (``-I``), Python looks in the
installation only.
"""

import sys

from egm.errors import OperatorError


def python_module(name: str, *arguments: str) -> tuple[str, ...]:
    """The command line that runs an installed module with this Python, isolated."""
    unwritten = ("-B",) if sys.dont_write_bytecode else ()
    return (sys.executable, "-I", *unwritten, "-m", name, *arguments)


def require_isolation(name: str) -> None:
    """Raise OperatorError where this process could have been given modules of the working directory."""
    if not sys.flags.safe_path:
        raise OperatorError(
            f"{name}: Python was started with the working directory among its modules; "
            f"run `egm run`, or `python -I -m {name}`"
        )
