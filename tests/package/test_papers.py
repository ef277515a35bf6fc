"""Reproductions of papers: rule of verdicts, committed results, and their document."""

import ast
import importlib
import json
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks" / "papers"
RESULTS = ROOT / "benchmarks" / "results" / "papers"
QUICK = ("cards", "table_s1", "orders", "not_here", "theorem", "errata", "captions")
IMPORTED = {"scikit-learn": "sklearn"}
NUMBER = re.compile(r"[−+-]?\d*\.?\d+(?: ± \d*\.?\d+)?")
ROUNDED = "nothing is drawn: rounding of arithmetic"
DRAWN = "three standard errors of the mean over the draws"
# (group, finding, text before a number): expected value, tolerance, and reason of the tolerance.
WHICH = "which measure predicts the temperature best"
CLASSES = "correlation with the number of classes"
GROWS = "the mean of VS grows with every class"
POOLED = "questions of pooled classes"
EQUAL = "same number of each class"
WORDS = "the 7 commonest words: VS by fingerprints, VS by words (Figure 9)"
FALL = ": decrease of the score"
OWN_CUT = "a near-copy, areas up to the convergence scale of each set, as defined for one set"
NGRAM = "a SMILES n-gram model compared with its data"
EXPECTED = {
    ("cards", "card: four rows near two axes, dual", ""): (1.9998979913, 1e-8, ROUNDED),
    ("cards", "qVS: the score of those three", ""): (1.3338057428, 1e-8, ROUNDED),
    ("cards", "qVS: the score of those three", "[2, 0, 4], which is "): (
        1.2551553872451062,
        1e-9,
        "the printed number, which is of another set",
    ),
    ("table_s1", "VS of X", "closed form is "): (1.86612, 1e-5, ROUNDED),
    ("decoding", "plain beam search", "less these: VS "): (-0.39, 0.45, DRAWN),
    ("decoding", "BLEU against other people's questions", "penalty 0.2 to 0.8 ("): (
        -0.06,
        0.03,
        DRAWN,
    ),
    ("decoding", WHICH, "of the same embeddings: "): (-0.06, 0.06, DRAWN),
    (
        "embedding_models",
        "TREC questions: magnitude functions compared with single numbers",
        "as they are: AvgSim ",
    ): (
        0.79,
        0.03,
        DRAWN,
    ),
    (
        "embedding_models",
        "handwritten digits: magnitude functions compared with single numbers",
        "as they are: AvgSim ",
    ): (
        0.72,
        0.03,
        DRAWN,
    ),
    ("magnitude_curvature", "mean squared error, piecewise linear", ""): (
        0.110,
        2 * 0.040 / 5**0.5,
        "twice the deviation of the mean of five folds",
    ),
    ("magnitude_patterns", "AvgSim has the wrong order", ""): (
        13,
        7,
        "three deviations of 20 throws of a coin",
    ),
    ("magnitude_patterns", "GMStds has the wrong order", ""): (
        11,
        7,
        "three deviations of 20 throws of a coin",
    ),
    ("trec_classes", f"{CLASSES}: text_embeddings, {POOLED}", " draws, by "): (-0.01, 0.09, DRAWN),
    ("trec_classes", f"{CLASSES}: text_embeddings, {EQUAL}", " draws, by "): (-0.06, 0.21, DRAWN),
    ("trec_classes", f"{CLASSES}: ngram_overlap, {POOLED}", " draws, by "): (-0.02, 0.03, DRAWN),
    ("trec_classes", f"{CLASSES}: ngram_overlap, {EQUAL}", " draws, by "): (-0.13, 0.36, DRAWN),
    ("trec_classes", f"{GROWS}: ngram_overlap, {POOLED}", "class to six "): (14.51, 16.8, DRAWN),
    ("trec_classes", f"{GROWS}: ngram_overlap, {EQUAL}", "class to six "): (2.67, 15.8, DRAWN),
    ("moses", NGRAM, "VS 77 ± 2, 125 ± 2, "): (199, 9, DRAWN),
    ("moses", "JT-VAE: VS of 1,500, beside the deviation of one draw", ""): (
        489.5,
        8,
        "two deviations of one draw, as the printed number is of one",
    ),
    ("moses", "JT-VAE: IntDiv of 1,500, beside the deviation of one draw", ""): (
        0.856,
        0.003,
        "two deviations of one draw, as the printed number is of one",
    ),
    ("moses", "the size of the samples of Table 4", "1,500 and "): (645, 10, DRAWN),
    ("memorised", f"50 copies of one image, cosine{FALL}", "copies and "): (42.61, 0.5, DRAWN),
    ("memorised", f"one copy of each of 50 images, cosine{FALL}", "copies and "): (
        42.01,
        0.5,
        DRAWN,
    ),
    ("memorised", f"50 copies of one image, RBF of σ = 5{FALL}", "copies and "): (
        16.72,
        0.6,
        DRAWN,
    ),
    ("memorised", f"one copy of each of 50 images, RBF of σ = 5{FALL}", "copies and "): (
        15.68,
        0.6,
        DRAWN,
    ),
    ("known_diversity", "completions of a prompt: MagArea and temperature", "ρ = "): (
        0.84,
        0.02,
        "nothing is drawn: rounding of embeddings on other machines",
    ),
    ("digits", "features of an ImageNet network, 0 to 9", "r = "): (
        0.70,
        0.02,
        "nothing is drawn: rounding of features on other machines",
    ),
    ("odour_words", WORDS, "r = "): (0.55, 0.04, DRAWN),
    ("odour_words", WORDS, "rarest has, "): (0.51, 0.12, DRAWN),
    ("magnitude_patterns", "L2-star has the wrong order", ""): (
        19,
        4,
        "three deviations of a count of 20 with a share of 0.95, and a draw more",
    ),
    ("magnitude_axioms", OWN_CUT, "points 0 and 1 alone "): (4.605, 0.001, ROUNDED),
    ("magnitude_axioms", OWN_CUT, "0.01, 0.001: 61.5, 629.3, "): (6305, 1, ROUNDED),
    (
        "magnitude_mode_dropping",
        "Mag(0.5 t_ref) decreases equally if modes are dropped one by one or all at once",
        "gap ",
    ): (
        0.154,
        0.006,
        DRAWN,
    ),
    **{
        ("magnitude_people", f"human ratings, {part}: mean ρ", "scale of each set "): (
            value,
            0.005,
            "nothing is drawn: rounding of embeddings on other machines",
        )
        for part, value in (("six sources", 0.735), ("three further sources", 0.650))
    },
    ("class_probabilities", "the original: VS", ""): (
        915,
        30,
        "the network ends elsewhere by rounding on other machines",
    ),
    **{
        ("errata", what, before): (value, 0.01 * abs(value), "a proof by hand")
        for what, before, value in (
            ("2210.02410, §4.1", "1 − e^½ = ", -0.65),
            ("2210.02410, caption of Table 3", "mat today” has ", 0.846),
            ("2210.02410, §4.4", "a cosine is at most ", 1),
            ("2311.16054, Definition 3.4", "is 0, and the area is ", 0.208),
            ("card, description", "the printed trace gives ", 0.333),
            ("card, “score_dual”", "X @ X.T is ", 4),
            ("README of Vendi-Score, example of texts", "at line ", 1),
            ("README of Vendi-Score, example of images", "it prints ", 3.45),
        )
    },
}


