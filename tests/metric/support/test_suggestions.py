"""Suggestions in errors about unknown names."""

import time

import magnitude_measures
import numpy as np
import pytest

import vendiscore
from vendiscore import compute, get_kernel, list_kernels
from vendiscore.support.suggestions import closest_name, suggest_name

TEXTS = ["a b", "a c", "d"]
SMILES = ["CCO", "CC(=O)O", "c1ccccc1", "C[C@H](N)C(=O)O", "[Na+].[Cl-]"]


@pytest.mark.parametrize(
    ("keywords", "hint"),
    [
        ({"kernel": "cosine"}, "Did you mean `k`?"),
        ({"weights": [0.2, 0.3, 0.5]}, "Did you mean `p`?"),
        ({"order": 2}, "Did you mean `q`?"),
        ({"k": "ngram_overlap", "order": 2}, "Did you mean `q`?"),
        ({"k": "ngram_overlap", "weights": [0.2, 0.3, 0.5]}, "Did you mean `p`?"),
        ({"prediction": TEXTS}, "Did you mean `samples`?"),
        ({"texts": TEXTS}, "Did you mean `samples`?"),
        ({"bandwidth": 1}, "Did you mean `sigma`?"),
        ({"k": "ngram"}, "Did you mean 'ngram_overlap'?"),
        ({"k": "NGRAM-overlap"}, "Did you mean 'ngram_overlap'?"),
        ({"k": "ecfp4"}, "Did you mean 'morgan'?"),
        ({"k": "jaccard"}, "Did you mean one of these?\n  'tanimoto': "),
        ({"measures": "vs"}, "Did you mean 'VS'?"),
        ({"measures": ["VS", "magnitude"]}, "Did you mean 'Magnitude'?"),
        ({"model": len}, "It is an option of 'image_embeddings', 'text_embeddings'"),
        ({"sigma": 1}, "It is an option of 'laplacian', 'rbf'"),
        (
            {"zzz": 1},
            "Supported keywords are allow_repeats, analyzer, ci, clusters, counts, details, ",
        ),
        ({"k": "zzz"}, "`vendiscore.list_kernels()` lists all"),
        ({"k": get_kernel("labels")}, "got Kernel; pass k='labels'"),
    ],
)
def test_unknown_name_raises_with_a_suggestion(keywords, hint):
    with pytest.raises((TypeError, ValueError)) as caught:
        compute(TEXTS, **keywords)
    assert hint in str(caught.value)
    assert "max_path" not in str(caught.value)  # no list of the options of all kernels


def test_magnitude_suggests_its_own_keywords():
    for keywords, hint in [
        ({"kernel": "rbf"}, "Did you mean `k`?"),
        ({"scale": 1}, "Did you mean `t`?"),
        ({"sample": [1.0]}, "Did you mean `samples`?"),
        (
            {"zzz": 1},
            "Supported keywords are allow_repeats, analyzer, average, ci, ",
        ),
    ]:
        with pytest.raises(TypeError) as caught:
            magnitude_measures.compute_magnitude([0.0, 1.0], **keywords)
        assert hint in str(caught.value)


def test_model_passed_as_k_raises_with_a_hint():
    class Encoder:
        def encode(self, texts):
            return np.ones((len(texts), 2))

        __call__ = encode

    with pytest.raises(
        TypeError, match="got a model of type Encoder; pass the model as model=… with k='text_em"
    ):
        compute(TEXTS, k=Encoder())


def test_suggestions_contain_only_supported_names():
    assert closest_name("weights", ["q", "k"], "keyword") is None
    assert closest_name("weights", ["p", "q"], "keyword") == "p"
    assert closest_name("weights", ["p", "weights"], "keyword") == "weights"
    assert closest_name("weights", ["p", "q"]) is None  # synonyms require a kind
    names = [f"name{i}" for i in range(40)]
    expected = ["The most similar names are", "  'name0'", "  'name1'", "  'name2'"]
    assert suggest_name("nametag", names) == "\n".join(expected)
    assert suggest_name("spin", names) == ""
    assert suggest_name("spin", names[:3]) == "Available: name0, name1, name2."
    assert suggest_name("name39", names) == "Did you mean 'name39'?"


def test_help_of_a_kernel_describes_its_options(capsys):
    help(vendiscore.get_kernel("morgan"))
    output = capsys.readouterr().out
    assert (
        "radius=2, n_bits=2048, chirality=False, coefficient='tanimoto', on_error='raise'" in output
    )
    assert "Radius of the substructures around each atom, in bonds" in output
    for kernel in list_kernels():
        assert set(kernel.options) == {option.partition("=")[0] for option in kernel.signature}
        assert kernel.summary in kernel.__doc__


def test_compare_suggests_compute_for_other_measures():
    for options in ({}, {"k": "ngram_overlap"}):
        with pytest.raises(TypeError, match=r"compute\(samples, measures='IntDiv', ci=0.95\)"):
            vendiscore.compare(TEXTS * 2, TEXTS * 2, measures="IntDiv", **options)


def test_very_long_name_is_compared_by_its_beginning():
    # Comparing spellings takes quadratic time: 100,000 characters took seconds.
    start = time.process_time()
    assert "sigma" in suggest_name("x" * 100_000, ["sigma", "ns"])
    assert time.process_time() - start < 0.5


def test_suggest_name_accepts_any_value():
    for value in (np.zeros((2, 2)), ["cosine"], {}, None, 3):
        assert suggest_name(value, ["cosine"], ["linear"], kind="kernel").endswith("cosine.")


@pytest.mark.parametrize("function", [compute, vendiscore.score, vendiscore.as_similarity])
def test_removed_keywords_are_rejected(function):
    for keyword in ("corrected", "n_features"):
        with pytest.raises(TypeError, match=f"'{keyword}' is not an option of kernel 'rbf'"):
            function(np.eye(4), k="rbf", **{keyword: 8})


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("KEN", "novelty(samples, references) ranks"),
        ("JensenShannon", "is the logarithm of 'BetweenVS'"),
    ],
)
def test_measure_of_other_packages_raises_with_the_equivalent(measure, message):
    with pytest.raises(ValueError) as caught:
        compute(np.eye(3), np.eye(3), k="cosine", measures=measure)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("jaccard", "k='tanimoto' with metric='1-k'"),
        ("dice", "k='tanimoto' with coefficient='dice'"),
        ("seuclidean", "metric='euclidean' of X / X.std(axis=0, ddof=1)"),
        ("mahalanobis", "metric='euclidean' of X @ cholesky(inv(cov(X.T)))"),
    ],
)
def test_scipy_metric_raises_with_the_equivalent(metric, message):
    with pytest.raises(ValueError) as caught:
        compute(np.eye(3), metric=metric, measures="MagArea")
    assert message in str(caught.value)


def test_argument_passed_twice_is_named():
    with pytest.raises(TypeError, match="`samples` is passed both by position and by name"):
        compute(TEXTS, samples=TEXTS)
