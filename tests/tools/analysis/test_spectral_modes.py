"""Samples belong to the mode with the largest part of their weight."""

import numpy as np
import pytest

from vendiscore import as_similarity, explain
from vendiscore.measures.sample_set import SampleSet
from vendiscore.tools.analysis.spectral_modes import EXEMPLARS, Mode, list_modes, strongest_modes

LABELS = list("aababca")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((8, 3))


def spectrum_of(similarity, **options):
    return SampleSet(similarity, **options).decompose()


def test_modes_of_labels_are_the_classes():
    mode, weight = strongest_modes(spectrum_of(as_similarity(LABELS, k="labels")))
    assert mode.tolist() == [{"a": 0, "b": 1, "c": 2}[label] for label in LABELS]
    np.testing.assert_allclose(weight, 1)


def test_the_weight_is_the_largest_part_of_a_sample():
    spectrum = spectrum_of(as_similarity(X, k="cosine"))
    values, U = np.asarray(spectrum.values), np.asarray(spectrum.vectors)
    values = values[values > 0]
    parts = U**2 * values
    mode, weight = strongest_modes(spectrum)
    assert mode.tolist() == parts.argmax(axis=1).tolist()
    np.testing.assert_allclose(weight, parts.max(axis=1) * 8, rtol=1e-9)  # each weighs 1/8


def test_samples_without_weight_belong_to_no_mode():
    p = np.array([0.5, 0, 0.5, 0, 0, 0, 0])
    mode, weight = strongest_modes(spectrum_of(as_similarity(LABELS, k="labels"), weights=p))
    assert mode[1] == mode[3] == -1
    assert weight[1] == weight[3] == 0
    assert mode[0] != mode[2]


def test_members_are_the_callers_indices_the_strongest_first():
    spectrum = spectrum_of(as_similarity(X, k="cosine"))
    mode, weight = strongest_modes(spectrum)
    places = np.arange(8) * 10
    modes = list_modes(spectrum, mode, weight, 2, places)
    assert [each.number for each in modes] == [0, 1]
    for each in modes:
        own = np.flatnonzero(mode == each.number)
        expected = own[np.argsort(-weight[own], kind="stable")] * 10
        assert each.members.tolist() == expected.tolist()
        assert each.share == pytest.approx(spectrum.values[each.number])
    assert len(list_modes(spectrum, mode, weight, 99, places)) == 3


def test_a_mode_is_described_by_its_strongest_samples():
    mode = Mode(1, 0.25, np.array([5, 0, 2, 7]))
    assert mode.exemplars == [5, 0, 2]
    assert len(mode.exemplars) == EXEMPLARS
    assert mode.sentence == "Mode 1 has a share of 0.25: 4 samples, first 5, 0, 2."
    assert Mode(3, 0.1, np.array([], int)).sentence == "Mode 3 has a share of 0.1: 0 samples."


def test_explanations_have_these_modes():
    modes = explain(LABELS, k="labels").modes()
    assert [each.share for each in modes] == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert [each.members.tolist() for each in modes] == [[0, 1, 3, 6], [2, 4], [5]]
