"""Names for several measures at once: the sets that people quote, for a kind of sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Preset:
    """Several measures under one name, with options that are not their defaults."""

    name: str
    measures: Mapping[str, Mapping[str, Any]]
    what: str  # they say together, and of which samples
    source: str


def _all(*names: str) -> dict[str, dict[str, Any]]:
    return {name: {} for name in names}


PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "text",
            _all("VS", "NgramDiversity", "SelfBLEU", "CompressionRatio"),
            "Texts: how many different ones, and how far they repeat words, phrases and strings",
            "Zhu et al., SIGIR 2018; Tevet & Berant, EACL 2021; Shaib et al., arXiv 2403.00553",
        ),
        Preset(
            "images",
            _all("VS", "RKE", "IntDiv"),
            "Images by their embeddings: how many different ones, modes, and mean unlikeness",
            "Friedman & Dieng, arXiv 2210.02410; Jalali et al., NeurIPS 2023",
        ),
        Preset(
            "molecules",
            _all("VS", "IntDiv"),
            "Molecules by their fingerprints, as generators of them are compared",
            "Polykovskiy et al., MOSES, 2020; Friedman & Dieng, arXiv 2210.02410, §4.1",
        ),
        Preset(
            "embeddings",
            _all("VS", "MagArea", "AvgSim", "GMStds"),
            "Vectors under a kernel: what the magnitude of embeddings is compared with",
            "Limbeck et al., arXiv 2311.16054, Table S.1",
        ),
        Preset(
            "generative",
            _all("VS", "Precision", "Recall", "Density", "Coverage", "MMD", "KEN"),
            "Samples of a model beside `references`: diversity, fidelity, likeness and novelty",
            "Naeem et al., ICML 2020; Gretton et al., JMLR 2012; Zhang et al., arXiv 2402.17287",
        ),
    )
}


def expanded(measures: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the options of each measure by its name, of measures and presets by theirs.

    Examples
    --------
    >>> expanded({"molecules": {}, "IntDiv": {}, "LC": {}})
    {'VS': {}, 'IntDiv': {}, 'LC': {}}
    """
    found: dict[str, dict[str, Any]] = {}
    for name, own in measures.items():
        if not isinstance(own, Mapping):
            raise TypeError(f"`measures` must give {name!r} a dict of options, got {own!r:.40}")
        several = PRESETS[name].measures if name in PRESETS else {name: own}
        if own and name in PRESETS:
            raise TypeError(
                f"`measures` gives options to {name!r}, which is several measures; give them to "
                f"one of these: {', '.join(several)}"
            )
        for each, options in several.items():
            found[each] = {**found.get(each, {}), **options}
    return found
