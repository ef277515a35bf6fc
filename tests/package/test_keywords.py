"""Every keyword of every public function changes the result, or is rejected.

`CALLS` has a case for each keyword: a value that changes the result, or one that must leave it
unchanged (keywords of performance), and one that is rejected. A test fails for a keyword without a
case. `CONFLICTING_CALLS` has calls in which one argument once had no effect.
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
    Monitor,
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
    phrases,
    read,
    register_kernel,
    register_measure,
    report,
    score,
    score_batches,
    score_dual,
    score_K,
    score_X,
    select,
    select_batches,
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
OTHER_TEXTS = ["a b", "c d", "u v w z", "n m", "o p", "u v", "a a b", "n o"]
LABELS = [0, 0, 0, 1, 1, 1, 1, 0]
PROMPTS = ["p", "p", "p", "o", "o", "o", "o", "p"]
WEIGHTS = [0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]
X = np.random.default_rng(0).normal(size=(8, 3)) + 0.5
Y = np.random.default_rng(1).normal(size=(8, 3)) + 2.0
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
K = UNIT @ UNIT.T
CHAIN = np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])  # an eigenvalue of −0.41
LONG = TEXTS + [f"{text} z{i}" for i, text in enumerate(OTHER_TEXTS)]
NOT_TESTED: Any = object()
ROWS = [[1.0, 0.2, 0.1]] * 4 + [[0.1, 1.0, 0.3]] * 4  # a prompt of each of 8 rows
ZERO = np.vstack([X, np.zeros(3)])  # the last row has no direction
WIDE = np.random.default_rng(3).normal(size=(800, 800))  # large enough for `method="estimate"`
SWAPPED = np.random.default_rng(0).normal(size=(14, 2))  # for which greedy selection is not optimal
THIRTY = np.random.default_rng(4).normal(size=(30, 5))
SIX = [i // 5 for i in range(30)]
MANY = np.random.default_rng(2).normal(size=(16, 5))
PAIRED = [0, 1, 2, 0, 1, 2, 3, 3]
CROSSING = np.vstack([Y, 40 + Y[:2]])
LABELLED = [0, 1, 2, 0, 1, 2, 0, 1]
BIG_CHAIN = np.kron(np.eye(4), CHAIN)
RECORDS = [
    {
        "one": f"a cat {i}",
        "two": f"a dog {i}",
        "town": "xy"[i % 2],
        "score": i / 8,
        "right": bool(i % 2),
    }
    for i in range(8)
]
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
class KeywordCase:
    """Values of a keyword: one `changes` the result, one `keeps` it, and one is `rejected`.

    `common` are arguments of all calls, `base` only of the call without the keyword; `without` are
    default arguments that are removed from all calls.
    """

    changes: Any = NOT_TESTED
    rejected: Any = NOT_TESTED
    common: Mapping[str, Any] = field(default_factory=dict)
    base: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    keeps: Any = NOT_TESTED


@dataclass(frozen=True)
class Call:
    """A public function, default arguments of a call, and a case for each keyword.

    `extra` are the keywords that the signature accepts as `**how`. `public` has the signature, if
    it differs from the function that is called.
    """

    function: Callable[..., Any]
    defaults: Mapping[str, Any]
    cases: Mapping[str, KeywordCase]
    public: Callable[..., Any] | None = None
    extra: frozenset[str] = frozenset()

    def keywords(self) -> set[str]:
        """Return the keywords that must have a case."""
        parameters = inspect.signature(self.public or self.function).parameters.values()
        return {
            parameter.name
            for parameter in parameters
            if "variadic" not in parameter.kind.description
        } | (self.extra)

    def arguments(self, case: KeywordCase) -> dict[str, Any]:
        """Return the keywords of all calls of a case."""
        default_arguments = {
            name: value for name, value in self.defaults.items() if name not in case.without
        }
        return default_arguments | dict(case.common)


def compare_sets(*, sets: Any, **options: Any) -> Any:
    return compare(*sets, **options)


def monitor_answers(*, answers: Any = ("a b", "a c", "b d", "e"), **options: Any) -> Any:
    monitor = Monitor(**options)
    monitor.update(answers)
    return monitor.values, monitor.interval, monitor.is_precise, monitor.sentence


def round_values(value: Any) -> Any:
    """Return the content of a result as values that `==` can compare, with floats to 9 digits."""
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, dict):
        return {str(name): round_values(each) for name, each in value.items() if name != "versions"}
    if isinstance(value, (list, tuple)):
        return [round_values(each) for each in value]
    if isinstance(value, np.ndarray):
        return round_values(value.tolist())
    if isinstance(value, Similarity):
        return round_values([value.dense(), value.psd, dict(value.settings)])
    for name in ("html", "to_dict"):
        if hasattr(value, name):
            return round_values(getattr(value, name)())
    if dataclasses.is_dataclass(value):
        return round_values(
            {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        )
    if isinstance(value, State):
        return round_values(value.compute())
    return repr(value)


def build_registration_call(
    register: Callable[..., Any], table: dict[str, Any]
) -> Callable[..., Any]:
    """Return a function that registers another one, and returns its entry in the table."""

    def call(**fields: Any) -> Any:
        def registered_function(samples: Any, *, option: int = 1) -> Any:
            return None

        previous_names = set(table)
        try:
            register(**fields)(registered_function)
            entry, _ = table[fields["name"]]
            return {name: value for name, value in vars(entry).items() if not callable(value)} | {
                name: value.__name__ for name, value in vars(entry).items() if callable(value)
            }
        finally:
            for name in set(table) - previous_names:
                del table[name]

    return call


SIMILARITY_OPTIONS = frozenset({*SIMILARITY_KEYWORDS, "exponent", "on_error"})


def similarity_cases(**rows: KeywordCase) -> dict[str, KeywordCase]:
    """Return cases of similarity keywords for unit-norm rows with the cosine kernel."""
    return {
        "k": KeywordCase("rbf", "nonsense", common={"samples": X}),
        "score_K": KeywordCase(True, "yes", {"samples": K}, {"k": "cosine"}, ("k",)),
        "score_X": KeywordCase(True, "yes", {}, {"k": "rbf"}, ("k",)),
        "score_dual": KeywordCase(True, "yes", {}, {"k": "rbf"}, ("k",)),
        "normalize": KeywordCase(True, "yes", {"samples": 2 * K, "score_K": True}, {}, ("k",)),
        "metric": KeywordCase(rejected="euclidean"),
        "exponent": KeywordCase(rejected=3),
        "fit": KeywordCase(rejected="pool"),
        "prompts": KeywordCase(PROMPTS, "one prompt"),
        "given_prompt": KeywordCase(True, 3, {"prompts": ROWS}),
        "on_error": KeywordCase("skip", "ignore", {"samples": ZERO}),
        **rows,
    }


GIVEN_PROMPT = KeywordCase(True, 3, {"prompts": ROWS}, {"prompts": None})
GROUPED = {"groups": LABELS}
REFERENCES = {"references": Y, "measures": "MMD"}
COMPUTE_ONLY = {
    "q": KeywordCase(2, -1),
    "p": KeywordCase(WEIGHTS, [1.0]),
    "psd": KeywordCase("clip", "maybe", {"samples": CHAIN, "score_K": True}, {}, ("k",)),
    "groups": KeywordCase(LABELS, [1]),
    "counts": KeywordCase([[3, 1], [2, 2]], "many", {"samples": None}, {"samples": UNIT}, ("k",)),
    "ci": KeywordCase(0.9, 95),
    "clusters": KeywordCase(PAIRED + PAIRED, [1], {"samples": MANY, "ci": 0.9}),
    "measures": KeywordCase("IntDiv", "nonsense"),
    "metric": KeywordCase("manhattan", "nonsense", {"measures": "MagArea"}, {}, ("k",)),
    "exponent": KeywordCase(3, 0, {"measures": "MagArea", "metric": "minkowski"}, {}, ("k",)),
    "fit": KeywordCase("samples", "none", {"k": "rbf", **REFERENCES}),
    "method": KeywordCase("estimate", "guess"),
    "rtol": KeywordCase(0.5, 3, {"samples": WIDE, "method": "estimate"}, {"rtol": 0.2}),
    "seed": KeywordCase(7, -1, {"samples": WIDE, "method": "estimate", "rtol": 0.5}),
    "permutations": KeywordCase(
        19, -1, {"groups": LABELS, "measures": "BetweenVS"}, {"permutations": 9}
    ),
    "details": KeywordCase(True, "yes"),
    "allow_repeats": KeywordCase(False, "yes", {"ci": 0.9}),
    "pool_repeats": KeywordCase(
        False,
        "yes",
        {"samples": THIRTY, "k": "cosine", "groups": SIX, "ci": 0.9, "details": True},
    ),
}
SEVERAL_SETS_CASES = {  # several sets of rows, compared by the rbf kernel with a fitted bandwidth
    "score_K": KeywordCase(rejected=True, without=("k",)),
    "normalize": KeywordCase(rejected="yes"),
    "prompts": KeywordCase(rejected="one prompt"),
    "given_prompt": KeywordCase(rejected=True),
    "on_error": KeywordCase(rejected="ignore"),
}
PSD = KeywordCase("clip", "maybe", {"samples": CHAIN, "score_K": True}, {}, ("k",))
OF_LABELS = KeywordCase("clip", "maybe")
PROMPT_ROWS = KeywordCase(True, 3, {"prompts": ROWS})
MAGNITUDE = {
    "k": KeywordCase("rbf", "nonsense"),
    "score_K": KeywordCase(True, "yes", {"samples": K}, {"metric": "euclidean"}),
    "score_X": KeywordCase(True, "yes", {"samples": UNIT}, {"metric": "manhattan"}),
    "score_dual": KeywordCase(True, "yes", {"samples": UNIT}, {"metric": "manhattan"}),
    "normalize": KeywordCase(True, "yes", {"samples": 2 * K, "score_K": True}),
    "metric": KeywordCase("manhattan", "nonsense"),
    "solver": KeywordCase(rejected="magic", keeps="cholesky"),
    "exponent": KeywordCase(3, 0, {"metric": "minkowski"}),
    "fit": KeywordCase(rejected="pool"),
    "prompts": KeywordCase(rejected=PROMPTS),
    "given_prompt": KeywordCase(True, 3, {"prompts": ROWS, "k": "cosine"}, {"prompts": None}),
    "on_error": KeywordCase("skip", "ignore", {"samples": ZERO, "k": "cosine"}),
}
SCALES = {
    "scales": KeywordCase([0.5, 1.0, 2.0], "all"),
    "n_scales": KeywordCase(7, 1),
    "epsilon": KeywordCase(0.2, 1),
}

CALLS = {
    "compute": Call(
        compute,
        {"samples": UNIT, "k": "cosine"},
        similarity_cases(
            **COMPUTE_ONLY,
            samples=KeywordCase(X + 1, 3),
            references=KeywordCase(Y, 3, {"measures": "MMD"}, {"references": X}),
        ),
        extra=SIMILARITY_OPTIONS,
    ),
    "score": Call(
        score,
        {"samples": UNIT, "k": "cosine"},
        similarity_cases(
            samples=KeywordCase(X + 1, 3), q=KeywordCase(2, -1), p=KeywordCase(WEIGHTS, [1.0])
        ),
        extra=SIMILARITY_OPTIONS,
    ),
    "score_K": Call(
        score_K,
        {"K": K},
        {
            "K": KeywordCase(np.eye(3), np.eye(3)[:2]),
            "q": KeywordCase(2, -1),
            "p": KeywordCase(WEIGHTS, [1.0]),
            "normalize": KeywordCase(True, "yes", {"K": 2 * K}),
        },
    ),
    "score_X": Call(
        score_X,
        {"X": UNIT},
        {
            "X": KeywordCase(Y, "rows"),
            "q": KeywordCase(2, -1),
            "p": KeywordCase(WEIGHTS, [1.0]),
            "normalize": KeywordCase(True, "yes", {"X": X}, {"normalize": False}),
        },
    ),
    "score_dual": Call(
        score_dual,
        {"X": UNIT},
        {
            "X": KeywordCase(Y, "rows"),
            "q": KeywordCase(2, -1),
            "p": KeywordCase(WEIGHTS, [1.0]),
            "normalize": KeywordCase(True, "yes", {"X": X}, {"normalize": False}),
        },
    ),
    "conditional_score": Call(
        conditional_score,
        {"samples": UNIT, "given": TEXTS, "k": "cosine"},
        similarity_cases(
            samples=KeywordCase(X + 1, 3),
            given=KeywordCase(OTHER_TEXTS, ["a"]),
            on_error=KeywordCase("skip", "ignore", {"samples": ZERO, "given": [*TEXTS, "y z"]}),
            given_k=KeywordCase("labels", "nonsense"),
            q=KeywordCase(2, -1),
            p=KeywordCase(WEIGHTS, [1.0]),
            psd=KeywordCase(
                "clip",
                "maybe",
                {"samples": CHAIN, "given": ["a"] * 3, "score_K": True},
                {},
                ("k",),
            ),
        ),
        extra=SIMILARITY_OPTIONS,
    ),
    "as_similarity": Call(
        as_similarity,
        {"samples": UNIT, "k": "cosine"},
        similarity_cases(
            samples=KeywordCase(X + 1, 3),
            prompts=KeywordCase(rejected=PROMPTS),
            given_prompt=GIVEN_PROMPT,
        ),
        extra=SIMILARITY_OPTIONS,
    ),
    "explain": Call(
        explain,
        {"samples": UNIT, "k": "cosine"},
        similarity_cases(
            samples=KeywordCase(X + 1, 3),
            q=KeywordCase(2, 0),
            threshold=KeywordCase(0.5, 2),
            p=KeywordCase(WEIGHTS, [1.0]),
            psd=PSD,
        ),
        extra=SIMILARITY_OPTIONS,
    ),
    "growth": Call(
        growth,
        {"samples": UNIT, "k": "cosine"},
        similarity_cases(
            samples=KeywordCase(X + 1, 3),
            sizes=KeywordCase([2, 4], [100]),
            allow_repeats=KeywordCase(False, "yes"),
            q=KeywordCase(2, -1),
            level=KeywordCase(0.5, 95),
            psd=KeywordCase("clip", "maybe", {"samples": BIG_CHAIN, "score_K": True}, {}, ("k",)),
        ),
        extra=SIMILARITY_OPTIONS,
    ),
    "select": Call(
        select,
        {"samples": UNIT, "size": 3, "k": "cosine"},
        similarity_cases(
            samples=KeywordCase(X + 1, 3),
            size=KeywordCase(4, 100),
            objective=KeywordCase("represent", "best"),
            q=KeywordCase(2, 3),
            initial=KeywordCase([5], [100]),
            groups=KeywordCase(LABELS, [1], {"quota": 2}, {"groups": PROMPTS[::-1]}),
            quota=KeywordCase({0: 3}, {"none": 3}, {"groups": LABELS}, {"quota": {1: 3}}),
            quality=KeywordCase([1, 0, 0, 1, 0, 1, 0, 0.1], [-1] * 8),
            relevance=KeywordCase([9, 0, 0, 9, 0, 9, 0, 1], ["much"] * 8),
            tradeoff=KeywordCase(0.1, 2, {"quality": [9, 1, 1, 8, 1, 7, 1, 1]}),
            swaps=KeywordCase(False, "yes", {"samples": SWAPPED, "size": 4, "k": "rbf"}),
            psd=KeywordCase("clip", "maybe", {"samples": CHAIN, "score_K": True}, {}, ("k",)),
            metric=KeywordCase(rejected="euclidean"),
            prompts=KeywordCase(rejected=PROMPTS),
            given_prompt=GIVEN_PROMPT,
        ),
        extra=SIMILARITY_OPTIONS,
    ),
    "group_rewards": Call(
        group_rewards,
        {"samples": UNIT, "groups": LABELS, "k": "cosine"},
        similarity_cases(
            samples=KeywordCase(X + 1, 3),
            quality=KeywordCase([1, 0, 1, 1, 1, 0.5, 1, 1], [-1] * 8),
            groups=KeywordCase([0] * 8, [1]),
            prompts=KeywordCase([0] * 8, [1], {}, {"groups": LABELS}, ("groups",)),
            given_prompt=KeywordCase(True, 3, {"prompts": ROWS}),
            fuse=KeywordCase("+", "-", {"quality": [1, 0, 1, 1, 1, 0.5, 1, 1]}),
            weight=KeywordCase(0.5, 2),
            credit=KeywordCase("leave_one_out", "mine"),
            match_length=KeywordCase(
                True, "yes", {"samples": ["a a a b", "b a", "c d e f g", *TEXTS[:5]]}, {}, ("k",)
            ),
            q=KeywordCase(2, 0),
            psd=KeywordCase(
                "clip",
                "maybe",
                {"samples": CHAIN, "groups": [0, 0, 0], "score_K": True},
                {},
                ("k",),
            ),
            on_error=KeywordCase(rejected="skip"),
        ),
        extra=SIMILARITY_OPTIONS,
    ),
    "compare": Call(
        compare_sets,
        {"sets": (X, Y), "k": "rbf", "permutations": 19},
        similarity_cases(
            **SEVERAL_SETS_CASES,
            names=KeywordCase(["new", "old"], ["new"]),
            by=KeywordCase(LABELS, [1], {"sets": (X,)}, {"by": [1, 0] * 4}),
            groups=KeywordCase([PAIRED, PAIRED], [[1], [2]]),
            correct=KeywordCase([[True] * 8] * 2, [["yes"] * 8] * 2, {"groups": [PAIRED, PAIRED]}),
            q=KeywordCase(2, -1),
            level=KeywordCase(0.9, 95),
            permutations=KeywordCase(99, 3),
            size=KeywordCase(5, 1),
            psd=KeywordCase("clip", "maybe", {"sets": (LABELLED, LABELLED[::-1]), "k": uneven}),
            seed=KeywordCase(5, -1, {"size": 5}),
            within=KeywordCase(0.5, -1),
            allow_repeats=KeywordCase(False, "yes"),
            pool_repeats=KeywordCase(
                False, "yes", {"sets": (THIRTY, THIRTY[::-1] + 1), "groups": [SIX, SIX]}
            ),
            effects=KeywordCase("fixed", "both", {"groups": [PAIRED, PAIRED]}),
            k=KeywordCase("cosine", "nonsense"),
            score_X=KeywordCase(
                True, "yes", {"sets": (UNIT, UNIT[::-1] ** 1)}, {"k": "rbf"}, ("k",)
            ),
            score_dual=KeywordCase(True, "yes", {"sets": (UNIT, UNIT[::-1])}, {"k": "rbf"}, ("k",)),
            fit=KeywordCase(rejected="samples"),
        ),
        public=compare,
        extra=SIMILARITY_OPTIONS,
    ),
    "novelty": Call(
        novelty,
        {"samples": X, "references": Y, "k": "rbf"},
        similarity_cases(
            **SEVERAL_SETS_CASES,
            samples=KeywordCase(X + 1, 3),
            references=KeywordCase(Y + 1, 3),
            labels=KeywordCase(LABELS, [1]),
            k=KeywordCase("cosine", "nonsense"),
            q=KeywordCase(2, 3),
            psd=KeywordCase(
                "clip", "maybe", {"samples": LABELLED, "references": LABELLED, "k": uneven}
            ),
            score_X=KeywordCase(
                True, "yes", {"samples": UNIT, "references": UNIT[:4]}, {"k": "rbf"}, "k"
            ),
            score_dual=KeywordCase(
                True, "yes", {"samples": UNIT, "references": UNIT[:4]}, {"k": "rbf"}, ("k",)
            ),
            fit=KeywordCase("pool", "none"),
        ),
        extra=SIMILARITY_OPTIONS,
    ),
    "read": Call(
        read,
        {"source": RECORDS, "column": "one"},
        {
            "source": KeywordCase(RECORDS[:4], 3),
            "column": KeywordCase("two", "three"),
            "prompts": KeywordCase("two", "three"),
            "groups": KeywordCase("town", "three"),
            "by": KeywordCase("town", "three"),
            "weights": KeywordCase("score", "two"),
            "quality": KeywordCase("score", "two"),
            "correct": KeywordCase("right", "two"),
            "kind": KeywordCase("sequences", "words"),
            "pool": KeywordCase(
                True, "yes", {"source": [r | {"prompt": f"p{r['town']}"} for r in RECORDS * 2]}
            ),
            "matrix": KeywordCase(
                True, "yes", {"source": K.tolist()}, {"matrix": False}, ("column",)
            ),
            "distances": KeywordCase(
                True,
                "yes",
                {"source": np.abs(np.round(1 - K, 9)).tolist()},
                {"matrix": False},
                ("column",),
            ),
            "normalize": KeywordCase(
                True, "yes", {"source": K.tolist(), "matrix": True}, without=("column",)
            ),
            "transpose": KeywordCase(
                True,
                "yes",
                {"source": b"site,a,b\nx,1,2\ny,3,0\n", "type": "csv", "kind": "counts"},
                without=("column",),
            ),
            "on_error": KeywordCase(
                "skip", "ignore", {"source": [{"one": "a"}, {"one": 3}, {"one": "b"}]}
            ),
            "type": KeywordCase("csv", "pdf", {"source": b"one\na b\nc d\n"}, without=("column",)),
            "split": KeywordCase(
                "blank", 3, {"source": b"a b\nc d\n\ne f\n", "type": "txt"}, without=("column",)
            ),
            "encoding": KeywordCase(
                "cp1252", "utf-99", {"source": "café au lait\ndu thé".encode()}, without=("column",)
            ),
            "header": KeywordCase(
                False,
                "yes",
                {"source": b"1,2\n3,4\n5,7\n", "type": "csv"},
                {"header": True},
                ("column",),
            ),
            "index": KeywordCase(
                False,
                "yes",
                {"source": b"a,b\n1,2\n2,4\n3,7\n", "type": "csv"},
                {"index": True},
                ("column",),
            ),
            "comments": KeywordCase(
                True,
                "yes",
                {"source": b"# x y\na b\n# z\nc d\n", "type": "txt"},
                {"comments": False},
                ("column",),
            ),
            "skip_rows": KeywordCase(
                1, -1, {"source": b"one\nfour\na b\nc d\n", "type": "csv"}, without=("column",)
            ),
            "subfolders": KeywordCase(rejected=True),
            "file": KeywordCase(rejected="a.csv"),
        },
    ),
    "phrases": Call(
        phrases,
        {"texts": TEXTS},
        {
            "texts": KeywordCase(OTHER_TEXTS, "a b"),
            "other": KeywordCase(OTHER_TEXTS, "a b"),
            "groups": KeywordCase(LABELS, [1]),
            "prompts": KeywordCase(PROMPTS, "one prompt"),
            "ns": KeywordCase(1, 0),
            "tokenizer": KeywordCase(lambda text: text.split()[:-1] or ["z"], 3),
            "analyzer": KeywordCase("char", "line"),
            "on_error": KeywordCase("skip", "ignore", {"texts": [*TEXTS, ""]}),
            "q": KeywordCase(2, 0),
            "p": KeywordCase(WEIGHTS, [1.0]),
            "n_phrases": KeywordCase(1, 0),
            "min_texts": KeywordCase(3, 1),
            "permutations": KeywordCase(19, 3, {"other": OTHER_TEXTS}),
            "seed": KeywordCase(5, -1, {"other": OTHER_TEXTS}),
        },
    ),
    "sources": Call(
        sources,
        {"answers": TEXTS, "prompts": PAIRED, "by": LABELS, "k": "ngram_overlap"},
        {
            **similarity_cases(**SEVERAL_SETS_CASES),
            "answers": KeywordCase(OTHER_TEXTS, 3),
            "prompts": KeywordCase([0, 0, 1, 0, 1, 1, 0, 1], [1]),
            "by": KeywordCase([0, 0, 1, 1] * 2, [1]),
            "names": KeywordCase(
                ["new", "old"],
                ["new"],
                {"answers": [TEXTS, OTHER_TEXTS], "by": None, "prompts": None},
            ),
            "aligned": KeywordCase(
                False, "yes", {"answers": [TEXTS, OTHER_TEXTS], "by": None, "prompts": None}
            ),
            "given_prompt": KeywordCase(
                True, 3, {"prompts": ["a b", "c d", "v w", "q"] * 2, "by": [0] * 4 + [1] * 4}
            ),
            "q": KeywordCase(2, 0),
            "level": KeywordCase(0.9, 95),
            "psd": KeywordCase(rejected="maybe"),
            "k": KeywordCase("labels", "nonsense"),
            "score_X": KeywordCase(rejected=True, without=("k",)),
            "score_dual": KeywordCase(rejected=True, without=("k",)),
        },
        extra=SIMILARITY_OPTIONS,
    ),
    "report": Call(
        lambda **options: [(result := report(**options)).numbers, result.title],
        {"samples": UNIT, "k": "cosine"},
        {  # other keywords are read as for `compute`, by the same function
            "samples": KeywordCase(X + 1, 3),
            "references": KeywordCase(Y, Y[:, :2], {"measures": "MMD"}, {"references": X}),
            "title": KeywordCase("A title", 3),
            "q": KeywordCase(2, -1),
            "fit": KeywordCase(rejected="pool"),
            "details": KeywordCase(rejected=True),
        },
        public=report,
    ),
    "spectrum": Call(
        spectrum,
        {"similarity": as_similarity(UNIT, k="cosine")},
        {
            "similarity": KeywordCase(as_similarity(X + 1, k="rbf"), UNIT),
            "p": KeywordCase(np.array(WEIGHTS), None if False else "half"),
            "psd": KeywordCase("clip", "maybe", {"similarity": MatrixSimilarity(CHAIN)}),
        },
    ),
    "effective_number": Call(
        effective_number,
        {"shares": [0.5, 0.3, 0.2]},
        {"shares": KeywordCase([1.0], [2]), "q": KeywordCase(2, -1)},
    ),
    "score_batches": Call(
        score_batches,
        {"batches": BATCHES, "column": "row", "k": "cosine"},
        similarity_cases(
            batches=KeywordCase([{**BATCHES[0], "row": Y.tolist()}], 3),
            column=KeywordCase("unit", "nonsense", {"score_X": True}, {}, ("k",)),
            groups=KeywordCase("set", "nonsense"),
            prompts=KeywordCase("prompt", "nonsense"),
            given_prompt=KeywordCase(True, 3, {"column": "text", "prompts": "prompt"}, {}, ("k",)),
            q=KeywordCase(2, -1),
            psd=KeywordCase("clip", "maybe", {"k": uneven, "column": "label", "groups": "one"}),
            ci=KeywordCase(0.9, 95, {"groups": "set"}),
            details=KeywordCase(True, "yes"),
            k=KeywordCase("rbf", "nonsense", {"groups": "set"}),
            score_K=KeywordCase(rejected=True, without=("k",)),
            score_X=KeywordCase(
                True, "yes", {"column": "unit", "groups": "set"}, {"k": "rbf"}, ("k",)
            ),
            score_dual=KeywordCase(
                True, "yes", {"column": "unit", "groups": "set"}, {"k": "rbf"}, ("k",)
            ),
            normalize=KeywordCase(True, "yes", {"score_X": True}, {}, ("k",)),
            on_error=KeywordCase("skip", "ignore", {"column": "zero"}),
        ),
        extra=SIMILARITY_OPTIONS,
    ),
    "select_batches": Call(
        select_batches,
        {"batches": BATCHES, "column": "row", "size": 3, "k": "cosine"},
        similarity_cases(
            batches=KeywordCase([{**BATCHES[0], "row": Y.tolist()}], 3),
            column=KeywordCase("unit", "nonsense", {"score_X": True}, {}, ("k",)),
            size=KeywordCase(4, 100),
            keep=KeywordCase(["text"], ["nonsense"]),
            q=KeywordCase(2, 3),
            k=KeywordCase("cosine", "nonsense", {}, {"k": None, "score_X": True}),
            score_K=KeywordCase(rejected=True, without=("k",)),
            score_X=KeywordCase(True, "yes", {"column": "unit"}, {"score_X": False}, ("k",)),
            score_dual=KeywordCase(True, "yes", {"column": "unit"}, {"score_dual": False}, ("k",)),
            normalize=KeywordCase(True, "yes", {"score_X": True}, {}, ("k",)),
            prompts=KeywordCase(rejected=PROMPTS),
            given_prompt=KeywordCase(rejected=True),
            on_error=KeywordCase("skip", "ignore", {"column": "zero"}),
        ),
        extra=SIMILARITY_OPTIONS,
    ),
    "GroupState": Call(
        grouped_state,
        {"column": "row", "groups": "set", "k": "cosine"},
        similarity_cases(
            column=KeywordCase("unit", 3, {"k": "rbf"}),
            groups=KeywordCase("prompt2", 3),
            prompts=KeywordCase("prompt2", 3),
            given_prompt=KeywordCase(
                True, 3, {"column": "text", "prompts": "prompt"}, {}, ("k", "groups")
            ),
            q=KeywordCase(2, -1),
            psd=KeywordCase("clip", "maybe", {"k": uneven, "column": "label", "groups": "one"}),
            k=KeywordCase("rbf", "nonsense"),
            score_K=KeywordCase(rejected=True, without=("k",)),
            score_X=KeywordCase(True, "yes", {"column": "unit"}, {"k": "rbf"}, ("k",)),
            score_dual=KeywordCase(True, "yes", {"column": "unit"}, {"k": "rbf"}, ("k",)),
            normalize=KeywordCase(True, "yes", {"score_X": True}, {}, ("k",)),
            on_error=KeywordCase("skip", "ignore", {"column": "zero"}),
        ),
        public=GroupState,
        extra=SIMILARITY_OPTIONS,
    ),
    "GroupState.compute": Call(
        lambda **options: (
            GroupState("row", groups="set", k="cosine").update(BATCHES[0]).compute(**options)
        ),
        {},
        {"ci": KeywordCase(0.9, 95), "details": KeywordCase(True, "yes")},
        public=partial(GroupState.compute, None),
    ),
    "Monitor": Call(
        monitor_answers,
        {"size": 4},
        {
            "baseline": KeywordCase(2.0, 5.0),
            "size": KeywordCase(5, 1, {"answers": 2.0}, {"size": 4}),
            "bounds": KeywordCase((1, 5), (1, 0), {"answers": 2.0}, {"size": 4}, ("size",)),
            "alpha": KeywordCase(0.1, 1.0),
            "width": KeywordCase(5.0, 0),
            "q": KeywordCase(2, -1),
            "k": KeywordCase("labels", "nonsense"),
        },
        public=Monitor,
    ),
    "State": Call(
        lambda samples=UNIT, **options: State(**options).update(samples),
        {"k": "cosine"},
        {
            **similarity_cases(),
            "k": KeywordCase("cosine", "nonsense", {"samples": X}, {"k": None, "score_X": True}),
            "score_K": KeywordCase(rejected=True, without=("k",)),
            "score_X": KeywordCase(True, "yes", {}, {"score_X": False}, ("k",)),
            "score_dual": KeywordCase(True, "yes", {}, {"score_dual": False}, ("k",)),
            "normalize": KeywordCase(True, "yes", {"samples": X, "score_X": True}, {}, ("k",)),
            "prompts": KeywordCase(rejected=PROMPTS),
            "given_prompt": KeywordCase(rejected=True),
        },
        public=State,
        extra=SIMILARITY_OPTIONS,
    ),
    "State.update": Call(
        lambda **options: State(k="cosine").update(**options),
        {"batch": X},
        {
            "batch": KeywordCase(Y, 3),
            "p": KeywordCase(WEIGHTS, [1.0]),
            "prompts": KeywordCase(rejected=PROMPTS),
            "given_prompt": KeywordCase(True, 3, {"prompts": ROWS}),
        },
        public=partial(State.update, None),
    ),
    "State.compute": Call(
        lambda **options: State(k="cosine").update(X).compute(**options),
        {},
        {
            "q": KeywordCase(2, -1),
            "psd": KeywordCase(rejected="maybe"),
            "details": KeywordCase(True, "yes"),
        },
        public=partial(State.compute, None),
    ),
    "State.novelty": Call(
        lambda **options: State(k="cosine").update(X).novelty(**options),
        {"samples": Y},
        {"samples": KeywordCase(X, 3), "q": KeywordCase(2, 3)},
        public=partial(State.novelty, None),
    ),
    "mag_area": Call(
        mag_area,
        {"samples": X},
        {
            **MAGNITUDE,
            "samples": KeywordCase(Y[:5], 3),
            "n_scales": KeywordCase(7, 1),
            "epsilon": KeywordCase(0.2, 1),
            "t_cut": KeywordCase(3.0, -1),
            "average": KeywordCase(True, "yes"),
        },
        extra=SIMILARITY_OPTIONS | {"solver"},
    ),
    "mag_areas": Call(
        mag_areas,
        {"sets": [X, Y]},
        {
            **MAGNITUDE,
            "sets": KeywordCase([X, Y[:5]], 3),
            "n_scales": KeywordCase(7, 1),
            "epsilon": KeywordCase(0.2, 1),
            "t_cut": KeywordCase(3.0, -1),
            "average": KeywordCase(True, "yes"),
            "fit": KeywordCase("references", "none", {"k": "rbf"}),
            "score_X": KeywordCase(True, "yes", {"sets": [UNIT, UNIT]}, {"metric": "manhattan"}),
            "score_dual": KeywordCase(True, "yes", {"sets": [UNIT, UNIT]}, {"metric": "manhattan"}),
            "score_K": KeywordCase(True, "yes", {"sets": [K, K]}, {"metric": "euclidean"}),
            "normalize": KeywordCase(True, "yes", {"sets": [2 * K, 2 * K], "score_K": True}),
            "on_error": KeywordCase("skip", "ignore", {"sets": [ZERO, ZERO], "k": "cosine"}),
            "given_prompt": KeywordCase(rejected=3),
        },
        extra=SIMILARITY_OPTIONS | {"solver"},
    ),
    "mag_diff": Call(
        mag_diff,
        {"samples": X, "references": Y},
        {
            **MAGNITUDE,
            "samples": KeywordCase(Y[:5], 3),
            "references": KeywordCase(X[:5], 3),
            "n_scales": KeywordCase(7, 1),
            "epsilon": KeywordCase(0.2, 1),
            "t_cut": KeywordCase(3.0, -1),
            "average": KeywordCase(True, "yes"),
            "relative": KeywordCase(True, "yes"),
            "absolute": KeywordCase(True, "yes", {"samples": X * 5, "references": CROSSING}),
            "fit": KeywordCase("samples", "none", {"k": "rbf"}),
            "score_X": KeywordCase(
                True, "yes", {"samples": UNIT, "references": UNIT[:5]}, {"metric": "manhattan"}
            ),
            "score_dual": KeywordCase(
                True, "yes", {"samples": UNIT, "references": UNIT[:5]}, {"metric": "manhattan"}
            ),
            "score_K": KeywordCase(
                True, "yes", {"samples": K, "references": np.eye(4)}, {"metric": "precomputed"}
            ),
            "normalize": KeywordCase(
                True, "yes", {"samples": 2 * K, "references": 2 * np.eye(4), "score_K": True}
            ),
            "on_error": KeywordCase("skip", "ignore", {"samples": ZERO, "k": "cosine"}),
            "given_prompt": KeywordCase(rejected=3),
        },
        extra=SIMILARITY_OPTIONS | {"solver"},
    ),
    "magnitude_function": Call(
        magnitude_function,
        {"samples": X},
        {**MAGNITUDE, **SCALES, "samples": KeywordCase(Y, 3), "t_cut": KeywordCase(3.0, -1)},
        extra=SIMILARITY_OPTIONS | {"solver"},
    ),
    "magnitude_dimension": Call(
        magnitude_dimension,
        {"samples": X},
        {**MAGNITUDE, **SCALES, "samples": KeywordCase(Y, 3)},
        extra=SIMILARITY_OPTIONS | {"solver"},
    ),
    "magnitude_weights": Call(
        magnitude_weights,
        {"samples": X},
        {**MAGNITUDE, "samples": KeywordCase(Y, 3), "t": KeywordCase(2.0, -1)},
        extra=SIMILARITY_OPTIONS | {"solver"},
    ),
    "spread": Call(
        spread,
        {"samples": X},
        {**MAGNITUDE, "samples": KeywordCase(Y, 3), "t": KeywordCase(2.0, -1)},
        extra=SIMILARITY_OPTIONS | {"solver"},
    ),
    "convergence_scale": Call(
        convergence_scale,
        {"samples": X},
        {**MAGNITUDE, "samples": KeywordCase(Y, 3), "epsilon": KeywordCase(0.2, 1)},
        extra=SIMILARITY_OPTIONS | {"solver"},
    ),
    "encoder": Call(
        lambda **options: encoder(**options).encode(TEXTS),
        {"model": first_letters},
        {
            "model_path": KeywordCase(rejected="/no/such/folder"),
            "kind": KeywordCase(rejected="sound"),
            "model": KeywordCase(lengths, 3),
            "tokenizer": KeywordCase(rejected=len),
            "transform": KeywordCase(rejected=len),
            "pooling": KeywordCase(rejected="mean"),
            "batch_size": KeywordCase(rejected=0, keeps=2),
            "max_length": KeywordCase(rejected=2),
            "device": KeywordCase(rejected="cpu"),
            "half": KeywordCase(rejected=True),
            "revision": KeywordCase(rejected="main"),
            "cache": KeywordCase(rejected="folder"),
        },
        public=encoder,
    ),
    "get_kernel": Call(get_kernel, {"name": "rbf"}, {"name": KeywordCase("cosine", "nonsense")}),
    "load": Call(
        lambda **options: load(**options).compute(samples=TEXTS),
        {"name": "vendiscore"},
        {
            "name": KeywordCase("magnitude", "nonsense", {"t": None}),
            "config_name": KeywordCase(keeps="text", rejected=3),
            "q": KeywordCase([2], -1),
        },
        public=load,
        extra=frozenset({"q"}),
    ),
    "register_kernel": Call(
        build_registration_call(register_kernel, kernels_module._kernels.registrations),
        {"name": "of_a_row", "samples": "text", "source": "this test"},
        {
            "name": KeywordCase("other_row", "rbf"),
            "samples": KeywordCase("vectors", keeps=NOT_TESTED),
            "source": KeywordCase("another test"),
            "psd": KeywordCase(False),
            "needs": KeywordCase("text"),
            "fit": KeywordCase(lambda samples, *, option=1: {"option": 2}),
            "rows": KeywordCase(True),
            "label": KeywordCase("A label"),
            "term": KeywordCase("a term"),
            "by": KeywordCase("a word"),
            "controls": KeywordCase((Control("size", "size", "number", 1),)),
            "repeats": KeywordCase(True),
            "content": KeywordCase(("sequences",)),
        },
        public=register_kernel,
    ),
    "register_measure": Call(
        build_registration_call(register_measure, measures_module._measures.registrations),
        {"name": "OfARow", "needs": "samples", "range": "[0, 1]", "source": "this test"},
        {
            "name": KeywordCase("OtherRow", "VS"),
            "needs": KeywordCase("scores"),
            "range": KeywordCase("[0, 2]", "from 0"),
            "source": KeywordCase("another test"),
            "direction": KeywordCase("lower"),
            "weighted": KeywordCase(True),
            "ordered": KeywordCase(True),
            "references": KeywordCase(True),
            "readers": KeywordCase({"option": int}),
            "groups": KeywordCase(True),
            "aspect": KeywordCase("likeness"),
            "pooled": KeywordCase(True),
            "references_without": KeywordCase("option"),
            "stacks": KeywordCase(True),
            "kernel_options": KeywordCase({"rbf": ["sigma"]}),
        },
        public=register_measure,
    ),
    "MatrixSimilarity": Call(
        MatrixSimilarity,
        {"K": K},
        {
            "K": KeywordCase(np.eye(3), "matrix"),
            "psd": KeywordCase(True),
            "settings": KeywordCase({"kernel": "mine"}),
        },
    ),
    "FeatureSimilarity": Call(
        FeatureSimilarity,
        {"X": UNIT},
        {"X": KeywordCase(np.eye(3), "rows"), "settings": KeywordCase({"kernel": "mine"})},
    ),
    "RowsSimilarity": Call(
        RowsSimilarity.of_rows,
        {"X": UNIT, "k": lambda A, B: A @ B.T},
        {
            "X": KeywordCase(np.eye(3)),
            "k": KeywordCase(lambda A, B: (A @ B.T) ** 3),
            "psd": KeywordCase(True),
            "settings": KeywordCase({"kernel": "mine"}),
        },
    ),
    "SumSimilarity": Call(
        SumSimilarity,
        {"parts": [MatrixSimilarity(K), MatrixSimilarity(np.eye(8))], "weights": [0.5, 0.5]},
        {
            "parts": KeywordCase([MatrixSimilarity(K), MatrixSimilarity(K)], [3, 4]),
            "weights": KeywordCase([0.1, 0.9], [1]),
        },
    ),
    "ProductSimilarity": Call(
        ProductSimilarity,
        {"parts": [MatrixSimilarity(K), MatrixSimilarity(np.eye(8))]},
        {"parts": KeywordCase([MatrixSimilarity(K), MatrixSimilarity(K)], [3, 4])},
    ),
}
# Public names without keywords, or that only the library calls.
WITHOUT_KEYWORDS = {
    "AmbiguousInputError",
    "BatchSelection",
    "IndefiniteError",
    "MissingPackageError",
    "NotPSDError",
    "ReadResult",
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
# Calls in which one argument once had no effect because of another argument.
CONFLICTING_CALLS = {
    "report, references that no measure uses": lambda: report(TEXTS, OTHER_TEXTS),
    "report, a path": lambda: report(TEXTS, "r.html"),
    "compute, a measure of texts and k": lambda: compute(
        TEXTS, measures="CompressionRatio", k="labels"
    ),
    "compute, a measure of texts and ns": lambda: compute(TEXTS, measures="NgramDiversity", ns=[2]),
    "report, a measure of texts and k": lambda: report(
        TEXTS, measures="CompressionRatio", k="labels"
    ),
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
KEYWORD_CASES = [(name, keyword) for name, call in CALLS.items() for keyword in call.cases]


def outcome(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Return the result of a call, or the name of the raised exception."""
    try:
        return round_values(function(**arguments))
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}"


