"""Write what README.md and other pages say of the registries and of benchmark results.

python benchmarks/readme.py            # rewrites the marked blocks

Documents have the rows that a reader decides by (`short_tables.py`); the site folds the rest.
"""

import importlib
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from cells import RESULTS, loaded, table
from large_tables import LARGE
from provenance import describe_provenance
from registries import markdown, measures, options, presets
from short_tables import SHORT
from source_tables import SOURCES
from tables import TABLES

from vendiscore import list_kernels

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
WRITTEN = (path for path in DOCS.rglob("*.md") if not path.is_relative_to(DOCS / "_build"))
PAGES = (
    ROOT / "README.md",
    ROOT / "kernels" / "README.md",
    ROOT / "benchmarks" / "README.md",
    *sorted(WRITTEN),
)


def built_in() -> str:
    """Return the kernels of the package, by the file that registers them."""
    names: dict[str, list[str]] = {}
    for kernel in list_kernels():
        file = Path(str(sys.modules[kernel.build.__module__].__file__)).relative_to(ROOT)
        names.setdefault(file.as_posix(), []).append(f"`{kernel.name}`")
    return "\n".join(
        f"- {', '.join(kernels)}: [{file}](../{file})"
        for file, kernels in sorted(names.items())
        if file.startswith("vendiscore/")
    )


def engines() -> str:
    """Say in which engines the page's tasks lead to the library's numbers."""
    result = loaded("engines")
    tasks = result["tasks"]
    done = sum(task["ok"] for task in tasks)
    names = {"chromium": "Chromium", "firefox": "Firefox", "webkit": "WebKitGTK"}
    versions = {names[task["engine"]]: task["version"] for task in tasks}
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"Typical tasks were carried out by mouse, by keyboard and at a zoom of 200 %. The web app "
        f"showed the same values as the library in {done} of {len(tasks)} runs. Browsers: {listed} "
        f"(vendiscore {result['environment']['vendiscore']}; "
        f"[engines.py](../benchmarks/engines.py))."
    )


def migration() -> str:
    """Return calls whose numbers differ from vendi_score's."""
    rows = loaded("migration")["differ"]
    columns = ("call", "theirs", "ours", "why")
    return table(
        ("call", "vendi_score", "vendiscore", "reason"),
        ([row[name] for name in columns] for row in rows),
    )


def same_numbers() -> str:
    """Tabulate calls of other packages that return the same numbers as ours."""
    facts = loaded("coming_from")
    versions = facts["environment"]
    return table(
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


def result_files() -> str:
    """Tabulate result files by the version and commit that they were measured with."""
    names: dict[str, list[str]] = {}
    for path in sorted(RESULTS.rglob("*.json")):
        name = path.relative_to(RESULTS).with_suffix("").as_posix()
        names.setdefault(describe_provenance(path), []).append(f"`{name}`")
    rows = ((told, ", ".join(files)) for told, files in sorted(names.items(), reverse=True))
    return table(("measured with", "results"), rows)


def papers() -> str:
    """Return what the re-runs of papers found."""
    sys.path.append(str(ROOT / "benchmarks" / "papers"))
    from findings import page

    names = [f"papers/{path.stem}" for path in (RESULTS / "papers").glob("*.json")]
    return page([loaded(name) for name in names])


def people(block: str) -> str:
    """Write what scores have to do with people's judgements."""
    sys.path.append(str(ROOT / "benchmarks" / "people"))
    import people_page

    return str(getattr(people_page, block)())


# Whole tables; the site folds them below the blocks of `SHORT`.
def paper_rows(part: str) -> str:
    """Return all rows of a part of the papers' page."""
    sys.path.append(str(ROOT / "benchmarks" / "papers"))
    findings = importlib.import_module("findings")
    return findings.folded(findings.committed(), part)


WHOLE: dict[str, Callable[[], str]] = {
    "kernels": markdown,
    "measures": measures,
    "presets": presets,
    **TABLES,
    **SOURCES,
    **LARGE,
    **{
        f"papers-{part}": partial(paper_rows, part)
        for part in ("vendi", "orders", "magnitude", "cards")
    },
}
BLOCKS: dict[str, Callable[[], str]] = {
    **WHOLE,
    **SHORT,
    "options": options,
    "built-in": built_in,
    "migration": migration,
    "same-numbers": same_numbers,
    "engines": engines,
    "result-files": result_files,
    "papers": papers,
    "people": partial(people, "page"),
    "wording": partial(people, "wording"),
    "choice": partial(people, "choice"),
}


def rendered(text: str) -> str:
    """Return the text with every marked block made anew."""
    for name, render in BLOCKS.items():
        pattern = rf"(<!-- {name}(?![\w-])[^>]*-->\n).*?(<!-- /{name} -->)"
        text = re.sub(pattern, lambda m, r=render: f"{m[1]}{r()}\n{m[2]}", text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(rendered(path.read_text(encoding="utf-8")), encoding="utf-8")
