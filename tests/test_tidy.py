"""Rules for the repository: where files belong, and what no file may contain."""

import ast
import builtins
import re
import subprocess
import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {"egm", "meters", "paytables", "rng", "tools", "tests", "docs", ".ci"}
FILES = re.compile(
    r"(README|ARCHITECTURE|CONTRIBUTING|CONFORMANCE|GLOSSARY|SECURITY|CHANGELOG)\.md|LICENSE|Makefile|pyproject\.toml|requirements(-[a-z]+)?\.txt|\.git\w+"
)
#: beside the folders of the code: what goes through several of them, what they share, and data
CONCERNS = {"contract", "powercut", "end_to_end", "conformance", "rigs", "vectors"}

#: where money and odds live, and why a file of theirs may still hold a float
EXACT = ("meters", "paytables", "rng")
FLOATS = {
    "rng/sources.py": "a pause between reads of the entropy source, in seconds",
    "paytables/analysis.py": "volatility is a square root, printed after the exact sums are done",
}

#: pieces, so that this file does not hold what it looks for
HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("deb", "debian", "org"),
        ("proxy", "golang", "org"),
        ("crates", "io"),
    )
]
#: How Python reads the date; in pieces, so that this file does not hold what it looks for.
DATE_READ = re.compile(
    r"\bdate" r"time\.(?:now|utcnow|today)\(|\bdate" r"\.today\(|\btime\.ti" r"me(?:_ns)?\("
)
#: The files of tests that may read the date, and why.
READS_THE_DATE = {
    "tests/rigs/moments.py": "the clock that a test shares with real processes of the product",
}
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)/|\.\./shared\b")


@pytest.fixture(scope="module")
def tracked():
    """Every file that is part of the repository, or will be with the next commit."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [Path(name) for name in listed.split("\0") if name]
    assert files
    return [file for file in files if (ROOT / file).exists()]


@pytest.fixture(scope="module")
def modules(tracked):
    """The syntax trees of the packages that compute money and odds."""
    files = [file for file in tracked if file.suffix == ".py" and file.parts[0] in EXACT]
    return {file: ast.parse((ROOT / file).read_text(encoding="utf-8")) for file in files}


def test_only_listed_files_and_folders_are_at_the_top(tracked):
    stray = {file.parts[0] for file in tracked if len(file.parts) > 1} - FOLDERS
    stray |= {str(file) for file in tracked if len(file.parts) == 1 and not FILES.fullmatch(file.name)}
    assert not stray


def test_the_folder_of_a_test_is_the_folder_of_the_code(tracked):
    tests = [file for file in tracked if file.parts[0] == "tests" and len(file.parts) > 2]
    folders = {Path(*file.parts[1:-1]) for file in tests if file.parts[1] not in CONCERNS}
    assert folders
    assert not [folder for folder in folders if not (ROOT / folder).is_dir()]


def test_tests_have_names_of_their_own(tracked):
    tests = [file for file in tracked if file.parts[0] == "tests"]
    names = Counter(file.name for file in tests if file.name.startswith("test_") and file.suffix == ".py")
    assert not {name: count for name, count in names.items() if count > 1}


def floats(tree):
    """Return the lines of a module that write or create a float."""
    for node in ast.walk(tree):
        literal = isinstance(node, ast.Constant) and isinstance(node.value, float)
        if literal or (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float"
        ):
            yield node.lineno


def test_money_and_odds_are_exact(modules):
    assert not [
        f"{file}:{line} holds a float; a reason belongs in FLOATS if it is neither money nor odds"
        for file, tree in modules.items()
        if not any(str(file).startswith(allowed) for allowed in FLOATS)
        for line in floats(tree)
    ]


@pytest.mark.parametrize(
    ("code", "found"), [("a = 0.5", True), ("b = float(a)", True), ("c = 1 + int(a)", False)]
)
def test_a_float_is_seen(code, found):
    assert bool(list(floats(ast.parse(code)))) is found


def test_nothing_names_a_registry_or_a_place_on_one_machine(tracked):
    found = []
    for file in tracked:
        try:
            lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(lines, 1):
            if MACHINE_PATH.search(line) or any(host in line for host in HOSTS):
                found.append(f"{file}:{number}: {line.strip()[:80]}")
    assert not found


@pytest.mark.parametrize(
    ("text", "found"),
    [("/" + "root/x", True), ("see ../" + "shared/y", True), ("state/work/z", False), ("/tmp/x", False)],
)
def test_a_machine_path_is_seen(text, found):
    assert bool(MACHINE_PATH.search(text)) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("now = datetime" + ".now(UTC)", True),
        ("date" + ".today()", True),
        ("seed = time" + ".time_ns()", True),
        ("end = time.monotonic() + 5", False),
        ("moments.NOW", False),
    ],
)
def test_a_reading_of_the_date_is_seen(text, found):
    assert bool(DATE_READ.search(text)) is found


def test_no_test_reads_the_date(tracked):
    """Such a test may pass on one day and fail on another. Programs within texts are checked too."""
    files = [file for file in tracked if file.suffix == ".py" and file.parts[0] == "tests"]
    found = {str(file) for file in files if DATE_READ.search((ROOT / file).read_text(encoding="utf-8"))}
    assert found == set(READS_THE_DATE)


#: A reference in a docstring: ``:meth:`Journal.append```.
REFERENCE = re.compile(r":(?:class|meth|func|attr|data):`[~!]?([\w.]+)`")


#: The product's packages, and the libraries whose classes docstrings name.
PRODUCT = ("egm", "meters", "paytables", "rng", "tools")
LIBRARIES = ("asyncio", "click", "tomllib")
#: A private name that is read from an object, and one that is defined: not after a dot or a quote, or assigned.
PRIVATE_USED = re.compile(r"\w\)?\]?\.(_[a-z]\w*)")
PRIVATE_DEFINED = re.compile(r"(?<![\w.\"'])(_[a-z]\w*)|\.(_[a-z]\w*)(?=(?:, [\w., ]+)?(?:: [^=\n]+)? = )")
#: Private names of the standard library that tests use: of named tuples, and of ``os``.
OF_LIBRARIES = {"_replace", "_exit"}


def list_defined_names(tree):
    """Return the names of a module's classes, functions, assignments and imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.alias):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def list_dangling_references(texts):
    """Return references in docstrings to names that no file defines, each with its file."""
    names = {name for text in texts.values() for name in list_defined_names(ast.parse(text))}
    referred = [(name, found[1]) for name, text in texts.items() for found in REFERENCE.finditer(text)]
    return [
        (name, target)
        for name, target in referred
        if target.rpartition(".")[2] not in names
        and not hasattr(builtins, target)
        and target.partition(".")[0] not in LIBRARIES
    ]


