"""Break functions that define the number, and see that the test file of their module notices.

    python benchmarks/mutants.py

A mutant is the module with one line changed: a sign, a limit, an order. The test file of the module
runs against a copy of the package that has it, and must fail.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A piece of each module, and the piece that takes its place.
MUTANTS = {
    "core/hill": [
        ("if q == 0:", "if q == 0.25:"),
        ("1 / xp.max(shares, axis=-1)", "1 / xp.min(shares, axis=-1)"),
        ("return -(weights * logs).sum(-1)", "return (weights * logs).sum(-1)"),
        ("xp.log1p(excess) / (1 - q)", "xp.log1p(excess) / (q - 1)"),
        ("- top[..., 0]", "+ top[..., 0]"),
        ("xp.max if q > 1 else xp.min", "xp.min if q > 1 else xp.max"),
        ("max(float(value), 1.0)", "max(float(value), 0.0)"),
        ("float(most))", "float(most + 1))"),
        ("max(RANGE_TOLERANCE, 2 * spacing)", "max(1e6 * RANGE_TOLERANCE, 2 * spacing)"),
        ("max(RANGE_TOLERANCE, 2 * spacing)", "RANGE_TOLERANCE"),
        ("positive = positive / total", "pass"),
        ("return xp.astype(shares, xp.float64), spacing", "return shares, spacing"),
    ],
    "spectral/clusters": [
        ("positive = shares > 0", "positive = shares >= 0"),
    ],
    "spectral/quadrature": [
        ("return -logs", "return logs"),
        ("np.expm1((q - 1) * logs) / (1 - q)", "np.expm1((q - 1) * logs)"),
        ("np.log1p((1 - q) * S) / (1 - q)", "np.log1p((1 - q) * S)"),
    ],
    "scoring/scores": [
        ("abs(rows).max() > WHOLE", "False"),
        ("rows.ndim != 2", "rows.ndim == 0"),
        ("p.min() >= 0", "p.min() >= -1"),
        ("if np.isfinite(few[name]).all()", "if True"),
    ],
    "core/eigenvalues": [
        ("max(self.n, size) * EPS", "1000 * max(self.n, size) * EPS"),
        ("max(self.n, size) * EPS", "0.001 * max(self.n, size) * EPS"),
        ("0.25 * self.spacing", "0.5 * self.spacing"),
        ("0.0 if self.semidefinite else", "0.0 if not self.semidefinite else"),
        ("negative_mass > rounding.negative_mass", "negative_mass > 10 * rounding.negative_mass"),
        ("negative_mass > NEGATIVE_MASS", "negative_mass > 10 * NEGATIVE_MASS"),
        ("abs(total - 1) <= RANGE_TOLERANCE", "abs(total - 1) <= 1"),
        ("values[::-1] if", "values if"),
        ("/ whole", "/ 1"),
        ("TAIL * cut", "-TAIL * cut"),
        ("or q >= 1", "or q < 1"),
        ("moved > CUT_MATTERS", "moved > 1e9"),
        ("np.argsort(-diagonal", "np.argsort(diagonal"),
        ("not diagonal.min() >= 0", "False"),
    ],
    "core/score": [
        ("1 / np.vdot(A, A)", "np.vdot(A, A)"),
        ("K_p = K / n", "K_p = K / (n + 1)"),
        ("p is None and np.count", "np.count"),
        ("K_p *= scale[:, None]", "K_p *= 1"),
        ("(1 / n if p is None else p) / diagonal", "1 / n / diagonal"),
        ("(1 / n if p is None else p) / squares", "1 / n / squares"),
        ("if normalize or not is_sound(K):", "if normalize:"),
        ("A = gram(F.T if d < n else F)", "A = gram(F.T if d < n else F) / 2"),
        ("np.sqrt((1 / n if p is None else p) / squares)", "(1 / n if p is None else p) / squares"),
        ("and q >= 1 and in_single", "and q >= 0 and in_single"),
        ("error <= MAX_SINGLE_ERROR", "error <= 1"),
        ("<= MAX_SINGLE_EIGENVALUE)", "<= 1)"),
        ("<= MAX_SINGLE_EIGENVALUE**2", "<= 1"),
        ("if MIN_SINGLE_COLUMNS *", "if 0 *"),
        ("wrong = negative + abs(float(np.sum(diagonal)) / trace - 1)", "wrong = negative"),
        ("wrong = negative + abs", "wrong = abs"),
        ("<= 2 * UNIT_TOLERANCE", "<= 1e9"),
        ("exact = diagonal_shares(A)", "exact = None"),
        ("C = C + xp", "C = xp"),
        ("squares.min() >= 1 / FAR", "True"),
        ("spectrum.warn_of_cut([q])", "pass"),
    ],
    "core/checks": [
        ("not abs(K).max() <= 1 + SYMMETRY_TOLERANCE", "False"),
        ("abs(K).max() <= 1 + SYMMETRY_TOLERANCE", "K.max() <= 1 + SYMMETRY_TOLERANCE"),
        ("& (diagonal < math.inf)", ""),
        ("off @ off <= DIAGONAL_TOLERANCE**2", "True"),
        ("np.vdot(gap, gap) <= ROUNDING**2", "np.vdot(gap, gap) <= 1e9"),
        ("K.shape[0] != K.shape[1]", "K.shape[0] < 0"),
        ("(diagonal > 0)", "(diagonal >= 0)"),
        ("max(DIAGONAL_TOLERANCE, 2 * spacing)", "DIAGONAL_TOLERANCE"),
        ("if not rows and bool", "if rows and bool"),
        ("largest < DIAGONAL_TOLERANCE and", "False and"),
        ("size = abs(part)", "size = part"),
        ("not float(size.max()) <= 1 + tolerance", "False"),
        ("worst > tolerance", "worst > 10 * tolerance"),
        ("> ROUNDING:", "> 1:"),
        ("return weights / total", "return weights"),
        ("abs(scalar(total) - 1) <= max(WEIGHT_TOLERANCE, 2 * spacing)", "total > 0"),
        ("i if places is None else places[i]", "i"),
    ],
}  # fmt: skip


def notices(folder: Path, module: str, text: str) -> bool:
    """Return whether the test file of a module fails where the module has this text."""
    path = folder / "vendiscore" / f"{module}.py"
    before = path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    room, _, name = module.partition("/")
    tests = [f"tests/{room}/test_{name}.py", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", *tests]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    path.write_text(before, encoding="utf-8")
    return done.returncode != 0


def main() -> None:
    alive = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        left_out = shutil.ignore_patterns(".*", "node_modules", "__pycache__", "results", "docs")
        shutil.copytree(ROOT, folder, ignore=left_out)
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
