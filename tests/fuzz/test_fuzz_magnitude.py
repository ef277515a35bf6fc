"""Magnitude at scales in any order, compared with closed forms and 60-digit arithmetic."""

import math

import closed_forms as cf
import fuzz
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from magnitude_measures import compute_magnitude

from vendiscore import (
    IndefiniteError,
    convergence_scale,
    mag_area,
    mag_areas,
    mag_diff,
    magnitude_function,
    magnitude_weights,
    spread,
)
from vendiscore.magnitude.metric_space_builder import as_space

# The relative error that the docstring of `magnitude` states.
RELATIVE_TOLERANCE = 1e-9


def weight_tolerance(n, t, min_distance):
    """Return the maximum error of weights of size 1 after a solve in double precision.

    Entries of Z are rounded to ε; the smallest eigenvalue is about t times the minimum distance.
    """
    return RELATIVE_TOLERANCE + 16 * n * np.finfo(float).eps / min(1.0, t * min_distance)


def call_unless_singular(call, min_distance, n, t):
    """Return the result of a call, or None if Z is numerically singular."""
    result = []
    error = fuzz.get_intended_error(lambda: result.append(call()))
    if error is not None:
        assert type(error) is IndefiniteError, error
        assert t * min_distance < 64 * n * np.finfo(float).eps, error
    return result[0] if result else None


