"""The metric script `magnitude.py`, loaded by `evaluate`."""

from pathlib import Path

import evaluate
import numpy as np
import pytest

import vendiscore
from vendiscore import convergence_scale, mag_area, mag_diff, magnitude_function

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = str(ROOT / "magnitude.py")


@pytest.fixture(scope="module")
def metric() -> evaluate.Metric:
    return evaluate.load(SCRIPT)


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((40, 3))


def test_metric_returns_area_and_convergence_scale(metric: evaluate.Metric, X: np.ndarray) -> None:
    scores = metric.compute(samples=X, metric="euclidean", n_scales=30, epsilon=0.05, average=False)
    assert scores == {"MagArea": mag_area(X), "t_conv": convergence_scale(X)}
    assert metric.compute(predictions=X) == metric.compute(data=X.tolist()) == scores


def test_references_add_magnitude_difference(metric: evaluate.Metric, X: np.ndarray) -> None:
    Y = 2 * X[:20]
    scores = metric.compute(samples=X, references=Y)
    area = mag_area(X, t_cut=convergence_scale(Y))  # the upper limit of MagDiff
    t_conv = convergence_scale(X)
    assert scores == {"MagArea": area, "t_conv": t_conv, "MagDiff": mag_diff(X, Y)}


def test_scales_return_magnitude_instead_of_area(metric: evaluate.Metric, X: np.ndarray) -> None:
    magnitude_half, magnitude_1, magnitude_2 = magnitude_function(X, scales=[0.5, 1, 2]).values
    assert metric.compute(samples=X, t=2) == {"Magnitude": magnitude_2}
    assert metric.compute(samples=X, t=[0.5, 1]) == {
        "Magnitude_t0.5": magnitude_half,
        "Magnitude_t1": magnitude_1,
    }


@pytest.mark.parametrize(
    "option",
    [
        {"metric": "manhattan"},
        {"metric": "minkowski", "exponent": 3},
        {"k": "rbf"},
        {"k": "rbf", "sigma": 3.0},
        {"k": "rbf", "metric": "1-k"},
        {"score_X": True, "normalize": True},
        {"n_scales": 10},
        {"epsilon": 0.01},
        {"t_cut": 2.0},
        {"average": True},
        {"t": 1.0},
        {"details": True},
    ],
    ids=str,
)
def test_option_changes_result_in_call_and_as_default(X: np.ndarray, option: dict) -> None:
    metric = evaluate.load(SCRIPT)
    result = metric.compute(samples=X, **option)
    assert result != metric.compute(samples=X)
    assert evaluate.load(SCRIPT, **option).compute(samples=X) == result


@pytest.mark.parametrize("option", [{"relative": True}, {"absolute": True}], ids=str)
def test_difference_options_match_mag_diff(
    metric: evaluate.Metric, X: np.ndarray, option: dict
) -> None:
    Y = 2 * X[:20]
    assert metric.compute(samples=X, references=Y, **option)["MagDiff"] == mag_diff(X, Y, **option)
    assert mag_diff(X, Y, **option) != mag_diff(X, Y)


def test_solvers_agree(metric: evaluate.Metric) -> None:
    X = np.random.default_rng(0).standard_normal((400, 3))
    result = [metric.compute(samples=X, solver=m)["MagArea"] for m in ("auto", "cg", "cholesky")]
    np.testing.assert_allclose(result, result[0], rtol=1e-9)


def test_added_texts_and_vectors_match_single_call(metric: evaluate.Metric, X: np.ndarray) -> None:
    texts = ["a cat", "a cat", "the dog", "a dog"]
    expected = metric.compute(samples=texts)
    metric.add_batch(predictions=texts[:3])
    metric.add(prediction=texts[3])
    assert metric.compute() == expected
    metric.add_batch(predictions=X)
    assert metric.compute() == metric.compute(samples=X)


def test_added_references_match_single_call(metric: evaluate.Metric, X: np.ndarray) -> None:
    Y = 2 * X[:21]
    expected = metric.compute(samples=X, references=Y)
    assert "MagDiff" in expected
    metric.add_batch(predictions=X[:30], references=Y[:20])
    metric.add_batch(predictions=X[30:39])
    metric.add(prediction=X[39], reference=Y[20])
    with pytest.raises(ValueError, match="Did you mean 'euclidean'"):
        metric.compute(metric="euclid")
    assert metric.compute() == expected
    metric.add_batch(predictions=X)
    assert metric.compute(references=Y) == expected
    suite = evaluate.combine([metric, evaluate.load(str(ROOT / "vendiscore.py"), k="rbf")])
    for rows, reference_rows in ((X[:20], Y[:10]), (X[20:], Y[10:])):
        suite.add_batch(predictions=rows, references=reference_rows)
    assert suite.compute().items() >= expected.items()
    with pytest.raises(ValueError, match="sample 1 of `references` has shape"):
        metric.add_batch(predictions=X, references=[[1.0, 2.0], [1.0]])
    assert len(metric) == 0


def test_iterator_of_scales_matches_list(metric: evaluate.Metric, X: np.ndarray) -> None:
    assert metric.compute(samples=X, t=iter([0.5, 1])) == metric.compute(samples=X, t=[0.5, 1])


def test_details_describe_solver_and_distance(metric: evaluate.Metric) -> None:
    X = np.random.default_rng(0).standard_normal((300, 3))
    X = np.concatenate([X, X[:10]])
    details = metric.compute(samples=X, n_scales=5, details=True)["details"]
    assert details["n"] == 310
    assert details["distinct"] == 300
    assert details["distance"] == "euclidean"
    assert set(details["solver"]) <= {"cg", "preconditioned cg"}
    assert sum(details["solver"].values()) == len(details["scales"]) == len(details["values"])
    assert (
        details["residual"] < 1e-4
    )  # residual of weights, which need half the digits of the magnitude
    assert details["error"] < 1e-8
    assert details["signature"].startswith(
        "MagArea+t_conv|metric=euclidean|solver=auto|n_scales=5|"
    )
    kernel_details = metric.compute(samples=X, k="rbf", details=True)["details"]
    assert kernel_details["distance"] == "√(2−2k)"
    assert kernel_details["options"]["kernel"] == "rbf"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_scale": 3}, TypeError, "unknown keyword 'n_scale'. Did you mean `n_scales`?"),
        ({"metric": "euclid"}, ValueError, "Did you mean 'euclidean'?"),
        ({"epsilon": 2}, ValueError, "`epsilon` must be a number between 0 and 1, got 2"),
        ({"t": [1, -1]}, ValueError, "`t` must be a finite scale of at least 0, got -1"),
        ({"k": "rbf", "ns": [1]}, TypeError, "'ns' is not an option of kernel 'rbf'"),
        ({"q": -1}, ValueError, "`q` must be a number in [0, inf] or 'inf', got -1"),
    ],
)
def test_invalid_options_are_rejected_by_compute_and_load(
    metric: evaluate.Metric, options: dict, error: type[Exception], message: str
) -> None:
    for call in (lambda: metric.compute(samples=[0.0, 1.0], **options),
                 lambda: evaluate.load(SCRIPT, **options)):  # fmt: skip
        with pytest.raises(error) as raised:
            call()
        assert message in str(raised.value)


def test_script_version_matches_package() -> None:
    assert f'__version__ = "{vendiscore.__version__}"' in Path(SCRIPT).read_text(encoding="utf-8")
