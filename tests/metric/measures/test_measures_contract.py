"""Properties of all registered measures, and values of single measures."""

import math
import re
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_cases import (
    FAMILIES,
    LAPLACIAN,
    LEVELS,
    MAKERS,
    OPTIONS,
    SAMPLE_TYPES,
    compute_arguments,
    make_normal_rows,
    make_samples,
    make_texts,
)

from vendiscore import compute, list_measures, mag_area, register_measure, score_K
from vendiscore.measures import joint_sample_set, sample_set
from vendiscore.measures import measure as registry
from vendiscore.measures.measure import Needs, get_measure
from vendiscore.resolve.presets import PRESETS

MEASURES = [measure.name for measure in list_measures()]
seeds = st.integers(0, 2**32 - 1)
ten_examples = settings(max_examples=10)


def evaluate(name: str, X: Any, Y: Any = None) -> float:
    """Return the value of a measure of X and references Y, by default a fixed set."""
    Y = make_samples(name, len(X), 99) if Y is None else Y
    return compute(X, references_for(name, Y), **compute_arguments(name, len(X)))[name]


def references_for(name: str, Y: Any) -> Any:
    """Return Y if the measure uses references, else None, because `compute` would raise."""
    measure = get_measure(name)
    return Y if measure.references or measure.references_without else None


def compute_laplacian_kernel(X: np.ndarray) -> np.ndarray:
    return np.exp(-np.abs(X[:, None] - X[None]).sum(-1))


@pytest.mark.parametrize("name", MEASURES)
class TestEveryMeasure:
    """Properties of every registered measure."""

    @ten_examples
    @given(seeds)
    def test_value_is_in_its_range(self, name: str, seed: int) -> None:
        n = 12
        low, high = get_measure(name).limits(n)
        value = evaluate(name, make_samples(name, n, seed))
        assert low - 1e-9 <= value <= high + 1e-9

    def test_value_changes_monotonically_with_the_measured_aspect(self, name: str) -> None:
        measure = get_measure(name)
        family = FAMILIES[measure.aspect]
        values = [evaluate(name, *family(name, level)) for level in range(LEVELS)]
        steps = np.diff(values) * (1 if measure.direction == "higher" else -1)
        assert steps.sum() > 0.01 * max(map(abs, values)), values
        assert steps.min() > -0.02 * steps.sum(), (
            values
        )  # random changes where the aspect is constant

    def test_value_does_not_depend_on_order_of_samples(self, name: str) -> None:
        X = make_samples(name, 16)
        arguments, Y = compute_arguments(name, 16), make_samples(name, 16, 99)
        order = np.random.default_rng(0).permutation(16)
        shuffled = [X[i] for i in order] if isinstance(X, list) else X[order]
        # Reorder arguments with one value per sample.
        for keywords in (arguments, arguments["measures"][name]):
            keywords |= {
                key: np.asarray(value)[order]
                for key, value in keywords.items()
                if isinstance(value, (list, np.ndarray)) and len(value) == 16
            }
        result = compute(shuffled, references_for(name, Y), **arguments)[name]
        ordered = "in their order" in str(get_measure(name).compute.__doc__)
        rel = 0.05 if ordered else 1e-9
        assert result == pytest.approx(evaluate(name, X), rel=rel, abs=1e-12)

    def test_single_sample_has_a_value_or_error_with_minimum_size(self, name: str) -> None:
        try:
            assert np.isfinite(evaluate(name, make_samples(name, 1)))
        except ValueError as error:
            assert re.match(rf"{name} (with .*)?requires (more than|at least) \d+ ", str(error))  # noqa: PT017

    @pytest.mark.parametrize("kernel", ["cosine", "rbf", "features"])
    def test_gradient_reaches_the_samples_or_raises(self, name: str, kernel: str) -> None:
        torch = pytest.importorskip("torch")
        if SAMPLE_TYPES.get(name) == "texts":
            pytest.skip("texts have no gradient")
        measure, n = get_measure(name), 8
        arguments = compute_arguments(name, n)
        measure_options = arguments["measures"][name] | (
            {"t": 1.0} if "t" in measure.options else {}
        )
        options = {"score_X": True, "normalize": True} if kernel == "features" else {"k": kernel}
        proportions = torch.from_numpy(np.random.default_rng(0).dirichlet(np.ones(3), n))
        other_proportions = proportions.flip(0) + 0.1

        def leaf() -> Any:
            return proportions.clone().requires_grad_()

        sets = [(leaf(), other_proportions if measure.references else None)]
        sets += [(other_proportions, leaf()), (leaf(), leaf())] if measure.references else []
        for X, references in sets:
            try:
                result = compute(
                    X,
                    references,
                    measures={name: measure_options},
                    groups=arguments["groups"],
                    **options,
                )
            except TypeError as error:
                assert "cannot be differentiated; pass " in str(error)  # noqa: PT017
            else:
                values = {key: x for key, x in result.items() if not key.endswith("_null")}
                assert all(getattr(x, "requires_grad", False) for x in values.values()), values

    def test_metadata_is_complete(self, name: str) -> None:
        measure = get_measure(name)
        assert measure.summary.endswith(".") or ":" in measure.summary
        assert measure.source
        assert measure.needs in get_args(Needs)
        assert measure.aspect in FAMILIES
        assert measure.references or measure.aspect in ("diversity", "dimension")


