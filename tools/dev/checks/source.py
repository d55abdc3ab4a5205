"""Python source, parsed and not run: which module imports what, and what a name in it stands for."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Module:
    """One module: its dotted name, every node of its tree, what its names stand for, and what it imports.

    ``docstrings`` are the constants that stand alone, which no code sees.
    ``imports`` are all dotted names that importing it may load, each with its line.
    """

    name: str
    path: Path
    nodes: tuple[ast.AST, ...]
    names: dict[str, str]
    docstrings: frozenset[ast.AST]
    imports: tuple[tuple[str, int], ...]

    @classmethod
    def read(cls, root: Path, path: Path) -> "Module":
        """Parse the module at ``path``, named by its place under ``root``. Raises SyntaxError."""
        parts = path.relative_to(root).with_suffix("").parts
        package = parts[:-1]
        nodes = tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))))
        names: dict[str, str] = {}
        imports: list[tuple[str, int]] = []
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.split(".")[0]
                    names[alias.asname or first] = alias.name if alias.asname else first
                    imports.append((alias.name, node.lineno))
            elif isinstance(node, ast.ImportFrom):
                base = _origin(node, package)
                imports.append((base, node.lineno))
                for alias in node.names:
                    names[alias.asname or alias.name] = f"{base}.{alias.name}"
                    imports.append((f"{base}.{alias.name}", node.lineno))
        name = ".".join(package if parts[-1] == "__init__" else parts)
        docstrings = frozenset(node.value for node in nodes if isinstance(node, ast.Expr))
        return cls(name, path, nodes, names, docstrings, tuple(imports))

    def dotted(self, node: ast.AST) -> str:
        """Return the full name behind an expression such as ``np.random.default_rng``, or an empty string."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, "")
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return f"{base}.{node.attr}" if base else ""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            of, name = (*node.args, None, None)[:2]
            text = name.value if isinstance(name, ast.Constant) else None
            if of is not None and isinstance(text, str) and (base := self.dotted(of)):
                return f"{base}.{text}"
        return ""

    def called(self, node: ast.AST) -> Iterator[str]:
        """Yield the name that each call within ``node`` calls."""
        return (self.dotted(call.func) for call in ast.walk(node) if isinstance(call, ast.Call))


def _origin(node: ast.ImportFrom, package: tuple[str, ...]) -> str:
    """Return the module that a ``from`` import names, with relative imports resolved."""
    if not node.level:
        return node.module or ""
    base = package[: len(package) - node.level + 1]
    return ".".join((*base, *((node.module,) if node.module else ())))


def modules(root: Path, packages: tuple[str, ...]) -> dict[str, Module]:
    """Every module of ``packages`` under ``root``, by dotted name."""
    paths = (path for package in packages for path in sorted((root / package).rglob("*.py")))
    return {module.name: module for module in (Module.read(root, path) for path in paths)}
