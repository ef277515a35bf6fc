"""A report explains each number: its sentences and tables agree with naive references."""

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
HOW = {"k": "ngram_overlap", "ns": [1, 2]}
REPORT = report(TEXTS, **HOW)
PAGE = parse_report(REPORT)
K = vendiscore.as_similarity(TEXTS, **HOW).dense()
WITHOUT = [compute(TEXTS[:i] + TEXTS[i + 1 :], **HOW)["VS"] for i in range(len(TEXTS))]


def percent(adds: float) -> str:
    return f"{100 * adds:+.2f}\N{NO-BREAK SPACE}%"


ADDS = [1 - without / REPORT.numbers["VS"] for without in WITHOUT]
X = np.random.default_rng(0).normal(size=(40, 3))


def test_its_numbers_are_those_of_compute_with_an_interval() -> None:
    assert REPORT.numbers == compute(TEXTS, **HOW, ci=0.95, details=True)
    assert report(TEXTS, **HOW, ci=0.5).numbers == compute(TEXTS, **HOW, ci=0.5, details=True)


def test_measures_that_are_dear_to_be_sure_of_have_intervals_when_asked() -> None:
    how = {"k": "rbf", "measures": ["VS", "MagArea"]}
    page = report(X, **how)
    assert page.numbers["VS"] == pytest.approx(compute(X, **how)["VS"], rel=1e-12)
    assert "VS_se" not in page.numbers
    assert "it requires MagArea of many random halves" in parse_report(page).text["score"]


def test_sections_are_in_the_order_in_which_they_are_read() -> None:
    names = ["score", "alike", "redundant", "growth", "pictures", "samples", "settings"]
    assert [section.name for section in REPORT.sections] == names == list(PAGE.text)
    assert PAGE.title == "Diversity of 12 texts"
    assert parse_report(report(TEXTS[:3], title="Mine")).title == "Mine"


def test_the_number_comes_with_copies_what_it_means_and_its_interval() -> None:
    vs, se, low, high = (REPORT.numbers[key] for key in ("VS", "VS_se", "VS_low", "VS_high"))
    details = REPORT.numbers["details"]
    names = details["strip"].split("\n")[1]
    share = np.linalg.eigvalsh(K / 12)[-1]
    assert PAGE.text["score"] == (
        "Score According to this kernel, 2 of the 12 texts are exact repeats of others. "
        f"Effective number: {vs:.1f} of 12 "
        f"This set of 12 texts is as diverse as {vs:.1f} texts that have nothing in common; its "
        f"largest eigenvalue makes up {100 * share:.0f} % of the total. "
        f"{details['typical']} {names} "
        f"95 % interval: {low:.2f} to {high:.2f}. A new set of 12 texts of the same source would "
        f"typically score within about {se:.2f} of this (one standard error). "
        "Samples were compared by ngram_overlap (ns=[1, 2], analyzer='word'). The cosine "
        "similarity of n-gram counts, averaged over the lengths n in `ns`."
    )


