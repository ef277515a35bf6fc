"""What the page says is what the library computes, in words that nobody can put code into."""

import base64
import html
import json
import re

import numpy as np
import pytest
from decompositions import counted

from vendiscore.magnitude.distances import as_space
from vendiscore.scoring import compute

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore.app import examples, handlers, jobs, report, shows, tidy
from vendiscore.app.limits import RefusedError
from vendiscore.app.zoom import zoomed
from vendiscore.progress import finish

HOSTILE = ["<script>alert(1)</script> one", "${alert(1)} {{7*7}} `x` two", '"><img src=x> three']


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def download(page: str, name: str) -> str:
    found = re.search(rf'download="{name}" href="data:[^,]+;base64,([^"]+)"', page)
    assert found is not None
    return base64.b64decode(found.group(1)).decode()


@pytest.mark.parametrize("name", examples.TEXTS)
@pytest.mark.parametrize("q", [0, 0.5, 1, 2, "inf"])
def test_the_score_of_texts_is_that_of_the_library(name, q):
    texts = examples.TEXTS[name].splitlines()
    ours = handlers.text(texts, ns=[1, 2], q=q)
    assert ours["VS"] == compute(texts, k="ngram_overlap", ns=[1, 2], q=q)["VS"]
    assert ours["n"] == len(texts)
    assert sum(ours["shares"]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("kernel", jobs.MOLECULE_KERNELS)
def test_the_score_of_molecules_is_that_of_the_library(kernel):
    smiles = examples.MOLECULES["Scents"].splitlines()
    assert handlers.molecules(smiles, kernel)["VS"] == compute(smiles, k=kernel)["VS"]


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [
        ("cosine", {"k": "cosine"}),
        ("rbf", {"k": "rbf"}),
        ("laplacian", {"k": "laplacian"}),
        ("X", {"score_X": True, "normalize": True}),
        ("dual", {"score_dual": True, "normalize": True}),
    ],
)
def test_the_score_of_vectors_is_that_of_the_library(kernel, arguments):
    X = np.random.default_rng(0).normal(size=(20, 3))
    ours = handlers.vectors(X.tolist(), kernel)["VS"]
    assert ours == pytest.approx(compute(X, **arguments)["VS"], rel=1e-12)


def test_a_matrix_can_be_scored_and_its_negative_eigenvalues_clipped():
    K = [[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]
    assert handlers.vectors(K, "K")["VS"] == pytest.approx(2.1573, abs=1e-4)
    indefinite = [[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]
    with pytest.raises(ValueError, match="positive semidefinite"):
        handlers.vectors(indefinite, "K")
    assert 1 <= handlers.vectors(indefinite, "K, clipped")["VS"] <= 3
    with pytest.raises(RefusedError, match="must be square"):
        handlers.vectors([[1, 0]], "K")


def test_the_bandwidth_changes_the_score():
    X = [[0.0], [1.0], [3.0]]
    scores = [handlers.vectors(X, "rbf", sigma)["VS"] for sigma in (0, 0.1, 10)]
    assert scores[1] == pytest.approx(3, abs=1e-6)
    assert scores[1] > scores[0] > scores[2]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: handlers.text("one string"), "Expected a list of texts, got str"),
        (lambda: handlers.text([]), "no texts yet"),
        (lambda: handlers.text(["a"] * 1001), "More than 1,000 texts"),
        (lambda: handlers.text(["a"], kernel="os.system"), "Unknown kernel 'os.system'"),
        (lambda: handlers.text(["a"], kernel=["ngram_overlap"]), "Unknown kernel"),
        (lambda: handlers.text(["a"], ns=[]), "Pick n-gram lengths"),
        (lambda: handlers.text(["a"], ns=[10**9]), "Pick n-gram lengths"),
        (lambda: handlers.text(["a"], ns=None), "whole numbers"),
        (lambda: handlers.text(["a"], ns={"a": 1}), "whole numbers"),
        (lambda: handlers.text(["a"], unit="line"), "Unknown unit"),
        (lambda: handlers.text(["a"], q=-1), "at least 0"),
        (lambda: handlers.text(["a"], q=float("nan")), "at least 0"),
        (lambda: handlers.text(["a"], q="x"), "must be a number"),
        (lambda: handlers.text(["a"], q=[1]), "must be a number"),
        (lambda: handlers.molecules(["C" * 301]), "301 characters"),
        (lambda: handlers.molecules(["C"], kernel="bleu"), "Unknown kernel"),
        (lambda: handlers.vectors([[1.0]], "rbf", -1), "finite number above 0"),
        (lambda: handlers.vectors([[1.0]], "rbf", "x"), "must be a number"),
        (lambda: handlers.compare([["a"]]), "Two or three sets"),
        (lambda: handlers.compare([["a"]] * 4), "Two or three sets"),
        (lambda: handlers.compare("ab"), "Expected a list of sets"),
        (lambda: handlers.compare([["a"], "b"]), "Expected a list of texts"),
        (lambda: handlers.compare([["a"], ["b"]], kind="files"), "Unknown kind"),
        (lambda: handlers.compare([["a"], ["b"]], permutations=10**9), "from 299 to 999"),
        (lambda: handlers.compare([["a"], ["b"]]), "Set A has too few samples to be compared: 1"),
        (
            lambda: handlers.compare([[[1]] * 4, [[1, 2]] * 4], "vectors", "rbf"),
            "as many columns",
        ),
    ],
)
def test_calls_past_the_limits_of_the_page_are_refused(call, said):
    with pytest.raises(RefusedError) as caught:
        call()
    assert said in str(caught.value)


