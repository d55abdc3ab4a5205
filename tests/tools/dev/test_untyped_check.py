"""The check that counts ``Any`` in annotations recognises every way to write it."""

from pathlib import Path

import pytest

from tools.dev.checks import untyped
from tools.dev.checks.untyped import UntypedCounts, count, main


def tree(root: Path, text: str) -> Path:
    for package in untyped.COUNTED_PACKAGES:
        (root / package).mkdir()
    (root / "egm" / "part.py").write_text(text)
    return root


@pytest.mark.parametrize(
    ("text", "uses", "signatures"),
    [
        ("def f(a: int) -> int: ...", 0, 0),
        ("from typing import Any\ndef f(a: Any) -> int: ...", 1, 0),
        ("from typing import Any\ndef f(a: dict[str, Any]) -> Any: ...", 2, 1),
        ("import typing as t\ndef f() -> list[dict[str, t.Any]]: ...", 1, 1),
        ("from typing import Any\ndef f(*, a: Mapping[str, Any] | None) -> None: ...", 1, 1),
        ("from typing import Any\nasync def f(**a: Any) -> 'dict[str, Any]': ...", 2, 0),
        ("from typing import Any\nclass C:\n    a: list[Any]\n    b = cast(Any, 1)", 2, 0),
        ("from paytables.contract import Json\nTable = dict[str, Json]", 1, 0),
        ('def f() -> None:\n    """Any."""\n    say("Any of them")', 0, 0),
    ],
)
def test_every_way_to_write_any_is_counted(tmp_path, text, uses, signatures) -> None:
    assert count(tree(tmp_path, text)) == UntypedCounts(uses, signatures)


def test_more_uses_of_any_than_the_limit_fail(tmp_path, monkeypatch, capsys) -> None:
    root = tree(tmp_path, "from typing import Any\ndef f(a: dict[str, Any]) -> None: ...")
    monkeypatch.setattr(untyped, "COUNTS_MAX", UntypedCounts(any_count=1, signature_count=1))
    assert main([str(root)]) == 0
    assert "Any 1 times, in the signatures of 1 functions" in capsys.readouterr().out
    monkeypatch.setattr(untyped, "COUNTS_MAX", UntypedCounts(any_count=1, signature_count=0))
    assert main([str(root)]) == 1
    monkeypatch.setattr(untyped, "COUNTS_MAX", UntypedCounts(any_count=0, signature_count=1))
    assert main([str(root)]) == 1