def has_group(path: Path) -> bool:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    return any(isinstance(target, ast.Name) and target.id == "GROUP" for target in targets)


SCRIPTS = [path for path in sorted(FOLDER.glob("*.py")) if path.stem not in ("all", "findings")]
RECORDS = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("*.json")
}


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    """Return an importer of modules of the folder, which are removed afterwards."""
    monkeypatch.syspath_prepend(str(FOLDER))
    module_names = {path.stem for path in FOLDER.glob("*.py")}
    for name in module_names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module
    for name in module_names:
        sys.modules.pop(name, None)


@pytest.fixture
def findings(load) -> types.ModuleType:
    return load("findings")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_every_script_has_group_and_results(path, load):
    assert has_group(path)
    try:
        group = load(path.stem).GROUP
    except ImportError as error:
        if error.name and error.name.startswith("vendiscore"):
            raise
        pytest.skip(str(error))
    assert group.name == path.stem
    assert path.stem in RECORDS, f"run python benchmarks/papers/{path.stem}.py --json …"
    record = RECORDS[path.stem]
    fields = ("name", "title", "source", "method", "agrees")
    assert {key: record[key] for key in fields} == {key: getattr(group, key) for key in fields}
    assert record["needs"] == list(group.needs)
    assert record["findings"]


def test_every_result_has_script():
    assert set(RECORDS) == {path.stem for path in SCRIPTS}


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_findings_that_are_not_reproduced_have_reasons(name, findings):
    for finding in RECORDS[name]["findings"]:
        assert set(finding) == {"what", "paper", "ours", "verdict", "why"}
        assert finding["verdict"] in ("reproduced", "differs", "cannot")
        assert finding["what"]
        assert finding["paper"]
        assert bool(finding["why"]) == (finding["verdict"] != "reproduced"), finding
        if finding["verdict"] == "differs":
            assert any(digit in finding["why"] for digit in "0123456789"), "a measurement"
    assert findings.is_explained(RECORDS[name])


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_verdicts_follow_from_numbers(name, findings):
    for finding in RECORDS[name]["findings"]:
        if not NUMBER.fullmatch(finding["paper"]) or finding["verdict"] == "cannot":
            continue
        ours, _, error = NUMBER.match(finding["ours"].replace("−", "-"))[0].partition(" ± ")
        paper, mark, theirs = finding["paper"].partition(" ± ")
        if name == "magnitude_curvature":  # where ± are deviations of five folds
            error, theirs = float(error) / 5**0.5, float(theirs) / 5**0.5
        recomputed = findings.compare_number(
            "", f"{paper}{mark}{theirs}", float(ours), float(error or 0), "so"
        )
        assert recomputed.verdict == finding["verdict"], finding