def test_a_docstring_refers_to_what_there_is(tracked):
    files = [file for file in tracked if file.suffix == ".py" and file.parts[0] in PRODUCT]
    texts = {str(file): (ROOT / file).read_text(encoding="utf-8") for file in files}
    assert list_dangling_references(texts) == []


def test_a_reference_to_nothing_is_seen():
    source = 'def fold():\n    """Fold; see :func:`fold` and :meth:`Hand.' + 'open`."""\n'
    assert list_dangling_references({"a.py": source}) == [("a.py", "Hand.open")]


#: A name in the text of a page, such as ``GameRules``, ``find_level()`` or ``machine.post``; its last part is captured.
#: A name in double backquotes, of several words; without a dot, because those name other modules.
QUOTED_NAME = re.compile(r"(?<!`)``(_?[a-z]+(?:_[a-z0-9]+)+)``(?!`)")
#: Names that docstrings take from elsewhere: values and keys of data, other modules, the wire, a library.
QUOTED_FROM_ELSEWHERE = {
    *("awaiting_award", "bill_acceptor", "cancelled_credit", "software_check", "software_differs"),
    *("att_merchandise", "clear_line", "double_up", "no_play", "power_off", "power_on", "win_1"),
    *("egm_info", "egm_journal_head", "egm_journal_sequence", "shooter_keeps", "winning_count", "x_cents"),
    *("is_resent_on_repeat", "rtp_of_all_staked", "use_attribute_docstrings"),
}


