"""Signatures, registered names and pickles do not depend on module paths of the package."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import vendiscore
from vendiscore import (
    GroupState,
    IndefiniteError,
    MissingPackageError,
    NotPSDError,
    SampleError,
    State,
    TooLargeError,
    compare,
    compute,
    encoder,
    explain,
    get_kernel,
    group_rewards,
    growth,
    list_kernels,
    list_measures,
    magnitude_function,
    novelty,
    phrases,
    read,
    report,
    score,
    select,
    select_batches,
    sources,
)
from vendiscore.resolve.presets import PRESETS

TEXTS = ["a cat sat", "a cat sat here", "the dog ran", "it rained"]
VECTORS = np.random.default_rng(0).standard_normal((6, 3))


def measure_length(texts):
    return [[float(len(text)), 1.0] for text in texts]


SIGNATURES = {
    "texts": lambda: compute(TEXTS, details=True),
    "vectors": lambda: compute(VECTORS, k="rbf", q=[1, 2], ci=0.9, details=True),
    "groups": lambda: compute(TEXTS, groups=[0, 0, 1, 1], details=True),
    "function": lambda: compute(TEXTS, k=lambda a, b: float(a == b), details=True),
    "model": lambda: compute(TEXTS, k="text_embeddings", model=measure_length, details=True),
    "loaded model": lambda: compute(
        TEXTS, k="text_embeddings", model=encoder(model=measure_length), details=True
    ),
    "tokenizer": lambda: compute(TEXTS, k="ngram_overlap", tokenizer=str.split, details=True),
    "mixture": lambda: compute(TEXTS, k=["ngram_overlap", "labels"], details=True),
    "equivalence": lambda: compute(TEXTS, k="equivalence", same=lambda a, b: a == b, details=True),
    "similarity": lambda: compute(vendiscore.as_similarity(TEXTS), details=True),
    "matrix": lambda: compute(np.eye(3), score_K=True, details=True),
    "distances": lambda: compute(VECTORS, measures=["MagArea", "Magnitude"], t=1, details=True),
    "references": lambda: compute(
        VECTORS, references=VECTORS[::2], k="cosine", measures=["VS", "MMD"], details=True
    ),
    "state": lambda: State(k="cosine").update(VECTORS).compute(details=True),
    "presets": lambda: compute(TEXTS, measures=["text"], details=True),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature_contains_no_module_path(name):
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        signature = SIGNATURES[name]()["details"]["signature"]
    assert "vendiscore=" in signature
    assert "vendiscore." not in signature


def test_registered_names_contain_no_module_path():
    names = [entry.name for entry in (*list_kernels(), *list_measures())] + [*PRESETS]
    assert {"ngram_overlap", "VS", "text"} <= {*names}
    assert [name for name in names if "." in name or "vendiscore" in name.lower()] == []


def catch_error(call):
    with pytest.raises(Exception) as caught:
        call()
    return caught.value


def build_instances():
    """Return objects that users may pickle, except results tested in tests/metric/support."""
    state = State(k="cosine").update(VECTORS)
    grouped = GroupState("x", prompts="of", k="labels").update({"x": ["a", "b"], "of": [1, 1]})
    return {
        "State": state,
        "GroupState": grouped,
        "result": compute(VECTORS, k="cosine", details=True),
        "Comparison": compare(TEXTS, TEXTS[::-1], permutations=19),
        "Growth": growth(TEXTS * 3),
        "Sources": sources({"x": ["a b", "c"], "y": ["a b", "d"]}),
        "Explanation": explain(TEXTS),
        "Selection": select(TEXTS, 2),
        "BatchSelection": select_batches([{"x": [[1.0, 0.0]]}], "x", 1, k="cosine"),
        "MagnitudeFunction": magnitude_function([0.0, 1.0]),
        "Novelty": novelty(["a cat"], TEXTS),
        "PhraseCosts": phrases(TEXTS),
        "PhraseComparison": phrases(TEXTS, TEXTS[::-1], permutations=19),
        "ReadResult": read(TEXTS),
        "Report": report(TEXTS),
        "Similarity": vendiscore.as_similarity(TEXTS),
        "kernel": get_kernel("rbf"),
        "measure": list_measures()[0],
        "AmbiguousInputError": catch_error(lambda: read([{"one": "a b", "two": "c d"}] * 2)),
        "SampleError": catch_error(lambda: score(["a", "", "b", ""])),
        "NotPSDError": NotPSDError(-0.25, 0.5),
        "MissingPackageError": MissingPackageError("rdkit", "molecules", "x", "pip install x"),
        "IndefiniteError": IndefiniteError(0.5),
        "TooLargeError": TooLargeError("too large"),
        **{
            f"vendiscore.{function.__name__}": function
            for function in (compute, compare, score, group_rewards, report, select, growth)
        },
    }


# Prints each unpickled object, without importing its class first.
READ = """
import pickle, sys
for name, data in pickle.load(sys.stdin.buffer).items():
    thing = pickle.loads(data)
    print(name, type(thing).__name__, repr(str(thing)), sep="\\t")
"""


def test_pickles_can_be_read_in_fresh_process():
    instance_by_name = build_instances()
    data = pickle.dumps(
        {name: pickle.dumps(instance) for name, instance in instance_by_name.items()}
    )
    run = subprocess.run([sys.executable, "-c", READ], input=data, capture_output=True, check=True)
    lines = run.stdout.decode().splitlines()
    for line, (name, instance) in zip(lines, instance_by_name.items(), strict=True):
        expected = f"{name}\t{type(instance).__name__}\t{str(instance)!r}"
        assert line.partition(" at 0x")[0] == expected.partition(" at 0x")[0]


def test_pickled_errors_keep_attributes():
    error = pickle.loads(pickle.dumps(catch_error(lambda: score(["a", "", "b", ""]))))
    assert isinstance(error, SampleError)
    assert [*error.problems] == [1, 3]
    not_psd_error = pickle.loads(pickle.dumps(NotPSDError(-0.25, 0.5)))
    assert (not_psd_error.smallest, not_psd_error.negative_mass) == (-0.25, 0.5)


def test_unpickled_functions_are_public_functions():
    for function in (compute, compare, score, select):
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("module", ["vendiscore.analysis.comparison", "vendiscore.report"])
def test_pickles_of_earlier_versions_find_their_classes(module):
    # Version 0.4 pickled results as classes of these modules.
    names = {
        "vendiscore.analysis.comparison": ("Comparison", "Comparison"),
        "vendiscore.report": ("Findings", "ReportData"),
    }
    pickled_name, name = names[module]
    class_ = pickle.loads(f"c{module}\n{pickled_name}\n.".encode())
    assert class_.__name__ == name