# Options that a kernel would fit to the samples are fixed, because groups share fitted options.
KERNELS: dict[str, list[dict[str, Any]]] = {
    "rows": [LAPLACIAN, {"k": "rbf", "sigma": 1.0}, {"k": "cosine"}],
    "texts": [
        {"k": "ngram_overlap", "analyzer": "word"},
        {"k": ["ngram_overlap", "bleu"], "options": {"ngram_overlap": {"analyzer": "word"}}},
        {"k": "word_overlap"},
        {"k": "equivalence"},
    ],
}
# Kernel options that measures of the samples alone use; other kernels raise an error.
USED_KERNEL_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "CompressionRatio": [{}, {"k": "ngram_overlap"}],
    "NgramDiversity": [{}, {"analyzer": "char"}, {"k": "ngram_overlap", "analyzer": "word"}],
    "SelfBLEU": [{}, {"k": "bleu", "max_order": 2}],
}
SIZES = (14, 9)


def make_groups(name: str, kind: str) -> tuple[list[Any], Any]:
    """Return two dissimilar sets, and references similar to both."""
    maker = MAKERS.get(kind, make_normal_rows)
    if kind == "texts":
        return [maker(SIZES[0], 0, 1), [text + " last" for text in maker(SIZES[1], 1)]], make_texts(
            8, 2
        )
    sets = [abs(maker(n, seed)) for seed, n in enumerate(SIZES)]  # all similarities are positive
    return sets, abs(maker(8, 2))


@pytest.mark.parametrize("name", [name for name in MEASURES if not get_measure(name).groups])
def test_value_of_a_group_equals_value_of_a_separate_set(name: str) -> None:
    sample_type = SAMPLE_TYPES.get(name, "")
    sample_kinds = {"": ["rows", "texts"], "answers": ["texts"]}.get(sample_type, [sample_type])
    options = OPTIONS[name](sum(SIZES)) if name in OPTIONS else {}
    all_values = []
    cases = [
        (kind, kernel)
        for kind in sample_kinds
        for kernel in USED_KERNEL_OPTIONS.get(name, KERNELS[kind])
    ]
    for kind, kernel in cases:
        sets, references = make_groups(name, kind)
        references = references_for(name, references)
        start, separate_values = 0, []
        try:
            for group in sets:
                group_options = {
                    key: value[start : start + len(group)]
                    if isinstance(value, (list, np.ndarray))
                    else value
                    for key, value in options.items()
                }
                separate_values.append(
                    compute(group, references, measures={name: group_options}, **kernel)[name]
                )
                start += len(group)
        except TypeError as error:
            assert re.match(rf"{name} requires ", str(error))  # noqa: PT017
            continue
        pooled = np.concatenate(sets) if isinstance(sets[0], np.ndarray) else sets[0] + sets[1]
        result = compute(
            pooled,
            references,
            measures={name: options},
            groups=np.repeat([0, 1], SIZES),
            details=True,
            **kernel,
        )
        rows = result["details"]["groups"]
        assert [row[name] for row in rows] == pytest.approx(separate_values, rel=1e-9, abs=1e-12), (
            kernel
        )
        all_values += separate_values
    assert all_values


