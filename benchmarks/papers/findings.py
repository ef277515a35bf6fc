"""Results of papers that are computed again: printed values, our values, and verdicts.

A script of this folder has a `GROUP`, which describes what is computed, and a function
`findings(data)`, which maps the folder of data sets to a list of findings. It ends with

    if __name__ == "__main__":
        run(GROUP, findings)

The rule for verdicts is the same for all scripts. A number is reproduced if it differs from the
printed one by at most the rounding of the printed number plus twice the standard errors of both. A
claim (an order, a trend) is reproduced if it holds in our data. A difference needs a reason with a
measurement.
"""

import argparse
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))
from provenance import collect_provenance  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "papers"
DATA = Path(os.environ.get("VENDISCORE_DATA", ROOT.parent / "shared" / "data"))

Verdict = Literal["reproduced", "differs", "cannot"]


@dataclass(frozen=True)
class Group:
    """A table or figure of a paper, and how its values are computed again."""

    name: str  # name of the script and of its result file
    title: str
    source: str  # such as "Friedman & Dieng, arXiv 2210.02410, Figure 2"
    method: str  # one or two sentences: data, sizes, seeds, open choices
    agrees: str = ""  # a sentence without numbers about what is reproduced
    needs: tuple[str, ...] = ()  # required files in the folder of data sets
    packages: tuple[str, ...] = ()  # recorded packages, besides NumPy and SciPy


@dataclass(frozen=True)
class Finding:
    """A value or claim: as printed in the paper, our value, and whether they agree."""

    what: str
    paper: str
    ours: str
    verdict: Verdict
    why: str = ""  # reason, if the finding differs or cannot be computed


def compare_number(
    what: str, paper: str, ours: float, error: float = 0.0, why: str = ""
) -> Finding:
    """Compare a value with the printed one, such as "4.602" or "0.05 ± 0.03"; ± is a standard
    error.
    """
    printed, *theirs = (
        float(number_text) for number_text in re.split(r"\s*±\s*", paper.replace("−", "-"))
    )
    rounding = 0.5 * 10.0 ** -len(paper.split("±")[0].strip().partition(".")[2])
    tolerance = rounding + 2 * math.hypot(error, *theirs)
    # The last term allows for binary rounding of decimals.
    agrees = abs(ours - printed) <= tolerance + 1e-12 * abs(printed)
    digits = max(3, len(paper.split("±")[0].strip().partition(".")[2]) + 1)
    ours_text = f"{ours:.{digits}f}" + (f" ± {error:.2g}" if error else "")
    return Finding(
        what, paper, ours_text, "reproduced" if agrees else "differs", "" if agrees else why
    )


def claim(what: str, paper: str, holds: bool, ours: str, why: str = "") -> Finding:
    """Return the finding for a statement or a figure of the paper, with our result."""
    return Finding(what, paper, ours, "reproduced" if holds else "differs", "" if holds else why)


def cannot(what: str, paper: str, why: str) -> Finding:
    """Return a finding that cannot be computed here."""
    return Finding(what, paper, "–", "cannot", why)


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of the mean of values."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def format_mean(values: np.ndarray, digits: int = 2, sign: str = "") -> str:
    """Format the mean with its standard error; pass the sign "+" to show both signs."""
    return f"{np.mean(values):{sign}.{digits}f} ± {standard_error(values):.{digits}f}"


class MissingDataError(Exception):
    """Data sets that a group needs are missing."""


def run(group: Group, findings: Callable[[Path], list[Finding]]) -> None:
    """Print the findings of a group; with `--json`, also write them."""
    parser = argparse.ArgumentParser(description=group.title)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of data sets")
    parser.add_argument("--json", type=Path, help=f"where to write; {RESULTS}/{group.name}.json")
    options = parser.parse_args()
    try:
        record = run_group(group, findings, options.data)
    except MissingDataError as reason:
        raise SystemExit(str(reason)) from None
    print(render_group(record))
    if options.json:
        write_record(record, options.json)


