"""Presets are names for several measures."""

import pytest

from vendiscore.measures.measure import get_measure
from vendiscore.resolve.presets import PRESETS, expand_presets


@pytest.mark.parametrize("name", PRESETS)
def test_measures_of_presets_exist(name):
    preset = PRESETS[name]
    assert [get_measure(measure).name for measure in preset.measures] == [*preset.measures]
    assert len({*preset.measures}) == len(preset.measures)
    assert preset.question[0].isupper()
    assert preset.source


def test_expand_presets_replaces_presets_in_order():
    result = expand_presets({"LC": {}, "molecules": {}})
    assert [*result] == ["LC", "VS", "IntDiv"]
    assert result["VS"] == {}


def test_expand_presets_keeps_options_of_measures_in_presets():
    result = expand_presets({"embeddings": {}, "MagArea": {"n_scales": 5}})
    assert result["MagArea"] == {"n_scales": 5}
    assert expand_presets({"MagArea": {"n_scales": 5}, "embeddings": {}}) == {
        "MagArea": {"n_scales": 5},
        "VS": {},
        "AvgSim": {},
        "GMStds": {},
    }


def test_expand_presets_rejects_options_of_presets_and_non_dicts():
    with pytest.raises(
        TypeError, match=r"options of 'text' are not supported, .*: VS, NgramDiversity"
    ):
        expand_presets({"text": {"n": 2}})
    with pytest.raises(TypeError, match="must map 'VS' to a dict of options, got 3"):
        expand_presets({"VS": 3})
