"""Write what README.md and other pages say of the registries and of benchmark results.

python benchmarks/readme.py            # rewrites the marked blocks
"""

import ast
import importlib.util
import json
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

from vendiscore import list_kernels
from vendiscore.catalogue import aspects, markdown, measures, options, presets

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    ROOT / "README.md",
    ROOT / "kernels" / "README.md",
    ROOT / "docs" / "reference" / "measures.md",
    ROOT / "docs" / "papers.md",
)
RESULTS = ROOT / "benchmarks" / "results"
PAPERS = ROOT / "benchmarks" / "papers"


def speed() -> str:
    """Medians of ours and theirs, from all results that hold pairs."""
    lines = ["| | ours | peer | faster |", "|---|---|---|---|"]
    for path in sorted(RESULTS.glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8")).get("rows", []):
            if "times_faster" in row:
                cells = [row["name"], f"{row['ours_s']:.3g} s", f"{row['theirs_s']:.3g} s"]
                lines.append(f"| {' | '.join(cells)} | {row['times_faster']:.3g} × |")
    return "\n".join(lines)


def built_in() -> str:
    """The kernels of the package, by the file that registers them."""
    names: dict[str, list[str]] = {}
    for kernel in list_kernels():
        file = Path(str(sys.modules[kernel.build.__module__].__file__)).relative_to(ROOT)
        names.setdefault(file.as_posix(), []).append(f"`{kernel.name}`")
    return "\n".join(
        f"- {', '.join(kernels)}: [{file}](../{file})"
        for file, kernels in sorted(names.items())
        if file.startswith("vendiscore/")
    )


def integrations() -> str:
    """The modules that are named after an extra, or need one, by what they say first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = ["| module | what it is | extra |", "|---|---|---|"]
    for path in sorted((ROOT / "vendiscore" / "integrations").glob("*.py")):
        extra = {"loss": "torch"}.get(path.stem, path.stem.replace("_", "-"))
        if extra in project["optional-dependencies"]:
            said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            file = path.relative_to(ROOT).as_posix()
            lines.append(f"| [{path.stem}]({file}) | {said.splitlines()[0]} | `{extra}` |")
    return "\n".join(lines)


def page() -> str:
    """How the page starts and bears a load, and what it sends."""
    start, load, sent = (
        json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("deploy", "load", "page")
    )
    found = sum(sent["axe_findings"].values())
    return (
        f"On {start['cores']} cores it is served within {start['first_start_seconds']:.0f} s and "
        f"idles at {start['idle_megabytes_median']:,.0f} MB, most of it torch. With "
        f"{load['visitors']} visitors at once it answers in "
        f"{load['wait_median_seconds']:.1f} s (median; 95th percentile "
        f"{load['wait_p95_seconds']:.1f} s): "
        f"[deploy.py](benchmarks/deploy.py), [load.py](benchmarks/load.py). A first visit takes "
        f"{sent['first_visit_bytes'] / 1e3:.0f} kB, the score of 1,000 questions "
        f"{sent['score_1000_texts_bytes'] / 1e3:.0f} kB, and moving the threshold "
        f"{sent['move_threshold_bytes'] / 1e3:.1f} kB; axe finds {found or 'nothing'} in "
        f"{sent['axe_pages']} states of the page: [page.py](benchmarks/page.py)."
    )


def papers() -> str:
    """What the re-runs of papers found."""
    spec = importlib.util.spec_from_file_location("papers_findings", PAPERS / "findings.py")
    findings = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = findings
    spec.loader.exec_module(findings)
    paths = (RESULTS / "papers").glob("*.json")
    return findings.page([json.loads(path.read_text(encoding="utf-8")) for path in paths])


BLOCKS: dict[str, Callable[[], str]] = {
    "kernels": markdown,
    "options": options,
    "presets": presets,
    "aspects": aspects,
    "measures": measures,
    "built-in": built_in,
    "integrations": integrations,
    "speed": speed,
    "page": page,
    "papers": papers,
}


def rendered(text: str) -> str:
    """The text with every marked block made anew."""
    for name, render in BLOCKS.items():
        pattern = rf"(<!-- {name}\b[^>]*-->\n).*?(<!-- /{name} -->)"
        text = re.sub(pattern, lambda m, r=render: f"{m[1]}{r()}\n{m[2]}", text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(rendered(path.read_text(encoding="utf-8")), encoding="utf-8")
