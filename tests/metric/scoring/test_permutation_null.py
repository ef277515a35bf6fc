"""Null value, excess and p-value of BetweenVS, which exceeds 1 by chance."""

import math

import numpy as np
import pytest

from vendiscore import compute
from vendiscore.support.namespace import to_float

X = np.random.default_rng(0).standard_normal((24, 3))
RBF = {"k": "rbf", "sigma": 1.0}
LABELS = np.arange(24) % 4


def make_answers(
    seed: int, n_items: int = 10, own_fraction: float = 0.0
) -> tuple[list[int], np.ndarray]:
    """Return 20 × 4 answers of `n_items` items, a fraction specific to the prompt, and prompts."""
    rng, prompts = np.random.default_rng(seed), np.repeat(np.arange(20), 4)
    items = np.where(
        rng.random(80) < own_fraction, prompts % n_items, rng.integers(n_items, size=80)
    )
    return items.tolist(), prompts


def test_null_keys_follow_their_value_unless_permutations_is_zero() -> None:
    options = {"groups": LABELS, "measures": ["BetweenVS", "WithinVS"], **RBF}
    result = compute(X, q=[1, 2], permutations=19, **options)
    names = [f"BetweenVS_q{q}{end}" for q in (1, 2) for end in ("", "_null", "_excess", "_p")]
    assert list(result) == [*names, "WithinVS_q1", "WithinVS_q2"]
    assert list(compute(X, **options)) == [
        "BetweenVS",
        "BetweenVS_null",
        "BetweenVS_excess",
        "WithinVS",
    ]
    assert list(compute(X, permutations=0, **options)) == ["BetweenVS", "WithinVS"]
    assert compute(X, **options) == compute(X, **options)


@pytest.mark.parametrize("sizes", [(4,) * 20, (2, 3, 4, 8, 12), (20, 20), (7, 9)])
def test_p_value_has_the_nominal_false_positive_rate(sizes: tuple[int, ...]) -> None:
    labels, n = np.repeat(np.arange(len(sizes)), sizes), sum(sizes)
    n_rejected, excess_values = 0, []
    options = {"groups": labels, "k": "labels", "measures": "BetweenVS", "permutations": 19}
    for seed in range(40):
        scores = compute(np.random.default_rng(seed).integers(6, size=n).tolist(), **options)
        n_rejected += scores["BetweenVS_p"] <= 0.05
        excess_values.append(scores["BetweenVS_excess"])
    assert n_rejected <= 6  # 2 are expected
    assert abs(np.mean(excess_values)) < 3 * np.std(excess_values) / math.sqrt(40)


def test_p_value_detects_differences_between_groups() -> None:
    for seed in range(5):
        items, prompts = make_answers(seed, own_fraction=0.6)
        result = compute(items, groups=prompts, k="labels", measures="BetweenVS", permutations=99)
        assert result["BetweenVS_p"] == 0.01
        assert result["BetweenVS_excess"] > 0
    # Groups that are more similar than by chance have a negative excess.
    identical = compute(
        ["a", "b"] * 20, groups=np.repeat(range(20), 2), k="labels", measures="BetweenVS"
    )
    assert identical["BetweenVS_excess"] < 0


def test_excess_of_tensors_keeps_gradient() -> None:
    torch = pytest.importorskip("torch")
    Z = torch.tensor(X, requires_grad=True)
    options = {"groups": LABELS, "measures": "BetweenVS", **RBF}
    result = compute(Z, **options)
    assert {key: to_float(x) for key, x in result.items()} == pytest.approx(
        compute(X, **options), rel=1e-6
    )
    assert isinstance(result["BetweenVS_null"], float)
    (gradient,) = torch.autograd.grad(result["BetweenVS_excess"], Z, retain_graph=True)
    (expected,) = torch.autograd.grad(result["BetweenVS"], Z)
    assert torch.equal(gradient, expected)
    assert bool(torch.isfinite(expected).all())


def test_details_note_permutations_and_smallest_p() -> None:
    options = {"groups": LABELS, "measures": "BetweenVS", "details": True, **RBF}
    details = compute(X, permutations=99, **options)["details"]
    (note,) = [note for note in details["notes"] if "permutations" in note]
    assert "over 99 random permutations of the group labels" in note
    assert "BetweenVS_p is at least 0.01" in note
    assert "permutations=99" in details["signature"]
    details = compute(X, **options)["details"]
    assert any(
        "over 20 random permutations of the group labels" in note for note in details["notes"]
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"measures": "VS", "permutations": 9},
            TypeError,
            "`permutations` has no effect on VS",
        ),
        ({"measures": "BetweenVS", "permutations": -1}, ValueError, "of at least 0, got -1; 99"),
        ({"measures": "BetweenVS", "permutations": 1.5}, TypeError, "must be an integer"),
        (
            {"measures": "TotalVS", "ci": 0.95},
            ValueError,
            "`ci` requires a measure that is averaged over groups",
        ),
        (
            {"measures": "BetweenVS", "ci": 0.95},
            ValueError,
            "`ci` requires a measure that is averaged over groups",
        ),
    ],
)
def test_invalid_arguments_raise(options: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        compute(X, groups=LABELS, **options, **RBF)


@pytest.mark.parametrize("labels", [range(24), [0] * 24])
def test_note_describes_labels_without_effective_permutations(labels) -> None:
    result = compute(X, groups=labels, measures="BetweenVS", details=True, **RBF)
    assert result["BetweenVS_excess"] == pytest.approx(0, abs=1e-9)
    assert any(
        "No permutation of the group labels changes BetweenVS" in note
        for note in result["details"]["notes"]
    )
