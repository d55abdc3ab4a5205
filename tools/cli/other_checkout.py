"""The note that the running command belongs to another checkout than the one in the working directory."""

from pathlib import Path


def find_other_checkout() -> Path | None:
    """Return the working directory if it is a checkout of this project other than this program's own, else None."""
    try:
        folder = Path.cwd()
        commands = folder / "tools" / "cli"
        is_other = commands.is_dir() and not commands.samefile(Path(__file__).parent)
    except OSError:  # the working directory was removed, or is not readable
        return None
    return folder if is_other else None


def format_other_checkout_note(checkout: Path) -> str:
    """Return a note that names this program's checkout, and says how to run the program of ``checkout``."""
    return f"note: this is the egm of {Path(__file__).parents[2]}; for {checkout}, make a .venv there (make setup)"