def test_several_measures_compute_the_similarity_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    for module, name in (
        (sample_set, "build_set_similarities"),
        (joint_sample_set, "build_pooled_similarity"),
    ):
        original = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *a, original=original, **o: calls.append(1) or original(*a, **o)
        )
    X, Y = make_normal_rows(15), make_normal_rows(9, seed=1)
    for groups in (None, ["a"] * 7 + ["b"] * 8):
        names = [name for name in MEASURES if groups or not get_measure(name).groups]
        names = [name for name in names if name not in SAMPLE_TYPES]
        options = {name: OPTIONS[name](15) if name in OPTIONS else {} for name in names}
        arguments = {"groups": groups, **LAPLACIAN}
        calls.clear()
        result = compute(X, Y, measures=options, **arguments)
        assert len(calls) == 1
        expected: dict = {}
        for name in names:
            expected |= compute(
                X, references_for(name, Y), measures={name: options[name]}, **arguments
            )
        suffixes = ("_se", "_null", "_excess")
        assert [key for key in result if not key.endswith(suffixes)] == names
        assert result == pytest.approx(expected, rel=1e-12)


def test_compute_without_measures_returns_only_vs() -> None:
    X = make_normal_rows(10)
    assert compute(X, **LAPLACIAN) == compute(X, measures="VS", **LAPLACIAN)
    assert list(compute(X, **LAPLACIAN)) == ["VS"]


# Limbeck et al., arXiv 2311.16054, Table S.1, with K = exp(−Manhattan distance). The table prints
# 1.867 as the Vendi Score of the first two sets; the closed form is 1.8661.
PAIR = (1 + math.exp(-1)) / 2
PAIR_VS = math.exp(-PAIR * math.log(PAIR) - (1 - PAIR) * math.log(1 - PAIR))


@pytest.mark.parametrize(
    ("samples", "VS", "AvgSim", "GMStds"),
    [
        ([1, 0], PAIR_VS, 0.368, 0.500),
        ([[1, 0], [0, 0]], PAIR_VS, 0.368, 0),
        ([1, 0, 0], 1.770, 0.579, 0.471),
        ([1, 0, 0.01], 1.809, 0.577, 0.469),
    ],
)
def test_scores_match_table_s1_of_limbeck(
    samples: list, VS: float, AvgSim: float, GMStds: float
) -> None:
    assert pytest.approx(1.867, abs=1e-3) == PAIR_VS
    scores = compute(np.array(samples, float), measures=["VS", "AvgSim", "GMStds"], **LAPLACIAN)
    assert scores["VS"] == pytest.approx(VS, abs=1e-12 if VS == PAIR_VS else 5e-3)
    assert round(scores["AvgSim"], 3) == AvgSim
    assert round(scores["GMStds"], 3) == GMStds


@ten_examples
@given(seeds)
def test_leinster_cobbold_matches_formulas_and_is_at_most_vs(seed: int) -> None:
    X = make_normal_rows(10, seed)
    p = np.random.default_rng(seed).dirichlet(np.ones(10))
    orders = [0, 0.5, 1, 1 + 1e-9, 2, 5, "inf"]
    scores = compute(X, measures=["VS", "LC", "IntDiv"], q=orders, p=p, **LAPLACIAN)
    values = [scores[f"LC_q{float(q):g}"] for q in orders if q != 1 + 1e-9]
    assert all(b <= a * (1 + 1e-9) for a, b in zip(values, values[1:]))  # noqa: B905, RUF007
    ordinary = compute_laplacian_kernel(X) @ p
    assert scores["LC_q0"] == pytest.approx((p / ordinary).sum())
    assert scores["LC_q1"] == pytest.approx(np.prod(ordinary**-p), rel=1e-6)
    assert scores["LC_qinf"] == pytest.approx(1 / ordinary.max())
    assert scores["IntDiv"] == pytest.approx(1 - 1 / scores["LC_q2"])
    for q in orders:
        assert scores[f"LC_q{float(q):g}"] <= scores[f"VS_q{float(q):g}"] * (1 + 1e-9)


