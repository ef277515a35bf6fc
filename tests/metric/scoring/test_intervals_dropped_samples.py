"""Dropped samples, and clusters or prompts without usable samples, do not change intervals."""

import warnings

import numpy as np
import pytest

from vendiscore import compare, compute, growth, sources

WORDS = [
    "red",
    "green",
    "blue",
    "cat",
    "dog",
    "bird",
    "sat",
    "ran",
    "flew",
    "house",
    "tree",
    "road",
]
SKIP = {"k": "ngram_overlap", "on_error": "skip"}


def make_texts(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 4)) for _ in range(n)]


def insert_blank_samples(samples, labels, blank_labels):
    """Return samples with blank samples inserted, and labels with `blank_labels` inserted."""
    all_samples, all_labels = list(samples), list(labels)
    for i, label in enumerate(blank_labels):
        all_samples.insert(2 * i + 1, " ")
        all_labels.insert(2 * i + 1, label)
    return all_samples, all_labels


def compute_groups(samples, labels, **options):
    return compute(samples, groups=labels, ci=0.95, details=True, **options)


def compute_clusters(samples, labels, **options):
    return compute(samples, clusters=labels, ci=0.95, details=True, **options)


def compute_samples(samples, labels, **options):
    return compute(samples, ci=0.95, measures=["VS", "IntDiv", "RKE"], details=True, **options)


def compute_growth(samples, labels, **options):
    return growth(samples, [6, 12, 24], **options)


def compute_comparison(samples, labels, **options):
    return compare(samples, make_texts(24, 1), permutations=99, **options)


def compute_paired_comparison(samples, labels, **options):
    other_samples, other_labels = make_texts(24, 1), list(range(6)) * 4
    return compare(
        samples, other_samples, groups=[labels, other_labels], permutations=99, **options
    )


def extract_values_and_texts(result):
    """Return values, sentences and notes of a result, without notes about dropped samples."""
    if not isinstance(result, dict):
        return result.to_dict(), result.sentence
    details = result.pop("details")
    notes = [note for note in details["notes"] if "left out" not in note and "skip" not in note]
    return result, notes, details.get("interval")


@pytest.mark.parametrize(
    "call",
    [
        compute_groups,
        compute_clusters,
        compute_samples,
        compute_growth,
        compute_comparison,
        compute_paired_comparison,
    ],
)
def test_dropped_samples_do_not_change_results(call):
    check_unchanged(call, [0, 1, 0])


@pytest.mark.parametrize(
    "call",
    [
        compute_clusters,
        compute_samples,
        compute_growth,
        compute_comparison,
        compute_paired_comparison,
    ],
)
def test_clusters_without_usable_samples_do_not_change_results(call):
    check_unchanged(call, [0, "nobody", "nothing"])


def test_group_without_usable_samples_raises():
    samples, labels = insert_blank_samples(
        make_texts(24), [i % 6 for i in range(24)], [0, "nobody"]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="group 'nobody' must contain a usable sample"):
            compute_groups(samples, labels, **SKIP)


def check_unchanged(call, blank_labels):
    """Check that blank samples with labels `blank_labels` do not change values or texts."""
    samples, labels = make_texts(24), [i % 6 for i in range(24)]
    blank_samples, blank_sample_labels = insert_blank_samples(samples, labels, blank_labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert extract_values_and_texts(
            call(blank_samples, blank_sample_labels, **SKIP)
        ) == extract_values_and_texts(call(samples, labels, **SKIP))


@pytest.mark.parametrize("level", [0.95, None])
@pytest.mark.parametrize("missing", [None, ""])
def test_prompts_with_fewer_than_two_answers_do_not_change_sources(missing, level):
    answers = {name: make_texts(5, i) for i, name in enumerate("abc")}
    with_unanswered = {
        name: [*texts_of_source, *[missing] * 26] for name, texts_of_source in answers.items()
    }
    with_unanswered["b"][-1] = "an answer of one source alone"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = sources(with_unanswered, level=level, **SKIP)
    expected = sources(answers, level=level, **SKIP)
    assert (result.found, result.notes, result.sentence) == (
        expected.found,
        expected.notes,
        expected.sentence,
    )
    assert result.similarity == pytest.approx(expected.similarity, abs=1e-12)
    assert result.per_prompt[:5] == expected.per_prompt
    assert np.isnan(result.per_prompt[5:]).all()
    assert result.to_dict()["prompts"] == expected.to_dict()["prompts"]
    assert "5 prompts, " in result.sentence
