"""Names that are none of ours, and strings that are not text: the messages about them."""

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
def test_a_misspelt_name_gets_one_hint_or_where_to_look(keywords, hint):
    with pytest.raises((TypeError, ValueError)) as refused:
        compute(TEXTS, **keywords)
    assert hint in str(refused.value)
    assert "max_path" not in str(refused.value)  # no list of the options of all kernels


def test_magnitude_hints_at_its_own_keywords():
    for keywords, hint in [
        ({"kernel": "rbf"}, "Did you mean `k`?"),
        ({"scale": 1}, "Did you mean `t`?"),
        ({"sample": [1.0]}, "Did you mean `samples`?"),
        (
            {"zzz": 1},
            "Supported keywords are allow_repeats, analyzer, average, ci, ",
        ),
    ]:
        with pytest.raises(TypeError) as refused:
            magnitude_measures.compute_magnitude([0.0, 1.0], **keywords)
        assert hint in str(refused.value)


def test_a_model_as_k_is_told_where_it_goes():
    class Encoder:
        def encode(self, texts):
            return np.ones((len(texts), 2))

        __call__ = encode

    with pytest.raises(
        TypeError, match="got a model of type Encoder; pass the model as model=… with k='text_em"
    ):
        compute(TEXTS, k=Encoder())


def test_hints_find_what_is_known_only():
    assert closest_name("weights", ["q", "k"], "keyword") is None
    assert closest_name("weights", ["p", "q"], "keyword") == "p"
    assert closest_name("weights", ["p", "weights"], "keyword") == "weights"
    assert closest_name("weights", ["p", "q"]) is None  # without a kind, there are no synonyms
    many = [f"name{i}" for i in range(40)]
    similar = ["The most similar names are", "  'name0'", "  'name1'", "  'name2'"]
    assert suggest_name("nametag", many) == "\n".join(similar)
    assert suggest_name("spin", many) == ""
    assert suggest_name("spin", many[:3]) == "Available: name0, name1, name2."
    assert suggest_name("name39", many) == "Did you mean 'name39'?"


def test_help_of_a_kernel_shows_its_options_and_what_they_do(capsys):
    help(vendiscore.get_kernel("morgan"))
    told = capsys.readouterr().out
    assert (
        "radius=2, n_bits=2048, chirality=False, coefficient='tanimoto', on_error='raise'" in told
    )
    assert "Radius of the substructures around each atom, in bonds" in told
    for kernel in list_kernels():
        assert set(kernel.options) == {given.partition("=")[0] for given in kernel.signature}
        assert kernel.summary in kernel.__doc__


def test_compare_names_the_call_that_has_other_measures():
    for how in ({}, {"k": "ngram_overlap"}):
        with pytest.raises(TypeError, match=r"compute\(samples, measures='IntDiv', ci=0.95\)"):
            vendiscore.compare(TEXTS * 2, TEXTS * 2, measures="IntDiv", **how)


def test_a_hint_takes_any_value_for_a_name():
    for value in (np.zeros((2, 2)), ["cosine"], {}, None, 3):
        assert suggest_name(value, ["cosine"], ["linear"], kind="kernel").endswith("cosine.")


@pytest.mark.parametrize("call", [compute, vendiscore.score, vendiscore.as_similarity])
def test_a_keyword_of_an_earlier_version_is_refused_as_any_unknown_one(call):
    for keyword in ("corrected", "n_features"):
        with pytest.raises(TypeError, match=f"'{keyword}' is not an option of kernel 'rbf'"):
            call(np.eye(4), k="rbf", **{keyword: 8})


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("KEN", "novelty(samples, references) ranks"),
        ("JensenShannon", "is the logarithm of 'BetweenVS'"),
    ],
)
def test_a_measure_of_others_names_the_call_that_has_it(measure, said):
    with pytest.raises(ValueError) as refused:
        compute(np.eye(3), np.eye(3), k="cosine", measures=measure)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("jaccard", "k='tanimoto' with metric='1-k'"),
        ("dice", "k='tanimoto' with coefficient='dice'"),
        ("seuclidean", "metric='euclidean' of X / X.std(axis=0, ddof=1)"),
        ("mahalanobis", "metric='euclidean' of X @ cholesky(inv(cov(X.T)))"),
    ],
)
def test_a_metric_of_scipy_names_the_samples_that_have_it(metric, said):
    with pytest.raises(ValueError) as refused:
        compute(np.eye(3), metric=metric, measures="MagArea")
    assert said in str(refused.value)


def test_an_argument_that_is_passed_twice_is_named():
    with pytest.raises(TypeError, match="`samples` is passed both by position and by name"):
        compute(TEXTS, samples=TEXTS)