def test_differing_findings_have_expected_numbers():
    differ = {
        (name, finding["what"])
        for name, record in RECORDS.items()
        for finding in record["findings"]
        if finding["verdict"] == "differs"
    }
    assert differ <= {key[:2] for key in EXPECTED}


@pytest.mark.parametrize("key", EXPECTED, ids=lambda key: f"{key[0]}: {key[1]}")
def test_numbers_in_results_are_within_tolerance(key):
    name, what, prefix = key
    (result,) = (f for f in RECORDS[name]["findings"] if f["what"] == what)
    text = f"{result['ours']} | {result['why']}"
    assert text.count(prefix) == 1 or not prefix
    value = float(NUMBER.match(text.partition(prefix)[2] if prefix else text)[0].split(" ± ")[0])
    expected, tolerance, why = EXPECTED[key]
    assert why
    assert value == pytest.approx(expected, abs=tolerance), (key, why)


@pytest.mark.parametrize("name", QUICK)
def test_quick_groups_reproduce_committed_results(name, load, tmp_path):
    for package in RECORDS[name]["packages"]:
        pytest.importorskip(IMPORTED.get(package, package.replace("-", "_")))
    recomputed = load(name).findings(tmp_path)
    committed = RECORDS[name]["findings"]
    for finding, committed_finding in zip(recomputed, committed, strict=True):
        assert (finding.what, finding.paper, finding.verdict) == (
            committed_finding["what"],
            committed_finding["paper"],
            committed_finding["verdict"],
        )
        assert is_close(finding.ours, committed_finding["ours"]), (
            finding.ours,
            committed_finding["ours"],
        )
        assert is_close(finding.why, committed_finding["why"])


def is_close(ours: str, committed: str) -> bool:
    """Return whether two texts have the same words, and numbers equal up to rounding."""
    pair = [
        text.replace("(", " ").replace(")", " ").rstrip(";,").split() for text in (ours, committed)
    ]
    if len(pair[0]) != len(pair[1]):
        return False
    for a, b in zip(*pair, strict=True):
        a, b = a.strip(";,%"), b.strip(";,%")
        if a == b:
            continue
        try:
            x, y = float(a), float(b)
        except ValueError:
            return False
        if abs(x - y) > 1e-6 * max(abs(x), abs(y)) + 1e-12:
            return False
    return True


