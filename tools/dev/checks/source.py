"""Python source, parsed and not run: what a name in a module stands for."""

import ast
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Module:
    """One module: its dotted name, every node of its tree, and what its imported names stand for.

    ``docstrings`` are the constants that stand alone, which no code sees.
    """

    name: str
    path: Path
    nodes: tuple[ast.AST, ...]
    names: dict[str, str]
    docstrings: frozenset[ast.AST]

    @classmethod
    def read(cls, root: Path, path: Path) -> "Module":
        """Parse the module at ``path``, named by its place under ``root``. Raises SyntaxError."""
        parts = path.relative_to(root).with_suffix("").parts
        package = parts[:-1]
        nodes = tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))))
        names: dict[str, str] = {}
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.split(".")[0]
                    names[alias.asname or first] = alias.name if alias.asname else first
            elif isinstance(node, ast.ImportFrom):
                base = _origin(node, package)
                for alias in node.names:
                    names[alias.asname or alias.name] = f"{base}.{alias.name}"
        name = ".".join(package if parts[-1] == "__init__" else parts)
        docstrings = frozenset(node.value for node in nodes if isinstance(node, ast.Expr))
        return cls(name, path, nodes, names, docstrings)

    def dotted(self, node: ast.AST) -> str:
        """Return the full name behind an expression such as ``np.random.default_rng``, or an empty string."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, "")
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return f"{base}.{node.attr}" if base else ""
        return ""


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
