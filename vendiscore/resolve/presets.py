"""Presets: names for sets of measures that are often reported together."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..support.errors import short_repr
from ..support.types import Options, Record


class Preset(NamedTuple):
    """Several measures under one name."""

    measures: Sequence[str]
    question: str  # the question that they answer, and the sample type
    source: str


PRESETS = {
    "text": Preset(
        ("VS", "NgramDiversity", "SelfBLEU", "CompressionRatio"),
        "Texts: how many different ones, and how far they repeat words, phrases and strings",
        "Zhu et al., SIGIR 2018; Tevet & Berant, EACL 2021; Shaib et al., arXiv 2403.00553",
    ),
    "images": Preset(
        ("VS", "RKE", "IntDiv"),
        "Images by their embeddings: how many different ones, modes, and mean unlikeness",
        "Friedman & Dieng, arXiv 2210.02410; Jalali et al., NeurIPS 2023",
    ),
    "molecules": Preset(
        ("VS", "IntDiv"),
        "Molecules by their fingerprints, as generators of them are compared",
        "Polykovskiy et al., MOSES, 2020; Friedman & Dieng, arXiv 2210.02410, §4.1",
    ),
    "embeddings": Preset(
        ("VS", "MagArea", "AvgSim", "GMStds"),
        "Vectors under a kernel: what the magnitude of embeddings is compared with",
        "Limbeck et al., arXiv 2311.16054, Table S.1",
    ),
    "novelty": Preset(
        ("DistinctK", "UtilityK"),
        "Answers to one prompt: how many are not the same (k='equivalence'), and their `quality`",
        "NoveltyBench: Zhang et al., arXiv 2504.05228",
    ),
    "generative": Preset(
        ("VS", "Precision", "Recall", "Density", "Coverage", "MMD"),
        "Samples of a model and `references`: diversity, fidelity and likeness",
        "Naeem et al., ICML 2020; Gretton et al., JMLR 2012",
    ),
}


def expand_presets(measures: Options) -> dict[str, Record]:
    """Replace presets by their measures; return the options of each measure by name."""
    found: dict[str, Record] = {}
    for name, own in measures.items():
        if not isinstance(own, Mapping):
            raise TypeError(
                f"`measures` must give {name!r} a dict of options, got {short_repr(own)}"
            )
        if own and name in PRESETS:
            raise TypeError(
                f"`measures` gives options to {name!r}, which stands for several measures; give "
                f"them to one of these: {', '.join(PRESETS[name].measures)}"
            )
        several = PRESETS[name].measures if name in PRESETS else (name,)
        for each in several:
            found[each] = {**found.get(each, {}), **own}
    return found
