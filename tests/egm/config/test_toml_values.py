"""Texts and other values are formatted as TOML so that they are read back unchanged."""

import tomllib

import pytest

from egm.config.key_documentation import format_toml

#: All control characters and many letters; texts that would end a value; invisible characters.
TEXTS = ("".join(map(chr, range(0x300))), 'a\n[money]\nx="', "\\'''", "\u2028\u202e\ufeff\U0010ffff")


@pytest.mark.parametrize("text", TEXTS)
def test_every_text_is_formatted_as_toml_and_read_back_unchanged(text):
    assert tomllib.loads(f"key = {format_toml(text)}\n") == {"key": text}
