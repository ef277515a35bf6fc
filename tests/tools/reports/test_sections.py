"""Sentences and tables of a report match direct computations."""

import html
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from report_parser import parse_report

import vendiscore
from vendiscore import compute, report
from vendiscore.tools.analysis import report_data
from vendiscore.tools.reports import document

TEXTS = [
    *("a cat sat on the mat", "a cat sat on the mat", "a dog ran off", "a dog ran far off"),
    *("the red car is fast", "the red car is slow", "snow falls in winter", "a cat sat on a mat"),
    *("we had soup for lunch", "they sing at dawn", "a cat sat on the mat", "rain fell all night"),
]
OPTIONS = {"k": "ngram_overlap", "ns": [1, 2]}
REPORT = report(TEXTS, **OPTIONS)
PAGE = parse_report(REPORT)
K = vendiscore.as_similarity(TEXTS, **OPTIONS).dense()
LEAVE_ONE_OUT_SCORES = [
    compute(TEXTS[:i] + TEXTS[i + 1 :], **OPTIONS)["VS"] for i in range(len(TEXTS))
]


def format_percent(adds: float) -> str:
    return f"{100 * adds:+.2f}\N{NO-BREAK SPACE}%"


ADDS = [1 - score / REPORT.numbers["VS"] for score in LEAVE_ONE_OUT_SCORES]
X = np.random.default_rng(0).normal(size=(40, 3))


def test_numbers_equal_compute_with_interval() -> None:
    assert REPORT.numbers == compute(TEXTS, **OPTIONS, ci=0.95, details=True)
    options = {**OPTIONS, "ci": 0.5}
    assert report(TEXTS, **options).numbers == compute(TEXTS, **options, details=True)


def test_report_omits_intervals_of_expensive_measures() -> None:
    options = {"k": "rbf", "measures": ["VS", "MagArea"]}
    page = report(X, **options)
    assert page.numbers["VS"] == pytest.approx(compute(X, **options)["VS"], rel=1e-12)
    assert "VS_se" not in page.numbers
    assert "it requires MagArea of many random halves" in parse_report(page).text["score"]


def test_sections_have_a_fixed_order() -> None:
    names = ["score", "alike", "redundant", "phrases", "growth", "pictures", "samples", "settings"]
    assert [section.name for section in REPORT.sections] == names == list(PAGE.text)
    assert PAGE.title == "Diversity of 12 texts"
    assert parse_report(report(TEXTS[:3], title="Mine")).title == "Mine"


def test_score_section_contains_score_duplicates_and_interval() -> None:
    vs, se, low, high = (REPORT.numbers[key] for key in ("VS", "VS_se", "VS_low", "VS_high"))
    details = REPORT.numbers["details"]
    names = details["strip"].split("\n")[1]
    largest_eigenvalue = np.linalg.eigvalsh(K / 12)[-1]
    assert PAGE.text["score"] == (
        "Score According to this kernel, 2 of the 12 texts are exact duplicates of others. "
        f"Effective number: {vs:.1f} of 12 "
        f"These 12 texts count as {vs:.1f} different ones. "
        f"This set of 12 texts is as diverse as {vs:.1f} texts that have nothing in common; its "
        f"largest eigenvalue makes up {100 * largest_eigenvalue:.0f} % of the total. "
        f"{details['typical']} {names} "
        f"95 % interval: {low:.2f} to {high:.2f}. A new set of 12 texts of the same source would "
        f"typically score within about {se:.2f} of this (one standard error). "
        "Samples were compared by ngram_overlap (ns=[1, 2], analyzer='word'). The cosine "
        "similarity of n-gram counts, averaged over the lengths n in `ns`."
    )


@pytest.mark.parametrize(
    ("samples", "options", "reason"),
    [
        (TEXTS[:2], {}, "There is no interval, because it requires at least 4 samples."),
        (TEXTS, {"q": 0}, "There is no interval at order 0"),
        (TEXTS[:2], {"p": [0.5, 0.5]}, "it requires equally weighted samples"),
        (X, {"k": "rbf", "method": "estimate"}, "An estimated score has no confidence interval"),
        (
            [TEXTS],
            {},
            "There is no interval, because a mean over groups requires at least three groups",
        ),
        (
            [TEXTS, TEXTS],
            {},
            "There is no interval, because a mean over groups requires at least three groups",
        ),
        (
            X,
            {"measures": "MagArea", "t_cut": 2},
            "it requires MagArea of many random halves of the samples, which",
        ),
    ],
)
def test_missing_interval_is_explained(samples, options, reason) -> None:
    result = report(samples, **options)
    assert reason in parse_report(result).text["score"]
    assert "VS_low" not in result.numbers or options.get("method")


