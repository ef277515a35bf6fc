"""All results can be pickled, copied, converted and printed."""

import copy
import importlib
import inspect
import json
import pickle
import re
import subprocess
import sys
import warnings
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import vendiscore
from vendiscore import (
    MissingPackageError,
    State,
    compare,
    compute,
    explain,
    growth,
    magnitude_function,
    novelty,
    phrases,
    read,
    report,
    score_batches,
    select,
    select_batches,
    sources,
)
from vendiscore.magnitude.curve import magnitude_curve
from vendiscore.support.summary import SummaryMixin

pytest.importorskip("pyarrow")  # required by `score_batches`

TEXTS = ["a cat sat", "a cat sat", "the dog ran", "it rained"]
# Classes that public functions return or public attributes contain, but that are not results.
NOT_RESULTS = {
    "Similarity": "an input of functions: its values are `dense()`",
    "Encoder": "a model: it is called with samples",
    "SampleMetric": "a module of `evaluate`: its result is that of `compute`",
    "Neighbours": "columns of an Explanation, which are attributes of that",
    "Duplicates": "columns of an Explanation, which are attributes of that",
    "MetricSpace": "the distances behind a curve: it is asked for magnitudes",
    "Section": "HTML of a Report",
    "Control": "a control of the page, in a Kernel",
}
# Names in annotations that are not classes of vendiscore.
PLAIN = {
    "Any",
    "Array",
    "Axes",
    "Build",
    "Callable",
    "Compute",
    "DType",
    "DataFrame",
    "Effects",
    "Frame",
    "Hashable",
    "Iterable",
    "Iterator",
    "Literal",
    "Mapping",
    "NoReturn",
    "None",
    "Number",
    "Options",
    "Reader",
    "Record",
    "Samples",
    "Self",
    "Sequence",
    "Tensor",
    "abc",
    "bool",
    "collections",
    "dict",
    "float",
    "int",
    "list",
    "ndarray",
    "np",
    "numpy",
    "object",
    "pd",
    "str",
    "tuple",
    "vendiscore",
}


def first_letter_kernel(a, b):
    return float(a[0] == b[0])


def iter_results():
    """Yield a test name and an example of every result class."""
    unpicklable_kernel = lambda a, b: float(a[0] == b[0])  # noqa: E731  a function that cannot be pickled
    yield "explain", explain(TEXTS)
    yield "explain, a lambda", explain(TEXTS, k=unpicklable_kernel)
    yield "explain, a function", explain(TEXTS, k=first_letter_kernel)
    yield "explain, vectors", explain(np.eye(4)[[0, 1, 1, 2]], k="rbf", sigma=1.0)
    yield "explain, weights", explain(TEXTS, p=[0.4, 0.3, 0.2, 0.1])
    prompt_options = {"prompts": ["x", "x", "y", "y"], "given_prompt": False}
    yield "explain, prompts", explain(TEXTS, **prompt_options)
    yield "explain, left out", explain([*TEXTS, ""], on_error="skip")
    yield "mode", explain(TEXTS).modes()[0]
    yield "pair", explain(["a b c", "a b d"], ns=[1], threshold=0.6).boundary()[0][0]
    prompts = [["a", "b"] * 2, list("abcd"), ["a"] * 4]
    by_prompt = compare(prompts, [answers[::-1] for answers in prompts[::-1]], k="labels")
    yield "compare, prompts", by_prompt
    yield "compare, a prompt", by_prompt.pairs_by_group[0]
    yield "read", read(TEXTS)
    yield "read, groups", read([{"prompt": "p", "answer": text} for text in TEXTS])
    yield "select", select(TEXTS, 2)
    yield "select, a lambda", select(TEXTS, 2, k=unpicklable_kernel)
    yield "select, represent", select(TEXTS, 2, objective="represent")
    yield "select, quality", select(TEXTS, 2, quality=[1, 2, 3, 4], groups=[0, 0, 1, 1], quota=1)
    yield "select_batches", select_batches([{"x": [[1.0, 0.0], [0.0, 1.0]]}], "x", 2, k="cosine")
    comparison = compare(TEXTS * 2, TEXTS * 3, permutations=19)
    yield "compare", comparison
    yield "set of a comparison", comparison.sets[0]
    yield "pair of a comparison", comparison.pairs[0]
    yield "compute", compute(TEXTS)
    yield "compute, order 2", compute(TEXTS, q=2, ci=0.9)
    yield "compute, groups and details", compute(TEXTS * 2, groups=[0, 1] * 4, details=True)
    yield "compute of a state", State(k="cosine").update(np.eye(2)).compute(details=True)
    yield "score_batches", score_batches([{"x": TEXTS, "of": [0] * 4}], "x", groups="of")
    yield "growth", growth(TEXTS * 4)
    yield "growth, order infinity", growth(TEXTS, [2], q="inf")
    yield "novelty", novelty(["a cat", "zebras"], TEXTS, ["x", "x", "y", "y"])
    yield "novelty, left out", novelty(["a cat", ""], TEXTS, on_error="skip")
    sources_result = sources({"x": ["a b", "c"], "y": ["a b", "d"]}, ns=[1])
    yield "sources", sources_result
    yield "a source", sources_result.sources[0]
    yield "score of sources", sources_result.found
    yield "magnitude_function", magnitude_function([0.0, 1.0])
    yield "magnitude_curve", magnitude_curve([0.0, 1.0, 3.0])
    yield "report", report(TEXTS)
    texts = ["of course I am", "of course it is", "no", "it rained"]
    phrase_result = phrases(texts)
    yield "phrases", phrase_result
    yield "phrase", phrase_result.rows[0]
    phrase_comparison = phrases(texts, TEXTS, permutations=19)
    yield "phrases of two sets", phrase_comparison
    yield "phrase in two sets", phrase_comparison.rows[0]
    sets = [[["a", "b", "c", "d"], ["a", "b", "c", "e"], ["a", "x", "y", "z"]]] * 2
    correct = [[[True, True, True, False]] * 3] * 2
    compared = compare(*sets, correct=correct, k="labels", permutations=19, size=3)
    yield "quality parts", compared.quality_parts[0]
    yield "kernel", vendiscore.get_kernel("rbf")
    yield "kernel with a fit", vendiscore.get_kernel("equivalence")
    for measure in vendiscore.list_measures():
        yield f"measure {measure.name}", measure


