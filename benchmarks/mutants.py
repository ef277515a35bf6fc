"""Break functions that define the number, and see that the test file of their module notices.

    python benchmarks/mutants.py
    python benchmarks/mutants.py --draw 20 --seed 61

A mutant is the module with one line changed: a sign, a limit, an order. The test file of the module
runs against a copy of the package that has it, and must fail.

`--draw` takes constants and operators of the definition of the score at random, changes each, and
runs the tests of `compute`, of stacks and of State: the definition serves all of them.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# A piece of each module, and the piece that takes its place.
MUTANTS = {
    "core/hill": [
        ("if q == 0:", "if q == 0.25:"),
        ("1 / xp.max(proportions, axis=-1)", "1 / xp.min(proportions, axis=-1)"),
        ("return -(weights * logs).sum(-1)", "return (weights * logs).sum(-1)"),
        ("xp.log1p(excess) / (1 - q)", "xp.log1p(excess) / (q - 1)"),
        ("- top[..., 0]", "+ top[..., 0]"),
        ("xp.max if q > 1 else xp.min", "xp.min if q > 1 else xp.max"),
        ("max(float(value), 1.0)", "max(float(value), 0.0)"),
        ("float(upper))", "float(upper + 1))"),
        ("max(RANGE_TOLERANCE, 2 * spacing)", "max(1e6 * RANGE_TOLERANCE, 2 * spacing)"),
        ("max(RANGE_TOLERANCE, 2 * spacing)", "RANGE_TOLERANCE"),
        ("positive = positive / total", "pass"),
        ("return xp.astype(shares, xp.float64), spacing", "return shares, spacing"),
        ("is_positive = proportions > 0", "is_positive = proportions >= 0"),
        ("np.clip(values, 1.0, upper)", "values"),
    ],
    "spectral/quadrature": [
        ("return -logs", "return logs"),
        ("np.expm1((q - 1) * logs) / (1 - q)", "np.expm1((q - 1) * logs)"),
        ("np.log1p((1 - q) * S) / (1 - q)", "np.log1p((1 - q) * S)"),
    ],
    "scoring/scores": [
        ("matrix.ndim != 2", "matrix.ndim == 0"),
        ("matrix.dtype not in FLOATS", "False"),
        ("if np.isfinite(array).all()", "if True"),
        ("weights = p if p is None else", "weights = p if True else"),
    ],
    "core/eigenvalues": [
        ("max(self.n, size) * EPS", "1000 * max(self.n, size) * EPS"),
        ("max(self.n, size) * EPS", "0.001 * max(self.n, size) * EPS"),
        ("0.25 * self.entry_precision", "0.5 * self.entry_precision"),
        ("0.0 if self.semidefinite else", "0.0 if not self.semidefinite else"),
        ("> tolerance.max_negative_mass)", "> 10 * tolerance.max_negative_mass)"),
        ("negative_mass > NEGATIVE_MASS", "negative_mass > 10 * NEGATIVE_MASS"),
        ("abs(total - 1) <= RANGE_TOLERANCE", "abs(total - 1) <= 1"),
        ("values[..., ::-1] if", "values if"),
        ("return positive / (total", "return positive / (1 + 0 * total"),
        ("GAP * threshold", "-GAP * threshold"),
        ("min(orders) >= 1", "min(orders) < 1"),
        ("changes[worst] > TRUNCATION_MATTERS", "changes[worst] > 1e9"),
        ("np.argsort(-to_host", "np.argsort(to_host"),
        ("and bool(diagonal.min() >= 0)", ""),
        ("if entry_threshold <= threshold:", "if True:"),
        ("values = values * (values > self.entry_threshold)", "pass"),
    ],
    "core/score": [
        ("1 / solver.squared_norm(A)", "solver.squared_norm(A)"),
        ("return np.vdot(A, A)", "return np.vdot(A, A) / 2"),
        ("return K / n, ", "return K / (n + 1), "),
        ("p is None and np.count", "np.count"),
        ("A *= scale[:, None]", "A *= 1"),
        ("(1 / n if p is None else p) / diagonal", "1 / n / diagonal"),
        ("(1 / n if p is None else p) / squares", "1 / n / squares"),
        ("gram(F.T if d < n else F)", "gram(F.T if d < n else F) / 2"),
        ("np.sqrt((1 / n if p is None else p) / squares)", "(1 / n if p is None else p) / squares"),
        ("squares.min() >= 1 / FAR", "True"),
        ("eigenvalues.warn_about_truncation(orders)", "pass"),
        ("    return clip_to_range(value, n)", "    return value"),
        ("1 - RANGE_TOLERANCE <=", "0 <="),
        ("precision = float(np.finfo(K.dtype).eps)", "precision = 0.0"),
    ],
    "spectral/single_precision": [
        ("error <= MAX_ERROR", "error <= 1"),
        ("computed[-1] <= MAX_EIGENVALUE", "computed[-1] <= 1"),
        ("> MAX_EIGENVALUE**2", "> 1"),
        ("if MIN_COLUMNS *", "if 0 *"),
        ("+ abs(float(np.sum(diagonal)) / trace - 1)", ""),
        ("mass = -float(computed[computed < 0].sum()) + ", "mass = "),
        ("<= 2 * UNIT_TOLERANCE", "<= 1e9"),
    ],
    "similarity/covariance": [
        ("C = C + xp", "C = xp"),
    ],
    "core/checks": [
        ("abs(K).max() <= 1 + tolerance", "K.max() <= 1 + tolerance"),
        ("& (diagonal < math.inf)", ""),
        ("np.vdot(distance, distance) <= DIAGONAL_TOLERANCE**2", "True"),
        ("np.vdot(gap, gap) <= ROUNDING**2", "np.vdot(gap, gap) <= 1e9"),
        ("K.shape[0] != K.shape[1]", "K.shape[0] < 0"),
        ("(diagonal > 0)", "(diagonal >= 0)"),
        ("max(DIAGONAL_TOLERANCE, 2 * precision)", "DIAGONAL_TOLERANCE"),
        ("if not rows and bool", "if rows and bool"),
        ("largest < DIAGONAL_TOLERANCE and", "False and"),
        ("size = abs(part)", "size = part"),
        ("not float(size.max()) <= 1 + tolerance", "False"),
        ("worst > tolerance", "worst > 10 * tolerance"),
        ("<= ROUNDING\n", "<= 1\n"),
        ("i if places is None else places[i]", "i"),
    ],
    "similarity/weights": [
        ("        return weights / total", "        return weights"),
        ("abs(scalar(total) - 1) <= max(WEIGHT_TOLERANCE, 2 * epsilon)", "total > 0"),
    ],
}  # fmt: skip


def notices(folder: Path, module: str, text: str) -> bool:
    """Return whether the test file of a module fails where the module has this text."""
    path = folder / "vendiscore" / f"{module}.py"
    before = path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    room, _, name = module.partition("/")
    status = run_tests(folder, f"tests/{room}/test_{name}.py")
    path.write_text(before, encoding="utf-8")
    return status != 0


# The functions of the definition, from which `--draw` takes mutants.
DEFINITION = {
    "core/score": (
        "compute_hill_numbers",
        "can_skip_eigenvalues",
        "score_without_eigenvalues",
        "check_range",
        "compute_squared_norm",
    ),
    "core/eigenvalues": (
        "max_negative_mass",
        "entry_rounding",
        "eigensolver_rounding",
        "values_at",
        "compute_eigenvalues",
        "normalize_eigenvalues",
        "normalize_above",
        "flip",
        "is_diagonal",
    ),
    "core/hill": ("hill_number", "_hill_number", "within_range", "log_power_mean"),
}
# Tests of entry points that reach the definition: `compute`, stacks of groups, and State.
ENTRY_POINTS = (
    "tests/metric/scoring/test_compute.py",
    "tests/metric/spectral/test_stacks.py",
    "tests/tools/streams/test_state.py",
)
# Changes that give the same scores: a part of the line, the change, and why.
EQUIVALENT = [
    ("normalized = values / total", "values / total  ->  values * total", "the sum is 1"),
    ("positive = values * is_above + 0.0", "values * is_above + 0.0  ->", "the sign of a zero"),
    ("if not lowest >= 0:", "0  ->  1", "the mass of negative eigenvalues is 0 if there are none"),
]
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True)
class Mutant:
    """A module with one constant or operator of its definition changed, at a line."""

    module: str
    line: int
    change: str
    text: str


def list_mutants() -> list[Mutant]:
    """Return a mutant for each constant and each operator of the functions of the definition."""
    mutants = []
    for module, names in DEFINITION.items():
        source = (ROOT / "vendiscore" / f"{module}.py").read_text(encoding="utf-8")
        count = len(list(_find_places(ast.parse(source), names)))
        for i in range(count):
            tree = ast.parse(source)
            node, field = list(_find_places(tree, names))[i]
            before = ast.unparse(node)
            _change(node, field)
            after = ast.unparse(node)
            text = ast.unparse(tree)
            mutants.append(Mutant(module, node.lineno, f"{before}  ->  {after}", text))
    return mutants


def _find_places(tree: ast.AST, names: Sequence[str]) -> Iterator[tuple[ast.expr, str]]:
    """Yield expressions with the name of what is to be changed in them; docstrings are left out."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or function.name not in names:
            continue
        for statement in function.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
                    yield node, "value"
                elif isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in OPERATORS:
                    yield node, "op"
                elif isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
                    yield node, "ops"
                elif isinstance(node, ast.UnaryOp):
                    yield node, "operand"