def run_group(
    group: Group, findings: Callable[[Path], list[Finding]], data: Path
) -> dict[str, Any]:
    """Compute a group; return the record for its JSON. Raise MissingDataError if data sets are
    missing.
    """
    missing_files = [name for name in group.needs if not (data / name).exists()]
    if missing_files:
        raise MissingDataError(
            f"{group.name}: {', '.join(missing_files)} not found in {data}, pass --data"
        )
    start = time.perf_counter()
    result = findings(data)
    packages = ("numpy", "scipy", *group.packages)
    return {
        **asdict(group),
        "environment": {
            **collect_provenance(),
            **{name: version(name) for name in packages},
        },
        "seconds": round(time.perf_counter() - start, 1),
        "findings": [asdict(finding) for finding in result],
    }


def write_record(record: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_committed() -> list[dict[str, Any]]:
    """Return the records of all groups from the result files."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]


def is_control(finding: dict[str, str]) -> bool:
    """Return whether a finding is a null case of this page, not a claim of a paper."""
    return re.search(r"\bnull\b", finding["what"]) is not None


def select_claims(record: dict[str, Any]) -> list[dict[str, str]]:
    """Return the findings that a paper, a card or a README states."""
    return [finding for finding in record["findings"] if not is_control(finding)]


def count_verdicts(record: dict[str, Any]) -> dict[Verdict, int]:
    """Count the claims of a group by verdict."""
    verdicts = [finding["verdict"] for finding in select_claims(record)]
    return {verdict: verdicts.count(verdict) for verdict in get_args(Verdict)}


def is_explained(record: dict[str, Any]) -> bool:
    """Return whether every finding is reproduced or has a reason."""
    return all(f["why"] for f in record["findings"] if f["verdict"] != "reproduced")


def format_conclusion(records: list[dict[str, Any]]) -> str:
    """Return a sentence with the numbers of groups that are reproduced, or explained."""
    ran = [
        record
        for record in records
        if count_verdicts(record)["reproduced"] + count_verdicts(record)["differs"]
    ]
    n_reproduced = sum(count_verdicts(record)["differs"] == 0 for record in ran)
    return (
        f"{sum(map(is_explained, ran))} of {len(ran)} groups reproduced or explained: "
        f"{n_reproduced} "
        f"reproduced completely, {sum(map(is_explained, ran)) - n_reproduced} with differences "
        "that have a "
        "known reason."
    )


# Sections of the page: prefix of the source of a group, name of the section, heading.
PAGE_SECTIONS = (
    ("Friedman & Dieng", "vendi", "The Vendi Score (Friedman & Dieng, arXiv 2210.02410)"),
    (
        "Pasarkar & Dieng",
        "orders",
        "Orders of the Vendi Score (Pasarkar & Dieng, arXiv 2310.12952)",
    ),
    ("Limbeck et al.", "magnitude", "Magnitude (Limbeck et al., arXiv 2311.16054)"),
    ("README", "cards", "Published cards and READMEs"),
    ("Errata", "errata", "Errata"),
    ("Without", "not-here", "Not computed again"),
)
OTHER_ERRATA = (
    "Each item states what is printed, what should be printed, and a proof. Three more errata are "
    "listed as differences above, because their proofs need data: the size of the samples of Table "
    "4, VS of X in Table S.1, and the number 1.9989 on the card."
)
Records = list[dict[str, Any]]


def group_by_section(records: Records) -> dict[str, Records]:
    """Return the records of each section of the page, by the name of the section."""
    ordered = sorted(records, key=lambda record: (record["source"], record["name"]))
    return {
        name: [record for record in ordered if record["source"].startswith(start)]
        for start, name, _ in PAGE_SECTIONS
    }


def format_verdict_counts(records: Records) -> list[str]:
    """Return the number of findings with each verdict, as table cells."""
    tallies = [count_verdicts(record) for record in records]
    return [
        str(sum(verdict_counts[verdict] for verdict_counts in tallies) or "")
        for verdict in get_args(Verdict)
    ]


def render_page(records: Records) -> str:
    """Render docs/papers.md: agreements and differences by paper, and what cannot be computed."""
    by_section = {
        name: section_records
        for name, section_records in group_by_section(records).items()
        if section_records
    }
    lines = ["| paper | claims | reproduced | differs | not checked |", "|---|---|---|---|---|"]
    claimed = [record for record in records if record["name"] != "errata"]
    for _, name, heading in PAGE_SECTIONS:
        if name != "errata" and (section_records := by_section.get(name)):
            anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            count = sum(len(select_claims(record)) for record in section_records)
            lines.append(
                f"| [{heading}](#{anchor}) | {count} | "
                f"{' | '.join(format_verdict_counts(section_records))} |"
            )
    count = sum(len(select_claims(record)) for record in claimed)
    lines += [
        f"| all | {count} | {' | '.join(format_verdict_counts(claimed))} |",
        "",
        format_conclusion(claimed),
    ]
    findings = [finding for record in claimed for finding in record["findings"]]
    controls = [finding for finding in findings if is_control(finding)]
    passed = sum(finding["verdict"] == "reproduced" for finding in controls)
    errata = sum(len(record["findings"]) for record in records if record["name"] == "errata")
    lines += [
        "",
        f"These counts exclude the {errata} [errata](#errata) and {len(controls)} null rows, which "
        f"test this page and are not claims of a paper ({passed} have the expected result).",
    ]
    sections = ["\n".join(lines)]
    for _, name, heading in PAGE_SECTIONS:
        if section_records := by_section.get(name):
            sections += [f"## {heading}", *render_section(name, section_records, records)]
    return "\n\n".join(sections)


def render_section(name: str, section_records: Records, all_records: Records) -> list[str]:
    """Return the paragraphs of a section of the page."""
    if name == "errata":
        lines = [
            f"- {format_erratum(finding)}"
            for record in section_records
            for finding in record["findings"]
        ]
        return [OTHER_ERRATA, "\n".join(lines)]
    if name == "not-here":
        return ["\n".join(format_absences(all_records))]
    table = ["| group | result | reproduced | differs | not checked |", "|---|---|---|---|---|"]
    for record in section_records:
        link = f"[{record['title']}](../benchmarks/results/papers/{record['name']}.json)"
        table.append(
            f"| {link} | {record['agrees']} | {' | '.join(format_verdict_counts([record]))} |"
        )
    bullets = [line for record in section_records for line in format_differences(record)]
    paragraphs = ["\n".join(table), f"<!-- all papers-{name} -->"]
    return [*paragraphs, "These claims differ:", "\n".join(bullets)] if bullets else paragraphs


def format_differences(record: dict[str, Any]) -> list[str]:
    """Return a line for each printed claim that differs, with the first sentence of the reason."""
    by_claim: dict[str, list[dict[str, str]]] = {}
    for finding in record["findings"]:
        if finding["verdict"] == "differs":
            by_claim.setdefault(finding["paper"], []).append(finding)
    lines = []
    for paper, (first, *more) in by_claim.items():
        similar = f", and {len(more)} similar claim{'s' * (len(more) > 1)}" if more else ""
        reason = first["why"].split(". ")[0]
        lines.append(f"- *{first['what']}*{similar}. Printed: {paper}. Reason: {reason}.")
    return lines


def format_erratum(finding: dict[str, str]) -> str:
    printed, correct = finding["paper"], finding["ours"]
    return (
        f"**{finding['what']}** prints: {printed}. Correct is: {correct}. Proof: {finding['why']}."
    )


def format_absences(records: Records) -> list[str]:
    """Return a line for each finding that cannot be computed here."""
    return [
        f"- {finding['what']} ({record['title'] if record['agrees'] else finding['paper']}): "
        f"{finding['why'].split('. ')[0]}."
        for record in sorted(records, key=lambda record: record["name"])
        for finding in record["findings"]
        if finding["verdict"] == "cannot"
    ]


def render_folded(records: Records, part_name: str) -> str:
    """Return the full tables of a section, which the site collapses."""
    return "\n\n".join(
        render_group(record, "**{}**") for record in group_by_section(records)[part_name]
    )


def render_group(record: dict[str, Any], title: str = "## {}") -> str:
    """Render a group as a Markdown section."""
    lines = [
        title.format(record["title"]),
        "",
        f"{record['source']}. {record['method']} ({record['seconds']:.0f} s, "
        f"`python benchmarks/papers/{record['name']}.py`)",
        "",
        "| number or claim | paper | here | verdict |",
        "|---|---|---|---|",
    ]
    for finding in record["findings"]:
        cells = (finding["what"], finding["paper"], finding["ours"], finding["verdict"])
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    reasons = [
        f"- *{finding['what']}* {finding['verdict']}: {finding['why']}."
        for finding in record["findings"]
        if finding["why"]
    ]
    return "\n".join([*lines, *([""] if reasons else []), *reasons])