def test_an_invalid_smiles_among_500_is_named():
    smiles = ["C" * (1 + i % 20) for i in range(500)]
    smiles[317] = "C1CC(not a molecule"
    with pytest.raises(ValueError, match=r"sample 317 .*not a molecule"):
        handlers.molecules(smiles)


@pytest.mark.parametrize("q", [1e-300, 1e300, 0.9999999999, 1e9])
def test_extreme_orders_give_a_score_within_bounds(q):
    assert 1 <= handlers.text(["a b", "c d", "a d"], q=q)["VS"] <= 3


def shown(texts: list[str], **options: object) -> tuple[str, str]:
    box = "\n".join(texts)
    given = {"kernel": "ngram_overlap", "ns": [1], "unit": "word", "q": 1, "zoom": 1} | options
    return list(shows.safe(shows.show_text)(box, None, None, *given.values()))[-1]


def test_html_script_and_templates_in_texts_stay_text():
    page, code = shown(HOSTILE)
    assert "<script" not in page
    assert "<img" not in page
    for sign in ("${", "{{", "`"):
        assert sign not in page
    for text in HOSTILE:
        assert text in text_of(page)
    assert eval(code.splitlines()[1].removeprefix("samples = ")) == HOSTILE


def test_html_in_an_error_stays_text():
    page, code = shown([HOSTILE[0]], kernel="<b>")
    assert "&lt;b&gt;" in page
    assert "<b>'" not in page
    assert code == ""
    (page, _), *_ = shows.safe(shows.show_molecules)("<script>\nC", None, None, "morgan", 1, 1)
    assert "line 1, " in page
    assert "<script" not in page


def test_an_unforeseen_error_tells_a_visitor_nothing(caplog):
    def broken():
        raise RuntimeError("/secret/path")
        yield

    assert list(shows.safe(broken)()) == [(report.problem(shows.OURS), "")]
    assert "/secret/path" in caplog.text


def test_the_page_shows_score_pictures_pairs_and_downloads():
    texts = examples.TEXTS["A model in a rut"].splitlines()
    page, code = shown(texts)
    score = compute(texts, k="ngram_overlap", ns=[1])["VS"]
    assert f"≈ {score:.1f} effectively different of 12" in " ".join(text_of(page).split())
    assert page.count("<svg") == 4
    everything = json.loads(download(page, "vendiscore.json"))
    assert everything["VS"] == score
    assert everything["samples"] == texts
    assert everything["magnitude"]["values"][0] == 1
    rows = download(page, "vendiscore.csv").splitlines()
    assert len(rows) == 13
    assert rows[12].startswith("11,The last bakery on Mars")
    assert f"{score:.6f}" in page
    assert len(code.splitlines()) == 3


def test_the_bar_is_the_score_as_a_share_and_says_so():
    for texts, percent in ((["a b"] * 4, 25), (["a b", "a b", "c d"], 63), (["a b"], 100)):
        page = shown(texts)[0]
        score = compute(texts, k="ngram_overlap", ns=[1])["VS"]
        assert f"VS / n: {percent} %" in page
        width = float(re.search(r'<i style="width:([\d.]+)%"', page).group(1))
        assert width == pytest.approx(100 * score / len(texts), abs=0.06)


@pytest.mark.parametrize("q", [0, 1, "inf"])
def test_a_set_of_nearly_all_different_samples_is_described_as_it_is(q):
    texts = [f"x{i} y{i}" for i in range(60)]
    said = handlers.text(texts, ns=[1], q=q)["sentence"]
    assert said.endswith("any two are 0.00 alike on average, the closest two 0.00.")
    said = handlers.text([*texts, "y0 x0"], ns=[1], q=1)["sentence"]
    assert "the closest two 1.00. But 2 of them are, to this kernel, the same as another" in said
    close = handlers.vectors([[0.0], [1.0], [2.0]], "rbf", 3.0, q=0)["sentence"]
    assert "any two are 0.90 alike on average, the closest two 0.95." in close


