"""Counts of species match labels of all individuals."""

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import as_similarity, compute
from vendiscore.result import key_at
from vendiscore.support import memory

RNG = np.random.default_rng(0)
SITE = [46, 22, 17, 15, 0, 9, 8, 6, 2, 2, 1, 1]
SITES = RNG.poisson(3.0, (5, 7)) * (RNG.random((5, 7)) < 0.8)
SITES[:, 0] += 1
TOLERANCE = {"rel": 1e-12, "abs": 1e-12}


def make_labels(counts):
    """Return the species of every individual."""
    return np.repeat(np.arange(len(counts)), counts).tolist()


CASES = {
    "plain": {},
    "orders": {"q": [0, 0.5, 1, 2, "inf"]},
    "interval": {"ci": 0.9, "q": [0.5, 1, 2]},
    "measures": {"measures": ["VS", "IntDiv", "AvgSim", "LC", "SampleCoverage", "MagArea"]},
    "measures with intervals": {"measures": ["VS", "IntDiv", "AvgSim"], "ci": 0.95},
    "details": {"details": True},
}


def split_details(result):
    """Return the values with the signature, and the table of groups."""
    details = result.pop("details", {})
    table = details.get("groups", [])
    return {**result, "signature": details.get("signature")}, table


@pytest.mark.parametrize("case", CASES)
def test_counts_of_a_site_match_labels(case):
    result, _ = split_details(compute(counts=SITE, **CASES[case]))
    expected, _ = split_details(compute(make_labels(SITE), k="labels", **CASES[case]))
    assert result.pop("signature") == expected.pop("signature")
    assert result == pytest.approx(expected, **TOLERANCE)


@pytest.mark.parametrize("case", CASES)
def test_rows_of_counts_match_groups_of_labels(case):
    result, table = split_details(compute(counts=SITES, **CASES[case]))
    nested = [make_labels(site) for site in SITES]
    expected, rows = split_details(compute(nested, k="labels", **CASES[case]))
    assert result.pop("signature") == expected.pop("signature")
    assert result == pytest.approx(expected, **TOLERANCE)
    assert len(table) == len(rows)
    for row, other in zip(table, rows, strict=True):
        assert row == pytest.approx(other, **TOLERANCE)


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, "inf"])
def test_score_of_sites_is_mean_of_hill_numbers(q):
    q_value = float(q)
    hill_numbers = []
    for site in SITES:
        proportions = site[site > 0] / site.sum()
        if q_value == 1:
            hill_numbers.append(np.exp(-proportions @ np.log(proportions)))
        elif q_value == np.inf:
            hill_numbers.append(1 / proportions.max())
        else:
            hill_numbers.append((proportions**q_value).sum() ** (1 / (1 - q_value)))
    result = compute(counts=SITES, q=q)
    key = key_at(q)
    assert result[key] == pytest.approx(np.mean(hill_numbers), **TOLERANCE)
    assert result[f"{key}_se"] == pytest.approx(np.std(hill_numbers, ddof=1) / np.sqrt(5), rel=1e-9)


def test_group_measures_of_counts_match_labels():
    nested = [make_labels(site) for site in SITES]
    options = {"measures": ["WithinVS", "TotalVS", "BetweenVS"]}
    expected = compute(nested, k="labels", **options)
    assert compute(counts=SITES, **options) == pytest.approx(expected, **TOLERANCE)


CONTAINERS = {
    "lists": lambda counts: counts.tolist(),
    "tuples": lambda counts: [tuple(row) for row in counts.tolist()],
    "rows": list,
    "floats": lambda counts: counts.astype(float),
    "small": lambda counts: counts.astype(np.uint8),
    "sparse": sp.csr_array,
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_counts_accept_any_container(container):
    assert compute(counts=CONTAINERS[container](SITES)) == compute(counts=SITES)


def test_counts_accept_tensors_and_booleans():
    torch = pytest.importorskip("torch")
    for table in (SITES, SITES[0]):
        for tensor in (torch.tensor(table), torch.tensor(table).float()):
            assert compute(counts=tensor) == compute(counts=table)
    assert compute(counts=SITES > 0) == compute(counts=(SITES > 0).astype(int))


def test_index_of_a_table_names_the_sites():
    pd = pytest.importorskip("pandas")
    names = ["north", "south", "east", "west", "hill"]
    frame = pd.DataFrame(SITES, index=names, columns=list("abcdefg"))
    for table in (frame, frame.astype("Int64"), frame.astype(float)):
        result = compute(counts=table, details=True)
        assert [row["group"] for row in result["details"]["groups"]] == names
        assert result["VS"] == compute(counts=SITES)["VS"]
    assert compute(counts=frame["a"]) == compute(counts=SITES[:, 0])
    with_duplicate_names = compute(counts=frame.set_axis(["x"] * 5), details=True)
    assert [row["group"] for row in with_duplicate_names["details"]["groups"]] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match=r"got 'north' for species 0 at site 0; .* columns"):
        compute(counts=frame.reset_index())