@pytest.mark.parametrize(
    ("paper", "ours", "error", "verdict"),
    [
        ("4.602", 4.6024, 0, "reproduced"),
        ("4.602", 4.6026, 0, "differs"),
        ("4.602", 4.6026, 0.0001, "reproduced"),
        ("1.867", 1.86612, 0, "differs"),
        ("1.60", 1.605, 0, "reproduced"),  # as near to 1.60 as to 1.61
        ("1.60", 1.5949, 0, "differs"),
        ("-0.25", -0.2549, 0, "reproduced"),
        ("−0.25", -0.2549, 0, "reproduced"),
        ("−0.25", 0.25, 0, "differs"),
        ("−0.25 ± 0.30", 0.25, 0, "reproduced"),
        (".500", 0.5004, 0, "reproduced"),
        (".500", 0.5006, 0, "differs"),
        ("12", 12.4, 0, "reproduced"),
        ("12", 12.6, 0, "differs"),
        ("0.05 ± 0.03", 0.11, 0, "reproduced"),
        ("0.05 ± 0.03", 0.116, 0, "differs"),
        ("0.05±0.03", 0.116, 0.01, "reproduced"),
        ("403.9", float("nan"), 0, "differs"),
    ],
)
def test_number_verdict_allows_for_rounding_and_errors(findings, paper, ours, error, verdict):
    result = findings.compare_number("a number", paper, ours, error, why="for a reason")
    assert result.verdict == verdict
    assert result.paper == paper
    assert result.why == ("" if verdict == "reproduced" else "for a reason")


def test_numbers_show_additional_digit(findings):
    assert findings.compare_number("a", "4.6", 4.6016).ours == "4.602"
    assert findings.compare_number("a", "4.6016", 4.601553).ours == "4.60155"
    assert findings.compare_number("a", "4.6", 4.6016, 0.0123).ours == "4.602 ± 0.012"


def test_claim_and_cannot_return_verdicts(findings):
    assert findings.claim("a", "yes", True, "3 of 3", "unused").verdict == "reproduced"
    assert findings.claim("a", "yes", True, "3 of 3", "unused").why == ""
    assert findings.claim("a", "yes", False, "1 of 3", "for a reason").why == "for a reason"
    assert findings.cannot("a", "3.2", "no data").verdict == "cannot"


def build_record(findings, *record_findings, source="README of A") -> dict:
    group = findings.Group("name", "Title", source, "Method.")
    return findings.run_group(group, lambda data: list(record_findings), Path())


def test_group_is_explained_if_differences_have_reasons(findings):
    reproduced = findings.claim("a", "yes", True, "3 of 3")
    explained = findings.compare_number("b | b", "1.0", 2.0, why="2 of 3")
    unexplained = findings.compare_number("c", "1.0", 2.0)
    cannot_run = findings.cannot("d", "3.2", "no data")
    assert findings.is_explained(build_record(findings, reproduced, explained, cannot_run))
    assert not findings.is_explained(build_record(findings, reproduced, unexplained))
    records = [
        build_record(findings, *group_findings)
        for group_findings in (
            (reproduced,),
            (reproduced, explained),
            (unexplained,),
            (cannot_run,),
        )
    ]
    summary = findings.format_conclusion(records)
    assert summary.startswith("2 of 3 groups reproduced or explained: 1 reproduced")
    assert findings.count_verdicts(records[1]) == {"reproduced": 1, "differs": 1, "cannot": 0}
    page = findings.render_page(records)
    assert "| all | 5 | 2 | 2 | 1 |" in page
    page_with_merged_claims = findings.render_page([build_record(findings, explained, unexplained)])
    assert page_with_merged_claims.endswith(
        "- *b | b*, and 1 similar claim. Printed: 1.0. Reason: 2 of 3."
    )
    rows = findings.render_folded(records, "cards")
    assert rows.count("**Title**") == 4
    assert "| b \\| b | 1.0 | 2.000 | differs |\n\n- *b | b* differs: 2 of 3.\n" in rows