def test_expensive_interval_is_computed_only_if_requested(monkeypatch) -> None:
    monkeypatch.setattr(report_data, "MAX_COMPARED", 5)
    assert (
        "it requires all eigenvectors of 12 samples, which takes long; pass ci="
        in parse_report(report(TEXTS)).text["score"]
    )
    assert "VS_se" in report(X, k="cosine").numbers  # only 3 features


def test_near_duplicates_are_counted_and_excluded() -> None:
    result = report(TEXTS, **OPTIONS)
    expected_score = compute([TEXTS[index] for index in (0, *range(2, 10), 11)], **OPTIONS)["VS"]
    similarity_text = PAGE.text["alike"]
    counts = "2 at 0.8, 2 at 0.9, 2 at 0.95, 2 at 0.99"
    assert (
        f"2 repeat others (similarity 0.95 or more; {counts}); without, the score is "
        f"{expected_score:.4g}." in similarity_text
    )
    assert "3 similar texts a cat sat on the mat × 3" in similarity_text
    assert result.numbers == REPORT.numbers


def test_pairs_next_to_the_threshold_are_listed() -> None:
    boundary, _ = PAGE.tables["alike"]
    _, *rows = boundary
    distinct = [0, *range(2, 10), 11]
    similarities = K[np.ix_(distinct, distinct)][np.triu_indices(10, 1)]
    below = [similarity for similarity in np.sort(similarities)[::-1] if 0.75 <= similarity < 0.95]
    assert [row[0] for row in rows] == [f"{similarity:.3f}" for similarity in below[:3]]
    assert {row[3] for row in rows} == {"no"}
    assert rows[0][1:3] == ["the red car is fast", "the red car is slow"]


def test_modes_are_listed_with_proportion_and_closest_samples() -> None:
    _, (header, *rows) = PAGE.tables["alike"]
    eigenvalues = np.linalg.eigvalsh(K / 12)[::-1]
    assert header == ["mode", "proportion", "texts", "closest samples"]
    for number, proportion, members, exemplars in rows:
        assert proportion == f"{100 * eigenvalues[int(number) - 1]:.1f} %"
        assert int(members) > 0
        assert any(text in exemplars for text in TEXTS)
    assert "a cat sat on the mat" in rows[0][3]


def test_phrase_section_lists_the_costs_of_phrases() -> None:
    result = vendiscore.phrases(TEXTS, ns=[1, 2])
    assert result.sentence in PAGE.text["phrases"]
    ((header, *rows),) = PAGE.tables["phrases"]
    assert header == ["phrase", "texts", "cost", "share"]
    assert [(row[0], row[1]) for row in rows] == [
        (row.phrase, str(row.n_texts)) for row in result.rows
    ]
    assert [float(row[2]) for row in rows] == pytest.approx(
        [row.cost for row in result.rows], rel=0.01
    )
    assert rows[0][3] == f"{100 * result.rows[0].share:.1f} %"


def test_phrases_are_highlighted_in_listed_texts() -> None:
    texts = [f"Sure! The <b>  answer is {word}." for word in ("red", "two", "Oslo" + " so" * 90)]
    page = report([*texts, "The <b> answer isn't it", "no", "later", "maybe"])
    sections = {section.name: section.html for section in page.sections}
    marked = "<mark>Sure! The &lt;b&gt;  answer is</mark>"
    assert sections["samples"].count(marked) == 3
    assert sections["samples"].count("<mark>") == 3
    assert marked in sections["redundant"]
    assert "<mark>" not in sections["phrases"]
    assert "<mark>" not in report(["red", "two", "Oslo"]).html()


def test_phrases_of_groups_are_means_over_groups() -> None:
    groups = [0, 1] * 6
    page = parse_report(report(TEXTS, **OPTIONS, groups=groups))
    assert vendiscore.phrases(TEXTS, groups=groups, ns=[1, 2]).sentence in page.text["phrases"]