def test_leinster_cobbold_matches_example_in_sentropy_readme() -> None:
    # sentropy, README: two species, off-diagonal similarity 0.2
    scores = compute(
        [[1, 0.2], [0.2, 1]], score_K=True, measures="LC", q=[0, 1, 2, "inf"], p=[0.7, 0.3]
    )
    assert [round(v, 2) for v in scores.values()] == [1.60, 1.55, 1.51, 1.32]


def test_intdiv_and_avgsim_equal_means_of_similarities() -> None:
    X = make_normal_rows(12)
    K = compute_laplacian_kernel(X)
    scores = compute(X, measures=["IntDiv", "AvgSim"], **LAPLACIAN)
    assert scores["IntDiv"] == pytest.approx(1 - K.mean())
    assert scores["AvgSim"] == pytest.approx(K[~np.eye(12, dtype=bool)].mean())
    texts = ["a cat", "a cat sat", "the dog", "a cat"]
    scores = compute(texts, measures=["IntDiv", "AvgSim"])
    assert scores["IntDiv"] == pytest.approx(0.75 * (1 - scores["AvgSim"]))


def test_gmstds_uses_samples_or_kernel_features() -> None:
    X = make_normal_rows(12)
    expected = X.std(axis=0).prod() ** (1 / 3)
    for options in (LAPLACIAN, {"score_X": True, "normalize": True}, {"k": "cosine"}):
        assert compute(X, measures="GMStds", **options)["GMStds"] == pytest.approx(expected)
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    sparse = sp.csr_array(rng.random((30, 4)) * (rng.random((30, 4)) < [1, 0.5, 0.5, 0.5]))
    result = compute(sparse, score_X=True, normalize=True, measures="GMStds")["GMStds"]
    assert result == pytest.approx(sparse.toarray().std(axis=0).prod() ** 0.25)
    labels = compute(["a", "b", "b", "b"], k="labels", measures="GMStds")["GMStds"]
    assert labels == pytest.approx(math.sqrt(3) / 4)
    for k in (
        "ngram_overlap",
        ["ngram_overlap", "labels"],
    ):  # a column may represent several n-grams
        with pytest.raises(TypeError, match=r"GMStds requires .* got .*ngram_overlap"):
            compute(["a b", "c b"], k=k, measures="GMStds")
    with pytest.raises(
        TypeError, match=r"GMStds requires samples that are vectors.* remove 'GMStds'"
    ):
        compute(np.eye(3), score_K=True, measures="GMStds")


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-200, 7e15])
@pytest.mark.parametrize("n", [3, 10, 1000])
def test_gmstds_of_a_constant_column_is_zero_despite_rounding(value: float, n: int) -> None:
    import scipy.sparse as sp

    X = np.c_[make_normal_rows(n), np.full(n, value)]
    for samples in (X, sp.csr_array(X)):
        assert compute(samples, score_X=True, normalize=True, measures="GMStds")["GMStds"] == 0


def test_mag_area_uses_kernel_metric_and_convergence_of_dissimilar_samples() -> None:
    X = make_normal_rows(20)
    # n points at distance √2 have magnitude n / (1 + (n − 1) e^{−√2 t}) = 0.95 n.
    ends = {n: math.log(19 * (n - 1)) / math.sqrt(2) for n in (4, 20)}
    assert compute(X, measures="MagArea", **LAPLACIAN)["MagArea"] == pytest.approx(
        mag_area(X, t_cut=ends[20], **LAPLACIAN)
    )
    texts = ["a cat", "a cat sat", "the dog", "a cat"]
    area = compute(texts, measures="MagArea")["MagArea"]
    assert area == pytest.approx(mag_area(texts, t_cut=ends[4]))


