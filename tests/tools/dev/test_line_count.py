"""What is installed is counted, and nothing else is."""

from tools.dev.checks.lines import installed, main
from tools.dev.conformance.requirements import ROOT

BUILD = '[tool.hatch.build.targets.wheel]\npackages = ["egm", "tools"]\nexclude = ["/egm/testing", "/tools/dev"]\n'


def test_only_what_the_wheel_holds_is_counted(tmp_path):
    (tmp_path / "pyproject.toml").write_text(BUILD)
    for name in ("egm/a.py", "egm/testing/b.py", "tools/__init__.py", "tools/lab/rng/c.py", "tools/dev/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1\n2\n3\n")
    (tmp_path / "egm" / "data.toml").write_text("a = 1\n")
    assert installed(tmp_path) == {"egm": 3, "tools": 3, "tools/lab": 3}


def test_this_tree_says_how_many_there_are(capsys):
    main([str(ROOT)])
    said = capsys.readouterr().out
    assert said.startswith(f"lines installed: {installed(ROOT).total():,} (")
    assert "tools/dev" not in said