@pytest.mark.parametrize(
    ("samples", "how", "why"),
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
def test_where_there_is_no_interval_it_says_why(samples, how, why) -> None:
    result = report(samples, **how)
    assert why in parse_report(result).text["score"]
    assert "VS_low" not in result.numbers or how.get("method")


def test_an_interval_is_not_computed_unasked_where_it_takes_long(monkeypatch) -> None:
    monkeypatch.setattr(report_data, "MAX_COMPARED", 5)
    assert (
        "it requires all eigenvectors of 12 samples, which takes long; pass ci="
        in parse_report(report(TEXTS)).text["score"]
    )
    assert "VS_se" in report(X, k="cosine").numbers  # of 3 features


def test_near_duplicates_are_named_once_and_left_out() -> None:
    result = report(TEXTS, **HOW)
    left = compute([TEXTS[place] for place in (0, *range(2, 10), 11)], **HOW)["VS"]
    said = PAGE.text["alike"]
    counts = "2 at 0.8, 2 at 0.9, 2 at 0.95, 2 at 0.99"
    assert (
        f"2 repeat others (similarity 0.95 or more; {counts}); without, the score is {left:.4g}."
        in said
    )
    assert "3 similar texts a cat sat on the mat × 3" in said
    assert result.numbers == REPORT.numbers


def test_the_pairs_next_to_the_threshold_are_shown() -> None:
    boundary, _ = PAGE.tables["alike"]
    _, *rows = boundary
    distinct = [0, *range(2, 10), 11]
    others = K[np.ix_(distinct, distinct)][np.triu_indices(10, 1)]
    below = [similarity for similarity in np.sort(others)[::-1] if 0.75 <= similarity < 0.95]
    assert [row[0] for row in rows] == [f"{similarity:.3f}" for similarity in below[:3]]
    assert {row[3] for row in rows} == {"no"}
    assert rows[0][1:3] == ["the red car is fast", "the red car is slow"]


def test_modes_have_their_share_and_those_that_stand_for_them() -> None:
    _, (head, *rows) = PAGE.tables["alike"]
    shares = np.linalg.eigvalsh(K / 12)[::-1]
    assert head == ["mode", "proportion", "texts", "closest samples"]
    for number, share, members, exemplars in rows:
        assert share == f"{100 * shares[int(number) - 1]:.1f} %"
        assert int(members) > 0
        assert any(text in exemplars for text in TEXTS)
    assert "a cat sat on the mat" in rows[0][3]


def test_what_repeats_comes_with_its_nearest_and_what_it_takes_from_the_score() -> None:
    (_, *least), (_, *most) = PAGE.tables["redundant"]
    others = K - 2 * np.eye(12)
    first = least[0]
    assert first[0] == first[1] == "a cat sat on the mat"
    assert (first[2], first[3]) == ("1.000", percent(min(ADDS)))
    for text, nearest, similarity, adds in least:
        i = TEXTS.index(text)
        assert TEXTS.index(nearest) in (others[i].argmax(), TEXTS.index(TEXTS[others[i].argmax()]))
        assert similarity == f"{others[i].max():.3f}"
        assert adds == percent(ADDS[i])
    assert [adds for _, adds in most] == [percent(a) for a in sorted(ADDS)[::-1][:4]]
    pairs = [frozenset(row[:2]) for row in least]
    assert len(set(pairs)) == len(pairs) - 1  # "a cat …" twice: one copy to each other


def test_all_samples_are_in_a_table() -> None:
    ((head, *rows),) = PAGE.tables["samples"]
    assert head == [
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
    assert [row[4] for row in rows] == [percent(adds) for adds in ADDS]


def test_growth_is_that_of_the_library() -> None:
    # All twelve texts have the interval of the score, of which the report has one alone.
    ends = [vendiscore.compute(TEXTS, ci=0.95, **HOW)[f"VS_{end}"] for end in ("low", "high")]
    result = vendiscore.growth(TEXTS, [3, 6, 12], **HOW).with_interval(12, *ends)
    (_, *rows) = PAGE.tables["growth"][0]
    assert [row[0] for row in rows] == ["3", "6", "12"]
    assert [row[1] for row in rows] == [f"{score:.2f}" for score in result.scores]
    assert result.sentence in PAGE.text["growth"]


def test_pictures_say_what_they_show() -> None:
    shares = np.linalg.eigvalsh(K / 12)[::-1]
    strip, heat, spectrum, profile, growth = PAGE.labels
    assert strip == REPORT.numbers["details"]["typical"]
    mean = (K.sum() - 12) / 132
    assert heat == f"Similarities of 12 samples; the mean of all pairs is {mean:.2f}"
    assert f"the largest of 10 normalized eigenvalues is {100 * shares[0]:.1f}%" in spectrum
    assert profile.startswith("Profile: from 10.0 at q = 0 to ")
    assert growth.startswith("Growth: ")
    area = parse_report(report(X, k="rbf", measures=["VS", "MagArea"]))
    assert area.labels[-1].startswith("Magnitude function: 38.0 at scale")


def test_without_matplotlib_there_are_no_pictures_and_it_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = parse_report(report(TEXTS, **HOW))
    assert "No figures: a figure needs the package 'matplotlib'" in page.text["pictures"]
    assert len(page.labels) == 1  # the strip, which is drawn without it


def test_settings_have_the_signature_and_python_that_gives_the_numbers_again(capsys) -> None:
    signature, code = PAGE.code
    assert signature == REPORT.numbers["details"]["signature"]
    exec(code, {})
    printed = eval(capsys.readouterr().out)
    assert printed == {key: x for key, x in REPORT.numbers.items() if key != "details"}


def test_what_is_too_long_to_be_written_out_is_called_by_its_name(capsys) -> None:
    def kernel(a, b):
        return float(np.exp(-abs(a - b)))

    samples = list(np.random.default_rng(0).normal(size=200))
    result = report(samples, k=kernel, q=[2, "inf"], ci=0.9)
    code = parse_report(result).code[-1]
    assert "# `samples` are the 200 samples of this report, in their order." in code
    assert "# `k` is what was passed: tests.t" in code
    assert "called_by_its_name" in code
    exec(code, {"samples": samples, "k": kernel})
    printed = eval(capsys.readouterr().out)
    assert printed == {key: x for key, x in result.numbers.items() if key != "details"}


def test_of_many_samples_some_are_looked_at_and_it_says_so(monkeypatch) -> None:
    monkeypatch.setattr(report_data, "MAX_COMPARED", 20)
    monkeypatch.setattr(report_data, "MAX_GROWTH_SAMPLES", 16)
    result = report(X, k="cosine", p=None)
    page = parse_report(result)
    assert result.numbers["VS"] == pytest.approx(compute(X, k="cosine")["VS"], rel=1e-12)
    part = "Pairs were compared among 20 of the 40 samples, drawn at random."
    assert part not in page.text["alike"]  # of features all are compared
    assert page.text["redundant"].count(part) == 1
    assert parse_report(report(X, k="rbf", sigma=1.0)).text["alike"].count(part) == 1
    ((_, *rows),) = page.tables["samples"]
    places = [int(row[0]) for row in rows]
    assert len(set(places)) == 20
    assert max(places) >= 20
    assert "Based on a random subset of 16 of the 40 rows." in page.text["growth"]
    for size in (20, 16):  # of the heat map, and of growth
        assert f"Based on a random subset of {size} of the 40 samples." in page.text["pictures"]
    assert (
        "The table lists the random subset of 20 of the 40 samples that was compared. Ind"
        in page.text["samples"]
    )
    assert page.labels[0].startswith("Similarities of 20 samples")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import vendiscore.tools.reports.document", "function"),
        ("from vendiscore.report import report; import vendiscore", "function"),
        ("import vendiscore; from vendiscore import report", "function"),
        ("import vendiscore.report as result, vendiscore; assert result is vendiscore.report", ""),
    ],
)
def test_the_name_is_the_function_whoever_imports_the_folder_first(code, said) -> None:
    tell = "; print(type(vendiscore.report).__name__); assert 'matplotlib' not in vars(vendiscore)"
    run = [sys.executable, "-c", code + tell]
    out = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert said in out


