"""Views of a sample set do not depend on the order in which they are computed."""

import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from vendiscore import as_similarity, compute, register_measure
from vendiscore.measures.sample_set import SampleSet, SampleSubset
from vendiscore.resolve.similarity_spec import similarity_spec_from_keywords

TEXTS = ["a red cat", "a red cat", "a blue cat", "the dog ran", "it rained", "it rained a lot"]
SCORES = frozenset({"scores"})
MEASURES = ["VS", "RKE", "KernelLanguageEntropy", "SampleCoverage", "NgramDiversity", "MagArea"]


def test_documented_attributes_exist():
    """User measures may use them: docs/reference, docs/tasks/extend.md and `register_measure`."""
    folder = Path(__file__).parents[3] / "docs"
    reference = (folder / "reference" / "measures.md").read_text(encoding="utf-8")
    _, _, members = reference.partition("vendiscore.measures.sample_set.SampleSet\n   :members: ")
    names = members.partition("\n")[0].split(", ")
    task = (folder / "tasks" / "extend.md").read_text(encoding="utf-8")
    _, _, views = task.partition("attributes, which are computed once for all measures:")
    names += re.findall(r"`(\w+)`", views.partition("`range`")[0])
    names += re.findall(r"`sample_set\.(\w+)`", str(register_measure.__doc__))
    names += {"similarity", "space", "spectral", "eigen", "features", "samples", "both", "parts"}
    assert len(names) > 25
    attributes = {*dir(SampleSet), *(field.name for field in fields(SampleSet))}
    assert [name for name in names if name not in {*attributes, "needs"}] == []


@pytest.mark.filterwarnings("ignore:dropped")
def test_n_excludes_dropped_samples_before_similarity_is_computed():
    sample_set = SampleSet(
        ["a b", "", "c d"],
        similarity_spec_from_keywords({"k": "ngram_overlap", "on_error": "skip"}),
    )
    assert (sample_set.n, sample_set.similarity.n, sample_set.n) == (2, 2, 2)
    assert sample_set.roundoff == 0


@pytest.mark.parametrize("q", [1, 2, [0.5, 3]])
@pytest.mark.parametrize("groups", [None, [0, 0, 0, 1, 1, 1]])
def test_order_of_measures_changes_neither_values_nor_details(q, groups):
    rng = np.random.default_rng(0)
    options = {"t_cut": 3.0, "q": q, "groups": groups, "details": True}
    expected = compute(TEXTS, measures=MEASURES, **options)
    expected_details = expected.pop("details")
    for _ in range(3):
        result = compute(TEXTS, measures=rng.permutation(MEASURES).tolist(), **options)
        details = result.pop("details")
        assert result == expected
        for name in ("n", "method", "why", "negative_mass", "cut", "options"):
            assert details[name] == expected_details[name], name


def test_scores_reuse_eigenvectors_that_measures_need():
    K = as_similarity(TEXTS, k="ngram_overlap")
    scores_only, with_eigenvectors = (
        SampleSet(K, needs=SCORES),
        SampleSet(K, needs=SCORES | {"eigenvectors"}),
    )
    assert scores_only.eigen.vectors is not None  # not needed by any measure
    assert scores_only.spectral.spectrum is not scores_only.eigen
    assert (
        with_eigenvectors.spectral.spectrum
        is with_eigenvectors.needed_spectrum
        is with_eigenvectors.eigen
    )


def test_without_cache_keeps_only_scores_and_notes_of_a_subset():
    parent = SampleSet(as_similarity(TEXTS, k="ngram_overlap"), needs=SCORES)
    subset = SampleSubset(parent, np.array([0, 2, 3]), needs=SCORES)
    subset.notes.append("A note.")
    copy = subset.without_cache(subset.spectral)
    assert copy.spectral is subset.spectral
    assert (copy.notes, copy.n, copy.places.tolist()) == (["A note."], 3, [0, 2, 3])
    assert copy.similarity is not subset.similarity


def test_names_before_version_0_5_are_aliases():
    from vendiscore.measures.sample_set import Subject

    samples = Subject(as_similarity(["red", "red", "blue"], k="labels"))
    assert isinstance(samples, SampleSet)
    assert samples.places is samples.indices
    assert samples.rows_of_passed is samples.row_of_input
    assert samples.how is samples.spec
