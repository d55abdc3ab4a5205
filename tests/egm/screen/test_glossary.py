"""Each thing has one name in each language: the catalogues and the profiles against the glossary.

The games' own texts are exempt, because they are certified with their game and change with its version.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from egm.profiles import profile
from egm.screen.text import CATALOGUE_FOLDER, apply_typography, read_catalogue

TERMS: list[dict[str, Any]] = tomllib.loads((CATALOGUE_FOLDER / "glossary.toml").read_text("utf-8"))["term"]
#: Other sources of texts for players and staff in both languages.
PROFILES = Path(profile.__file__).parent
#: A regulation's own words.
QUOTED = "regulation_meter."
NBSP = "\u00a0"


def has_one_of(text: str, forms: list[str]) -> bool:
    """Return whether a text contains one of the forms as whole words, outside names in braces and commands."""
    bare = re.sub(r"\{[^}]*\}|`[^`]*`", "", text)
    return any(
        re.search(rf"(?<!\w){re.escape(apply_typography(form, 'fr'))}(?!\w)", bare, case)
        for form in forms
        for case in (re.NOFLAG if form.isupper() else re.IGNORECASE,)
    )


def texts_of(value: Any, language: str) -> Iterator[str]:
    """Yield every text of a language in a definition, as it is shown."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == language and isinstance(inner, str):
                yield apply_typography(inner, language)
            else:
                yield from texts_of(inner, language)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner, language)


def test_each_english_term_has_one_french_term():
    english, french = read_catalogue("en"), read_catalogue("fr")
    met = 0
    for term in TERMS:
        for key, text in english.items():
            if key in term.get("but", ()) or not has_one_of(text, term["en"]):
                continue
            met += 1
            assert has_one_of(french[key], term["fr"]), (key, text, french[key], term["fr"])
    assert met > 250


def test_no_text_has_a_word_the_glossary_forbids():
    texts_by_language = {
        language: [text for key, text in read_catalogue(language).items() if not key.startswith(QUOTED)]
        for language in ("en", "fr")
    }
    for path in sorted(PROFILES.glob("*.toml")):
        for language, texts in texts_by_language.items():
            texts.extend(texts_of(tomllib.loads(path.read_text("utf-8")), language))
    assert min(map(len, texts_by_language.values())) > 850
    for term in TERMS:
        for language, forbidden in (("fr", term.get("never", [])), ("en", term.get("never_en", []))):
            for text in texts_by_language[language]:
                for form in forbidden:
                    assert not has_one_of(text, [form]), (form, text)


def test_every_listed_exception_is_needed():
    """Each text named under ``but`` exists and has the English term, and its translation differs from the glossary."""
    english, french = read_catalogue("en"), read_catalogue("fr")
    named = [(term, key) for term in TERMS for key in term.get("but", ())]
    assert named
    for term, key in named:
        assert has_one_of(english[key], term["en"]), key
        assert not has_one_of(french[key], term["fr"]), key


def test_french_is_typeset_as_in_canada():
    """No straight apostrophe; a no-break space before a colon, %, $ and »; no space before ; ! ?"""
    for language in ("en", "fr"):
        assert not [text for text in read_catalogue(language).values() if "'" in text]
    for key, text in read_catalogue("fr").items():
        bare = re.sub(r"\{[^}]*\}", "x", text)
        assert not re.search(r"[\s\u00a0\u202f][;!?]", bare), (key, text)
        assert not re.search(rf"[^{NBSP}:](?=[%$»])|(?<=«)[^{NBSP}]", bare), (key, text)
        assert not re.search(rf"[^{NBSP}\d]:(?=\s|$)", bare), (key, text)
    assert apply_typography("C'est « ici » : 5 % ; allez !", "fr") == (
        f"C’est «{NBSP}ici{NBSP}»{NBSP}: 5{NBSP}%; allez!"
    )
    assert apply_typography("It's 5 %: go !", "en") == "It’s 5 %: go !"
    # A number is never parted between its groups, and is grouped as amounts beside it are.
    assert apply_typography("12 345 678 de 10 000", "fr") == f"12{NBSP}345{NBSP}678 de 10{NBSP}000"
    assert apply_typography("12 345 678 of 10 000.", "en") == "12,345,678 of 10,000."
    assert apply_typography("5 1000 and 1.5", "en") == "5 1000 and 1.5"
    for number in ("1 800 461-0140", "1 800 461 0140", "514-555 123"):
        assert "," not in apply_typography(number, "en")
