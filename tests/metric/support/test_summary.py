"""str() of public results is a sentence, and repr() is one line."""

import functools
import inspect
import math
import pickle
import re

import numpy as np
import pytest

import vendiscore
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.measures.measure import get_measure
from vendiscore.support.summary import (
    format_repr,
    format_value,
    format_with_error,
    format_with_interval,
)
from vendiscore.tools.analysis.spectral_modes import Mode

TEXTS = [f"w{i % 7} x{i % 5}" for i in range(12)]
EDITED = ["a b c", "a b c", "a b d"]
X = np.random.default_rng(0).normal(size=(12, 3))
LONG = {"a very long name of a model " * 5: TEXTS, "another\nname": TEXTS[:9], "c": TEXTS[3:]}


@functools.cache
def example_explanation():
    return vendiscore.explain([*TEXTS, TEXTS[0]])


@functools.cache
def example_comparison():
    return vendiscore.compare(LONG, permutations=59)


def example_comparison_by_group():
    sources, groups = (["a", "b"] * 6, [i // 6 for i in range(12)])
    return vendiscore.compare(TEXTS, by=sources, groups=groups, permutations=19)


def equality_kernel(a, b):
    return float(a == b)


RESULTS = {
    "Explanation": example_explanation,
    "Mode": lambda: example_explanation().modes()[0],
    "Mode of no samples": lambda: Mode(3, 0.1, np.array([], dtype=int)),
    "Pair": lambda: vendiscore.explain(EDITED, ns=[1], threshold=0.8).boundary(1)[1][0],
    "Selection": lambda: vendiscore.select(TEXTS, 9),
    "BatchSelection": lambda: vendiscore.select_batches(
        [{"x": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]}], "x", 2, k="cosine"
    ),
    "Comparison": example_comparison,
    "Comparison by groups": example_comparison_by_group,
    "SetRow": lambda: example_comparison().sets[0],
    "PairRow": lambda: example_comparison().pairs[0],
    "ReadResult": lambda: vendiscore.read([{"prompt": "a?", "answer": text} for text in TEXTS]),
    "Sources": lambda: vendiscore.sources([TEXTS, TEXTS], aligned=False),
    "SourceRow": lambda: vendiscore.sources([TEXTS, TEXTS]).sources[0],
    "Score": lambda: vendiscore.sources([TEXTS, TEXTS]).found,
    "Novelty": lambda: vendiscore.novelty(TEXTS, EDITED),
    "PhraseCosts": lambda: vendiscore.phrases([*TEXTS, *EDITED], min_texts=2),
    "PhraseComparison": lambda: vendiscore.phrases(TEXTS, EDITED, permutations=19),
    "Growth": lambda: vendiscore.growth(TEXTS, q=2),
    "Growth within": lambda: vendiscore.growth(TEXTS, [2, 3], q=2),
    "Growth beyond": lambda: vendiscore.growth(TEXTS, [20], q=2),
    "Report": lambda: vendiscore.report(TEXTS),
    "State": lambda: vendiscore.State.empty(k="cosine").update(X),
    "Kernel": lambda: vendiscore.get_kernel("ngram_overlap"),
    "Measure": lambda: get_measure("MagArea"),
    "MagnitudeFunction": lambda: vendiscore.magnitude_function(X),
    "MagnitudeFunction without scales": lambda: vendiscore.magnitude_dimension([[1.0]]),
    "MetricSpace": lambda: as_space(X),
    "FeatureSimilarity": lambda: vendiscore.as_similarity(TEXTS),
    "RowsSimilarity": lambda: vendiscore.as_similarity(X, k="rbf"),
    "Similarity of a function": lambda: vendiscore.as_similarity(TEXTS, k=equality_kernel),
    "MatrixSimilarity": lambda: vendiscore.MatrixSimilarity(np.eye(3)),
    "Similarity of a mixture": lambda: vendiscore.as_similarity(TEXTS, k={"ngram_overlap": 1}),
}


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
@pytest.mark.parametrize("name", RESULTS)
def test_results_print_as_a_sentence_and_a_one_line_repr(name):
    result = RESULTS[name]()
    text, short_repr = str(result), repr(result)
    assert text.endswith((".", ")."))
    assert " object at 0x" not in text + short_repr
    assert "array(" not in text + short_repr
    assert text != short_repr
    assert "\n" not in short_repr
    assert len(short_repr) <= 120
    assert short_repr.startswith(("<", type(result).__name__))
    assert not re.search(r"\d\.\d{8}", text + short_repr)
    assert text == getattr(result, "sentence", text)


def format_annotation(annotation):
    """Return an annotation as text without module names."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"(\w+\.)+(\w+)", r"\2", text)


def test_public_functions_return_only_tested_classes():
    """Result classes that are missing from RESULTS must be added."""
    tested = {*RESULTS, "SampleMetric", "Encoder", "Similarity"}
    returned = {
        format_annotation(getattr(vendiscore, name).__annotations__.get("return", ""))
        for name in vendiscore.__all__
        if callable(getattr(vendiscore, name)) and not isinstance(getattr(vendiscore, name), type)
    }
    untested_types = re.compile(r"(Any|Array|Number|Record|float|ndarray|dict\[.*|Callable\[.*|)$")
    classes = {
        re.sub(r"list\[(\w+)\]", r"\1", class_name)
        for annotation in returned
        for class_name in annotation.split(" | ")
        if not untested_types.match(class_name)
    }
    assert classes - {"float"} <= tested


def test_values_have_the_digits_of_their_error():
    assert format_with_error(23.8789, 0.0821) == "23.879 ± 0.082"
    assert format_with_error(1708.2, 93.0) == "1708 ± 93"
    assert format_with_error(2.0, 0.0) == format_with_error(2.0, math.nan) == "2"
    assert format_value(-1e-9, 0.1) == "0.00"
    assert format_value(math.inf, 0.1) == "inf"
    assert format_repr("Kind", {"x": 1 / 3, "names": ["a" * 200]}).endswith("…")


def test_growth_text_mentions_the_largest_sizes():
    result = vendiscore.growth(["a", "b"] * 8, [4, 16, 32], q=2, k="labels")
    assert str(result).startswith("Effective number of samples: 2")
    assert " for 32 samples" in str(result)
    assert repr(result) == "Growth(n=16, q=2, level=0.95, sizes=(4, 16, 32))"


def test_format_with_interval_mentions_a_missing_interval():
    assert format_with_interval(5.361, math.nan, math.nan) == "5.361 (no interval)"
    assert format_with_interval(5.361, 4.0, 6.0) == "5.36 (4.00 to 6.00)"


@pytest.mark.parametrize(
    ("make_object", "name", "expected"),
    [
        (lambda: vendiscore.as_similarity(TEXTS), "to_numpy", "`dense`"),
        (lambda: vendiscore.State(k="cosine"), "partial_fit", "Did you mean `update`"),
        (lambda: as_space(X), "distances_matrix", "Available attributes: "),
        (example_explanation, "duplicates_", "Available attributes: "),
    ],
)
def test_unknown_attributes_raise_with_existing_names(make_object, name, expected):
    with pytest.raises(AttributeError) as error:
        getattr(make_object(), name)
    message = str(error.value)
    assert re.match(rf"'\w+' object has no attribute '{name}'\. ", message)
    assert expected in message
    assert str(pickle.loads(pickle.dumps(error.value))) == message


def test_private_names_raise_without_a_list_of_names():
    with pytest.raises(AttributeError, match=r"^'State' object has no attribute '_secret'$"):
        vendiscore.State(k="cosine")._secret  # noqa: B018