def list_stale_quoted_names(source):
    """Return the names that docstrings of a module quote, but that its code does not contain."""
    tree = ast.parse(source)
    texts = [
        node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    code = source
    for text in texts:
        code = code.replace(text, "")
    words = set(re.findall(r"\w+", code))
    return {name for text in texts for name in QUOTED_NAME.findall(text)} - words


def test_a_docstring_quotes_names_of_its_module(tracked):
    """A parameter or field that was renamed must be renamed in the docstrings too."""
    stale = {
        (str(file), name)
        for file in tracked
        if file.suffix == ".py" and file.parts[0] in PRODUCT and file.name != "__init__.py"
        for name in list_stale_quoted_names((ROOT / file).read_text(encoding="utf-8"))
        if name not in QUOTED_FROM_ELSEWHERE
    }
    assert stale == set()


def test_a_renamed_parameter_in_a_docstring_is_seen():
    source = 'def f(new_name):\n    """Return ``old_name`` and ``new_name``."""\n    return new_name\n'
    assert list_stale_quoted_names(source) == {"old_name"}


NAME_ON_A_PAGE = re.compile(
    r"`(?:\w+\.)*([A-Z][A-Z0-9_]{3,}|[A-Z]\w*[a-z]\w*|[a-z]\w*_\w+)`|`(?:\w+\.)*(\w+)\([^`]*\)`"
)
#: Names on pages that are not the project's: examples, keys, permissions and constants of the system, made-up metrics.
NAMES_OF_OTHERS = {
    "timeout_seconds",
    "as_NAME",
    "start_song",
    "Down",
    "OFFICE",
    "CMSPAR",
    "CAP_SYS_NICE",
    "egm_bill_in_cents_total",
    "egm_bill_in_items_total",
}


def list_unknown_names_on_pages(pages, words):
    """Return the names in the running text of pages that the product has nowhere, each with its page."""
    return sorted(
        {
            (name, found[1] or found[2])
            for name, text in pages.items()
            for found in NAME_ON_A_PAGE.finditer(re.sub(r"```.*?```", "", text, flags=re.DOTALL))
            if (found[1] or found[2]) not in words | NAMES_OF_OTHERS
        }
    )


def test_a_page_names_what_there_is(tracked):
    places = (
        "Makefile",
        "pyproject.toml",
        "tests/rigs/",
        "tests/conformance/",
        *(f"{name}/" for name in PRODUCT),
    )
    code = [
        file
        for file in tracked
        if str(file).startswith(places) and file.suffix in {"", ".py", ".toml", ".html"}
    ]
    words = {word for file in code for word in re.findall(r"\w+", (ROOT / file).read_text(encoding="utf-8"))}
    pages = {
        str(file): (ROOT / file).read_text(encoding="utf-8")
        for file in tracked
        if file.suffix == ".md" and file.name != "CHANGELOG.md" and "vectors" not in file.parts
    }
    assert list_unknown_names_on_pages(pages, words) == []


def test_a_name_that_a_page_invents_is_seen():
    pages = {
        "a.md": "Read `GameRules` and `FAMILIES`; call `explain()`.\n```\nHIDDEN_HERE = `NO_NAME`\n```\n"
    }
    assert list_unknown_names_on_pages(pages, {"GameRules"}) == [("a.md", "FAMILIES"), ("a.md", "explain")]


def list_unknown_private_names(texts):
    """Return private names (``_name``) that tests read from objects and that no file defines, each with its file."""
    names = {found[1] or found[2] for text in texts.values() for found in PRIVATE_DEFINED.finditer(text)}
    return sorted(
        {
            (name, used)
            for name, text in texts.items()
            if name.startswith("tests/")
            for used in PRIVATE_USED.findall(text)
            if used not in names | OF_LIBRARIES
        }
    )


def test_tests_use_private_names_that_exist(tracked):
    """The quick tests thereby detect a renamed private name that only a slow test uses."""
    files = [file for file in tracked if file.suffix == ".py" and file.parts[0] in {*PRODUCT, "tests"}]
    texts = {str(file): (ROOT / file).read_text(encoding="utf-8") for file in files}
    assert list_unknown_private_names(texts) == []


def test_a_private_name_that_no_longer_exists_is_seen():
    texts = {
        "egm/a.py": "class Hand:\n    def _fold(self): ...",
        "tests/a.py": "hand._fold()\nhand._" + "muck()",
    }
    assert list_unknown_private_names(texts) == [("tests/a.py", "_muck")]


def test_the_slow_tier_names_tests_that_exist():
    listed = tomllib.loads((ROOT / "tests" / "slow_tier.toml").read_text(encoding="utf-8"))
    for file, functions in listed.items():
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        found |= {
            f"{outer.name}::{inner.name}"
            for outer in tree.body
            if isinstance(outer, ast.ClassDef)
            for inner in outer.body
            if isinstance(inner, ast.FunctionDef)
        }
        assert set(functions) <= found, file
        assert {key for entry in functions.values() for key in entry} <= {"only", "keep", "seconds"}, file


def list_texts_in_the_wrong_place(source):
    """Return the lines of constants with a docstring below them, and of class attributes with a ``#:`` comment."""
    lines, wrong = source.split("\n"), []

    def visit(statements, *, in_class):
        for statement, following in pairwise([*statements, None]):
            if isinstance(statement, ast.ClassDef):
                visit(statement.body, in_class=True)
            elif isinstance(statement, ast.Assign | ast.AnnAssign):
                value = getattr(following, "value", None) if isinstance(following, ast.Expr) else None
                has_docstring = isinstance(value, ast.Constant) and isinstance(value.value, str)
                has_comment = lines[statement.lineno - 2].strip().startswith("#:")
                if (has_comment if in_class else has_docstring) and not (in_class and has_docstring):
                    wrong.append(statement.lineno)

    visit(ast.parse(source).body, in_class=False)
    return wrong


def test_attributes_have_docstrings_and_constants_comments():
    """One convention (CONTRIBUTING.md): the text of an attribute is below it, that of a constant above it."""
    assert list_texts_in_the_wrong_place('#: a\nA = 1\nclass B:\n    c: int\n    """c"""\n') == []
    assert list_texts_in_the_wrong_place('A = 1\n"""a"""\nclass B:\n    #: c\n    c: int\n') == [1, 5]
    packages = ("egm", "meters", "paytables", "rng", "tools")
    files = [file for folder in packages for file in (ROOT / folder).rglob("*.py")]
    found = {str(file.relative_to(ROOT)): list_texts_in_the_wrong_place(file.read_text()) for file in files}
    del found["rng/mechanism.py"]  # its bytes are those with which the stored dieharder run was made
    assert {file: numbers for file, numbers in found.items() if numbers} == {}