@st.composite
def line_samples(draw, sizes=(1, 2, 3, 5, 12, 40), large=()):
    """Return points on a line in random order: clusters, near-duplicates, duplicates and others."""
    n = draw(st.sampled_from((*sizes, *large)))
    rng = np.random.default_rng(draw(fuzz.seeds))
    kind = draw(
        st.sampled_from(
            ("even", "cloud", "near duplicates", "clusters", "mixed scales", "wide", "tight")
        )
    )
    x = rng.standard_normal(n)
    if kind == "even":
        x = np.arange(n) * draw(st.sampled_from((1.0, 0.125, 1e-3)))
    elif kind == "near duplicates":
        x[n // 2 :] = x[: n - n // 2] + 10.0 ** -draw(st.integers(3, 12)) * rng.random(n - n // 2)
    elif kind == "clusters":
        x = rng.integers(0, 4, n) * 10.0 ** draw(st.integers(1, 8)) + x
    elif kind == "mixed scales":
        x = np.where(np.arange(n) % 3 == 0, 10.0 ** -draw(st.integers(1, 8)) * x, x)
    elif kind == "wide":
        x = np.cumsum(10.0 ** rng.uniform(-6, 3, n))
    elif kind == "tight":
        x = x * 1e-6 + 1e4
    if draw(st.booleans()):
        x = x[rng.integers(0, n, n)]
    return rng.permutation(x)


@st.composite
def scales(draw, x):
    """Return scales in random order, for magnitudes from 1 to the number of points."""
    g = cf.line_gaps(x)
    low, high = (1.0, 1.0) if not len(g) else (0.01 / g.sum(), 10 / g.min())
    ts = np.geomspace(low, 2 * min(high, low * 1e14), draw(st.integers(2, 14)))
    return draw(st.permutations([float(t) for t in ts]))


# Embeddings of the line whose distances are multiplied by a power of two, up to rounding.
EMBEDDINGS = {
    "list of numbers": (lambda x: x.tolist(), {}, 1),
    "column": (lambda x: x[:, None], {}, 1),
    "Manhattan": (lambda x: x[:, None], {"metric": "manhattan"}, 1),
    "Chebyshev": (lambda x: np.column_stack([x, x, -x]), {"metric": "chebyshev"}, 1),
    "cityblock": (lambda x: np.column_stack([x, -x]), {"metric": "cityblock"}, 2),
    "Minkowski": (lambda x: x[:, None], {"metric": "minkowski", "exponent": 1.5}, 1),
    "4 columns": (lambda x: np.repeat(x[:, None], 4, axis=1), {}, 2),
    "64 columns": (lambda x: np.repeat(x[:, None], 64, axis=1), {}, 8),
    "zero columns": (lambda x: np.column_stack([x, np.zeros((len(x), 20))]), {}, 1),
    "matrix": (lambda x: np.abs(x[:, None] - x[None, :]), {"metric": "precomputed"}, 1),
    "function": (lambda x: x[:, None], {"metric": lambda a, b: abs(a[0] - b[0])}, 1),
}


@fuzz.fuzz_settings(150)
@given(data=st.data(), x=line_samples(large=(300,)), embedding=st.sampled_from(sorted(EMBEDDINGS)))
def test_magnitude_of_points_on_a_line_matches_the_closed_form(data, x, embedding):
    assume(embedding != "function" or len(x) < 50)
    embed, options, factor = EMBEDDINGS[embedding]
    ts = data.draw(scales(x))
    options = {"solver": data.draw(st.sampled_from(("auto", "auto", "cg", "cholesky"))), **options}
    min_gap = cf.line_gaps(x).min(initial=math.inf)
    result = call_unless_singular(
        lambda: compute_magnitude(embed(x), t=[t / factor for t in ts], details=True, **options),
        min_gap,
        len(x),
        min(ts),
    )
    if result is None:
        return
    values, error = fuzz.result_values(result), result["details"]["error"]
    assert len(values) == len(ts)
    for t, value in zip(ts, values, strict=True):
        expected = cf.tree_magnitude(cf.line_gaps(x), t)
        fuzz.check_value(value, expected, expected, RELATIVE_TOLERANCE)
        assert abs(value - expected) <= (error + 1e-12) * expected * (1 + len(x) / 10)
    t = data.draw(st.sampled_from(ts))
    expected = cf.tree_magnitude(cf.line_gaps(x), t)
    (value,) = magnitude_function(embed(x), scales=[t / factor], **options).values
    fuzz.check_value(value, expected, expected, RELATIVE_TOLERANCE)


@fuzz.fuzz_settings(6)
@given(
    data=st.data(),
    x=line_samples(sizes=(), large=(300, 500)),
    direction=st.sampled_from((1, -1, 0)),
)
def test_magnitude_of_many_points_does_not_depend_on_scale_order(data, x, direction):
    g = cf.line_gaps(x)
    ts = np.geomspace(0.01 / g.sum(), min(20 / np.median(g), 1e13 / g.sum()), 30)
    ts = [float(t) for t in (data.draw(st.permutations(ts)) if direction == 0 else ts[::direction])]
    space = as_space(x)
    for t in ts:
        value = call_unless_singular(lambda t=t: space.magnitude(t), g.min(), len(x), t)
        if value is not None:
            expected = cf.tree_magnitude(g, t)
            fuzz.check_value(value, expected, expected, RELATIVE_TOLERANCE)


@fuzz.fuzz_settings(80)
@given(data=st.data(), x=line_samples(large=(300,)), embedding=st.sampled_from(sorted(EMBEDDINGS)))
def test_weights_of_points_on_a_line_match_the_closed_form(data, x, embedding):
    assume(embedding != "function" or len(x) < 50)
    embed, options, factor = EMBEDDINGS[embedding]
    ts = data.draw(scales(x))[:3]
    space = as_space(embed(x), **options)
    g = cf.line_gaps(x)
    for t in ts:
        tolerance = weight_tolerance(len(x), t, g.min() if len(g) else 1.0)
        for call in (space.weights, lambda t: magnitude_weights(embed(x), t=t, **options)):
            result = call_unless_singular(
                lambda: call(t / factor),  # noqa: B023
                g.min(initial=math.inf),
                len(x),
                t,
            )
            if result is not None:
                assert np.max(np.abs(result - cf.line_weights(x, t))) <= tolerance


@st.composite
def random_trees(draw):
    """Return n and edges (parent, child, length) of a tree; sums of lengths are exact."""
    n = draw(st.sampled_from((2, 3, 7, 20, 300)))
    rng = np.random.default_rng(draw(fuzz.seeds))
    kind = draw(st.sampled_from(("random", "star", "path")))
    lengths = draw(st.sampled_from((1.0, 2.0**-40, 2.0**90))) * rng.integers(1, 2000, n)
    parents = {
        "random": lambda b: int(rng.integers(b)),
        "star": lambda b: 0,
        "path": lambda b: b - 1,
    }
    return n, [(parents[kind](b), b, float(lengths[b])) for b in range(1, n)]


@fuzz.fuzz_settings(25)
@given(tree=random_trees(), data=st.data())
def test_magnitude_of_trees_matches_the_closed_form(tree, data):
    n, edges = tree
    order = data.draw(st.permutations(range(n))) if n < 30 else list(range(n))[::-1]
    D = cf.tree_distances(n, edges)[np.ix_(order, order)]
    lengths = [length for *_, length in edges]
    ts = data.draw(
        st.permutations(np.geomspace(0.01 / sum(lengths), 10 / min(lengths), 6).tolist())
    )
    values = fuzz.result_values(compute_magnitude(D, metric="precomputed", t=ts))
    for t, value in zip(ts, values, strict=True):
        expected = cf.tree_magnitude(lengths, t)
        fuzz.check_value(value, expected, expected, RELATIVE_TOLERANCE)
        tolerance = n * weight_tolerance(n, t, min(lengths))
        result = magnitude_weights(D, t=t, metric="precomputed")
        assert np.max(np.abs(result - cf.tree_weights(n, edges, t)[order])) <= tolerance


@fuzz.fuzz_settings(30)
@given(
    n=st.sampled_from((2, 3, 4, 7, 16, 257)),
    kind=st.sampled_from(("cycle", "complete", "cube", "grid", "simplex")),
    unit=st.sampled_from((1.0, 1e-100, 1e100, 0.3)),
    data=st.data(),
)
def test_magnitude_of_homogeneous_spaces_matches_the_closed_form(n, kind, unit, data):
    ts = data.draw(st.permutations([0, 1e-9, 1e-3, 0.1, 0.5, 1, 3, 20, 700]))
    options = {"metric": "precomputed"}
    if kind == "cycle":
        samples = cf.cycle_distances(n) * unit
    elif kind == "complete":
        samples = (np.ones((n, n)) - np.eye(n)) * unit
    elif kind == "simplex":
        samples, options = np.eye(n) * (unit / math.sqrt(2)), {}
    elif kind == "cube":
        n, options = min(n, 8), {"metric": "hamming"}
        samples, unit = (np.arange(2**n)[:, None] >> np.arange(n)) & 1, 1 / n
    else:
        rng = np.random.default_rng(n)
        a, b = np.unique(rng.integers(0, 30, n)) * unit, np.unique(rng.random(min(n, 9))) * unit
        samples, options = np.array([(x, y) for x in a for y in b]), {"metric": "manhattan"}

    def expected_magnitude(t):
        if t == 0:
            return 1.0
        if kind == "cube":
            return (2 / (1 + math.exp(-t))) ** n
        if kind == "grid":
            return cf.tree_magnitude(cf.line_gaps(a) / unit, t) * cf.tree_magnitude(
                cf.line_gaps(b) / unit, t
            )
        return cf.homogeneous_magnitude(
            cf.cycle_distances(n)[0] if kind == "cycle" else [0] + [1] * (n - 1), t
        )

    space = as_space(samples, **options)
    for t in ts:
        result = []
        if fuzz.get_intended_error(lambda: result.append(space.magnitude(t / unit))) is not None:  # noqa: B023
            # The smallest eigenvalue of a product of k lines, about tᵏ, may be below rounding.
            min_eigenvalue = np.linalg.eigvalsh(np.exp(-t / unit * space.D))[0]
            assert min_eigenvalue < 4 * np.finfo(float).eps * space.distinct
            continue
        (value,) = result
        fuzz.check_value(value, expected_magnitude(t), expected_magnitude(t), RELATIVE_TOLERANCE)


@fuzz.fuzz_settings(40)
@given(n=st.integers(2, 6), m=st.integers(2, 6), t=st.floats(0.05, 4), large=st.booleans())
def test_magnitude_of_bipartite_graphs_is_accurate_or_rejected(n, m, t, large):
    n = 200 if large else n
    group = np.arange(n + m) < n
    D = np.where(group[:, None] == group, 2.0, 1.0)
    np.fill_diagonal(D, 0.0)
    min_eigenvalue = np.linalg.eigvalsh(np.exp(-t * D))[0]
    result = []
    options = {"scales": [t], "metric": "precomputed"}
    error = fuzz.get_intended_error(lambda: result.extend(magnitude_function(D, **options).values))
    if min_eigenvalue > 1e-6:
        fuzz.check_value(
            result[0],
            *[cf.bipartite_magnitude(n, m, t)] * 2,
            RELATIVE_TOLERANCE / min(1, min_eigenvalue),
        )
    elif min_eigenvalue < -1e-6:
        assert error is not None


# Areas and convergence scales


@fuzz.fuzz_settings(60)
@given(
    x=line_samples(sizes=(1, 2, 3, 5, 12)),
    y=line_samples(sizes=(1, 2, 5, 12)),
    epsilon=st.sampled_from((0.05, 0.01, 0.5, 0.3, 1e-4, 1e-9, 1e-12, 0.99)),
    n_scales=st.integers(2, 40),
)
def test_areas_and_convergence_scales_match_the_closed_form(x, y, epsilon, n_scales):
    g, n = cf.line_gaps(x), len(np.unique(x))
    t_conv = cf.convergence_scale(lambda t: cf.tree_magnitude(g, t), n, epsilon)
    if epsilon * n > 1e-13:
        # (1 − ε) n has the rounding error ε_machine·n, which is large relative to a small ε n.
        rel = 1e-8 + 8 * np.finfo(float).eps * n / epsilon
        result = []
        error = fuzz.get_intended_error(
            lambda: result.append(convergence_scale(x, epsilon=epsilon))
        )
        assert error is None or epsilon < 1e-5  # n minus the magnitude is below rounding
        if result and result[0] != pytest.approx(t_conv, rel=rel):
            # If the magnitude is nearly constant, many scales are equally accurate solutions.
            assert cf.tree_magnitude(g, result[0]) == pytest.approx((1 - epsilon) * n, rel=1e-9)
    cut = t_conv or 1.0
    ts = np.linspace(0, cut, n_scales)
    values = np.array([cf.tree_magnitude(g, t) for t in ts])
    other_values = np.array([cf.tree_magnitude(cf.line_gaps(y), t) for t in ts])
    options = {"n_scales": n_scales, "t_cut": cut}
    assert mag_area(x, **options) == pytest.approx(np.trapezoid(values, ts), rel=1e-8)
    assert mag_areas([x, y], **options)[1] == pytest.approx(
        np.trapezoid(other_values, ts), rel=1e-8
    )
    total_area = np.trapezoid(values + other_values, ts)
    assert mag_diff(x, y, **options) == pytest.approx(
        np.trapezoid(values - other_values, ts), rel=1e-8, abs=1e-8 * total_area
    )
    assert mag_diff(x, y, absolute=True, **options) == pytest.approx(
        np.trapezoid(np.abs(values - other_values), ts), rel=1e-8, abs=1e-8 * total_area
    )
    f = magnitude_function(x, **options)
    assert f.values == pytest.approx(values, rel=RELATIVE_TOLERANCE)


@fuzz.fuzz_settings(40)
@given(x=line_samples(sizes=(1, 2, 3, 5, 12)), data=st.data())
def test_spread_matches_the_definition(x, data):
    points = np.unique(x + 0.0)
    t = data.draw(scales(x))[0]
    expected = cf.exact_spread(np.abs(points[:, None] - points), t)
    assert spread(x, t=t) == pytest.approx(expected, rel=1e-12)
