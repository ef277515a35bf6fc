"""Compute results of papers again: `python benchmarks/papers/all.py`.

python benchmarks/papers/all.py --list
python benchmarks/papers/all.py --only orders cards
python benchmarks/papers/all.py --data ../data --results ../papers

Runs every script of this folder that has a GROUP, prints its results as a section, and writes
benchmarks/results/papers/NAME.json. Then docs/papers.md is regenerated. Scripts whose data or
packages are missing are skipped and listed at the end. The exit status is 1 if a script fails, or
if a value differs without a reason. All scripts take about an hour on two cores.
"""

import argparse
import importlib
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType

from findings import (
    DATA,
    RESULTS,
    ROOT,
    MissingDataError,
    format_conclusion,
    is_explained,
    render_group,
    run_group,
    write_record,
)

HERE = Path(__file__).resolve().parent


def list_groups() -> list[str]:
    """Return the names of the scripts that have a GROUP."""
    return sorted(p.stem for p in HERE.glob("*.py") if "\nGROUP = " in p.read_text("utf-8"))


def import_script(name: str) -> ModuleType:
    return importlib.import_module(name)


def main() -> None:
    options = parse_arguments()
    modules: list[ModuleType] = []
    records, left_out, failed = [], [], []
    for name in options.only or list_groups():
        try:
            modules.append(import_script(name))
        except ImportError as error:
            left_out.append(f"{name}: {error}")
    # in the order of the page
    modules.sort(key=lambda module: (module.GROUP.source, module.GROUP.name))
    if options.list:
        for group in (module.GROUP for module in modules):
            needs = ", ".join(group.needs) or "no data"
            print(f"{group.name:<24} {group.title} ({group.source}); needs {needs}")
        return
    for module in modules:
        name = module.GROUP.name
        try:
            record = run_group(module.GROUP, module.findings, options.data)
        except ImportError as error:
            left_out.append(f"{name}: {error}")
            continue
        except MissingDataError as reason:
            left_out.append(str(reason))
            continue
        except Exception:
            traceback.print_exc()
            failed.append(f"{name} failed")
            continue
        records.append(record)
        print(render_group(record), end="\n\n", flush=True)
        write_record(record, options.results / f"{name}.json")
        if not is_explained(record):
            failed.append(f"{name} differs without a reason")
    if records and options.results == RESULTS:
        subprocess.run([sys.executable, str(ROOT / "benchmarks" / "readme.py")], check=True)
    for line in left_out:
        print(f"left out: {line}")
    for line in failed:
        print(line)
    print(format_conclusion(records))
    raise SystemExit(bool(failed))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", choices=list_groups(), metavar="NAME", help="run only these"
    )
    parser.add_argument("--list", action="store_true", help="list scripts and requirements")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of data sets")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of result files")
    options = parser.parse_args()
    options.results = options.results.resolve()
    return options


if __name__ == "__main__":
    main()
