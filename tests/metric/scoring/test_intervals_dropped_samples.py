"""Dropped samples, and clusters, groups or prompts without any, change no interval."""

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


def texts(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 4)) for _ in range(n)]


def with_blanks(samples, labels, more):
    """Return samples with blank ones between them, and their labels, some of which are `more`."""
    every, named = list(samples), list(labels)
    for i, label in enumerate(more):
        every.insert(2 * i + 1, " ")
        named.insert(2 * i + 1, label)
    return every, named


def of_groups(samples, labels, **how):
    return compute(samples, groups=labels, ci=0.95, details=True, **how)


def of_clusters(samples, labels, **how):
    return compute(samples, clusters=labels, ci=0.95, details=True, **how)


def of_samples(samples, labels, **how):
    return compute(samples, ci=0.95, measures=["VS", "IntDiv", "RKE"], details=True, **how)


def of_growth(samples, labels, **how):
    return growth(samples, [6, 12, 24], **how)


def of_comparison(samples, labels, **how):
    return compare(samples, texts(24, 1), permutations=99, **how)


def of_pairs(samples, labels, **how):
    other, named = texts(24, 1), list(range(6)) * 4
    return compare(samples, other, groups=[labels, named], permutations=99, **how)


def told(found):
    """Return all numbers, sentences and notes of a result but those about dropped samples."""
    if not isinstance(found, dict):
        return found.to_dict(), found.sentence
    details = found.pop("details")
    notes = [note for note in details["notes"] if "left out" not in note and "skip" not in note]
    return found, notes, details.get("interval")


@pytest.mark.parametrize(
    "call", [of_groups, of_clusters, of_samples, of_growth, of_comparison, of_pairs]
)
def test_dropped_samples_do_not_change_results(call):
    check_unchanged(call, [0, 1, 0])


@pytest.mark.parametrize("call", [of_clusters, of_samples, of_growth, of_comparison, of_pairs])
def test_clusters_without_usable_samples_do_not_change_results(call):
    check_unchanged(call, [0, "nobody", "nothing"])


def test_group_without_usable_samples_raises():
    blank, named = with_blanks(texts(24), [i % 6 for i in range(24)], [0, "nobody"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="group 'nobody' must contain a usable sample"):
            of_groups(blank, named, **SKIP)


def check_unchanged(call, more):
    """Check that blank samples with labels `more` change no number, note or sentence."""
    samples, labels = texts(24), [i % 6 for i in range(24)]
    blank, named = with_blanks(samples, labels, more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert told(call(blank, named, **SKIP)) == told(call(samples, labels, **SKIP))


@pytest.mark.parametrize("level", [0.95, None])
@pytest.mark.parametrize("missing", [None, ""])
def test_prompts_with_fewer_than_two_answers_do_not_change_sources(missing, level):
    answers = {name: texts(5, i) for i, name in enumerate("abc")}
    more = {name: [*own, *[missing] * 26] for name, own in answers.items()}
    more["b"][-1] = "an answer of one source alone"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = sources(more, level=level, **SKIP)
    one = sources(answers, level=level, **SKIP)
    assert (result.found, result.notes, result.sentence) == (one.found, one.notes, one.sentence)
    assert result.similarity == pytest.approx(one.similarity, abs=1e-12)
    assert result.per_prompt[:5] == one.per_prompt
    assert np.isnan(result.per_prompt[5:]).all()
    assert result.to_dict()["prompts"] == one.to_dict()["prompts"]
    assert "5 prompts, " in result.sentence