def test_phrases_of_many_texts_are_based_on_a_random_subset(monkeypatch) -> None:
    monkeypatch.setattr(report_data, "MAX_PHRASE_TEXTS", 10)
    text = parse_report(report(TEXTS, **OPTIONS)).text["phrases"]
    assert "Based on a random subset of 10 of the 12 texts." in text
    grouped = report(TEXTS, **OPTIONS, groups=[0] * 11 + [1])
    assert "phrases" not in {section.name for section in grouped.sections}


@pytest.mark.parametrize(
    ("samples", "options"),
    [
        (X, {"k": "rbf"}),
        (TEXTS, {"k": "labels"}),
        (TEXTS, {"prompts": ["a"] * 12, "given_prompt": True}),
        (vendiscore.as_similarity(TEXTS), {}),
    ],
)
def test_phrases_require_texts_that_are_compared_by_ngrams(samples, options) -> None:
    names = {section.name for section in report(samples, **options).sections}
    assert "redundant" in names
    assert "phrases" not in names


def test_redundant_section_lists_nearest_samples_and_contributions() -> None:
    (_, *lowest_rows), (_, *highest_rows) = PAGE.tables["redundant"]
    K_off_diagonal = K - 2 * np.eye(12)
    lowest_row = lowest_rows[0]
    assert lowest_row[0] == lowest_row[1] == "a cat sat on the mat"
    assert (lowest_row[2], lowest_row[3]) == ("1.000", format_percent(min(ADDS)))
    for text, nearest, similarity, adds in lowest_rows:
        i = TEXTS.index(text)
        expected = K_off_diagonal[i].argmax()
        assert TEXTS.index(nearest) in (expected, TEXTS.index(TEXTS[expected]))
        assert similarity == f"{K_off_diagonal[i].max():.3f}"
        assert adds == format_percent(ADDS[i])
    assert [adds for _, adds in highest_rows] == [format_percent(a) for a in sorted(ADDS)[::-1][:4]]
    pairs = [frozenset(row[:2]) for row in lowest_rows]
    assert len(set(pairs)) == len(pairs) - 1  # both copies of "a cat …" list each other


def test_samples_section_lists_all_samples() -> None:
    ((header, *rows),) = PAGE.tables["samples"]
    assert header == [
        "index",
        "text",
        "most similar",
        "similarity",
        "contribution",
        "mode",
        "duplicate of",
    ]
    assert [(int(row[0]), row[1]) for row in rows] == list(enumerate(TEXTS))
    assert [row[6] for row in rows] == ["", "0", "", "", "", "", "", "", "", "", "0", ""]
    assert [row[4] for row in rows] == [format_percent(adds) for adds in ADDS]


def test_growth_section_matches_growth() -> None:
    # At all twelve texts, the report shows the interval of the score.
    scores = vendiscore.compute(TEXTS, ci=0.95, **OPTIONS)
    bounds = scores["VS_low"], scores["VS_high"]
    result = vendiscore.growth(TEXTS, [3, 6, 12], **OPTIONS).with_interval(12, *bounds)
    (_, *rows) = PAGE.tables["growth"][0]
    assert [row[0] for row in rows] == ["3", "6", "12"]
    assert [row[1] for row in rows] == [f"{score:.2f}" for score in result.scores]
    assert result.sentence in PAGE.text["growth"]


def test_figure_labels_contain_scores() -> None:
    eigenvalues = np.linalg.eigvalsh(K / 12)[::-1]
    strip, heat, spectrum, profile, growth = PAGE.labels
    assert strip == REPORT.numbers["details"]["typical"]
    mean = (K.sum() - 12) / 132
    assert heat == f"Similarities of 12 samples; the mean of all pairs is {mean:.2f}"
    assert f"the largest of 10 normalized eigenvalues is {100 * eigenvalues[0]:.1f}%" in spectrum
    assert profile.startswith("Profile: from 10.0 at q = 0 to ")
    assert growth.startswith("Growth: ")
    magnitude_page = parse_report(report(X, k="rbf", measures=["VS", "MagArea"]))
    assert magnitude_page.labels[-1].startswith("Magnitude function: 38.0 at scale")


