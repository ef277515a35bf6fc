"""Change the code of the project, and check whether tests fail.

    python benchmarks/mutants.py
    python benchmarks/mutants.py --draw 20 --seed 61
    python benchmarks/mutants.py --part metric --draw 20 --seed 63

A mutant is a module with one expression changed: a sign, a limit, an order, a branch. Tests run
with a copy of the package that contains the mutant, and at least one test must fail.

Without options, the listed changes are tested with the test file of their module. `--draw` selects
random expressions of the definition of the score, and runs the tests of `compute`, of stacked
spectra and of State, which all use the definition. With `--part`, it selects expressions of all
modules of a part: of the metric (outside `vendiscore/tools`), of the tools (`vendiscore/tools`), or
of the page, the web app (`vendiscore_page`). Then it runs the test files of the module in the test
folder of the part, `test_MODULE.py` and `test_MODULE_*.py`; these do not use a browser. If there
are none, it runs all tests of the folder and reports this. `--metric` is an alias of
`--part metric`. The exit status is 1 if a mutant survives.

A surviving mutant may be equivalent to the original code, which only a reader can decide. To see
whether the expression is executed, the tests run again with an error instead of the expression.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "vendiscore"
PAGE = "vendiscore_page"
PARTS = ("metric", "tools", "page")  # each has a folder in `tests`
Part = Literal["metric", "tools", "page"]
# The time limit of the tests of a mutant: MIN_SECONDS, or SLOWER times the usual time.
MIN_SECONDS, SLOWER = 60.0, 5.0
# By module: code, and the code that replaces it.
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
        ("max(RANGE_TOLERANCE, 2 * precision)", "max(1e6 * RANGE_TOLERANCE, 2 * precision)"),
        ("max(RANGE_TOLERANCE, 2 * precision)", "RANGE_TOLERANCE"),
        ("positive = positive / total", "pass"),
        ("return xp.astype(shares, xp.float64), precision", "return shares, precision"),
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
        ("matrix.dtype not in NATIVE_FLOAT_DTYPES", "False"),
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
        ("MIN_SPECTRAL_GAP * threshold", "-MIN_SPECTRAL_GAP * threshold"),
        ("min(orders) >= 1", "min(orders) < 1"),
        ("changes[worst] > MAX_TRUNCATION_EFFECT", "changes[worst] > 1e9"),
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
        ("(1 / n if p is None else p) / squared_norms", "1 / n / squared_norms"),
        ("gram(F.T if d < n else F)", "gram(F.T if d < n else F) / 2"),
        ("X * np.sqrt((1 / n if p", "X * ((1 / n if p"),
        ("squared_norms.min() >= 1 / MAX_SQUARED_NORM", "True"),
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
        (" and float(entries.min()) >= -1 - tolerance", ""),
        ("& (diagonal < math.inf)", ""),
        ("np.vdot(deviation, deviation) <= DIAGONAL_TOLERANCE**2", "True"),
        ("differences) <= ROUNDING**2", "differences) <= 1e9"),
        ("K.shape[0] != K.shape[1]", "K.shape[0] < 0"),
        ("(diagonal > 0)", "(diagonal >= 0)"),
        ("max(DIAGONAL_TOLERANCE, 2 * precision)", "DIAGONAL_TOLERANCE"),
        ("if not has_features and bool", "if has_features and bool"),
        ("largest < DIAGONAL_TOLERANCE and", "False and"),
        ("abs(entries).argmax()", "entries.argmax()"),
        ("if not is_in_range(entries)", "if False"),
        ("max_asymmetry > tolerance", "max_asymmetry > 10 * tolerance"),
        ("<= ROUNDING\n", "<= 1\n"),
        ("i if indices is None else indices[i]", "i"),
    ],
    "similarity/weights": [
        ("        return weights / total", "        return weights"),
        ("abs(to_float(total) - 1) <= max(WEIGHT_TOLERANCE, 2 * epsilon)", "total > 0"),
    ],
}  # fmt: skip

# Functions of the definition; `--draw` changes their expressions.
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
        "is_nonnegative_diagonal",
    ),
    "core/hill": ("hill_number", "_hill_number", "clip_number", "log_power_mean"),
}
# Tests of entry points that use the definition: `compute`, stacked spectra, and State.
ENTRY_POINTS = (
    "tests/metric/scoring/test_compute.py",
    "tests/metric/spectral/test_stacked_spectra.py",
    "tests/tools/streams/test_state.py",
)
# Changes that give the same scores: part of the line, the change, and the reason.
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
    """A module with one expression changed."""

    module: str  # path below `vendiscore`, or from `vendiscore_page`, without the suffix
    line: int
    change: str
    text: str
    probe: str  # the module with an error in place of the expression


def list_mutants(module: str, functions: Collection[str] | None = None) -> list[Mutant]:
    """Return the mutants of a module: all, or those in functions of these names."""
    source = source_path(module).read_text(encoding="utf-8")
    mutants = []
    for node in _find_expressions(ast.parse(source), functions):
        before, after = ast.unparse(node), _change(node)
        probe = "(_ for _ in ()).throw(AssertionError('executed'))"
        mutants.append(
            Mutant(
                module,
                node.lineno,
                f"{before}  ->  {after}",
                _replace(source, node, after),
                _replace(source, node, probe),
            )
        )
    return mutants


def _find_expressions(tree: ast.AST, functions: Collection[str] | None) -> Iterator[ast.expr]:
    """Yield the expressions in functions that `_change` can change."""
    seen: set[ast.AST] = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        if functions is not None and function.name not in functions:
            continue
        for node in _walk(function.body):
            is_test = isinstance(node, ast.If) and isinstance(
                node.test, (ast.Name, ast.Attribute, ast.Call)
            )
            expression = node.test if is_test else node
            if expression not in seen and (is_test or _can_change(node)):
                seen.add(expression)
                yield expression


def _walk(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield nodes without signatures, patterns and f-strings, whose parts have no position."""
    for node in nodes:
        if isinstance(node, (ast.JoinedStr, ast.pattern, ast.arguments)):
            continue
        yield node
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list"):
                children = value if isinstance(value, list) else [value]
                yield from _walk([child for child in children if isinstance(child, ast.AST)])