pytest.importorskip("evaluate")  # for `load`
pytest.importorskip("pyarrow")  # for batches


def test_every_public_name_has_keyword_table() -> None:
    tables = {name.partition(".")[0] for name in CALLS}
    assert tables | WITHOUT_KEYWORDS == set(vendiscore.__all__)
    assert not tables & WITHOUT_KEYWORDS


@pytest.mark.parametrize("name", CALLS)
def test_every_keyword_has_test_case(name: str) -> None:
    call = CALLS[name]
    covered = set(call.cases) | {"sets", "samples"}
    assert call.keywords() <= covered, call.keywords() - covered


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "keyword"), KEYWORD_CASES)
def test_keyword_changes_result_or_is_rejected(name: str, keyword: str) -> None:
    call = CALLS[name]
    case = call.cases[keyword]
    arguments = call.arguments(case)
    assert any(value is not NOT_TESTED for value in (case.changes, case.keeps, case.rejected))
    if case.changes is not NOT_TESTED:
        default_result = outcome(call.function, arguments | dict(case.base))
        result = round_values(call.function(**arguments | {keyword: case.changes}))
        assert result != default_result
    if case.keeps is not NOT_TESTED:
        default_result = round_values(call.function(**arguments | dict(case.base)))
        assert round_values(call.function(**arguments | {keyword: case.keeps})) == default_result
    if case.rejected is not NOT_TESTED:
        with pytest.raises((TypeError, ValueError, OSError)):
            call.function(**arguments | {keyword: case.rejected})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CONFLICTING_CALLS)
def test_argument_without_effect_is_rejected(name: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        CONFLICTING_CALLS[name]()