def _change(node: Any, field: str) -> None:
    """Change a constant or an operator of an expression, in place."""
    if field == "value":
        node.value = (not node.value) if isinstance(node.value, bool) else node.value + 1
    elif field == "op":
        node.op = OPERATORS[type(node.op)]()
    elif field == "ops":
        node.ops[0] = OPERATORS[type(node.ops[0])]()
    elif isinstance(node.op, (ast.Not, ast.Invert)):  # negated twice
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    else:
        node.op = ast.UAdd()


RECORDER = """
import atexit, json, sys, threading
lines = set()
def trace(frame, event, _):
    name = frame.f_code.co_filename
    if "/vendiscore/core/" not in name:
        return None
    if event in ("line", "call"):
        lines.add((name.rpartition("/vendiscore/")[2].removesuffix(".py"), frame.f_lineno))
    return trace
threading.settrace(trace)
sys.settrace(trace)
atexit.register(lambda: json.dump(sorted(lines), open(sys.argv[0] + ".lines", "w")))
"""


def run_tests(folder: Path, test: str, *options: str) -> int:
    """Return the exit status of one test file in a copy of the project."""
    # Compiled files are told apart by their second and size, which a mutant may share.
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", test, "-x", "-q", "--grids", "all", *options]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist"]
    return subprocess.run(
        command, cwd=folder, capture_output=True, env=environment, check=False
    ).returncode