with warnings.catch_warnings(action="ignore", category=UserWarning):  # about dropped samples
    RESULTS = dict(iter_results())


def iter_leaves(value, path="result"):
    """Yield paths and values of the leaves of a nested result."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from iter_leaves(item, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from iter_leaves(item, f"{path}[{i}]")
    else:
        yield path, value


def annotation_classes(annotation, module):
    """Return the classes of vendiscore in an annotation; fail for an unknown name."""
    text = getattr(annotation, "__name__", annotation)
    text = text if isinstance(text, str) and text != "list" else str(annotation)
    result = []
    for name in re.findall(r"\w+", re.sub(r"""(['"]).*?\1|[\w.]*\.(?=\w)""", "", text)):
        if name in PLAIN or name in NOT_RESULTS or name.isdigit():
            continue
        found_class = getattr(module, name, None)
        if found_class is None:
            modules = [m for key, m in sys.modules.items() if key.startswith("vendiscore.")]
            found_class = next((vars(m)[name] for m in modules if name in vars(m)), None)
        assert inspect.isclass(found_class), (
            f"{name} in {annotation!r}: add it to PLAIN or NOT_RESULTS"
        )
        result.append(found_class)
    return result


def find_public_classes():
    """Return classes that public functions return, and classes of their attributes."""
    importlib.import_module("vendiscore.magnitude.curve")
    pending = {type(RESULTS["magnitude_curve"]), type(RESULTS["compute"])}
    for name in vendiscore.__all__:
        public_object = getattr(vendiscore, name)
        if inspect.isfunction(public_object):
            function = inspect.unwrap(public_object)
            module = sys.modules[function.__module__]
            pending.update(annotation_classes(function.__annotations__["return"], module))
        elif inspect.isclass(public_object) and is_dataclass(public_object):
            pending.add(public_object)
    classes = set()
    while pending:
        result_class = pending.pop()
        classes.add(result_class)
        module = sys.modules[result_class.__module__]
        members = {
            key: member for key, member in vars(result_class).items() if not key.startswith("_")
        }
        annotations = [getattr(member, "__annotations__", {}) for member in members.values()]
        hints = [member["return"] for member in annotations if "return" in member]
        for member in members.values():
            getter = getattr(member, "fget", None) or getattr(member, "func", None)
            hints += [getter.__annotations__["return"]] if getter else []
        if is_dataclass(result_class) and result_class.__module__ not in REGISTRIES:
            hints += [
                field.type for field in fields(result_class) if not field.name.startswith("_")
            ]
        pending |= {
            member for hint in hints for member in annotation_classes(hint, module)
        } - classes
    return classes


# Classes in these modules have functions as attributes.
REGISTRIES = ("vendiscore.resolve.kernel", "vendiscore.measures.measure")


def test_all_result_classes_are_tested():
    tested = {type(result) for result in RESULTS.values()}
    assert find_public_classes() == tested
    for result_class in tested:
        assert {"to_dict", "to_frame", "__repr__"} <= {*dir(result_class)}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize(
    "copy_result", [lambda r: pickle.loads(pickle.dumps(r)), copy.deepcopy, copy.copy],
    ids=["pickled", "deep-copied", "copied"],
)  # fmt: skip
def test_copies_equal_the_original_result(name, copy_result):
    result = RESULTS[name]
    copied = copy_result(result)
    assert type(copied) is type(result)
    assert str(copied) == str(result)
    assert repr(copied) == repr(result)
    assert [*iter_leaves(copied.to_dict())] == [*iter_leaves(result.to_dict())]
    assert copied.to_frame().equals(result.to_frame())


@pytest.mark.parametrize("name", RESULTS)
def test_to_dict_is_valid_json(name):
    json.dumps(RESULTS[name].to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", RESULTS)
def test_repr_has_at_most_ten_lines(name):
    assert 1 <= len(repr(RESULTS[name]).splitlines()) <= 10


@pytest.mark.parametrize("name", RESULTS)
def test_to_frame_returns_rows_and_named_columns(name):
    frame = RESULTS[name].to_frame()
    assert len(frame) > 0
    assert all(isinstance(column, str) for column in frame.columns)


@pytest.mark.parametrize("name", RESULTS)
def test_to_frame_without_pandas_raises_with_the_install_command(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match=r"pandas.*: pip install"):
        RESULTS[name].to_frame()


@pytest.mark.parametrize(
    "name", [name for name, result in RESULTS.items() if isinstance(result, SummaryMixin)]
)
def test_unknown_attribute_raises_with_existing_names(name):
    result = RESULTS[name]
    with pytest.raises(AttributeError, match="has no attribute 'no_such_thing'") as caught:
        _ = result.no_such_thing
    for attribute in ("to_dict", "to_frame", "sentence"):
        assert attribute in str(caught.value)


def test_unknown_attribute_raises_with_the_closest_name():
    with pytest.raises(AttributeError, match="Did you mean `scores`"):
        _ = RESULTS["select"].score
    with pytest.raises(AttributeError, match=r"has no attribute '_secret'$"):
        _ = RESULTS["select"]._secret
    assert not hasattr(RESULTS["explain"], "no_such_thing")


def test_failing_property_keeps_its_own_error():
    class Failing(SummaryMixin):
        @property
        def sentence(self):
            return self.nothing.here

    with pytest.raises(AttributeError, match="'nothing'"):
        _ = Failing().sentence


def test_lazy_attributes_can_be_computed_after_pickling():
    unpicklable_kernel = lambda a, b: float(a[0] == b[0])  # noqa: E731
    explanation = explain(TEXTS, k=unpicklable_kernel)
    restored = pickle.loads(pickle.dumps(explanation))
    assert "adds" not in vars(restored)
    np.testing.assert_array_equal(restored.adds, explanation.adds)
    assert restored.rethreshold(1.0).score_without_duplicates == pytest.approx(3.0)
    assert restored._repr_html_() == explanation._repr_html_()
    selection = select(TEXTS, 2, k=unpicklable_kernel)
    assert pickle.loads(pickle.dumps(selection)).bound == selection.bound


def test_results_can_be_unpickled_in_another_process(tmp_path):
    path = tmp_path / "results.pickle"
    path.write_bytes(pickle.dumps(RESULTS))
    code = "import pickle, sys; print(*pickle.load(open(sys.argv[1], 'rb')), sep='|')"
    process = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip().split("|") == [*RESULTS]


def test_states_can_be_pickled_and_copied():
    state = State(k="cosine").update([[1.0, 0.0], [0.0, 2.0]])
    grouped = vendiscore.GroupState("x", prompts="of", k="labels")
    grouped = grouped.update({"x": ["a", "b"], "of": [1, 1]})
    for original in (state, grouped):
        for copied in (pickle.loads(pickle.dumps(original)), copy.deepcopy(original)):
            assert copied.compute() == original.compute()
            assert repr(copied).count("\n") < 10


def test_all_similarity_classes_can_be_pickled():
    unpicklable_kernel = lambda a, b: float(a[0] == b[0])  # noqa: E731
    rows = vendiscore.RowsSimilarity.of_rows(np.eye(3), lambda A, B: (A @ B.T + 1) / 2)
    for K in (
        rows,
        vendiscore.as_similarity(TEXTS, k=unpicklable_kernel),
        vendiscore.as_similarity(TEXTS, k="equivalence", same=lambda a, b: a == b),
        vendiscore.as_similarity(np.eye(3), k=["cosine", "rbf"], options={"rbf": {"sigma": 1}}),
    ):
        for copied in (pickle.loads(pickle.dumps(K)), copy.deepcopy(K)):
            np.testing.assert_array_equal(copied.dense(), K.dense())
            assert (copied.n, copied.psd, copied.notes) == (K.n, K.psd, K.notes)
            assert dict(copied.settings) == dict(K.settings)


def test_shallow_copy_of_a_similarity_computes_nothing():
    calls = []
    K = vendiscore.as_similarity(TEXTS, k=lambda a, b: calls.append(1) or float(a == b))
    calls.clear()
    copy.copy(K)
    assert not calls