def _can_change(node: ast.AST) -> bool:
    """Return whether `_change` supports this node."""
    match node:
        case ast.Constant():
            return isinstance(node.value, (int, float))
        case ast.BinOp() | ast.BoolOp():
            return type(node.op) in OPERATORS
        case ast.Compare():
            return type(node.ops[0]) in OPERATORS
        case ast.UnaryOp() | ast.IfExp():
            return True
    return False


def _change(node: ast.expr) -> str:
    """Return the source of an expression with its constant, operator or branches changed."""
    changed: Any = copy.deepcopy(node)
    match changed:
        case ast.Constant():
            value = changed.value
            if isinstance(value, bool):
                changed.value = not value
            else:
                changed.value = value + 1 if isinstance(value, int) or not value else 2 * value
        case ast.BinOp() | ast.BoolOp():
            changed.op = OPERATORS[type(changed.op)]()
        case ast.Compare():
            changed.ops[0] = OPERATORS[type(changed.ops[0])]()
        case ast.IfExp():
            changed.body, changed.orelse = changed.orelse, changed.body
        case ast.UnaryOp():
            changed = changed.operand
        case _:  # the condition of an `if` statement
            return f"not {ast.unparse(changed)}"
    return ast.unparse(changed)


def _replace(source: str, node: ast.expr, replacement: str) -> str:
    """Return the source with an expression replaced; positions in a line are bytes of UTF-8."""
    lines = source.encode().splitlines(keepends=True)
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = b"".join(lines[:first]) + lines[first][: node.col_offset]
    after = lines[last][node.end_col_offset :] + b"".join(lines[last + 1 :])
    return (before + f"({replacement})".encode() + after).decode()


