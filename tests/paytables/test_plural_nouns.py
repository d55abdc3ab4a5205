"""Nouns agree with their counts: no text says "1 credits"."""

import ast
from pathlib import Path

import pytest

from paytables.wording import format_count

ROOT = Path(__file__).parents[2]
#: Texts about a game and texts of the command line.
FOLDERS = ("paytables", "tools/lab/certification", "tools/cli/commands", "tools/lab/parsheet")
NOUNS = {
    *("credits", "cents", "games", "bets", "prizes", "entries", "files", "spots", "lines", "reels", "cells", "strips"),
    *("sheets", "pictures", "symbols", "warnings", "moves", "actions", "restarts", "lies", "findings", "checkpoints"),
    *("picks", "boxes", "parts", "areas", "coins", "respins", "amounts", "scenarios", "tickets", "stages", "decisions"),
}  # fmt: skip


def miscounted(source):
    """Each ``{n} nouns`` of a source whose ``n`` may be one: line and words. Limits in capitals are known, and
    a number with a fraction has none."""
    for text in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.JoinedStr)):
        for value, after in zip(text.values, text.values[1:], strict=False):
            if not isinstance(value, ast.FormattedValue) or not isinstance(after, ast.Constant):
                continue
            form = ast.unparse(value.format_spec)[2:-1] if value.format_spec else ""
            expression = ast.unparse(value.value)
            words = str(after.value).split()
            constant = expression.rpartition(".")[2].isupper() or expression in KNOWN
            if str(after.value)[:1] == " " and words and not constant and form in {"", ","}:
                noun = words[0].strip(".,;:)")
                if noun in NOUNS:
                    yield text.lineno, f"{{{expression}}} {noun}"


#: Never one: below zero, beyond a limit that is more, or more than one by the definition's schema.
KNOWN = {
    "cell_count",
    "win_max",
    "prize_credits",
    "cells",
    "max(CREDITS_LIMIT_MIN, 4 * mode.cost_credits)",
    "len(self.segments)",
    "max_credits",
}


def test_the_search_finds_counts_with_a_fixed_plural_noun():
    source = 'f"{n} credits" f"{len(x):,} games, and" f"{MOST} bets" f"{odds:.2f} tickets" f"{counted(n, \'bet\')} and"'
    assert [words for _, words in miscounted(source)] == ["{n} credits", "{len(x)} games"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_text_in_the_product_has_a_count_with_a_fixed_plural_noun(folder):
    sources = sorted((ROOT / folder).rglob("*.py"))
    assert sources
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in sources
        for line, words in miscounted(path.read_text())
    ]
    assert not found


@pytest.mark.parametrize(
    ("count", "noun", "many", "expected_text"),
    [(1, "credit", "", "1 credit"), (0, "credit", "", "0 credits"), (2000, "credit", "", "2,000 credits"), (1, "box", "boxes", "1 box"), (2, "box", "boxes", "2 boxes"), (-1, "cent", "", "-1 cents")],
)  # fmt: skip
def test_a_count_of_one_takes_the_singular_and_every_other_count_the_plural(count, noun, many, expected_text):
    assert format_count(count, noun, many) == expected_text