def test_single_row_of_counts_matches_one_dimension():
    assert compute(counts=[SITE]) == pytest.approx(compute(counts=SITE))


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    [
        ([3, -1], ValueError, "must contain non-negative integers, got -1.0 for species 1;"),
        (np.array([3, -1]), ValueError, "got -1 for species 1; pass 0 for absent species"),
        ([0.5, 0.5], ValueError, "got 0.5 for species 0; .* use effective_number"),
        ([[1, 2], [3, np.nan]], ValueError, "got nan for species 1 at site 1"),
        ([1, np.inf], ValueError, "got inf for species 1"),
        ([1, None], ValueError, "got None for species 1"),
        ([1, "2"], ValueError, "got '2' for species 1"),
        ([1, 1j], ValueError, "got 1j for species 1"),
        (
            [[1, 2], [0, 0]],
            ValueError,
            "site 1 of `counts` must contain at least one individual, got 0",
        ),
        (
            [0, 0],
            ValueError,
            "^`counts` must contain at least one individual, got 0 for every species",
        ),
        ([[1, 2], [1]], ValueError, "the same number of species, got 1 to 2; pass 0"),
        (
            [[1], [2]],
            ValueError,
            r"got shape \(2, 1\); for the counts of one site, pass counts.squeeze\(1\)",
        ),
        (np.ones((2, 2, 2)), ValueError, r"\(n_species,\) or \(n_sites, n_species\), got \(2, 2"),
        (np.array([1j]), TypeError, "must contain integers, got dtype complex128"),
        ([], ValueError, "`counts` is empty"),
        (5, TypeError, "`counts` must be a collection"),
        ({"oak": 3}, TypeError, "`counts` must be an ordered collection"),
    ],
)
def test_invalid_counts_raise(counts, error, message):
    with pytest.raises(error, match=message):
        compute(counts=counts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": ["oak"]}, r"mutually exclusive; use compute\(counts=…\) without"),
        ({"k": "cosine"}, "supports only k='labels', got k='cosine'; remove `k`"),
        ({"k": lambda a, b: 1.0}, "supports only k='labels'"),
        ({"p": [0.5, 0.5]}, "`p` cannot be combined with `counts`"),
        ({"groups": ["a", "b"]}, r"`groups` requires `counts` of shape \(n_sites, n_species\)"),
        ({"clusters": [0, 1], "ci": 0.9}, "`clusters` cannot be combined with `counts`"),
        ({"prompts": ["a"]}, "`prompts` cannot be combined with `counts`"),
        ({"score_X": True}, "`score_X` cannot be combined with `counts`"),
    ],
)
def test_unsupported_arguments_with_counts_raise(options, message):
    with pytest.raises(TypeError, match=message):
        compute(counts=[1, 2], **options)
    assert compute(counts=[1, 2], k="labels") == compute(counts=[1, 2])


def test_metric_accepts_counts():
    pytest.importorskip("evaluate")
    from vendiscore import load

    metric = load("vendiscore")
    assert metric.compute(counts=SITE, q=2) == compute(counts=SITE, q=2)
    assert metric.compute(counts=SITES) == compute(counts=SITES)
    metric.add(sample="oak")
    with pytest.raises(TypeError, match="mutually exclusive"):
        metric.compute(counts=SITE)


def test_score_of_many_individuals_matches_hill_number():
    counts = RNG.integers(0, 20_000, 50)
    proportions = counts[counts > 0] / counts.sum()
    result = compute(counts=counts)["VS"]
    assert result == pytest.approx(np.exp(-proportions @ np.log(proportions)), rel=1e-12)


def test_counts_beyond_memory_raise(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    with pytest.raises(memory.TooLargeError, match="`counts` of 1,000,000,000 individuals needs"):
        compute(counts=[10**9 - 1, 1])


def test_similarity_of_repeated_labels_matches_labels():
    texts = make_labels(SITE)
    similarity = as_similarity(texts, k="labels")
    assert compute(similarity) == pytest.approx(compute(texts, k="labels"), **TOLERANCE)


@pytest.mark.parametrize(
    "options",
    [{}, {"ci": 0.95}, {"q": [0.5, 2]}, {"measures": ["VS", "BetweenVS"], "permutations": 0}],
)
def test_groups_of_sites_match_labels_of_individuals(options):
    counts = np.random.default_rng(0).integers(0, 6, (7, 4))
    labels = list("abcabca")
    species = [name for row in counts for name in np.repeat(list("wxyz"), row).tolist()]
    groups = np.repeat(labels, counts.sum(axis=1)).tolist()
    expected = compute(species, k="labels", groups=groups, details=True, **options)
    result = compute(counts=counts, groups=labels, details=True, **options)
    assert [group["group"] for group in result["details"]["groups"]] == list("abc")
    for key in expected.keys() - {"details"}:
        assert result[key] == pytest.approx(expected[key], rel=1e-12)


def test_groups_of_sites_must_be_one_label_per_site():
    with pytest.raises(ValueError, match="`groups` must"):
        compute(counts=[[1, 2], [3, 4]], groups=["a"])
    with pytest.raises(ValueError, match="group 'b' of `counts` must contain at least one"):
        compute(counts=[[1, 2], [0, 0]], groups=["a", "b"])