def test_the_magnitude_is_told_at_scales_that_say_something_of_the_set():
    numbers = []
    for texts in (["a b c d", "a b c e", "a b c f"], ["a b", "c d", "e f"]):
        page = shown(texts, zoom=len(numbers) + 0.5)[0]
        space = as_space(finish(jobs.text_job(texts, ns=[1]).score(1)).similarity)
        numbers.append(space.magnitude(1.0))
        assert f"is {numbers[-1]:.1f} at t = 1 (" in page
        assert "To tell 95 % of the 3 distinct texts apart takes t = " in page
        assert "At the scale chosen, t = " in page
    assert numbers[0] < numbers[1]
    assert "At the scale chosen" not in shown(texts)[0]


def test_q_kernel_and_scale_each_change_the_page():
    texts = examples.TEXTS["A model in a rut"].splitlines()
    base = shown(texts)[0]
    for change in ({"q": 2}, {"ns": [1, 2]}, {"unit": "char"}, {"zoom": 0.5}):
        assert shown(texts, **change)[0] != base
    assert "must be from 0" in shown(texts, zoom=99)[0]
    assert "must be a number" in shown(texts, zoom=None)[0]


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("same", [True, False])
def test_tiny_sets_are_shown(n, same):
    page, _ = shown(["a b"] * n if same else [f"x{i} y{i}" for i in range(n)])
    assert f"effectively different of {n}" in text_of(page)


def test_large_sets_are_shown_in_two_stages_of_one_score():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    stages = list(shows.stages(jobs.vector_job(X, "rbf"), 1, 1))
    assert [page.count("<svg") for page, _ in stages] == [3, 4]
    assert stages[0][1] == stages[1][1]


def test_the_magnitude_function_grows_from_1_towards_n():
    job = jobs.text_job(["a b c", "a b d", "x y z", "x y z"])
    found = zoomed(finish(job.score(1)).similarity, 0.5)
    assert found is not None
    assert found.curve.distinct == 3
    assert found.curve.values[0] == 1
    assert np.all(np.diff(found.curve.values) > 0)
    assert found.t == 0.5 * found.curve.convergence
    assert 1 < found.magnitude < 0.95 * 3


def test_a_matrix_of_no_metric_space_is_scored_without_a_magnitude_function():
    rows = "1, 1, 0.2\n1, 1, 0.8\n0.2, 0.8, 1"  # 0 and 1 are the same, but not to 2
    (page, _), *_ = shows.show_vectors(rows, None, "K, clipped", 0, 1, 1)
    assert "effectively different of 3" in text_of(page)
    assert page.count("<svg") == 3
    assert "There is no magnitude function" in page


@pytest.mark.parametrize(
    ("kernel", "size"),
    [("cosine", 3), ("rbf", 30), ("K", 30)],
)
@pytest.mark.parametrize("q", [0.5, 1, 2, "inf"])
def test_one_analysis_decomposes_one_matrix_once(kernel, size, q):
    X = np.random.default_rng(0).normal(size=(30, 3))
    X = X if kernel != "K" else np.exp(-np.abs(X[:, :1] - X[:, :1].T))
    with counted() as seen:
        *_, (page, _) = shows.stages(jobs.vector_job(X, kernel), q, 1)
    assert page.count("<svg") == 4
    assert [shape for _, shape in seen] == [(size, size)]


@pytest.mark.parametrize("name", examples.COMPARISONS)
def test_every_example_of_a_comparison_is_shown(name):
    kind, *boxes = examples.COMPARISONS[name]
    kernel = {"texts": "ngram_overlap", "molecules": "morgan", "vectors": "rbf"}[kind]
    page, code = list(shows.show_comparison(kind, kernel, *boxes, None, None, None, 1, 299))[-1]
    assert page.count("<svg") == 2
    everything = json.loads(download(page, "vendiscore.json"))
    assert everything["VS_whole"] == pytest.approx(
        [compute(samples, **everything["arguments"])["VS"] for samples in everything["sets"]]
    )
    first, *rows = download(page, "vendiscore.csv").splitlines()
    assert first.startswith("set,n,VS,VS_se,VS_low,VS_high,matched_size,VS_matched")
    assert [float(row.split(",")[2]) for row in rows] == pytest.approx(
        everything["VS_whole"], abs=1e-6
    )
    assert len(code.splitlines()) == 3


def test_what_uploads_leave_behind_is_swept(tmp_path):
    (tmp_path / "tmpabc").write_text("half an upload")
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.png").write_text("in use")
    assert tidy.sweep(tmp_path, 60) == 0
    assert tidy.sweep(tmp_path, -1) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
    assert tidy.sweep(tmp_path / "none", 0) == 0
