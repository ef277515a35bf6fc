"""Similarities of one or several sets with the same kernel: errors, fitting and computed pairs."""

import numpy as np
import pytest

from vendiscore import MatrixSimilarity, SampleError, as_similarity, compute
from vendiscore.magnitude.space import MetricSpace
from vendiscore.resolve.similarity_builder import build_pooled_similarity, build_set_similarities
from vendiscore.resolve.similarity_spec import similarity_spec_from_keywords

TEXTS = ["a red cat", "a blue cat", "the dog ran", "it rained"]
ROWS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [0.8, 0.6]]
RECORDS = [{"text": text, "row": row} for text, row in zip(TEXTS, ROWS, strict=True)]
MIXTURE = {"ngram_overlap:text": 0.5, "cosine:row": 0.5}
NAN = [np.nan, 0.0]
INVALID_SAMPLES = {
    "texts": (TEXTS, None, {}, "must be a str"),
    "rows": (ROWS, NAN, {"k": "rbf", "sigma": 1.0}, "must be finite"),
    "fitted rows": (ROWS, NAN, {"k": "rbf"}, "must be finite"),
    "features": (ROWS, [2.0, 0.0], {"score_X": True}, "must have similarity 1 with itself, got 4"),
    "a mixture": (
        RECORDS,
        {"text": "a", "row": NAN},
        {"k": MIXTURE},
        "of column 'row' must be fin",
    ),
}
# MMD uses both sets together, MagDiff each set separately.
MEASURES = {"MMD": {}, "MagDiff": {"metric": "kernel"}}


def make_names(count: int) -> list[str]:
    return ["samples", "references", "third"][:count]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("samples", "invalid_sample", "arguments", "message"),
    INVALID_SAMPLES.values(),
    ids=INVALID_SAMPLES,
)
def test_errors_contain_set_and_index(samples, invalid_sample, arguments, message, measure):
    options = {"measures": measure, **MEASURES[measure], **arguments}
    with pytest.raises(SampleError, match=f"^sample 4 of `references` {message}"):
        compute(samples, [*samples, invalid_sample], **options)
    with pytest.raises(SampleError, match=rf"^sample 3 (of `samples` )?{message}"):
        compute([*samples[:3], invalid_sample, invalid_sample], samples, **options)


@pytest.mark.parametrize(
    ("samples", "invalid_sample", "options", "message"),
    INVALID_SAMPLES.values(),
    ids=INVALID_SAMPLES,
)
def test_pooled_similarity_contains_similarities_of_all_sets(
    samples, invalid_sample, options, message
):
    spec = similarity_spec_from_keywords(options)
    sets = [samples, samples[:2], samples[1:]]
    pooled = build_pooled_similarity(sets, spec, make_names(3))
    assert pooled.n == 9
    starts = np.cumsum([0, *map(len, sets)])
    for similarity, low, high in zip(
        build_set_similarities(sets, spec, make_names(3)), starts, starts[1:], strict=False
    ):
        expected = pooled.take(np.arange(low, high)).dense()
        assert np.allclose(similarity.dense(), expected, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:dropped")
def test_set_similarities_record_their_dropped_samples():
    spec = similarity_spec_from_keywords({"k": "ngram_overlap", "on_error": "skip"})
    sets = [[None, *TEXTS], TEXTS, [*TEXTS, None, "", "a b"]]
    result = build_set_similarities(sets, spec, make_names(3))
    assert [list(similarity.dropped) for similarity in result] == [[0], [], [4, 5]]
    assert [similarity.n for similarity in result] == [4, 4, 5]
    with pytest.raises(
        ValueError, match="set 2 of 2 has no usable samples: sample 0 must be a str"
    ):
        build_set_similarities([TEXTS, [None]], spec, make_names(2))


def test_callable_kernel_is_called_across_groups_only_if_needed():
    called_groups = set()

    def same(a, b):
        called_groups.add(frozenset((a[0], b[0])))
        return float(a == b)

    samples = ["a1", "a2", "b1", "b2"]
    groups = list("aabb")
    assert compute(samples, k=same, groups=groups)["VS"] == pytest.approx(2)
    assert called_groups == {frozenset("a"), frozenset("b")}
    compute(samples, k=same, groups=groups, measures=["VS", "BetweenVS"])
    assert frozenset("ab") in called_groups


def test_errors_about_prompts_contain_the_sample():
    prompts = ["a dog", "a cat", "", "a cat"]
    with pytest.raises(ValueError, match=r"^the prompt of sample 2 in `prompts` has no tokens"):
        compute(TEXTS, k="ngram_overlap", prompts=prompts, given_prompt=True)
    with pytest.raises(SampleError, match=r"^sample 1 has no tokens"):
        compute(["a", "", "c", "d"], prompts=["a dog"] * 4, given_prompt=True)


@pytest.mark.parametrize("make", [as_similarity, lambda x: MetricSpace(1 - np.eye(len(x)))])
def test_similarities_and_metric_spaces_reject_prompts(make):
    space = make(TEXTS)
    with pytest.raises(TypeError, match=f"`samples` is a {type(space).__name__}, which cannot be"):
        compute(space, prompts=["a"] * 4, given_prompt=True, measures="Magnitude")


def test_invalid_similarity_with_records_raises_with_its_sample():
    invalid_similarity = MatrixSimilarity(np.diag([1.0, 2.0]))
    options = {"k": MIXTURE, "measures": "MagDiff", "metric": "kernel"}
    with pytest.raises(SampleError, match=r"^sample 1 must have similarity 1 with itself, got 2"):
        compute(invalid_similarity, RECORDS, **options)
    with pytest.raises(SampleError, match=r"^sample 1 of `references` must have similarity 1"):
        compute(RECORDS, invalid_similarity, **options)
