"""What every result can do: be pickled, copied, converted and shown, by one contract."""

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
    report,
    score_batches,
    select,
    sources,
)
from vendiscore.magnitude.curve import magnitude_curve
from vendiscore.support.summary import SummaryMixin

pytest.importorskip("pyarrow")  # which `score_batches` needs

TEXTS = ["a cat sat", "a cat sat", "the dog ran", "it rained"]
# Classes that a public function returns, or a result has in a public attribute, and that are no
# results themselves.
NOT_RESULTS = {
    "Similarity": "an input of functions: its numbers are `dense()`",
    "Encoder": "a model: it is called with samples",
    "SampleMetric": "a module of `evaluate`: its result is that of `compute`",
    "Neighbours": "columns of an Explanation, which are attributes of that",
    "Duplicates": "columns of an Explanation, which are attributes of that",
    "MetricSpace": "the distances behind a curve: it is asked for magnitudes",
    "Section": "HTML of a Report",
    "Control": "a control of the page, in a Kernel",
}
# Names in annotations that are no classes of vendiscore.
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


def letters(a, b):
    return float(a[0] == b[0])


def results():
    """Yield a result of every kind, by a name for the test."""
    hidden = lambda a, b: float(a[0] == b[0])  # noqa: E731  a function that cannot be pickled
    yield "explain", explain(TEXTS)
    yield "explain, a lambda", explain(TEXTS, k=hidden)
    yield "explain, a function", explain(TEXTS, k=letters)
    yield "explain, vectors", explain(np.eye(4)[[0, 1, 1, 2]], k="rbf", sigma=1.0)
    yield "explain, weights", explain(TEXTS, p=[0.4, 0.3, 0.2, 0.1])
    within = {"prompts": ["x", "x", "y", "y"], "given_prompt": False}
    yield "explain, prompts", explain(TEXTS, **within)
    yield "explain, left out", explain([*TEXTS, ""], on_error="skip")
    yield "mode", explain(TEXTS).modes()[0]
    yield "pair", explain(["a b c", "a b d"], ns=[1], threshold=0.6).boundary()[0][0]
    prompts = [["a", "b"] * 2, list("abcd"), ["a"] * 4]
    by_prompt = compare(prompts, [answers[::-1] for answers in prompts[::-1]], k="labels")
    yield "compare, prompts", by_prompt
    yield "compare, a prompt", by_prompt.pairs_by_group[0]
    yield "select", select(TEXTS, 2)
    yield "select, a lambda", select(TEXTS, 2, k=hidden)
    yield "select, represent", select(TEXTS, 2, objective="represent")
    yield "select, quality", select(TEXTS, 2, quality=[1, 2, 3, 4], groups=[0, 0, 1, 1], quota=1)
    of_two = compare(TEXTS * 2, TEXTS * 3, permutations=19)
    yield "compare", of_two
    yield "set of a comparison", of_two.sets[0]
    yield "pair of a comparison", of_two.pairs[0]
    yield "compute", compute(TEXTS)
    yield "compute, order 2", compute(TEXTS, q=2, ci=0.9)
    yield "compute, groups and details", compute(TEXTS * 2, groups=[0, 1] * 4, details=True)
    yield "compute of a state", State(k="cosine").update(np.eye(2)).compute(details=True)
    yield "score_batches", score_batches([{"x": TEXTS, "of": [0] * 4}], "x", groups="of")
    yield "growth", growth(TEXTS * 4)
    yield "growth, order infinity", growth(TEXTS, [2], q="inf")
    yield "novelty", novelty(["a cat", "zebras"], TEXTS, ["x", "x", "y", "y"])
    yield "novelty, left out", novelty(["a cat", ""], TEXTS, on_error="skip")
    of_sources = sources({"x": ["a b", "c"], "y": ["a b", "d"]}, ns=[1])
    yield "sources", of_sources
    yield "a source", of_sources.sources[0]
    yield "score of sources", of_sources.found
    yield "magnitude_function", magnitude_function([0.0, 1.0])
    yield "magnitude_curve", magnitude_curve([0.0, 1.0, 3.0])
    yield "report", report(TEXTS)
    yield "kernel", vendiscore.get_kernel("rbf")
    yield "kernel with a fit", vendiscore.get_kernel("equivalence")
    for measure in vendiscore.list_measures():
        yield f"measure {measure.name}", measure