def test_values_of_torch_matrices_match_numpy() -> None:
    torch = pytest.importorskip("torch")
    K = compute_laplacian_kernel(make_normal_rows(10))
    names = ["VS", "IntDiv", "LC", "AvgSim", "MagArea"]
    result = compute(torch.from_numpy(K), score_K=True, measures=names)
    np.testing.assert_array_equal(
        K, compute_laplacian_kernel(make_normal_rows(10))
    )  # not modified, although the tensor shares its memory
    expected = compute(K, score_K=True, measures=names)
    for name in names:
        assert float(result[name]) == pytest.approx(expected[name], rel=1e-9)
    float32_value = compute(torch.from_numpy(K).float(), score_K=True, measures="IntDiv")["IntDiv"]
    assert float32_value == pytest.approx(expected["IntDiv"], rel=1e-6)


def test_details_contain_measures_and_methods() -> None:
    X = make_normal_rows(10)
    details = compute(X, measures=["VS", "IntDiv"], details=True, **LAPLACIAN)["details"]
    assert details["signature"].startswith("VS+IntDiv|kernel=laplacian|")
    assert details["method"] == {"1": "eigenvalues"}
    assert compute(X, measures="IntDiv", details=True, **LAPLACIAN)["details"]["method"] == {}


def test_compute_evaluates_a_user_defined_measure() -> None:
    def largest(sample_set):
        """Return the largest similarity of two different samples."""
        K = sample_set.similarity.dense()
        np.fill_diagonal(K, 0)
        return float(K.max())

    register_measure(
        "MaxSim", needs="similarity", range="[0, 1]", direction="lower", source="here"
    )(largest)
    try:
        result = compute([[1, 0.3], [0.3, 1]], score_K=True, measures=["VS", "MaxSim"])
        assert result == {"VS": score_K([[1, 0.3], [0.3, 1]]), "MaxSim": 0.3}
        with pytest.raises(ValueError, match="measure 'MaxSim' is already registered"):
            register_measure(
                "MaxSim", needs="features", range="[0, 1]", direction="lower", source=""
            )(lambda sample_set: 0)
    finally:
        del registry._measures.registrations["MaxSim"]