def record_lines(folder: Path, test: str) -> set[tuple[str, int]]:
    """Return the lines of core that a test file executes, as pairs of module and line."""
    recorder = folder / "record_lines.py"
    out = folder / "lines.json"
    recorder.write_text(
        RECORDER.replace('sys.argv[0] + ".lines"', repr(str(out))), encoding="utf-8"
    )
    assert run_tests(folder, test, "-p", "record_lines") == 0, f"{test} fails as it is"
    return {(module, line) for module, line in json.loads(out.read_text(encoding="utf-8"))}


def draw(count: int, seed: int) -> int:
    """Run mutants of the definition against the tests of its entry points; print a row for each."""
    mutants = list_mutants()
    drawn = random.Random(seed).sample(mutants, min(count, len(mutants)))
    print(f"{len(drawn)} of {len(mutants)} mutants of the definition, seed {seed}")
    counts = dict.fromkeys(("noticed", "everywhere", "equivalent", "not executed", "alive"), 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        copy_project(folder)
        executed = {test: record_lines(folder, test) for test in ENTRY_POINTS}
        for mutant in drawn:
            path = folder / "vendiscore" / f"{mutant.module}.py"
            before = path.read_text(encoding="utf-8")
            path.write_text(mutant.text, encoding="utf-8")
            reached = [t for t in ENTRY_POINTS if (mutant.module, mutant.line) in executed[t]]
            failed = [t for t in reached if run_tests(folder, t) != 0]
            path.write_text(before, encoding="utf-8")
            counts["everywhere"] += bool(failed) and failed == reached
            if failed:
                state = "noticed"
            elif is_equivalent(mutant, before):
                state = "equivalent"
            else:
                state = "alive" if reached else "not executed"
            counts[state] += 1
            short = [Path(t).stem.removeprefix("test_") for t in reached]
            noticed = [Path(t).stem.removeprefix("test_") for t in failed]
            print(
                f"{mutant.module}:{mutant.line}  {mutant.change}\n"
                f"    executed by {', '.join(short) or 'none'}; "
                f"noticed by {', '.join(noticed) or state}",
                flush=True,
            )
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return counts["alive"] + counts["not executed"]


def is_equivalent(mutant: Mutant, source: str) -> bool:
    """Return whether a change is known to give the same scores."""
    line = source.splitlines()[mutant.line - 1]
    return any(part in line and mutant.change.startswith(change) for part, change, _ in EQUIVALENT)


def copy_project(folder: Path) -> None:
    left_out = shutil.ignore_patterns(".*", "node_modules", "__pycache__", "results", "docs")
    shutil.copytree(ROOT, folder, ignore=left_out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draw", type=int, help="run so many mutants of the definition instead")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.draw:
        sys.exit(draw(given.draw, given.seed) > 0)
    alive = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        copy_project(folder)
        for module, changes in MUTANTS.items():
            text = (folder / "vendiscore" / f"{module}.py").read_text(encoding="utf-8")
            assert not notices(folder, module, text), f"tests of {module} fail as it is"
            for old, new in changes:
                assert old in text, f"{module} no longer has {old!r}"
                if not notices(folder, module, text.replace(old, new, 1)):
                    alive += 1
                    print(f"alive: {module}: {old!r} -> {new!r}")
    total = sum(map(len, MUTANTS.values()))
    print(f"{total - alive} of {total} mutants are noticed by the test file of their module")
    sys.exit(alive > 0)


if __name__ == "__main__":
    main()
