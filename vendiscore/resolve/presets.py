"""Presets: names of groups of measures that are often reported together."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..support.errors import short_repr
from ..support.types import Options, Record


class Preset(NamedTuple):
    """A group of measures that can be requested by one name."""

    measures: Sequence[str]
    question: str  # the sample type, and what the measures quantify
    source: str  # publications that use or define these measures


PRESETS = {
    "text": Preset(
        ("VS", "NgramDiversity", "SelfBLEU", "CompressionRatio"),
        "Texts: the effective number of different texts, and repetition of words and phrases",
        "Zhu et al., SIGIR 2018; Tevet & Berant, EACL 2021; Shaib et al., arXiv 2403.00553",
    ),
    "images": Preset(
        ("VS", "RKE", "IntDiv"),
        "Images, from embeddings: effective number, number of modes, and mean dissimilarity",
        "Friedman & Dieng, arXiv 2210.02410; Jalali et al., NeurIPS 2023",
    ),
    "molecules": Preset(
        ("VS", "IntDiv"),
        "Molecules, from fingerprints: measures commonly used to compare generators",
        "Polykovskiy et al., MOSES, 2020; Friedman & Dieng, arXiv 2210.02410, §4.1",
    ),
    "embeddings": Preset(
        ("VS", "MagArea", "AvgSim", "GMStds"),
        "Vectors: the measures to which the area of the magnitude function was compared",
        "Limbeck et al., arXiv 2311.16054, Table S.1",
    ),
    "novelty": Preset(
        ("DistinctK", "UtilityK"),
        "Answers to one prompt: number of inequivalent answers (k='equivalence'), and `quality`",
        "NoveltyBench: Zhang et al., arXiv 2504.05228",
    ),
    "generative": Preset(
        ("VS", "Precision", "Recall", "Density", "Coverage", "MMD"),
        "Samples of a model and `references`: diversity, fidelity and distance to the references",
        "Naeem et al., ICML 2020; Gretton et al., JMLR 2012",
    ),
}


def expand_presets(measures: Options) -> dict[str, Record]:
    """Replace presets by their measures; return the options of each measure by name.

    `measures` maps names of measures and presets to options. Presets accept no options.
    """
    options_by_measure: dict[str, Record] = {}
    for name, options in measures.items():
        if not isinstance(options, Mapping):
            raise TypeError(
                f"`measures` must map {name!r} to a dict of options, got {short_repr(options)}"
            )
        if options and name in PRESETS:
            raise TypeError(
                f"options of {name!r} are not supported, because it is a preset of several "
                f"measures; pass the options to one of its measures: "
                f"{', '.join(PRESETS[name].measures)}"
            )
        for measure in PRESETS[name].measures if name in PRESETS else (name,):
            # A measure can be requested by name and by a preset; its options are kept.
            options_by_measure[measure] = {**options_by_measure.get(measure, {}), **options}
    return options_by_measure
