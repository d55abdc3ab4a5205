"""The example of a tournament's rules file, which the by-law allows, and how a test changes it."""

from egm.tournament.example import EXAMPLE

RULES = EXAMPLE.read_text(encoding="utf-8")


def change_rules(*changes: tuple[str, str]) -> str:
    """Return the rules with the first occurrence of each text replaced; each must occur."""
    text = RULES
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text