def source_path(module: str, root: Path = ROOT) -> Path:
    """Return the path of a module in the project at `root`."""
    return (root if module.startswith(f"{PAGE}/") else root / "vendiscore") / f"{module}.py"


def list_modules(part: Part) -> list[str]:
    """Return all modules of a part of the project."""
    folder = ROOT / PAGE if part == "page" else PACKAGE
    parent = ROOT if part == "page" else PACKAGE
    paths = [path.relative_to(parent).with_suffix("") for path in sorted(folder.rglob("*.py"))]
    return [path.as_posix() for path in paths if part_of_module(path.as_posix()) == part]


def part_of_module(module: str) -> Part:
    """Return the part of the project that contains a module."""
    if module.startswith(f"{PAGE}/"):
        return "page"
    return "tools" if module.startswith("tools/") else "metric"


def test_files(module: str) -> list[str]:
    """Return the test files of a module; for `__init__`, those of its folder."""
    part = part_of_module(module)
    stem = _stem(module)
    stems = {_stem(other) for other in list_modules(part)}
    # `test_kernel_builder.py` belongs to the module `kernel_builder`, not to `kernel`.
    longer = tuple(
        f"test_{longer_stem}" for longer_stem in stems if longer_stem.startswith(f"{stem}_")
    )
    folder = ROOT / "tests" / part
    result = [*folder.glob(f"**/test_{stem}.py"), *folder.glob(f"**/test_{stem}_*.py")]
    return sorted(
        path.relative_to(ROOT).as_posix()
        for path in result
        if not any(
            path.stem == longer_stem or path.stem.startswith(f"{longer_stem}_")
            for longer_stem in longer
        )
    )


def _stem(module: str) -> str:
    name = module.removesuffix("/__init__")
    return name.rpartition("/")[2]


class Copy:
    """A copy of the project in which tests run against changed modules."""

    def __init__(self, folder: Path) -> None:
        left_out = shutil.ignore_patterns(".*", "node_modules", "__pycache__", "_build")
        shutil.copytree(ROOT, folder, ignore=left_out)
        self.folder = folder
        self.seconds: dict[tuple[str, ...], float] = {}  # time of tests of the unchanged project

    def check(self, tests: Sequence[str]) -> bool:
        """Return whether tests pass without a change, and record how long they take."""
        start = time.perf_counter()
        passes = self._run(tests, None) == 0
        self.seconds[tuple(tests)] = time.perf_counter() - start
        return passes

    def outcome(self, tests: Sequence[str], module: str, text: str) -> str:
        """Return "passed", "failed" or "timeout" of tests with a module replaced."""
        path = source_path(module, self.folder)
        before = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            limit = max(MIN_SECONDS, SLOWER * self.seconds[tuple(tests)])
            return "failed" if self._run(tests, limit) else "passed"
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            path.write_text(before, encoding="utf-8")

    def _run(self, tests: Sequence[str], limit: float | None) -> int:
        """Run pytest on the copy, for at most `limit` seconds, and return its exit status."""
        # Python recognizes stale compiled files by time and size, which may not change here.
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-m", "pytest", *tests, "-x", "-q", "--grids", "all"]
        command += ["-p", "no:cacheprovider", "-p", "no:xdist"]
        return subprocess.run(
            command,
            cwd=self.folder,
            capture_output=True,
            env=environment,
            check=False,
            timeout=limit,
        ).returncode


def run_listed(project: Copy) -> int:
    """Run the mutants of `MUTANTS`; return how many survive."""
    survivors = 0
    for module, changes in MUTANTS.items():
        text = (PACKAGE / f"{module}.py").read_text(encoding="utf-8")
        tests = test_files(module)
        assert project.check(tests), f"tests of {module} fail as it is"
        for original, replacement in changes:
            assert original in text, f"{module} has no {original!r}"
            passed = (
                project.outcome(tests, module, text.replace(original, replacement, 1)) == "passed"
            )
            survivors += passed
            print(
                f"{'SURVIVED' if passed else 'killed':<9} {module}: {original}  ->  {replacement}",
                flush=True,
            )
    print(f"{survivors} of {sum(map(len, MUTANTS.values()))} survived")
    return survivors


