"""Samples are assigned to the mode with their largest component."""

import numpy as np
import pytest

from vendiscore import as_similarity, explain
from vendiscore.measures.sample_set import SampleSet
from vendiscore.tools.analysis.spectral_modes import EXEMPLARS, Mode, list_modes, strongest_modes

LABELS = list("aababca")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((8, 3))


def decompose(similarity, **options):
    return SampleSet(similarity, **options).decompose()


def test_modes_of_labels_are_the_classes():
    mode, weight = strongest_modes(decompose(as_similarity(LABELS, k="labels")))
    assert mode.tolist() == [{"a": 0, "b": 1, "c": 2}[label] for label in LABELS]
    np.testing.assert_allclose(weight, 1)


def test_mode_weight_is_the_largest_component_of_a_sample():
    spectrum = decompose(as_similarity(X, k="cosine"))
    values, U = np.asarray(spectrum.values), np.asarray(spectrum.vectors)
    values = values[values > 0]
    components = U**2 * values
    mode, weight = strongest_modes(spectrum)
    assert mode.tolist() == components.argmax(axis=1).tolist()
    np.testing.assert_allclose(weight, components.max(axis=1) * 8, rtol=1e-9)  # weights are 1/8


def test_zero_weight_samples_belong_to_no_mode():
    p = np.array([0.5, 0, 0.5, 0, 0, 0, 0])
    mode, weight = strongest_modes(decompose(as_similarity(LABELS, k="labels"), weights=p))
    assert mode[1] == mode[3] == -1
    assert weight[1] == weight[3] == 0
    assert mode[0] != mode[2]


def test_members_are_caller_indices_sorted_by_weight():
    spectrum = decompose(as_similarity(X, k="cosine"))
    mode, weight = strongest_modes(spectrum)
    indices = np.arange(8) * 10
    modes = list_modes(spectrum, mode, weight, 2, indices)
    assert [mode_summary.number for mode_summary in modes] == [0, 1]
    for mode_summary in modes:
        member_positions = np.flatnonzero(mode == mode_summary.number)
        expected = member_positions[np.argsort(-weight[member_positions], kind="stable")] * 10
        assert mode_summary.members.tolist() == expected.tolist()
        assert mode_summary.share == pytest.approx(spectrum.values[mode_summary.number])
    assert len(list_modes(spectrum, mode, weight, 99, indices)) == 3


def test_mode_sentence_lists_its_strongest_samples():
    mode = Mode(1, 0.25, np.array([5, 0, 2, 7]))
    assert mode.exemplars == [5, 0, 2]
    assert len(mode.exemplars) == EXEMPLARS
    assert mode.sentence == "Mode 1 has a share of 0.25: 4 samples, first 5, 0, 2."
    assert Mode(3, 0.1, np.array([], int)).sentence == "Mode 3 has a share of 0.1: 0 samples."


def test_explain_returns_modes_of_labels():
    modes = explain(LABELS, k="labels").modes()
    assert [mode.share for mode in modes] == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert [mode.members.tolist() for mode in modes] == [[0, 1, 3, 6], [2, 4], [5]]