@pytest.mark.parametrize(
    ("measures", "error", "message"),
    [
        ("Intdiv", ValueError, "unknown measure 'Intdiv'. Did you mean 'IntDiv'?"),
        ([], ValueError, "`measures` must contain at least one"),
        (3, TypeError, "`measures` must be a name or a list of names, got 3"),
        ([1], TypeError, "`measures` must be a name or a list of names, got"),
    ],
)
def test_compute_rejects_invalid_measure_names(
    measures: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as error_info:
        compute([0.0, 1.0], measures=measures, **LAPLACIAN)
    assert message in str(error_info.value)


def test_preset_expands_to_its_measures() -> None:
    X = make_normal_rows(10)
    assert compute(X, measures="molecules", **LAPLACIAN) == compute(
        X, measures=["VS", "IntDiv"], **LAPLACIAN
    )
    result = compute(X, measures={"LC": {}, "molecules": {}, "VS": {}}, **LAPLACIAN)
    assert list(result) == ["LC", "VS", "IntDiv"]
    for preset in PRESETS.values():
        assert preset.question
        assert preset.source
        assert {get_measure(name).name for name in preset.measures} == set(preset.measures)
    with pytest.raises(TypeError, match="options of 'molecules' are not supported"):
        compute(X, measures={"molecules": {"top": 3}}, **LAPLACIAN)
    with pytest.raises(ValueError, match=r"unknown measure 'txt'\. Did you mean 'text'"):
        compute(X, measures="txt", **LAPLACIAN)


def test_weights_raise_for_unsupported_measures_and_lc_values() -> None:
    with pytest.raises(ValueError, match="weights `p` are not supported by AvgSim"):
        compute([0.0, 1.0], measures=["VS", "AvgSim"], p=[0.5, 0.5], **LAPLACIAN)
    with pytest.raises(
        ValueError, match="sample 0 must have a positive mean similarity to all samples for LC"
    ):
        compute([[1.0, 0.0], [-1.0, 0.1]], k="cosine", measures="LC", p=[0.4, 0.6])
    # Sample 1 has weight 0; sample 0 is dropped, or belongs to another group.
    opposite = [[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [-1.0, 0.1]]
    with (
        pytest.raises(ValueError, match=r"sample 2 must .*positive mean.* for LC, got -0\.\d+;"),
        pytest.warns(UserWarning, match="dropped 1 of 4"),
    ):
        compute(opposite, k="cosine", measures="LC", p=[0, 0, 0.4, 0.6], on_error="skip")
    with pytest.raises(ValueError, match=r"sample 1 must .* got 0;"):
        compute([[1, 0], [1, 0], [-1, 0], [1, 0]], k="cosine", measures="LC", groups=[0, 1, 1, 0])
    assert list(compute([0.0, 1.0], measures=["VS", "VS", "LC"], p=[0.5, 0.5], **LAPLACIAN)) == [
        "VS",
        "LC",
    ]
    with pytest.raises(ValueError, match="for LC, got 0;"):
        compute([[1.0, 0.0], [-1.0, 0.0]], measures="LC", k="cosine")


def test_metric_accepts_measures(metric) -> None:
    X = make_normal_rows(10)
    assert metric.compute(samples=X, measures=["VS", "IntDiv"], **LAPLACIAN) == compute(
        X, measures=["VS", "IntDiv"], **LAPLACIAN
    )
    with pytest.raises(ValueError, match=r"Did you mean 'IntDiv'?"):
        metric.compute(samples=X, measures="IntDif", **LAPLACIAN)


def test_gradient_of_float32_weights_matches_formula_for_float64_matrix() -> None:
    torch = pytest.importorskip("torch")
    p = torch.tensor([0.25, 0.75], requires_grad=True)
    K = torch.tensor([[1.0, 0.5], [0.5, 1.0]], dtype=torch.float64)
    result = compute(K, score_K=True, p=p, q=2, measures=["LC", "VS"])
    result["LC_q2"].backward()
    # LC_2 = 1 / pᵀKp, whose gradient is −2 Kp / (pᵀKp)².
    expected = -2 * K @ p.detach().double() * result["LC_q2"].detach() ** 2
    # Weights are divided by their sum, which removes the component along p.
    expected -= expected @ p.detach().double()
    torch.testing.assert_close(p.grad.double(), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    ("q", "suffixes"),
    [
        (1, [""]),
        (2, ["_q2"]),
        (0.5, ["_q0.5"]),
        ("inf", ["_qinf"]),
        ([2], ["_q2"]),
        ([1, 2], ["_q1", "_q2"]),
    ],
)
def test_keys_contain_order_only_for_ordered_measures(
    name: str, q: Any, suffixes: list[str]
) -> None:
    n = 12
    arguments = compute_arguments(name, n)
    arguments["measures"] = {"VS": {}} | arguments["measures"]
    X, Y = make_samples(name, n), make_samples(name, n, 99)
    if get_measure(name).groups:
        arguments["permutations"] = 0 if name == "BetweenVS" else None
    result = compute(X, references_for(name, Y), **arguments, q=q)
    measure_suffixes = suffixes if get_measure(name).ordered else [""]
    vendi_keys = [f"VS{suffix}" for suffix in suffixes]
    error_keys = {f"{key}_se" for key in vendi_keys}  # of means over groups
    assert {
        *vendi_keys,
        *(f"{name}{suffix}" for suffix in measure_suffixes),
    } == result.keys() - error_keys
    if [*suffixes] != [""]:
        with pytest.raises(KeyError, match=r"no key 'VS' for q="):
            result["VS"]
