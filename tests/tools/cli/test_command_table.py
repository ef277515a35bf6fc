"""`vendiscore table`: a table of sets by kernels, with results of `compare`."""

import csv
import io
import itertools
import re
import sys
from dataclasses import replace

import pytest
from two_model_answers import TABLE

import vendiscore
from vendiscore.tools.cli import command_table
from vendiscore.tools.cli.command_table import assign_letters

OPTIONS = ("--by", "model", "--group-by", "prompt", "--quiet", "--permutations", 99)


@pytest.fixture
def answers(tmp_path):
    TABLE.to_csv(path := tmp_path / "answers.csv", index=False)
    return path


def compare_models(k):
    options = {"by": TABLE["model"], "groups": TABLE["prompt"], "permutations": 99}
    return vendiscore.compare(TABLE["answer"], k=k, **options)


def test_cells_contain_mean_interval_and_letters_per_kernel(run, answers):
    kernels = ("ngram_overlap", "word_overlap")
    code, out, err = run(
        "table", answers, *OPTIONS, "-k", kernels[0], "-k", kernels[1], "-f", "csv"
    )
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    for kernel in kernels:
        result = compare_models(kernel)
        letters = {row["set"]: row[kernel].split()[-1] for row in rows}
        shared_letters = {*letters["new"]} & {*letters["old"]}
        assert bool(shared_letters) != result.states_direction("new", "old")
        for row, expected_set in zip(rows, result.sets, strict=True):
            assert (row["set"], int(row["n"])) == (expected_set.name, expected_set.n)
            numbers = [float(number) for number in re.findall(r"\d+\.\d\d", row[kernel])]
            expected = [expected_set.matched, expected_set.matched_low, expected_set.matched_high]
            assert numbers == pytest.approx(expected, abs=0.005001)


def test_default_kernel_table_has_equal_cells_in_every_format(run, answers):
    cells = {}
    for form in ("text", "md", "latex"):
        code, out, err = run("table", answers, *OPTIONS, "-f", form)
        assert (code, err) == (0, "")
        cells[form] = re.findall(r"\d+\.\d\d \[.*?\] \w", out)
    assert len(cells["text"]) == 2
    assert cells["md"] == cells["latex"] == cells["text"]
    assert r"ngram\_overlap" in out
    assert run("table", answers, *OPTIONS, "--signature")[1].count("\nVS|kernel=") == 1
    notes = run("table", answers, *OPTIONS[:4], "--permutations", 99)[2]
    assert "for two sets without a common letter, the data show which is more diverse" in notes


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_plot_writes_image_file(run, answers, tmp_path, ending):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"table.{ending}"
    assert run("table", answers, *OPTIONS, "--plot", path)[0] == 0
    assert path.stat().st_size > 1000
    if ending == "png":
        with pytest.importorskip("PIL.Image").open(path) as image:
            width, height = image.size
        assert width > 1000
        assert height > 300


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "table.doc",
            "--plot must be a file name with the ending .png, .pdf or .svg, got 'table.doc'",
        ),
        ("no/table.png", "--plot no/table.png is in a folder that does not exist"),
    ],
)
def test_invalid_plot_path_is_rejected_before_comparison(run, answers, monkeypatch, path, message):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(command_table, "compare_files", None)  # cannot be called
    code, out, err = run("table", answers, *OPTIONS, "--plot", path)
    assert (code, out) == (2, "")
    assert message in err


def test_plot_without_matplotlib_fails_before_comparison(run, answers, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    monkeypatch.setattr(command_table, "compare_files", None)  # cannot be called
    code, out, err = run("table", answers, *OPTIONS, "--plot", "table.png")
    assert (code, out) == (1, "")
    assert "--plot needs the package 'matplotlib'" in err


IDENTICAL_SETS = vendiscore.compare(["a", "b"] * 4, ["a", "b"] * 4, k="labels", permutations=19)


def build_comparison(scores, different_pairs):
    """Return a comparison of sets with the given scores, in which `different_pairs` differ."""
    sets = [replace(IDENTICAL_SETS.sets[0], name=name, matched=scores[name]) for name in scores]
    pairs = []
    for a, b in itertools.combinations(scores, 2):
        p = 0.01 if (a, b) in different_pairs else 0.5
        difference = scores[a] - scores[b]
        interval = {"low": difference - 0.5, "high": difference + 0.5}
        row = replace(
            IDENTICAL_SETS.pairs[0], a=a, b=b, difference=difference, p_adjusted=p, **interval
        )
        pairs.append(row)
    return replace(IDENTICAL_SETS, sets=tuple(sets), pairs=tuple(pairs))


@pytest.mark.parametrize("bits", range(64))
def test_sets_share_letter_unless_significantly_different(bits):
    """Test every combination of different pairs among four sets."""
    pairs = list(itertools.combinations("wxyz", 2))
    different_pairs = {pair for i, pair in enumerate(pairs) if bits >> i & 1}
    result = assign_letters(
        build_comparison({"w": 1.0, "x": 4.0, "y": 3.0, "z": 2.0}, different_pairs)
    )
    for a, b in pairs:
        assert bool({*result[a]} & {*result[b]}) == ((a, b) not in different_pairs)
    assert "a" in result["x"]  # the most diverse set has the first letter
    # No letter is redundant: each is shared by two sets, or is the only letter of its set.
    marked = ["".join(name for name in result if mark in result[name]) for mark in "abcdef"]
    groups = [{*names} for names in marked if names]
    assert not any(group < other_group for group, other_group in itertools.permutations(groups, 2))


def test_sets_share_letter_if_direction_is_not_shown():
    result = build_comparison({"low": 1.0, "high": 3.0}, {("low", "high")})
    unclear = replace(result, pairs=(replace(result.pairs[0], high=0.1),))
    assert unclear.verdict("high", "low") == "different, direction not shown"
    assert assign_letters(unclear) == {"high": "a", "low": "a"}


def test_letters_of_different_sets_follow_decreasing_scores():
    result = build_comparison({"low": 1.0, "high": 3.0}, {("low", "high")})
    assert result.verdict("high", "low") == "more diverse"
    assert assign_letters(result) == {"high": "a", "low": "b"}
