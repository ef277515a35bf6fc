"""Regenerate the tables of README.md, docs and this folder, from registries and result files.

python benchmarks/readme.py            # rewrites the blocks between comments

Documents contain short tables (`short_tables.py`). The full tables are shown in collapsed sections
of the documentation site.
"""

import importlib
import math
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from cells import RESULTS, format_table, load_result
from large_tables import LARGE_TABLES
from provenance import describe_provenance
from registries import (
    tabulate_kernel_options,
    tabulate_kernels,
    tabulate_measures,
    tabulate_presets,
)
from short_tables import SHORT_TABLES
from source_tables import SOURCE_TABLES
from tables import TABLES

from vendiscore import list_kernels

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
DOC_PAGES = (path for path in DOCS.rglob("*.md") if not path.is_relative_to(DOCS / "_build"))
PAGES = (
    ROOT / "README.md",
    ROOT / "kernels" / "README.md",
    ROOT / "benchmarks" / "README.md",
    *sorted(DOC_PAGES),
)


def list_built_in_kernels() -> str:
    """List the kernels of the package by the file that registers them."""
    names: dict[str, list[str]] = {}
    for kernel in list_kernels():
        file = Path(str(sys.modules[kernel.build.__module__].__file__)).relative_to(ROOT)
        names.setdefault(file.as_posix(), []).append(f"`{kernel.name}`")
    return "\n".join(
        f"- {', '.join(kernels)}: [{file}](../{file})"
        for file, kernels in sorted(names.items())
        if file.startswith("vendiscore/")
    )


def describe_engine_runs() -> str:
    """Report in how many browser runs the web app shows the values of the library."""
    result = load_result("engines")
    tasks = result["tasks"]
    succeeded = sum(task["ok"] for task in tasks)
    names = {"chromium": "Chromium", "firefox": "Firefox", "webkit": "WebKitGTK"}
    versions = {names[task["engine"]]: task["version"] for task in tasks}
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"Typical tasks were carried out by mouse, by keyboard and at a zoom of 200 %. The web app "
        f"showed the same values as the library in {succeeded} of {len(tasks)} runs. Browsers: "
        f"{listed} (vendiscore {result['environment']['vendiscore']}; "
        f"[engines.py](../benchmarks/engines.py))."
    )


def tabulate_migration() -> str:
    """Tabulate calls whose values differ from those of vendi_score."""
    rows = load_result("migration")["differ"]
    columns = ("call", "theirs", "ours", "why")
    return format_table(
        ("call", "vendi_score", "vendiscore", "reason"),
        ([row[name] for name in columns] for row in rows),
    )


def tabulate_equal_calls() -> str:
    """Tabulate calls of other packages that return the same values as calls of vendiscore."""
    facts = load_result("coming_from")
    versions = facts["environment"]
    return format_table(
        ("package", "their call", "our call"),
        (
            (
                f"{row['package']} {versions[row['package']]}",
                f"`{row['theirs']}`",
                f"`{row['ours']}`",
            )
            for row in facts["same"]
            if not re.search(r'\["(recall|density|coverage)"\]$', row["theirs"])
        ),
    )


def tabulate_result_files() -> str:
    """Tabulate result files by the version and commit with which they were measured."""
    names: dict[str, list[str]] = {}
    for path in sorted(RESULTS.rglob("*.json")):
        name = path.relative_to(RESULTS).with_suffix("").as_posix()
        names.setdefault(describe_provenance(path), []).append(f"`{name}`")
    rows = (
        (description, ", ".join(files))
        for description, files in sorted(names.items(), reverse=True)
    )
    return format_table(("measured with", "results"), rows)


def tabulate_paper_times() -> str:
    """Tabulate how long the script of each group of results of papers took."""
    rows = []
    for path in sorted((RESULTS / "papers").glob("*.json")):
        name = f"papers/{path.stem}"
        seconds = load_result(name)["seconds"]
        duration = f"{seconds / 60:.0f} min" if seconds >= 100 else f"{math.ceil(seconds) or 1} s"
        rows.append((f"`{name}.py`", duration, f"`{name}`"))
    return format_table(("script", "time", "result"), rows)


def render_papers_page() -> str:
    """Render the results of the papers that were computed again."""
    sys.path.append(str(ROOT / "benchmarks" / "papers"))
    from findings import render_page

    names = [f"papers/{path.stem}" for path in (RESULTS / "papers").glob("*.json")]
    return render_page([load_result(name) for name in names])


def render_people_block(block: str) -> str:
    """Render a block about the agreement with human ratings."""
    sys.path.append(str(ROOT / "benchmarks" / "people"))
    import people_page

    return str(getattr(people_page, block)())


# Full tables, which the site shows in collapsed sections below the blocks of `SHORT_TABLES`.
def render_paper_rows(section: str) -> str:
    """Render the full tables of a section of docs/papers.md."""
    sys.path.append(str(ROOT / "benchmarks" / "papers"))
    findings = importlib.import_module("findings")
    return findings.render_folded(findings.read_committed(), section)


FULL_TABLES: dict[str, Callable[[], str]] = {
    "kernels": tabulate_kernels,
    "measures": tabulate_measures,
    "presets": tabulate_presets,
    **TABLES,
    **SOURCE_TABLES,
    **LARGE_TABLES,
    **{
        f"papers-{part}": partial(render_paper_rows, part)
        for part in ("vendi", "orders", "magnitude", "cards")
    },
}
BLOCKS: dict[str, Callable[[], str]] = {
    **FULL_TABLES,
    **SHORT_TABLES,
    "options": tabulate_kernel_options,
    "built-in": list_built_in_kernels,
    "migration": tabulate_migration,
    "same-numbers": tabulate_equal_calls,
    "engines": describe_engine_runs,
    "result-files": tabulate_result_files,
    "paper-times": tabulate_paper_times,
    "papers": render_papers_page,
    "people": partial(render_people_block, "page"),
    "wording": partial(render_people_block, "wording"),
    "choice": partial(render_people_block, "choice"),
}


def render_blocks(text: str) -> str:
    """Return the text with every marked block regenerated."""
    for name, render in BLOCKS.items():
        pattern = rf"(<!-- {name}(?![\w-])[^>]*-->\n).*?(<!-- /{name} -->)"
        text = re.sub(pattern, lambda m, r=render: f"{m[1]}{r()}\n{m[2]}", text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(render_blocks(path.read_text(encoding="utf-8")), encoding="utf-8")
