"""Every keyword of every public function changes the result, or is refused.

`TABLE` has a row for each keyword: a value that changes the result, or one that must leave it
unchanged (keywords of performance), and one that is refused. A test fails for a keyword without a
row. `PAIRS` has calls whose keywords once cancelled each other.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest

import vendiscore
from vendiscore import (
    FeatureSimilarity,
    GroupState,
    MatrixSimilarity,
    ProductSimilarity,
    RowsSimilarity,
    Similarity,
    State,
    SumSimilarity,
    as_similarity,
    compare,
    compute,
    conditional_score,
    convergence_scale,
    effective_number,
    encoder,
    explain,
    get_kernel,
    group_rewards,
    growth,
    load,
    mag_area,
    mag_areas,
    mag_diff,
    magnitude_dimension,
    magnitude_function,
    magnitude_weights,
    novelty,
    register_kernel,
    register_measure,
    report,
    score,
    score_batches,
    score_dual,
    score_K,
    score_X,
    select,
    sources,
    spectrum,
    spread,
)
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.measures import measure as measures_module
from vendiscore.resolve import kernel as kernels_module
from vendiscore.resolve.kernel import Control
from vendiscore.resolve.similarity_spec import SIMILARITY_KEYWORDS

TEXTS = ["a b c", "a b d", "a x y", "u v w", "u v x", "b c d", "a b c", "q r s"]
OTHERS = ["a b", "c d", "u v w z", "n m", "o p", "u v", "a a b", "n o"]
LABELS = [0, 0, 0, 1, 1, 1, 1, 0]
PROMPTS = ["p", "p", "p", "o", "o", "o", "o", "p"]
WEIGHTS = [0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]
X = np.random.default_rng(0).normal(size=(8, 3)) + 0.5
Y = np.random.default_rng(1).normal(size=(8, 3)) + 2.0
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
K = UNIT @ UNIT.T
CHAIN = np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])  # an eigenvalue of −0.41
LONG = TEXTS + [f"{text} z{i}" for i, text in enumerate(OTHERS)]
NOTHING: Any = object()
ROWS = [[1.0, 0.2, 0.1]] * 4 + [[0.1, 1.0, 0.3]] * 4  # a prompt of each of 8 rows
ZERO = np.vstack([X, np.zeros(3)])  # one of which has no direction
WIDE = np.random.default_rng(3).normal(size=(800, 800))  # which `method="estimate"` estimates
SWAPPED = np.random.default_rng(0).normal(size=(14, 2))  # of which greedy choice is not the best
THIRTY = np.random.default_rng(4).normal(size=(30, 5))
SIX = [i // 5 for i in range(30)]
MANY = np.random.default_rng(2).normal(size=(16, 5))
PAIRED = [0, 1, 2, 0, 1, 2, 3, 3]
CROSSING = np.vstack([Y, 40 + Y[:2]])
LABELLED = [0, 1, 2, 0, 1, 2, 0, 1]
BIG_CHAIN = np.kron(np.eye(4), CHAIN)
BATCHES = [
    {
        "text": TEXTS,
        "row": X.tolist(),
        "unit": UNIT.tolist(),
        "zero": ZERO[1:].tolist(),
        "label": LABELLED,
        "one": [0] * 8,
        "set": sorted(LABELS),
        "prompt": ["a b"] * 4 + ["c d"] * 4,
        "prompt2": [0, 0, 1, 1, 2, 2, 3, 3],
    }
]


def uneven(a: int, b: int) -> float:
    """Return similarities of 0, 1 and 2 with a negative eigenvalue."""
    return float(CHAIN[a, b])


def first_letters(texts: list[str]) -> list[list[float]]:
    return [[float(ord(text[0])), 1.0] for text in texts]


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


def grouped_state(**options: Any) -> Any:
    return GroupState(**options).update(BATCHES[0]).compute()


@dataclass(frozen=True)
class Row:
    """What a keyword does: it `changes` the result, or `keeps` it, and some value is `refused`.

    `also` are keywords of all calls, `base` only of the call without the keyword; `without` are
    keywords of the usual call to leave out of all.
    """

    changes: Any = NOTHING
    refused: Any = NOTHING
    also: Mapping[str, Any] = field(default_factory=dict)
    base: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    keeps: Any = NOTHING


@dataclass(frozen=True)
class Call:
    """A public function, the keywords of a usual call, and a row for each keyword.

    `own` are keywords that a signature ends in `**how` for. `public` has the signature, if the
    function that is called is another one.
    """

    function: Callable[..., Any]
    usual: Mapping[str, Any]
    rows: Mapping[str, Row]
    public: Callable[..., Any] | None = None
    own: frozenset[str] = frozenset()

    def keywords(self) -> set[str]:
        """Return the keywords that must have a row."""
        parameters = inspect.signature(self.public or self.function).parameters.values()
        return {each.name for each in parameters if "variadic" not in each.kind.description} | (
            self.own
        )

    def arguments(self, row: Row) -> dict[str, Any]:
        """Return the keywords of all calls of a row."""
        usual = {name: value for name, value in self.usual.items() if name not in row.without}
        return usual | dict(row.also)


def compared(*, sets: Any, **options: Any) -> Any:
    return compare(*sets, **options)


def rounded(value: Any) -> Any:
    """Return what a result says, in values that can be compared with `==`; floats to 9 digits."""
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, dict):
        return {str(name): rounded(each) for name, each in value.items() if name != "versions"}
    if isinstance(value, (list, tuple)):
        return [rounded(each) for each in value]
    if isinstance(value, np.ndarray):
        return rounded(value.tolist())
    if isinstance(value, Similarity):
        return rounded([value.dense(), value.psd, dict(value.settings)])
    for name in ("html", "to_dict"):
        if hasattr(value, name):
            return rounded(getattr(value, name)())
    if dataclasses.is_dataclass(value):
        return rounded({each.name: getattr(value, each.name) for each in dataclasses.fields(value)})
    if isinstance(value, State):
        return rounded(value.compute())
    return repr(value)


def registered(register: Callable[..., Any], table: dict[str, Any]) -> Callable[..., Any]:
    """Return a function that registers another one, and returns its entry in the table."""

    def call(**fields: Any) -> Any:
        def found(samples: Any, *, option: int = 1) -> Any:
            return None

        known = set(table)
        try:
            register(**fields)(found)
            entry, _ = table[fields["name"]]
            return {name: value for name, value in vars(entry).items() if not callable(value)} | {
                name: value.__name__ for name, value in vars(entry).items() if callable(value)
            }
        finally:
            for name in set(table) - known:
                del table[name]

    return call


HOW = frozenset({*SIMILARITY_KEYWORDS, "exponent", "on_error"})


def how_rows(**rows: Row) -> dict[str, Row]:
    """Return rows of the keywords about one set of unit rows, which are compared by cosines."""
    return {
        "k": Row("rbf", "nonsense", also={"samples": X}),
        "score_K": Row(True, "yes", {"samples": K}, {"k": "cosine"}, ("k",)),
        "score_X": Row(True, "yes", {}, {"k": "rbf"}, ("k",)),
        "score_dual": Row(True, "yes", {}, {"k": "rbf"}, ("k",)),
        "normalize": Row(True, "yes", {"samples": 2 * K, "score_K": True}, {}, ("k",)),
        "metric": Row(refused="euclidean"),
        "exponent": Row(refused=3),
        "fit": Row(refused="pool"),
        "prompts": Row(PROMPTS, "one prompt"),
        "given_prompt": Row(True, 3, {"prompts": ROWS}),
        "on_error": Row("skip", "ignore", {"samples": ZERO}),
        **rows,
    }


GIVEN_PROMPT = Row(True, 3, {"prompts": ROWS}, {"prompts": None})
GROUPED = {"groups": LABELS}
REFERENCES = {"references": Y, "measures": "MMD"}
COMPUTE_ONLY = {
    "q": Row(2, -1),
    "p": Row(WEIGHTS, [1.0]),
    "psd": Row("clip", "maybe", {"samples": CHAIN, "score_K": True}, {}, ("k",)),
    "groups": Row(LABELS, [1]),
    "counts": Row([[3, 1], [2, 2]], "many", {"samples": None}, {"samples": UNIT}, ("k",)),
    "ci": Row(0.9, 95),
    "clusters": Row(PAIRED + PAIRED, [1], {"samples": MANY, "ci": 0.9}),
    "measures": Row("IntDiv", "nonsense"),
    "metric": Row("manhattan", "nonsense", {"measures": "MagArea"}, {}, ("k",)),
    "exponent": Row(3, 0, {"measures": "MagArea", "metric": "minkowski"}, {}, ("k",)),
    "fit": Row("samples", "none", {"k": "rbf", **REFERENCES}),
    "method": Row("estimate", "guess"),
    "rtol": Row(0.5, 3, {"samples": WIDE, "method": "estimate"}, {"rtol": 0.2}),
    "seed": Row(7, -1, {"samples": WIDE, "method": "estimate", "rtol": 0.5}),
    "permutations": Row(19, -1, {"groups": LABELS, "measures": "BetweenVS"}, {"permutations": 9}),
    "details": Row(True, "yes"),
    "allow_repeats": Row(False, "yes", {"ci": 0.9}),
    "pool_repeats": Row(
        False,
        "yes",
        {"samples": THIRTY, "k": "cosine", "groups": SIX, "ci": 0.9, "details": True},
    ),
}
OF_SETS = {  # of several sets of rows, compared by the rbf kernel whose width is fitted to them
    "score_K": Row(refused=True, without=("k",)),
    "normalize": Row(refused="yes"),
    "prompts": Row(refused="one prompt"),
    "given_prompt": Row(refused=True),
    "on_error": Row(refused="ignore"),
}
PSD = Row("clip", "maybe", {"samples": CHAIN, "score_K": True}, {}, ("k",))
OF_LABELS = Row("clip", "maybe")
PROMPT_ROWS = Row(True, 3, {"prompts": ROWS})
MAGNITUDE = {
    "k": Row("rbf", "nonsense"),
    "score_K": Row(True, "yes", {"samples": K}, {"metric": "euclidean"}),
    "score_X": Row(True, "yes", {"samples": UNIT}, {"metric": "manhattan"}),
    "score_dual": Row(True, "yes", {"samples": UNIT}, {"metric": "manhattan"}),
    "normalize": Row(True, "yes", {"samples": 2 * K, "score_K": True}),
    "metric": Row("manhattan", "nonsense"),
    "solver": Row(refused="magic", keeps="cholesky"),
    "exponent": Row(3, 0, {"metric": "minkowski"}),
    "fit": Row(refused="pool"),
    "prompts": Row(refused=PROMPTS),
    "given_prompt": Row(True, 3, {"prompts": ROWS, "k": "cosine"}, {"prompts": None}),
    "on_error": Row("skip", "ignore", {"samples": ZERO, "k": "cosine"}),
}
SCALES = {
    "scales": Row([0.5, 1.0, 2.0], "all"),
    "n_scales": Row(7, 1),
    "epsilon": Row(0.2, 1),
}

CALLS = {
    "compute": Call(
        compute,
        {"samples": UNIT, "k": "cosine"},
        how_rows(
            **COMPUTE_ONLY,
            samples=Row(X + 1, 3),
            references=Row(Y, 3, {"measures": "MMD"}, {"references": X}),
        ),
        own=HOW,
    ),
    "score": Call(
        score,
        {"samples": UNIT, "k": "cosine"},
        how_rows(samples=Row(X + 1, 3), q=Row(2, -1), p=Row(WEIGHTS, [1.0])),
        own=HOW,
    ),
    "score_K": Call(
        score_K,
        {"K": K},
        {
            "K": Row(np.eye(3), np.eye(3)[:2]),
            "q": Row(2, -1),
            "p": Row(WEIGHTS, [1.0]),
            "normalize": Row(True, "yes", {"K": 2 * K}),
        },
    ),
    "score_X": Call(
        score_X,
        {"X": UNIT},
        {
            "X": Row(Y, "rows"),
            "q": Row(2, -1),
            "p": Row(WEIGHTS, [1.0]),
            "normalize": Row(True, "yes", {"X": X}, {"normalize": False}),
        },
    ),
    "score_dual": Call(
        score_dual,
        {"X": UNIT},
        {
            "X": Row(Y, "rows"),
            "q": Row(2, -1),
            "p": Row(WEIGHTS, [1.0]),
            "normalize": Row(True, "yes", {"X": X}, {"normalize": False}),
        },
    ),
    "conditional_score": Call(
        conditional_score,
        {"samples": UNIT, "given": TEXTS, "k": "cosine"},
        how_rows(
            samples=Row(X + 1, 3),
            given=Row(OTHERS, ["a"]),
            on_error=Row("skip", "ignore", {"samples": ZERO, "given": [*TEXTS, "y z"]}),
            given_k=Row("labels", "nonsense"),
            q=Row(2, -1),
            p=Row(WEIGHTS, [1.0]),
            psd=Row(
                "clip",
                "maybe",
                {"samples": CHAIN, "given": ["a"] * 3, "score_K": True},
                {},
                ("k",),
            ),
        ),
        own=HOW,
    ),
    "as_similarity": Call(
        as_similarity,
        {"samples": UNIT, "k": "cosine"},
        how_rows(samples=Row(X + 1, 3), prompts=Row(refused=PROMPTS), given_prompt=GIVEN_PROMPT),
        own=HOW,
    ),
    "explain": Call(
        explain,
        {"samples": UNIT, "k": "cosine"},
        how_rows(
            samples=Row(X + 1, 3),
            q=Row(2, 0),
            threshold=Row(0.5, 2),
            p=Row(WEIGHTS, [1.0]),
            psd=PSD,
        ),
        own=HOW,
    ),
    "growth": Call(
        growth,
        {"samples": UNIT, "k": "cosine"},
        how_rows(
            samples=Row(X + 1, 3),
            sizes=Row([2, 4], [100]),
            allow_repeats=Row(False, "yes"),
            q=Row(2, -1),
            level=Row(0.5, 95),
            psd=Row("clip", "maybe", {"samples": BIG_CHAIN, "score_K": True}, {}, ("k",)),
        ),
        own=HOW,
    ),
    "select": Call(
        select,
        {"samples": UNIT, "size": 3, "k": "cosine"},
        how_rows(
            samples=Row(X + 1, 3),
            size=Row(4, 100),
            objective=Row("represent", "best"),
            q=Row(2, 3),
            initial=Row([5], [100]),
            groups=Row(LABELS, [1], {"quota": 2}, {"groups": PROMPTS[::-1]}),
            quota=Row({0: 3}, {"none": 3}, {"groups": LABELS}, {"quota": {1: 3}}),
            quality=Row([1, 0, 0, 1, 0, 1, 0, 0.1], [-1] * 8),
            relevance=Row([9, 0, 0, 9, 0, 9, 0, 1], ["much"] * 8),
            tradeoff=Row(0.1, 2, {"quality": [9, 1, 1, 8, 1, 7, 1, 1]}),
            swaps=Row(False, "yes", {"samples": SWAPPED, "size": 4, "k": "rbf"}),
            psd=Row("clip", "maybe", {"samples": CHAIN, "score_K": True}, {}, ("k",)),
            metric=Row(refused="euclidean"),
            prompts=Row(refused=PROMPTS),
            given_prompt=GIVEN_PROMPT,
        ),
        own=HOW,
    ),
    "group_rewards": Call(
        group_rewards,
        {"samples": UNIT, "groups": LABELS, "k": "cosine"},
        how_rows(
            samples=Row(X + 1, 3),
            quality=Row([1, 0, 1, 1, 1, 0.5, 1, 1], [-1] * 8),
            groups=Row([0] * 8, [1]),
            prompts=Row([0] * 8, [1], {}, {"groups": LABELS}, ("groups",)),
            given_prompt=Row(True, 3, {"prompts": ROWS}),
            fuse=Row("+", "-", {"quality": [1, 0, 1, 1, 1, 0.5, 1, 1]}),
            weight=Row(0.5, 2),
            credit=Row("leave_one_out", "mine"),
            match_length=Row(
                True, "yes", {"samples": ["a a a b", "b a", "c d e f g", *TEXTS[:5]]}, {}, ("k",)
            ),
            q=Row(2, 0),
            psd=Row(
                "clip",
                "maybe",
                {"samples": CHAIN, "groups": [0, 0, 0], "score_K": True},
                {},
                ("k",),
            ),
            on_error=Row(refused="skip"),
        ),
        own=HOW,
    ),
    "compare": Call(
        compared,
        {"sets": (X, Y), "k": "rbf", "permutations": 19},
        how_rows(
            **OF_SETS,
            names=Row(["new", "old"], ["new"]),
            by=Row(LABELS, [1], {"sets": (X,)}, {"by": [1, 0] * 4}),
            groups=Row([PAIRED, PAIRED], [[1], [2]]),
            q=Row(2, -1),
            level=Row(0.9, 95),
            permutations=Row(99, 3),
            size=Row(5, 1),
            psd=Row("clip", "maybe", {"sets": (LABELLED, LABELLED[::-1]), "k": uneven}),
            seed=Row(5, -1, {"size": 5}),
            within=Row(0.5, -1),
            allow_repeats=Row(False, "yes"),
            pool_repeats=Row(
                False, "yes", {"sets": (THIRTY, THIRTY[::-1] + 1), "groups": [SIX, SIX]}
            ),
            effects=Row("fixed", "both", {"groups": [PAIRED, PAIRED]}),
            k=Row("cosine", "nonsense"),
            score_X=Row(True, "yes", {"sets": (UNIT, UNIT[::-1] ** 1)}, {"k": "rbf"}, ("k",)),
            score_dual=Row(True, "yes", {"sets": (UNIT, UNIT[::-1])}, {"k": "rbf"}, ("k",)),
            fit=Row(refused="samples"),
        ),
        public=compare,
        own=HOW,
    ),
    "novelty": Call(
        novelty,
        {"samples": X, "references": Y, "k": "rbf"},
        how_rows(
            **OF_SETS,
            samples=Row(X + 1, 3),
            references=Row(Y + 1, 3),
            labels=Row(LABELS, [1]),
            k=Row("cosine", "nonsense"),
            q=Row(2, 3),
            psd=Row("clip", "maybe", {"samples": LABELLED, "references": LABELLED, "k": uneven}),
            score_X=Row(True, "yes", {"samples": UNIT, "references": UNIT[:4]}, {"k": "rbf"}, "k"),
            score_dual=Row(
                True, "yes", {"samples": UNIT, "references": UNIT[:4]}, {"k": "rbf"}, ("k",)
            ),
            fit=Row("pool", "none"),
        ),
        own=HOW,
    ),
    "sources": Call(
        sources,
        {"answers": TEXTS, "prompts": PAIRED, "by": LABELS, "k": "ngram_overlap"},
        {
            **how_rows(**OF_SETS),
            "answers": Row(OTHERS, 3),
            "prompts": Row([0, 0, 1, 0, 1, 1, 0, 1], [1]),
            "by": Row([0, 0, 1, 1] * 2, [1]),
            "names": Row(
                ["new", "old"],
                ["new"],
                {"answers": [TEXTS, OTHERS], "by": None, "prompts": None},
            ),
            "aligned": Row(False, "yes", {"answers": [TEXTS, OTHERS], "by": None, "prompts": None}),
            "given_prompt": Row(
                True, 3, {"prompts": ["a b", "c d", "v w", "q"] * 2, "by": [0] * 4 + [1] * 4}
            ),
            "q": Row(2, 0),
            "level": Row(0.9, 95),
            "psd": Row(refused="maybe"),
            "k": Row("labels", "nonsense"),
            "score_X": Row(refused=True, without=("k",)),
            "score_dual": Row(refused=True, without=("k",)),
        },
        own=HOW,
    ),
    "report": Call(
        lambda **options: [(found := report(**options)).numbers, found.title],
        {"samples": UNIT, "k": "cosine"},
        {  # other keywords are read as for `compute`, by the same function
            "samples": Row(X + 1, 3),
            "references": Row(Y, Y[:, :2], {"measures": "MMD"}, {"references": X}),
            "title": Row("A title", 3),
            "q": Row(2, -1),
            "fit": Row(refused="pool"),
            "details": Row(refused=True),
        },
        public=report,
    ),
    "spectrum": Call(
        spectrum,
        {"similarity": as_similarity(UNIT, k="cosine")},
        {
            "similarity": Row(as_similarity(X + 1, k="rbf"), UNIT),
            "p": Row(np.array(WEIGHTS), None if False else "half"),
            "psd": Row("clip", "maybe", {"similarity": MatrixSimilarity(CHAIN)}),
        },
    ),
    "effective_number": Call(
        effective_number, {"shares": [0.5, 0.3, 0.2]}, {"shares": Row([1.0], [2]), "q": Row(2, -1)}
    ),
    "score_batches": Call(
        score_batches,
        {"batches": BATCHES, "column": "row", "k": "cosine"},
        how_rows(
            batches=Row([{**BATCHES[0], "row": Y.tolist()}], 3),
            column=Row("unit", "nonsense", {"score_X": True}, {}, ("k",)),
            groups=Row("set", "nonsense"),
            prompts=Row("prompt", "nonsense"),
            given_prompt=Row(True, 3, {"column": "text", "prompts": "prompt"}, {}, ("k",)),
            q=Row(2, -1),
            psd=Row("clip", "maybe", {"k": uneven, "column": "label", "groups": "one"}),
            ci=Row(0.9, 95, {"groups": "set"}),
            details=Row(True, "yes"),
            k=Row("rbf", "nonsense", {"groups": "set"}),
            score_K=Row(refused=True, without=("k",)),
            score_X=Row(True, "yes", {"column": "unit", "groups": "set"}, {"k": "rbf"}, ("k",)),
            score_dual=Row(True, "yes", {"column": "unit", "groups": "set"}, {"k": "rbf"}, ("k",)),
            normalize=Row(True, "yes", {"score_X": True}, {}, ("k",)),
            on_error=Row("skip", "ignore", {"column": "zero"}),
        ),
        own=HOW,
    ),
    "GroupState": Call(
        grouped_state,
        {"column": "row", "groups": "set", "k": "cosine"},
        how_rows(
            column=Row("unit", 3, {"k": "rbf"}),
            groups=Row("prompt2", 3),
            prompts=Row("prompt2", 3),
            given_prompt=Row(True, 3, {"column": "text", "prompts": "prompt"}, {}, ("k", "groups")),
            q=Row(2, -1),
            psd=Row("clip", "maybe", {"k": uneven, "column": "label", "groups": "one"}),
            k=Row("rbf", "nonsense"),
            score_K=Row(refused=True, without=("k",)),
            score_X=Row(True, "yes", {"column": "unit"}, {"k": "rbf"}, ("k",)),
            score_dual=Row(True, "yes", {"column": "unit"}, {"k": "rbf"}, ("k",)),
            normalize=Row(True, "yes", {"score_X": True}, {}, ("k",)),
            on_error=Row("skip", "ignore", {"column": "zero"}),
        ),
        public=GroupState,
        own=HOW,
    ),
    "GroupState.compute": Call(
        lambda **options: (
            GroupState("row", groups="set", k="cosine").update(BATCHES[0]).compute(**options)
        ),
        {},
        {"ci": Row(0.9, 95), "details": Row(True, "yes")},
        public=partial(GroupState.compute, None),
    ),
    "State": Call(
        lambda samples=UNIT, **options: State(**options).update(samples),
        {"k": "cosine"},
        {
            **how_rows(),
            "k": Row("cosine", "nonsense", {"samples": X}, {"k": None, "score_X": True}),
            "score_K": Row(refused=True, without=("k",)),
            "score_X": Row(True, "yes", {}, {"score_X": False}, ("k",)),
            "score_dual": Row(True, "yes", {}, {"score_dual": False}, ("k",)),
            "normalize": Row(True, "yes", {"samples": X, "score_X": True}, {}, ("k",)),
            "prompts": Row(refused=PROMPTS),
            "given_prompt": Row(refused=True),
        },
        public=State,
        own=HOW,
    ),
    "State.update": Call(
        lambda **options: State(k="cosine").update(**options),
        {"batch": X},
        {
            "batch": Row(Y, 3),
            "p": Row(WEIGHTS, [1.0]),
            "prompts": Row(refused=PROMPTS),
            "given_prompt": Row(True, 3, {"prompts": ROWS}),
        },
        public=partial(State.update, None),
    ),
    "State.compute": Call(
        lambda **options: State(k="cosine").update(X).compute(**options),
        {},
        {"q": Row(2, -1), "psd": Row(refused="maybe"), "details": Row(True, "yes")},
        public=partial(State.compute, None),
    ),
    "State.novelty": Call(
        lambda **options: State(k="cosine").update(X).novelty(**options),
        {"samples": Y},
        {"samples": Row(X, 3), "q": Row(2, 3)},
        public=partial(State.novelty, None),
    ),
    "mag_area": Call(
        mag_area,
        {"samples": X},
        {
            **MAGNITUDE,
            "samples": Row(Y[:5], 3),
            "n_scales": Row(7, 1),
            "epsilon": Row(0.2, 1),
            "t_cut": Row(3.0, -1),
            "average": Row(True, "yes"),
        },
        own=HOW | {"solver"},
    ),
    "mag_areas": Call(
        mag_areas,
        {"sets": [X, Y]},
        {
            **MAGNITUDE,
            "sets": Row([X, Y[:5]], 3),
            "n_scales": Row(7, 1),
            "epsilon": Row(0.2, 1),
            "t_cut": Row(3.0, -1),
            "average": Row(True, "yes"),
            "fit": Row("references", "none", {"k": "rbf"}),
            "score_X": Row(True, "yes", {"sets": [UNIT, UNIT]}, {"metric": "manhattan"}),
            "score_dual": Row(True, "yes", {"sets": [UNIT, UNIT]}, {"metric": "manhattan"}),
            "score_K": Row(True, "yes", {"sets": [K, K]}, {"metric": "euclidean"}),
            "normalize": Row(True, "yes", {"sets": [2 * K, 2 * K], "score_K": True}),
            "on_error": Row("skip", "ignore", {"sets": [ZERO, ZERO], "k": "cosine"}),
            "given_prompt": Row(refused=3),
        },
        own=HOW | {"solver"},
    ),
    "mag_diff": Call(
        mag_diff,
        {"samples": X, "references": Y},
        {
            **MAGNITUDE,
            "samples": Row(Y[:5], 3),
            "references": Row(X[:5], 3),
            "n_scales": Row(7, 1),
            "epsilon": Row(0.2, 1),
            "t_cut": Row(3.0, -1),
            "average": Row(True, "yes"),
            "relative": Row(True, "yes"),
            "absolute": Row(True, "yes", {"samples": X * 5, "references": CROSSING}),
            "fit": Row("samples", "none", {"k": "rbf"}),
            "score_X": Row(
                True, "yes", {"samples": UNIT, "references": UNIT[:5]}, {"metric": "manhattan"}
            ),
            "score_dual": Row(
                True, "yes", {"samples": UNIT, "references": UNIT[:5]}, {"metric": "manhattan"}
            ),
            "score_K": Row(
                True, "yes", {"samples": K, "references": np.eye(4)}, {"metric": "precomputed"}
            ),
            "normalize": Row(
                True, "yes", {"samples": 2 * K, "references": 2 * np.eye(4), "score_K": True}
            ),
            "on_error": Row("skip", "ignore", {"samples": ZERO, "k": "cosine"}),
            "given_prompt": Row(refused=3),
        },
        own=HOW | {"solver"},
    ),
    "magnitude_function": Call(
        magnitude_function,
        {"samples": X},
        {**MAGNITUDE, **SCALES, "samples": Row(Y, 3), "t_cut": Row(3.0, -1)},
        own=HOW | {"solver"},
    ),
    "magnitude_dimension": Call(
        magnitude_dimension,
        {"samples": X},
        {**MAGNITUDE, **SCALES, "samples": Row(Y, 3)},
        own=HOW | {"solver"},
    ),
    "magnitude_weights": Call(
        magnitude_weights,
        {"samples": X},
        {**MAGNITUDE, "samples": Row(Y, 3), "t": Row(2.0, -1)},
        own=HOW | {"solver"},
    ),
    "spread": Call(
        spread,
        {"samples": X},
        {**MAGNITUDE, "samples": Row(Y, 3), "t": Row(2.0, -1)},
        own=HOW | {"solver"},
    ),
    "convergence_scale": Call(
        convergence_scale,
        {"samples": X},
        {**MAGNITUDE, "samples": Row(Y, 3), "epsilon": Row(0.2, 1)},
        own=HOW | {"solver"},
    ),
    "encoder": Call(
        lambda **options: encoder(**options).encode(TEXTS),
        {"model": first_letters},
        {
            "model_path": Row(refused="/no/such/folder"),
            "kind": Row(refused="sound"),
            "model": Row(lengths, 3),
            "tokenizer": Row(refused=len),
            "transform": Row(refused=len),
            "pooling": Row(refused="mean"),
            "batch_size": Row(refused=0, keeps=2),
            "max_length": Row(refused=2),
            "device": Row(refused="cpu"),
            "half": Row(refused=True),
            "revision": Row(refused="main"),
            "cache": Row(refused="folder"),
        },
        public=encoder,
    ),
    "get_kernel": Call(get_kernel, {"name": "rbf"}, {"name": Row("cosine", "nonsense")}),
    "load": Call(
        lambda **options: load(**options).compute(samples=TEXTS),
        {"name": "vendiscore"},
        {
            "name": Row("magnitude", "nonsense", {"t": None}),
            "config_name": Row(keeps="text", refused=3),
            "q": Row([2], -1),
        },
        public=load,
        own=frozenset({"q"}),
    ),
    "register_kernel": Call(
        registered(register_kernel, kernels_module._kernels.registrations),
        {"name": "of_a_row", "samples": "text", "source": "this test"},
        {
            "name": Row("other_row", "rbf"),
            "samples": Row("vectors", keeps=NOTHING),
            "source": Row("another test"),
            "psd": Row(False),
            "needs": Row("text"),
            "fit": Row(lambda samples, *, option=1: {"option": 2}),
            "rows": Row(True),
            "label": Row("A label"),
            "term": Row("a term"),
            "by": Row("a word"),
            "controls": Row((Control("size", "size", "number", 1),)),
            "repeats": Row(True),
        },
        public=register_kernel,
    ),
    "register_measure": Call(
        registered(register_measure, measures_module._measures.registrations),
        {"name": "OfARow", "needs": "samples", "range": "[0, 1]", "source": "this test"},
        {
            "name": Row("OtherRow", "VS"),
            "needs": Row("scores"),
            "range": Row("[0, 2]", "from 0"),
            "source": Row("another test"),
            "direction": Row("lower"),
            "weighted": Row(True),
            "ordered": Row(True),
            "references": Row(True),
            "readers": Row({"option": int}),
            "groups": Row(True),
            "aspect": Row("likeness"),
            "pooled": Row(True),
            "references_without": Row("option"),
            "stacks": Row(True),
        },
        public=register_measure,
    ),
    "MatrixSimilarity": Call(
        MatrixSimilarity,
        {"K": K},
        {
            "K": Row(np.eye(3), "matrix"),
            "psd": Row(True),
            "settings": Row({"kernel": "mine"}),
        },
    ),
    "FeatureSimilarity": Call(
        FeatureSimilarity,
        {"X": UNIT},
        {"X": Row(np.eye(3), "rows"), "settings": Row({"kernel": "mine"})},
    ),
    "RowsSimilarity": Call(
        RowsSimilarity.of_rows,
        {"X": UNIT, "k": lambda A, B: A @ B.T},
        {
            "X": Row(np.eye(3)),
            "k": Row(lambda A, B: (A @ B.T) ** 3),
            "psd": Row(True),
            "settings": Row({"kernel": "mine"}),
        },
    ),
    "SumSimilarity": Call(
        SumSimilarity,
        {"parts": [MatrixSimilarity(K), MatrixSimilarity(np.eye(8))], "weights": [0.5, 0.5]},
        {
            "parts": Row([MatrixSimilarity(K), MatrixSimilarity(K)], [3, 4]),
            "weights": Row([0.1, 0.9], [1]),
        },
    ),
    "ProductSimilarity": Call(
        ProductSimilarity,
        {"parts": [MatrixSimilarity(K), MatrixSimilarity(np.eye(8))]},
        {"parts": Row([MatrixSimilarity(K), MatrixSimilarity(K)], [3, 4])},
    ),
}
# Public names that take no keywords, or that only the library calls.
WITHOUT_ROWS = {
    "IndefiniteError",
    "MissingPackageError",
    "NotPSDError",
    "SampleError",
    "Selection",
    "Similarity",
    "TooLargeError",
    "list_kernels",
    "list_measures",
    "plots",
}
SIMILARITY = as_similarity(TEXTS)
SPACE = as_space(X)
# Calls in which one argument once had no effect because of another one.
PAIRS = {
    "report, references that no measure uses": lambda: report(TEXTS, OTHERS),
    "report, a path": lambda: report(TEXTS, "r.html"),
    "compute, counts and k": lambda: compute(counts=[6, 3, 1], k=np.eye(3)),
    "compute, counts and a kernel": lambda: compute(counts=[6, 3, 1], k="rbf"),
    "growth, counts": lambda: growth(counts=[6, 3, 1]),
    "compare, counts": lambda: compare(counts=[6, 3, 1]),
    "compute, a Similarity and k": lambda: compute(SIMILARITY, k="labels"),
    "compute, a Similarity and ns": lambda: compute(SIMILARITY, ns=[1]),
    "compute, a Similarity and score_X": lambda: compute(SIMILARITY, score_X=True),
    "compute, a Similarity and on_error": lambda: compute(SIMILARITY, on_error="skip"),
    "compute, a Similarity and a metric": lambda: compute(
        SIMILARITY, metric="manhattan", measures="MagArea"
    ),
    "score, a Similarity and k": lambda: score(SIMILARITY, "labels"),
    "explain, a Similarity and k": lambda: explain(SIMILARITY, k="labels"),
    "growth, a Similarity and k": lambda: growth(SIMILARITY, k="labels"),
    "select, a Similarity and k": lambda: select(SIMILARITY, 2, k="labels"),
    "compare, a Similarity and k": lambda: compare(SIMILARITY, by=LABELS, k="labels"),
    "group_rewards, a Similarity and k": lambda: group_rewards(SIMILARITY, k="labels"),
    "sources, a Similarity and k": lambda: sources(SIMILARITY, PAIRED, by=LABELS, k="labels"),
    "report, a Similarity and k": lambda: report(SIMILARITY, k="labels"),
    "as_similarity, a Similarity and k": lambda: as_similarity(SIMILARITY, k="labels"),
    "conditional_score, a Similarity and k": lambda: conditional_score(
        SIMILARITY, TEXTS, k="labels"
    ),
    "conditional_score, a Similarity and given_k": lambda: conditional_score(
        TEXTS, SIMILARITY, given_k="labels"
    ),
    "spread, a Similarity and a metric": lambda: spread(SIMILARITY, metric="manhattan"),
    "spread, a MetricSpace and a metric": lambda: spread(SPACE, metric="manhattan"),
    "mag_area, a MetricSpace and k": lambda: mag_area(SPACE, k="rbf"),
    "mag_area, a MetricSpace and a solver": lambda: mag_area(SPACE, solver="cg"),
    "mag_diff, two MetricSpaces and k": lambda: mag_diff(SPACE, SPACE, k="rbf"),
    "score, details": lambda: score(TEXTS, details=True),
    "score, ci": lambda: score(TEXTS, ci=0.95),
    "score, measures": lambda: score(TEXTS, measures="IntDiv"),
    "conditional_score, details": lambda: conditional_score(TEXTS, TEXTS, details=True),
    "mag_area of rows, on_error": lambda: mag_area(X, on_error="skip"),
    "mag_areas of rows, fit": lambda: mag_areas([X, Y], fit="samples"),
}
ROWS_OF_TABLE = [(name, keyword) for name, call in CALLS.items() for keyword in call.rows]


def outcome(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Return what a call gives, or the kind of the error that it ends in."""
    try:
        return rounded(function(**arguments))
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}"