def test_papers_document_matches_results(findings):
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    assert findings.render_page(list(RECORDS.values())) in text
    for record in RECORDS.values():
        linked = f"[{record['title']}](../benchmarks/results/papers/{record['name']}.json)"
        assert (linked in text) == bool(record["agrees"])
    without_summary = {record["name"] for record in RECORDS.values() if not record["agrees"]}
    assert without_summary == {"errata", "not_here"}  # all of whose rows the page has


def test_papers_document_contains_every_finding(findings):
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    records = list(RECORDS.values())
    by_section = findings.group_by_section(records)
    assert sorted(
        r["name"] for part_records in by_section.values() for r in part_records
    ) == sorted(RECORDS)
    for part, part_records in by_section.items():
        fold = (
            findings.render_folded(records, part) if f"<!-- all papers-{part} -->" in text else text
        )
        for record in part_records:
            assert fold is text or f"**{record['title']}**" in fold
            for finding in record["findings"]:
                assert finding["what"].replace("|", "\\|") in fold, (part, finding["what"])


def test_summaries_of_reproduced_claims_contain_no_numbers():
    for record in RECORDS.values():
        if record["agrees"]:
            assert record["agrees"].endswith(".")
            assert not re.search(r"\d[.,]?\d", record["agrees"]), "numbers are in the rows"


def test_results_have_many_findings_and_few_that_cannot_be_run():
    all_findings = [finding for record in RECORDS.values() for finding in record["findings"]]
    assert len(all_findings) >= 160
    assert sum(finding["verdict"] == "cannot" for finding in all_findings) <= 6


def test_at_least_eleven_of_twelve_groups_are_reproduced_or_explained(findings):
    ran = [r for r in RECORDS.values() if {f["verdict"] for f in r["findings"]} != {"cannot"}]
    assert sum(map(findings.is_explained, ran)) >= 11 / 12 * len(ran)


def call(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(FOLDER / "all.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")


def test_command_runs_groups_and_lists_missing_data(tmp_path):
    pytest.importorskip("sklearn")
    groups = ("table_s1", "digits", "not_here")
    process = call("--only", *groups, "--data", str(tmp_path), "--results", str(tmp_path / "out"))
    assert process.returncode == 0, process.stderr
    assert "| VS of X | 1.867 | 1.8661 | differs |" in process.stdout
    assert "*VS of X* differs: the closed form is 1.86612" in process.stdout
    assert (
        f"left out: digits: mnist_test.npz not found in {tmp_path}, pass --data" in process.stdout
    )
    assert process.stdout.splitlines()[-1].startswith("1 of 1 groups reproduced or explained")
    assert sorted(path.stem for path in (tmp_path / "out").iterdir()) == ["not_here", "table_s1"]


def test_list_prints_requirements_of_groups():
    pytest.importorskip("sklearn")
    process = call("--list", "--only", "digits", "table_s1")
    assert process.returncode == 0, process.stderr
    assert "The ten MNIST digits" in process.stdout
    assert "needs mnist_test.npz" in process.stdout
    assert "needs no data" in process.stdout
    assert "orders" not in process.stdout


def test_command_continues_after_failing_script(load, monkeypatch, tmp_path, capsys):
    all_module = load("all")
    findings = load("findings")
    monkeypatch.setattr(sys, "argv", ["all.py", "--results", str(tmp_path)])
    results_by_script = {
        "bad": lambda data: 1 / 0,
        "good": lambda data: [findings.claim("a", "yes", True, "3 of 3")],
        "odd": lambda data: [findings.compare_number("b", "1.0", 2.0)],
    }
    scripts = {
        name: types.SimpleNamespace(
            GROUP=findings.Group(name, name, "A", "Method."), findings=result
        )
        for name, result in results_by_script.items()
    }
    monkeypatch.setattr(all_module, "list_groups", lambda: list(scripts))
    monkeypatch.setattr(all_module, "import_script", scripts.__getitem__)
    with pytest.raises(SystemExit) as caught:
        all_module.main()
    assert caught.value.code == 1
    captured = capsys.readouterr()
    assert "ZeroDivisionError" in captured.err
    assert "bad failed\nodd differs without a reason\n1 of 2 groups" in captured.out
    assert {path.stem for path in tmp_path.iterdir()} == {"good", "odd"}
