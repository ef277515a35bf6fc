"""Public names of the package, and keywords of measures in every entry point."""

import ast
from pathlib import Path

import clean_install
import evaluate
import numpy as np
import pytest
from measure_cases import OPTIONS, SAMPLE_TYPES

import vendiscore
from vendiscore import compute, list_measures

PACKAGE = Path(vendiscore.__path__[0])
TEXTS = ["a cat sat", "a dog ran off", "the cat sat", "a cat sat"]
X = np.random.default_rng(0).normal(size=(12, 3))


def test_dir_equals_documented_names() -> None:
    assert dir(vendiscore) == vendiscore.__all__ == sorted(vendiscore._MODULE_BY_NAME)
    for name in vendiscore.__all__:
        assert getattr(vendiscore, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'vendi'"):
        _ = vendiscore.vendi


def test_type_checking_imports_match_lazy_imports() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    module_by_name = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert module_by_name == vendiscore._MODULE_BY_NAME


def test_import_from_clone_loads_no_heavy_packages(tmp_path) -> None:
    clean_install.clone_repository(tmp_path)
    code = """
    import sys, vendiscore
    heavy = ("scipy", "evaluate", "datasets", "torch", "nltk", "pandas")
    print([name for name in sys.modules if name.split(".")[0] in heavy])
    """
    assert clean_install.PythonProcess(code, tmp_path).lines() == ["[]"]


def test_evaluate_suite_passes_options_to_both_metrics() -> None:
    suite = evaluate.combine([vendiscore.load("vendiscore"), vendiscore.load("magnitude")])
    assert suite.compute(predictions=TEXTS, q=2, epsilon=0.1) == {
        **compute(TEXTS, q=2),
        **vendiscore.load("magnitude").compute(samples=TEXTS, epsilon=0.1),
    }


@pytest.mark.parametrize("name", ["vendiscore", "magnitude"])
def test_both_metrics_compute_any_measure(name: str) -> None:
    measure_names = [measure.name for measure in list_measures()]
    measures = [name for name in measure_names if name not in SAMPLE_TYPES and name not in OPTIONS]
    metric = vendiscore.load(name, measures=measures, k="rbf")
    groups = [0, 1] * 6
    result = metric.compute(samples=X, references=X[:7], groups=groups)
    assert result == compute(X, X[:7], k="rbf", measures=measures, groups=groups)
    assert [key for key in result if not key.endswith(("_se", "_null", "_excess"))] == measures
    metric.add_batch(predictions=X, references=X[:7], groups=groups)
    assert metric.compute() == result
    script = str(PACKAGE.parent / f"{name}.py")
    loaded = evaluate.load(script, measures=["MagArea", "VS"], k="rbf")
    assert loaded.compute(samples=X) == compute(X, k="rbf", measures=["MagArea", "VS"])


def test_measure_options_are_shared_or_per_measure() -> None:
    result = compute(X, k="rbf", measures={"VS": {}, "MagArea": {"n_scales": 9, "t_cut": 3}})
    assert result == compute(X, k="rbf", measures=["VS", "MagArea"], n_scales=9, t_cut=3)
    renamed = compute(
        X, measures={"Magnitude": {"t": [0.5, 2]}, "MagArea": {"t_cut": 2}, "t_conv": {}}
    )
    assert list(renamed) == ["Magnitude_t0.5", "Magnitude_t2", "MagArea", "t_conv"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"measures": {"MagArea": {"scales": 3}}}, TypeError, "not an option of measure 'MagArea'"),
        ({"measures": {"MagArea": 3}}, TypeError, "must map 'MagArea' to a dict of options, got 3"),
        ({"measures": {"MagArea": {"epsilon": 2}}}, ValueError, "`epsilon` must be a number"),
        ({"metric": "manhattan"}, TypeError, "`metric` has no effect on VS"),
        ({"solver": "cg"}, TypeError, "`solver` is an option of MagArea, MagDiff, Magnitude, "),
        ({"t": 2}, TypeError, "`t` is an option of Magnitude, Spread; add one of"),
        ({"measures": "MagDiff"}, ValueError, "MagDiff requires a second set; pass `refer"),
        ({"fit": "all"}, ValueError, "`fit` must be None, 'samples', 'references' or 'pool'"),
    ],
)
def test_keywords_without_effect_are_rejected(options, error, message) -> None:
    with pytest.raises(error) as caught:
        compute(X, k="rbf", **options)
    assert message in str(caught.value)


def test_kernel_and_metric_apply_to_different_measures() -> None:
    result = compute(X, k="cosine", metric="manhattan", measures=["VS", "MagArea"], t_cut="t_conv")
    assert result["VS"] == compute(X, k="cosine")["VS"]
    assert result["MagArea"] == vendiscore.mag_area(X, metric="manhattan")
    with pytest.raises(ValueError, match="MagArea accepts `metric="):
        compute(X, k="cosine", metric="manhattan", measures="MagArea")


def test_duplicate_result_keys_are_rejected() -> None:
    from vendiscore.measures import measure as registry

    register = registry.register_measure(
        "VS_q2", needs="similarity", range="[0, ∞)", direction="higher", source="here"
    )
    register(lambda subject: 0.0)
    try:
        with pytest.raises(ValueError, match="two measures return a value with the key 'VS_q2'"):
            compute(X, k="rbf", q=[1, 2], measures=["VS", "VS_q2"])
    finally:
        del registry._measures.registrations["VS_q2"]


def test_measures_accepts_generator() -> None:
    names = ["VS", "IntDiv"]
    assert compute(X, k="rbf", measures=iter(names)) == compute(X, k="rbf", measures=names)


@pytest.mark.parametrize("measure", ["VS", "GMStds"])
def test_metric_space_supports_only_distance_measures(measure: str) -> None:
    from vendiscore.magnitude.metric_space_builder import as_space

    space = as_space(X)
    options = {"measures": "MagArea", "t_cut": "t_conv"}
    assert compute(space, **options) == compute(X, **options)
    with pytest.raises(TypeError, match="measures of similarities do not support a MetricSpace"):
        compute(space, measures=["t_conv", measure])