def test_a_notebook_shows_it_in_a_frame_of_its_own() -> None:
    frame = REPORT._repr_html_()
    assert frame.startswith('<iframe srcdoc="')
    assert html.unescape(frame.split('"')[1]) == REPORT.html()
    assert " sandbox " in frame


def test_it_is_written_as_a_file(tmp_path) -> None:
    path = tmp_path / "result.html"
    assert REPORT.write_html(path) is None
    assert path.read_bytes() == REPORT.html().encode()
    assert document.style() in REPORT.html()


def test_a_title_is_text() -> None:
    with pytest.raises(TypeError, match="`title` must be a string, got int; omit it"):
        report(TEXTS, title=3)


def test_errors_are_those_of_compute() -> None:
    with pytest.raises(TypeError, match="sigmaa"):
        report(X, k="rbf", sigmaa=1)
    with pytest.raises(ValueError, match="empty"):
        report([])


def test_rows_of_groups_have_intervals_or_a_dash() -> None:
    lists = [TEXTS[:4], TEXTS[4:8], TEXTS[8:11]]
    page = report(lists, **HOW)
    rows = page.numbers["details"]["groups"]
    assert rows[2]["VS_low"] is None
    assert rows[0]["VS_low"] < rows[0]["VS"] < rows[0]["VS_high"]
    (table,) = [x for own in parse_report(page).tables.values() for x in own if "VS_high" in x[0]]
    assert table[0] == ["group", "n", "VS", "VS_se", "VS_low", "VS_high"]
    assert table[3][3:] == ["–"] * 3
    assert "–" not in [*table[1], *table[2]]