def run_random(project: Copy, count: int, seed: int, part: Part | None) -> int:
    """Run randomly drawn mutants; print a row for each, and return how many survive.

    With a part, mutants change any module of this part, and the tests of that module run. Without
    one, mutants change the functions that define the Vendi Score (`DEFINITION`), and the tests of
    functions that users call (`ENTRY_POINTS`) run.
    """
    if part is None:
        mutants = [m for module, names in DEFINITION.items() for m in list_mutants(module, names)]
    else:
        mutants = [mutant for module in list_modules(part) for mutant in list_mutants(module)]
    selected = random.Random(seed).sample(mutants, min(count, len(mutants)))
    scope = part or "definition"
    print(f"{len(selected)} of {len(mutants)} mutants of the {scope}, seed {seed}", flush=True)
    counts: dict[str, int] = {}
    for mutant in selected:
        own_tests = test_files(mutant.module)
        groups = [own_tests or folder_tests(mutant.module)] if part else [[t] for t in ENTRY_POINTS]
        state, outcomes = classify_mutant(project, mutant, groups)
        state += ", no test file" if part and not own_tests else ""
        counts[state] = counts.get(state, 0) + 1
        print(f"{state}: {mutant.module}:{mutant.line}  {mutant.change}", flush=True)
        print(f"    {outcomes}", flush=True)
    print(", ".join(f"{number} {state}" for state, number in sorted(counts.items())))
    return sum(n for state, n in counts.items() if not state.startswith(("killed", "equivalent")))


def folder_tests(module: str) -> list[str]:
    """Return the test folder of a module without a test file, or all tests of its part."""
    part = part_of_module(module)
    folder = f"tests/{part}/{module.removeprefix(f'{PAGE}/').removeprefix('tools/')}"
    folder = folder.rpartition("/")[0]
    return [folder if (ROOT / folder).is_dir() else f"tests/{part}"]


def classify_mutant(
    project: Copy, mutant: Mutant, groups: Sequence[Sequence[str]]
) -> tuple[str, str]:
    """Return the state of a mutant, such as "killed", and the outcome of each group of tests."""
    outcomes = {}
    for tests in groups:
        names = ", ".join(Path(test).name for test in tests)
        if tuple(tests) not in project.seconds and not project.check(tests):
            return "tests fail without a mutant", names
        outcome = project.outcome(tests, mutant.module, mutant.text)
        if outcome == "passed":
            is_executed = project.outcome(tests, mutant.module, mutant.probe) != "passed"
            outcome = "passed, executed" if is_executed else "passed, not executed"
        outcomes[names] = outcome
    text = "; ".join(f"{names}: {outcome}" for names, outcome in outcomes.items())
    if {"failed", "timeout"} & set(outcomes.values()):
        return "killed", text
    if is_equivalent(mutant):
        return "equivalent", text
    is_candidate = "passed, executed" in outcomes.values()
    return "survived (equivalent?)" if is_candidate else "survived (not executed)", text


def is_equivalent(mutant: Mutant) -> bool:
    """Return whether a change is known to give the same scores."""
    source = source_path(mutant.module).read_text(encoding="utf-8")
    line = source.splitlines()[mutant.line - 1]
    return any(
        line_part in line and mutant.change.startswith(change)
        for line_part, change, _ in EQUIVALENT
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draw", type=int, help="number of random mutants")
    parser.add_argument("--part", choices=PARTS, help="draw from all modules of this part")
    parser.add_argument(
        "--metric", dest="part", action="store_const", const="metric", help="same as --part metric"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.part and not options.draw:
        parser.error("--part requires --draw")
    with tempfile.TemporaryDirectory() as name:
        project = Copy(Path(name) / "copy")
        if options.draw:
            survivors = run_random(project, options.draw, options.seed, options.part)
        else:
            survivors = run_listed(project)
    sys.exit(survivors > 0)


if __name__ == "__main__":
    main()