with warnings.catch_warnings(action="ignore", category=UserWarning):  # of samples left out
    RESULTS = dict(results())


def walk(value, path="it"):
    """Yield the numbers, texts and arrays of a result with their paths, for comparisons."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from walk(each, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            yield from walk(each, f"{path}[{i}]")
    else:
        yield path, value


def classes_in(annotation, home):
    """Return the classes of vendiscore in an annotation; fail for a name that is not known."""
    text = getattr(annotation, "__name__", annotation)
    text = text if isinstance(text, str) and text != "list" else str(annotation)
    result = []
    for name in re.findall(r"\w+", re.sub(r"""(['"]).*?\1|[\w.]*\.(?=\w)""", "", text)):
        if name in PLAIN or name in NOT_RESULTS or name.isdigit():
            continue
        thing = getattr(home, name, None)
        if thing is None:
            modules = [m for key, m in sys.modules.items() if key.startswith("vendiscore.")]
            thing = next((vars(m)[name] for m in modules if name in vars(m)), None)
        assert inspect.isclass(thing), f"{name} in {annotation!r}: add it to PLAIN or NOT_RESULTS"
        result.append(thing)
    return result


def public_classes():
    """Return the classes that public functions return, and those in attributes of these."""
    importlib.import_module("vendiscore.magnitude.curve")
    new = {type(RESULTS["magnitude_curve"]), type(RESULTS["compute"])}
    for name in vendiscore.__all__:
        thing = getattr(vendiscore, name)
        if inspect.isfunction(thing):
            function = inspect.unwrap(thing)
            home = sys.modules[function.__module__]
            new.update(classes_in(function.__annotations__["return"], home))
        elif inspect.isclass(thing) and is_dataclass(thing):
            new.add(thing)
    known = set()
    while new:
        kind = new.pop()
        known.add(kind)
        home = sys.modules[kind.__module__]
        members = {key: each for key, each in vars(kind).items() if not key.startswith("_")}
        annotations = [getattr(each, "__annotations__", {}) for each in members.values()]
        hints = [each["return"] for each in annotations if "return" in each]
        for each in members.values():
            getter = getattr(each, "fget", None) or getattr(each, "func", None)
            hints += [getter.__annotations__["return"]] if getter else []
        if is_dataclass(kind) and kind.__module__ not in REGISTRIES:
            hints += [field.type for field in fields(kind) if not field.name.startswith("_")]
        new |= {each for hint in hints for each in classes_in(hint, home)} - known
    return known


# Their classes have functions as attributes.
REGISTRIES = ("vendiscore.resolve.kernel", "vendiscore.measures.measure")


def test_every_class_of_results_is_under_the_contract():
    tried = {type(result) for result in RESULTS.values()}
    assert public_classes() == tried
    for kind in tried:
        assert {"to_dict", "to_frame", "__repr__"} <= {*dir(kind)}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize(
    "twin_of", [lambda r: pickle.loads(pickle.dumps(r)), copy.deepcopy, copy.copy],
    ids=["pickled", "deep-copied", "copied"],
)  # fmt: skip
def test_a_copy_gives_the_same_numbers(name, twin_of):
    result = RESULTS[name]
    twin = twin_of(result)
    assert type(twin) is type(result)
    assert str(twin) == str(result)
    assert repr(twin) == repr(result)
    assert [*walk(twin.to_dict())] == [*walk(result.to_dict())]
    assert twin.to_frame().equals(result.to_frame())


@pytest.mark.parametrize("name", RESULTS)
def test_to_dict_is_valid_json(name):
    json.dumps(RESULTS[name].to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", RESULTS)
def test_a_repr_has_at_most_ten_lines(name):
    assert 1 <= len(repr(RESULTS[name]).splitlines()) <= 10


@pytest.mark.parametrize("name", RESULTS)
def test_a_frame_has_rows_and_named_columns(name):
    frame = RESULTS[name].to_frame()
    assert len(frame) > 0
    assert all(isinstance(column, str) for column in frame.columns)


@pytest.mark.parametrize("name", RESULTS)
def test_a_frame_without_pandas_says_how_to_install_it(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match=r"pandas.*: pip install"):
        RESULTS[name].to_frame()


@pytest.mark.parametrize(
    "name", [name for name, result in RESULTS.items() if isinstance(result, SummaryMixin)]
)
def test_a_wrong_attribute_lists_the_existing_ones(name):
    result = RESULTS[name]
    with pytest.raises(AttributeError, match="has no attribute 'no_such_thing'") as caught:
        _ = result.no_such_thing
    for attribute in ("to_dict", "to_frame", "sentence"):
        assert attribute in str(caught.value)


def test_a_wrong_attribute_names_the_close_one():
    with pytest.raises(AttributeError, match="Did you mean `scores`"):
        _ = RESULTS["select"].score
    with pytest.raises(AttributeError, match=r"has no attribute '_secret'$"):
        _ = RESULTS["select"]._secret
    assert not hasattr(RESULTS["explain"], "no_such_thing")


def test_a_property_that_fails_keeps_its_own_error():
    class Failing(SummaryMixin):
        @property
        def sentence(self):
            return self.nothing.here

    with pytest.raises(AttributeError, match="'nothing'"):
        _ = Failing().sentence


def test_numbers_that_were_not_asked_for_are_found_after_pickling():
    hidden = lambda a, b: float(a[0] == b[0])  # noqa: E731
    new = explain(TEXTS, k=hidden)
    twin = pickle.loads(pickle.dumps(new))
    assert "adds" not in vars(twin)
    np.testing.assert_array_equal(twin.adds, new.adds)
    assert twin.rethreshold(1.0).score_without_duplicates == pytest.approx(3.0)
    assert twin._repr_html_() == new._repr_html_()
    chosen = select(TEXTS, 2, k=hidden)
    assert pickle.loads(pickle.dumps(chosen)).bound == chosen.bound


def test_a_pickle_is_read_by_another_process(tmp_path):
    path = tmp_path / "results.pickle"
    path.write_bytes(pickle.dumps(RESULTS))
    code = "import pickle, sys; print(*pickle.load(open(sys.argv[1], 'rb')), sep='|')"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().split("|") == [*RESULTS]


def test_states_can_be_pickled_and_copied():
    state = State(k="cosine").update([[1.0, 0.0], [0.0, 2.0]])
    grouped = vendiscore.GroupState("x", prompts="of", k="labels")
    grouped = grouped.update({"x": ["a", "b"], "of": [1, 1]})
    for each in (state, grouped):
        for twin in (pickle.loads(pickle.dumps(each)), copy.deepcopy(each)):
            assert twin.compute() == each.compute()
            assert repr(twin).count("\n") < 10


def test_similarities_can_be_pickled_whatever_computes_them():
    hidden = lambda a, b: float(a[0] == b[0])  # noqa: E731
    rows = vendiscore.RowsSimilarity.of_rows(np.eye(3), lambda A, B: (A @ B.T + 1) / 2)
    for K in (
        rows,
        vendiscore.as_similarity(TEXTS, k=hidden),
        vendiscore.as_similarity(TEXTS, k="equivalence", same=lambda a, b: a == b),
        vendiscore.as_similarity(np.eye(3), k=["cosine", "rbf"], options={"rbf": {"sigma": 1}}),
    ):
        for twin in (pickle.loads(pickle.dumps(K)), copy.deepcopy(K)):
            np.testing.assert_array_equal(twin.dense(), K.dense())
            assert (twin.n, twin.psd, twin.notes) == (K.n, K.psd, K.notes)
            assert dict(twin.settings) == dict(K.settings)


def test_a_shallow_copy_of_a_similarity_computes_nothing():
    calls = []
    K = vendiscore.as_similarity(TEXTS, k=lambda a, b: calls.append(1) or float(a == b))
    calls.clear()
    copy.copy(K)
    assert not calls
