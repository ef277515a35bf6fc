"""Magnitude against closed forms and a solve at 60 digits, at scales in any order."""

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

# The error that the docstring of `magnitude` promises.
REL = 1e-9


def weight_tolerance(n, t, least):
    """Return the error that a solve in double precision may leave in weights of at most about 1.

    Entries of Z are rounded to ε, and its least eigenvalue is about t times the least distance.
    """
    return REL + 16 * n * np.finfo(float).eps / min(1.0, t * least)


def solved(call, least, n, t):
    """Return what a call returns; None where it refuses what doubles cannot tell from singular."""
    result = []
    error = fuzz.get_intended_error(lambda: result.append(call()))
    if error is not None:
        assert type(error) is IndefiniteError, error
        assert t * least < 64 * n * np.finfo(float).eps, error
    return result[0] if result else None


@st.composite
def lines(draw, sizes=(1, 2, 3, 5, 12, 40), large=()):
    """Return samples on a line: clouds, clusters far off, near-duplicates, duplicates, in any
    order."""
    n = draw(st.sampled_from((*sizes, *large)))
    rng = np.random.default_rng(draw(fuzz.seeds))
    kind = draw(st.sampled_from(("even", "cloud", "twins", "clusters", "beside", "wide", "tight")))
    x = rng.standard_normal(n)
    if kind == "even":
        x = np.arange(n) * draw(st.sampled_from((1.0, 0.125, 1e-3)))
    elif kind == "twins":
        x[n // 2 :] = x[: n - n // 2] + 10.0 ** -draw(st.integers(3, 12)) * rng.random(n - n // 2)
    elif kind == "clusters":
        x = rng.integers(0, 4, n) * 10.0 ** draw(st.integers(1, 8)) + x
    elif kind == "beside":
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
    """Return several scales from where all is one point to where none is, in any order."""
    g = cf.line_gaps(x)
    low, high = (1.0, 1.0) if not len(g) else (0.01 / g.sum(), 10 / g.min())
    ts = np.geomspace(low, 2 * min(high, low * 1e14), draw(st.integers(2, 14)))
    return draw(st.permutations([float(t) for t in ts]))


# Rows whose distances are those on the line, times a power of two, exactly or to the last digit.
EMBEDDINGS = {
    "list of numbers": (lambda x: x.tolist(), {}, 1),
    "column": (lambda x: x[:, None], {}, 1),
    "Manhattan": (lambda x: x[:, None], {"metric": "manhattan"}, 1),
    "Chebyshev": (lambda x: np.column_stack([x, x, -x]), {"metric": "chebyshev"}, 1),
    "cityblock": (lambda x: np.column_stack([x, -x]), {"metric": "cityblock"}, 2),
    "Minkowski": (lambda x: x[:, None], {"metric": "minkowski", "exponent": 1.5}, 1),
    "4 columns": (lambda x: np.repeat(x[:, None], 4, axis=1), {}, 2),
    "64 columns": (lambda x: np.repeat(x[:, None], 64, axis=1), {}, 8),
    "beside zeros": (lambda x: np.column_stack([x, np.zeros((len(x), 20))]), {}, 1),
    "matrix": (lambda x: np.abs(x[:, None] - x[None, :]), {"metric": "precomputed"}, 1),
    "function": (lambda x: x[:, None], {"metric": lambda a, b: abs(a[0] - b[0])}, 1),
}


@fuzz.fuzz_settings(150)
@given(data=st.data(), x=lines(large=(300,)), embedding=st.sampled_from(sorted(EMBEDDINGS)))
def test_points_on_a_line_have_the_magnitude_of_their_gaps_at_scales_in_any_order(
    data, x, embedding
):
    assume(embedding != "function" or len(x) < 50)
    make, how, factor = EMBEDDINGS[embedding]
    ts = data.draw(scales(x))
    how = {"solver": data.draw(st.sampled_from(("auto", "auto", "cg", "cholesky"))), **how}
    least = cf.line_gaps(x).min(initial=math.inf)
    result = solved(
        lambda: compute_magnitude(make(x), t=[t / factor for t in ts], details=True, **how),
        least,
        len(x),
        min(ts),
    )
    if result is None:
        return
    got, error = fuzz.result_values(result), result["details"]["error"]
    assert len(got) == len(ts)
    for t, value in zip(ts, got, strict=True):
        right = cf.tree_magnitude(cf.line_gaps(x), t)
        fuzz.check_value(value, right, right, REL)
        assert abs(value - right) <= (error + 1e-12) * right * (1 + len(x) / 10)
    t = data.draw(st.sampled_from(ts))
    right = cf.tree_magnitude(cf.line_gaps(x), t)
    (value,) = magnitude_function(make(x), scales=[t / factor], **how).values
    fuzz.check_value(value, right, right, REL)


@fuzz.fuzz_settings(6)
@given(data=st.data(), x=lines(sizes=(), large=(300, 500)), turn=st.sampled_from((1, -1, 0)))
def test_hundreds_of_points_on_a_line_at_many_scales_up_down_or_mixed(data, x, turn):
    g = cf.line_gaps(x)
    ts = np.geomspace(0.01 / g.sum(), min(20 / np.median(g), 1e13 / g.sum()), 30)
    ts = [float(t) for t in (data.draw(st.permutations(ts)) if turn == 0 else ts[::turn])]
    space = as_space(x)
    for t in ts:
        value = solved(lambda t=t: space.magnitude(t), g.min(), len(x), t)
        if value is not None:
            right = cf.tree_magnitude(g, t)
            fuzz.check_value(value, right, right, REL)


@fuzz.fuzz_settings(80)
@given(data=st.data(), x=lines(large=(300,)), embedding=st.sampled_from(sorted(EMBEDDINGS)))
def test_weights_on_a_line_are_those_of_the_gaps_on_either_side(data, x, embedding):
    assume(embedding != "function" or len(x) < 50)
    make, how, factor = EMBEDDINGS[embedding]
    ts = data.draw(scales(x))[:3]
    space = as_space(make(x), **how)
    g = cf.line_gaps(x)
    for t in ts:
        tolerance = weight_tolerance(len(x), t, g.min() if len(g) else 1.0)
        for call in (space.weights, lambda t: magnitude_weights(make(x), t=t, **how)):
            result = solved(lambda: call(t / factor), g.min(initial=math.inf), len(x), t)  # noqa: B023
            if result is not None:
                assert np.max(np.abs(result - cf.line_weights(x, t))) <= tolerance


@st.composite
def trees(draw):
    """Return edges (parent, child, length) of a random tree, a star or a path; lengths add up
    exactly."""
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
@given(tree=trees(), data=st.data())
def test_trees_have_the_magnitude_of_their_edges(tree, data):
    n, edges = tree
    order = data.draw(st.permutations(range(n))) if n < 30 else list(range(n))[::-1]
    D = cf.tree_distances(n, edges)[np.ix_(order, order)]
    lengths = [length for *_, length in edges]
    ts = data.draw(
        st.permutations(np.geomspace(0.01 / sum(lengths), 10 / min(lengths), 6).tolist())
    )
    got = fuzz.result_values(compute_magnitude(D, metric="precomputed", t=ts))
    for t, value in zip(ts, got, strict=True):
        right = cf.tree_magnitude(lengths, t)
        fuzz.check_value(value, right, right, REL)
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
def test_spaces_that_look_the_same_from_everywhere_and_their_products(n, kind, unit, data):
    ts = data.draw(st.permutations([0, 1e-9, 1e-3, 0.1, 0.5, 1, 3, 20, 700]))
    how = {"metric": "precomputed"}
    if kind == "cycle":
        samples = cf.cycle_distances(n) * unit
    elif kind == "complete":
        samples = (np.ones((n, n)) - np.eye(n)) * unit
    elif kind == "simplex":
        samples, how = np.eye(n) * (unit / math.sqrt(2)), {}
    elif kind == "cube":
        n, how = min(n, 8), {"metric": "hamming"}
        samples, unit = (np.arange(2**n)[:, None] >> np.arange(n)) & 1, 1 / n
    else:
        rng = np.random.default_rng(n)
        a, b = np.unique(rng.integers(0, 30, n)) * unit, np.unique(rng.random(min(n, 9))) * unit
        samples, how = np.array([(x, y) for x in a for y in b]), {"metric": "manhattan"}

    def right(t):
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

    space = as_space(samples, **how)
    for t in ts:
        result = []
        if fuzz.get_intended_error(lambda: result.append(space.magnitude(t / unit))) is not None:  # noqa: B023
            # A product of k lines has a least eigenvalue of about tᵏ, which doubles may not hold.
            least = np.linalg.eigvalsh(np.exp(-t / unit * space.D))[0]
            assert least < 4 * np.finfo(float).eps * space.distinct
            continue
        (value,) = result
        fuzz.check_value(value, right(t), right(t), REL)


@fuzz.fuzz_settings(40)
@given(n=st.integers(2, 6), m=st.integers(2, 6), t=st.floats(0.05, 4), large=st.booleans())
def test_graphs_that_are_not_of_negative_type_are_right_or_refused(n, m, t, large):
    n = 200 if large else n
    group = np.arange(n + m) < n
    D = np.where(group[:, None] == group, 2.0, 1.0)
    np.fill_diagonal(D, 0.0)
    least = np.linalg.eigvalsh(np.exp(-t * D))[0]
    result = []
    how = {"scales": [t], "metric": "precomputed"}
    error = fuzz.get_intended_error(lambda: result.extend(magnitude_function(D, **how).values))
    if least > 1e-6:
        fuzz.check_value(result[0], *[cf.bipartite_magnitude(n, m, t)] * 2, REL / min(1, least))
    elif least < -1e-6:
        assert error is not None


# areas and cuts


@fuzz.fuzz_settings(60)
@given(
    x=lines(sizes=(1, 2, 3, 5, 12)),
    y=lines(sizes=(1, 2, 5, 12)),
    epsilon=st.sampled_from((0.05, 0.01, 0.5, 0.3, 1e-4, 1e-9, 1e-12, 0.99)),
    n_scales=st.integers(2, 40),
)
def test_areas_and_convergence_scales_on_a_line_are_those_in_closed_form(x, y, epsilon, n_scales):
    g, n = cf.line_gaps(x), len(np.unique(x))
    t_conv = cf.convergence_scale(lambda t: cf.tree_magnitude(g, t), n, epsilon)
    if epsilon * n > 1e-13:
        # (1 − ε) n is rounded to ε_machine·n, so the scale that reaches it is rounded as ε is.
        rel = 1e-8 + 8 * np.finfo(float).eps * n / epsilon
        result = []
        error = fuzz.get_intended_error(
            lambda: result.append(convergence_scale(x, epsilon=epsilon))
        )
        assert error is None or epsilon < 1e-5  # the magnitude does not say how far it is from n
        if result and result[0] != pytest.approx(t_conv, rel=rel):
            # Where the magnitude hardly changes, many scales have it to all that is known of it.
            assert cf.tree_magnitude(g, result[0]) == pytest.approx((1 - epsilon) * n, rel=1e-9)
    cut = t_conv or 1.0
    ts = np.linspace(0, cut, n_scales)
    values = np.array([cf.tree_magnitude(g, t) for t in ts])
    others = np.array([cf.tree_magnitude(cf.line_gaps(y), t) for t in ts])
    rule = {"n_scales": n_scales, "t_cut": cut}
    assert mag_area(x, **rule) == pytest.approx(np.trapezoid(values, ts), rel=1e-8)
    assert mag_areas([x, y], **rule)[1] == pytest.approx(np.trapezoid(others, ts), rel=1e-8)
    size = np.trapezoid(values + others, ts)
    assert mag_diff(x, y, **rule) == pytest.approx(
        np.trapezoid(values - others, ts), rel=1e-8, abs=1e-8 * size
    )
    assert mag_diff(x, y, absolute=True, **rule) == pytest.approx(
        np.trapezoid(np.abs(values - others), ts), rel=1e-8, abs=1e-8 * size
    )
    f = magnitude_function(x, **rule)
    assert f.values == pytest.approx(values, rel=REL)


@fuzz.fuzz_settings(40)
@given(x=lines(sizes=(1, 2, 3, 5, 12)), data=st.data())
def test_spread_is_its_sum(x, data):
    points = np.unique(x + 0.0)
    t = data.draw(scales(x))[0]
    right = cf.exact_spread(np.abs(points[:, None] - points), t)
    assert spread(x, t=t) == pytest.approx(right, rel=1e-12)