pytest.importorskip("evaluate")  # for `load`
pytest.importorskip("pyarrow")  # for batches


def test_every_public_name_has_keyword_table() -> None:
    tables = {name.partition(".")[0] for name in CALLS}
    assert tables | WITHOUT_ROWS == set(vendiscore.__all__)
    assert not tables & WITHOUT_ROWS


@pytest.mark.parametrize("name", CALLS)
def test_every_keyword_has_test_case(name: str) -> None:
    call = CALLS[name]
    known = set(call.rows) | {"sets", "samples"}
    assert call.keywords() <= known, call.keywords() - known


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "keyword"), ROWS_OF_TABLE)
def test_keyword_changes_result_or_is_rejected(name: str, keyword: str) -> None:
    call = CALLS[name]
    row = call.rows[keyword]
    arguments = call.arguments(row)
    assert any(value is not NOTHING for value in (row.changes, row.keeps, row.refused))
    if row.changes is not NOTHING:
        usual = outcome(call.function, arguments | dict(row.base))
        changed = rounded(call.function(**arguments | {keyword: row.changes}))
        assert changed != usual
    if row.keeps is not NOTHING:
        usual = rounded(call.function(**arguments | dict(row.base)))
        assert rounded(call.function(**arguments | {keyword: row.keeps})) == usual
    if row.refused is not NOTHING:
        with pytest.raises((TypeError, ValueError, OSError)):
            call.function(**arguments | {keyword: row.refused})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pair", PAIRS)
def test_argument_without_effect_is_rejected(pair: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        PAIRS[pair]()
