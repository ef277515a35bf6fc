"""Themes from the cluster tree, and the columns of the uploaded table."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from page_answers import make_clusters, score_as_json, score_samples
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from vendiscore import as_similarity, compute
from vendiscore_page.answers import sample_views
from vendiscore_page.inputs import uploads
from vendiscore_page.inputs.submission import InputSettings, UserInput

TABLE = b"""model,answer,score,rank
one,a cat sat,0.5,1
two,=1+1,,2
one,a dog ran,0.25,3
"""


def cut_tree(tree, n: int, n_themes: int) -> list[tuple[int, list[int]]]:
    """Return the typical sample and the members of each theme."""
    themes = {i: (i, [i]) for i in range(n)}
    for at, pair in enumerate(tree["merges"][: n - n_themes]):
        members = sorted(i for node in pair for i in themes.pop(node)[1])
        themes[n + at] = tree["typical"][at], members
    return list(themes.values())


@pytest.mark.parametrize("n_themes", [1, 2, 3, 7, 60])
def test_themes_match_average_linkage_and_medoids(n_themes):
    X = make_clusters(60)
    kernel_options = {"k": "rbf", "sigma": 1.0}
    K = as_similarity(X, **kernel_options).dense()
    tree = score_as_json(X, "vectors", "rbf", options={"sigma": 1.0})["themes"]
    themes = cut_tree(tree, 60, n_themes)
    codes = np.zeros(60, int)
    for code, (typical, members) in enumerate(themes):
        codes[members] = code
        means = K[np.ix_(members, members)].mean(axis=1)
        assert means[members.index(typical)] == pytest.approx(means.max(), abs=1e-12)
    expected_codes = fcluster(
        linkage(squareform(1 - K, checks=False), "average"), n_themes, "maxclust"
    )
    assert len(set(zip(codes, expected_codes, strict=True))) == len(themes) == n_themes


def test_theme_count_equals_distinct_samples():
    assert score_as_json(["a b"] * 5 + ["c d"] * 5)["themes"]["count"] == 2
    assert score_as_json(["a b"])["themes"] == {"count": 1, "merges": [], "typical": []}


def test_answer_contains_all_table_columns():
    result = score_samples(
        uploads.read(UserInput([("a.csv", TABLE)]), InputSettings(column="answer", pool=True))
    )
    assert result.answer["samples"]["cells"] == [
        ("model", ["one", "two", "one"]),
        ("answer", ["a cat sat", "=1+1", "a dog ran"]),
        ("score", ["0.5", "", "0.25"]),
        ("rank", ["1", "2", "3"]),
    ]
    vector_table = UserInput([("x.csv", b"x,name,y\n1,a,0\n0,b,2\n3,c,4\n")])
    rows = score_samples(uploads.read(vector_table, InputSettings(kind="vectors"))).answer[
        "samples"
    ]["cells"]
    assert rows == [("x", [1.0, 0.0, 3.0]), ("name", ["a", "b", "c"]), ("y", [0.0, 2.0, 4.0])]
    assert score_as_json(["a b", "c d"])["samples"]["cells"] == []


@pytest.mark.parametrize(
    "file",
    [
        ("a.smi", b"CCO ethanol\nCCN\nCCCC  butane gas\n"),
        ("a.csv", b"id,smiles,compound name\n7,CCO,ethanol\n8,CCN,\n9,CCCC,butane gas\n"),
    ],
    ids=["lines", "table"],
)
def test_molecules_have_names(file):
    pytest.importorskip("rdkit")
    samples = uploads.read(UserInput([file]))
    assert samples.values == ["CCO", "CCN", "CCCC"]
    names = ["ethanol", "", "butane gas"]
    assert score_samples(samples).answer["samples"]["name"] == names
    assert sample_views.get_molecule_names(samples.subset([2, 0])) == ["butane gas", "ethanol"]


def test_samples_without_names_have_no_name_column():
    pytest.importorskip("rdkit")
    # The names are ids, which are shown in any case.
    samples = uploads.read(UserInput([("a.csv", b"name,smiles\na,CCO\nb,CCN\n")]))
    assert sample_views.get_molecule_names(samples) == []
    assert list(samples.ids) == ["a", "b"]
    assert score_as_json(["a b", "c d"])["samples"]["name"] is None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("q", [1.0, 2.0])
def test_samples_have_nearest_sample_and_contribution_in_percent_of_score(q):
    texts = ["a cat sat", "a cat ran", "the dog", "a bird flew", "the dog"]
    columns = score_as_json(texts, q=q)["samples"]
    scores = [
        next(iter(compute(texts[:i] + texts[i + 1 :], q=q).values())) for i in range(len(texts))
    ]
    (total,) = compute(texts, q=q).values()
    expected = [100 * (1 - score / total) for score in scores]
    assert columns["adds"] == pytest.approx(expected, abs=0.005 + 1e-9)
    assert columns["adds"] == [round(value, 2) for value in columns["adds"]]
    K = as_similarity(texts).dense() - 2 * np.eye(len(texts))
    assert columns["nearest"][0] == 1
    assert [columns["nearest"][i] for i in (2, 4)] == [4, 2]
    assert columns["similarity"] == pytest.approx(K.max(axis=1).tolist(), abs=5e-5 + 1e-9)
    assert columns["similarity"] == [round(value, 4) for value in columns["similarity"]]


def test_distinct_samples_contribute_equally():
    # The score is n, and n − 1 without one of n samples.
    assert score_as_json(["a", "b", "c", "d"])["samples"]["adds"] == [25.0] * 4


def test_single_sample_has_no_nearest_sample():
    assert score_as_json(["a b"])["samples"]["nearest"] == [-1]


def test_round_values_returns_finite_numbers_without_negative_zero():
    values = sample_views.round_values(np.array([-0.001, math.nan, 1.256, 1.254]), 2)
    assert values == [0.0, None, 1.26, 1.25]
    assert math.copysign(1, values[0]) == 1


def test_columns_of_cells_are_in_order_of_table():
    cells = {"new": [1], "2020": [2], "b": [3], "newer": [4]}
    assert sample_views.order_cells(cells, ["b", "absent", "2020"]) == [
        ("b", [3]),
        ("2020", [2]),
        ("new", [1]),
        ("newer", [4]),
    ]


@pytest.mark.parametrize(
    ("coordinates", "expected"),
    [
        ([[0, 0], [4, 2]], {"x": [0, 1000], "y": [250, 750]}),  # of one scale, centred
        ([[-1, 7], [-3, 7], [-2, 11]], {"x": [750, 250, 500], "y": [0, 0, 1000]}),
        ([[3, 5], [3, 5]], {"x": [500, 500], "y": [500, 500]}),  # identical samples
    ],
)
def test_map_contains_all_samples(coordinates, expected):
    report_data = SimpleNamespace(coordinates=np.array(coordinates, float))
    assert sample_views.build_map(report_data) == expected


def test_duplicates_are_grouped_by_row():
    answer = score_as_json(["a b", "c d", "a b", "e f", "a b"])
    assert answer["groups"] == [{"keep": 0, "rest": [2, 4]}]
    assert answer["without"] == {
        "left": 3,
        "VS": pytest.approx(3),
        "of": 5,
        "all": pytest.approx(compute(["a b", "c d", "a b", "e f", "a b"])["VS"]),
    }