def test_report_without_matplotlib_has_no_figures_and_a_hint(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = parse_report(report(TEXTS, **OPTIONS))
    assert "No figures: a figure needs the package 'matplotlib'" in page.text["pictures"]
    assert len(page.labels) == 1  # the strip does not require matplotlib


def test_settings_code_reproduces_the_scores(capsys) -> None:
    signature, code = PAGE.code
    assert signature == REPORT.numbers["details"]["signature"]
    exec(code, {})
    printed = eval(capsys.readouterr().out)
    assert printed == {key: x for key, x in REPORT.numbers.items() if key != "details"}


def test_long_samples_and_functions_are_described_in_comments(capsys) -> None:
    def kernel(a, b):
        return float(np.exp(-abs(a - b)))

    samples = list(np.random.default_rng(0).normal(size=200))
    result = report(samples, k=kernel, q=[2, "inf"], ci=0.9)
    code = parse_report(result).code[-1]
    assert "# `samples` are the 200 samples of this report, in their order." in code
    assert "# `k` is what was passed: tests.t" in code
    assert "described_in_comments" in code
    exec(code, {"samples": samples, "k": kernel})
    printed = eval(capsys.readouterr().out)
    assert printed == {key: x for key, x in result.numbers.items() if key != "details"}


def test_large_sets_are_subsampled_with_a_note(monkeypatch) -> None:
    monkeypatch.setattr(report_data, "MAX_COMPARED", 20)
    monkeypatch.setattr(report_data, "MAX_GROWTH_SAMPLES", 16)
    result = report(X, k="cosine", p=None)
    page = parse_report(result)
    assert result.numbers["VS"] == pytest.approx(compute(X, k="cosine")["VS"], rel=1e-12)
    note = "Pairs were compared in a random subset of 20 of the 40 samples."
    assert note not in page.text["alike"]  # all pairs are compared if there are few features
    assert page.text["redundant"].count(note) == 1
    assert parse_report(report(X, k="rbf", sigma=1.0)).text["alike"].count(note) == 1
    ((_, *rows),) = page.tables["samples"]
    indices = [int(row[0]) for row in rows]
    assert len(set(indices)) == 20
    assert max(indices) >= 20
    assert "Based on a random subset of 16 of the 40 rows." in page.text["growth"]
    for size in (20, 16):  # heat map, growth
        assert f"Based on a random subset of {size} of the 40 samples." in page.text["pictures"]
    assert (
        "The table lists the random subset of 20 of the 40 samples that was compared. Ind"
        in page.text["samples"]
    )
    assert page.labels[0].startswith("Similarities of 20 samples")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import vendiscore.tools.reports.document", "function"),
        ("from vendiscore.report import report; import vendiscore", "function"),
        ("import vendiscore; from vendiscore import report", "function"),
        ("import vendiscore.report as result, vendiscore; assert result is vendiscore.report", ""),
    ],
)
def test_report_name_is_the_function_after_any_import(code, expected) -> None:
    code += "; print(type(vendiscore.report).__name__)"
    code += "; assert 'matplotlib' not in vars(vendiscore)"
    command = [sys.executable, "-c", code]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert expected in output


def test_repr_html_is_a_sandboxed_iframe() -> None:
    frame = REPORT._repr_html_()
    assert frame.startswith('<iframe srcdoc="')
    assert html.unescape(frame.split('"')[1]) == REPORT.html()
    assert " sandbox " in frame


def test_write_html_writes_the_document(tmp_path) -> None:
    path = tmp_path / "result.html"
    assert REPORT.write_html(path) is None
    assert path.read_bytes() == REPORT.html().encode()
    assert document.style() in REPORT.html()


def test_title_must_be_a_string() -> None:
    with pytest.raises(TypeError, match="`title` must be a string, got int; omit it"):
        report(TEXTS, title=3)


def test_invalid_arguments_raise_as_in_compute() -> None:
    with pytest.raises(TypeError, match="sigmaa"):
        report(X, k="rbf", sigmaa=1)
    with pytest.raises(ValueError, match="empty"):
        report([])


def test_group_rows_without_interval_show_a_dash() -> None:
    lists = [TEXTS[:4], TEXTS[4:8], TEXTS[8:11]]
    page = report(lists, **OPTIONS)
    rows = page.numbers["details"]["groups"]
    assert rows[2]["VS_low"] is None
    assert rows[0]["VS_low"] < rows[0]["VS"] < rows[0]["VS_high"]
    (table,) = [
        x for tables in parse_report(page).tables.values() for x in tables if "VS_high" in x[0]
    ]
    assert table[0] == ["group", "n", "VS", "VS_se", "VS_low", "VS_high"]
    assert table[3][3:] == ["–"] * 3
    assert "–" not in [*table[1], *table[2]]
