"""Calls that new users guess: they run, or the error contains a hint."""

import importlib
import inspect
import pickle
import re
import traceback
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import vendiscore
import vendiscore as v
from vendiscore import Similarity, State, get_kernel, list_kernels, list_measures
from vendiscore.measures.measure import get_measure
from vendiscore.resolve.kernel import NAMED_MODELS
from vendiscore.resolve.presets import PRESETS
from vendiscore.resolve.similarity_spec import KERNEL_METRICS
from vendiscore.similarity.metrics import METRICS
from vendiscore.support.suggestions import (
    accepts_value,
    describe_parameters,
    normalize_name,
    replacement_hint,
    suggest_name,
)
from vendiscore.support.synonyms import ELSEWHERE, SYNONYMS, NameKind
from vendiscore.tools.cli.parser import COMMANDS, build_parser
from vendiscore.tools.selection.select_samples import OBJECTIVES

pd = pytest.importorskip("pandas")

WORDS = ["one", "two", "red", "blue", "green", "big", "small", "old", "new", "hot", "cold", "dry"]
ta = [f"a {word} cat sat on {i % 7} of {i % 5}" for i, word in enumerate(WORDS * 2)]
tb = [f"the {word} dog ran to {i % 3}" for i, word in enumerate(WORDS * 2)]
X = np.random.default_rng(0).normal(size=(20, 4))
K = np.exp(-abs(X[:, :1] - X[:, 0]))
A = pd.DataFrame({"prompt_id": np.arange(24) // 4, "answer": ta})
B = A.assign(answer=tb)
SMILES = ["CCO", "CCN", "c1ccccc1"]
_rng = np.random.default_rng(0)
ab = [" ".join(_rng.choice(["a", "b"], _rng.integers(2, 8))) for _ in range(80)]
NEAR_DUPLICATES_HINT = "explain(samples).groups lists near-duplicates"
SCORE_HINT = "compute(samples) returns the Vendi Score in a dict, score(samples) as a number"
BY_GROUP = 'for _, g in {}.groupby("prompt_id").answer'
LISTS = ", ".join(f"[list(g) {BY_GROUP.format(name)}]" for name in "AB")
NO_KERNEL_HINT = "pass k='cosine', k='rbf' or another vector kernel, score_X=True"

# A call, and a part of its error message; "" if the call runs.
GUESSED_CALLS = {
    "v.__version__": "",
    "v.vendi_score(ta)": SCORE_HINT,
    "v.score(ta)": "",
    "v.compute(ta)": "",
    "v.compute(X)": NO_KERNEL_HINT,
    'v.compute(X, kernel="cosine")': "Did you mean `k`?",
    'v.compute(X, metric="cosine")': "pass k='cosine' instead",
    'v.compute(X, k="cosine")': "",
    'v.compute(X, k="gaussian")': "Did you mean 'rbf'?",
    'v.compute(X, k="euclidean")': "Distances become similarities with k='rbf'",
    'v.compute(K, k="precomputed")': "passed with score_K=True instead of `k`",
    "v.compute(K, precomputed=True)": "A similarity matrix is passed as the samples",
    "v.compute(K, score_K=True)": "",
    "v.score_X(X)": "",
    "v.score(X)": NO_KERNEL_HINT,
    'v.score(X, k="cosine")': "",
    "v.compare(ta, tb, permutations=19)": "",
    'v.compare({"model-a": ta, "model-b": tb}, permutations=19)': "",
    "v.compare(model_a=ta, model_b=tb)": "compare({'model_a': model_a, 'model_b': model_b})",
    "v.compare(ta, tb, groups=list(A.prompt_id))": "groups=[labels_a, labels_b]",
    f"v.compare({LISTS}, permutations=19)": "",
    'v.compute(A, column="answer")': "Pass the column as the samples",
    'v.compute(A["answer"])': "",
    'v.compute(A["answer"], groups=A["prompt_id"])': "",
    "v.compute(ta, ci=True)": "a level such as 0.95",
    "v.compute(ta, ci=0.95)": "",
    "v.compute(ta, confidence=0.95)": "Did you mean `ci`?",
    "v.duplicates(ta)": NEAR_DUPLICATES_HINT,
    "v.near_duplicates(ta)": NEAR_DUPLICATES_HINT,
    "v.find_duplicates(ta)": NEAR_DUPLICATES_HINT,
    "v.deduplicate(ta)": NEAR_DUPLICATES_HINT,
    "v.explain(ta)": "",
    "v.select(ta, 5)": "",
    "v.select(ta, n=5)": "is required; use select(samples, size=5)",
    "v.select(ta, k=5)": "is required; use select(samples, size=5)",
    "v.subset(ta, 5)": "Did you mean `select`?",
    "v.VendiScore()": SCORE_HINT,
    "v.kernels": "",
    "v.list_kernels()": "",
    "v.available_kernels()": "Did you mean `list_kernels`?",
    "v.kernels()": "list_kernels() lists all",
    "v.list_measures()": "",
    "v.measures()": "list_measures() lists all",
    "v.report(ta)": "",
    "v.plot(ta)": "compare(a, b).plot(), growth(samples).plot()",
    "v.compare(ta, tb, permutations=19).plot()": "",
    "v.growth(ta).plot()": "",
    'v.compute(ta, k="meaning")': "Did you mean k='semantic', or k='static' w",
    'v.compute(ta, k="a/b", model=len)': "`k='a/b'` and `model` both specify a model",
    'v.compute(ta, k="bert")': "Did you mean 'text_embeddings'?",
    'v.compute(ta, k="embeddings")': "k='text_embeddings' embeds texts",
    'v.compute(ta, k="ngrams")': "Did you mean 'ngram_overlap'?",
    'v.compute(ta, k="ngram")': "Did you mean 'ngram_overlap'?",
    'v.compute(ab, k="bleu")': "pass psd='clip'",
    'v.compute(SMILES, k="smiles")': "Did you mean 'morgan'?",
    'v.compute(SMILES, k="ecfp")': "Did you mean 'morgan'?",
    'v.compute(SMILES, k="morgan")': "",
    'v.compute(SMILES, k="molecules")': "Did you mean 'morgan'?",
    'v.compute(X, references=X+.1, measures="generative", k="cosine")': "",
    'v.compute(X, references=X+.1, measures=["precision"], k="cosine")': "mean 'Precision'?",
    'v.compute(X, X+.1, measures="generative", k="cosine")': "",
    "v.precision_recall(X, X+.1)": "measures=['Precision', 'Recall']",
    'v.compute(X, k="cosine", q=float("inf"))': "",
    'v.compute(X, k="cosine", q="inf")': "",
    'v.compute(X, k="cosine", order=2)': "Did you mean `q`?",
    'v.compute(X, k="cosine", seed=0)': "This call uses no random numbers",
    'v.compute(X, k="cosine", device="cpu")': "scored on their own device",
    'v.compute(X, k="cosine", verbose=True)': "A progress bar is shown automatically",
    'v.compute(X, k="cosine", weights=np.ones(20)/20)': "Did you mean `p`?",
    'v.compute(X, k="rbf", gamma=1.0)': "Pass sigma=1/sqrt(2·gamma) with k='rbf'",
    'v.compute(X, k="rbf", sigma=1.0)': "",
    'v.compute(X, k="rbf", bandwidth=1.0)': "Did you mean `sigma`?",
    "v.compute([])": "pass at least one sample",
    'v.compute(["a cat"])': "",
    'v.compute("a cat")': "pass ['a cat', …]",
    "v.compute(ta, k=lambda a,b: float(a==b))": "",
    "v.effective_number(ta)": "use score(samples) for samples",
    "v.diversity(ta)": SCORE_HINT,
    "v.help": "help(compute) describes the main function",
}
# Further calls that once had a misleading hint.
FURTHER_CALLS = {
    "v.compute(ta, seed=0)": "This call uses no random numbers",
    "v.compute(ta, random_state=0)": "This call uses no random numbers",
    'v.compute(X, k="rbf", seed=0)': "This call uses no random numbers",
    'v.compute(ta, columns=4096, analyzer="word")': "Pass the column as the samples",
    'State.empty(k="rbf", sigma=1.0, n_features=9)': "is not an option of kernel 'rbf'",
    'v.compute(ta, method="estimate", random_state=0)': "Did you mean `seed`?",
    "v.compare(ta, tb, random_state=0)": "Did you mean `seed`?",
    "v.compare(ta, tb, ci=0.9)": "Did you mean `level`?",
    "v.compute(ta, level=0.9)": "Did you mean `ci`?",
    "v.compute(ta, n=3)": "Did you mean `ns`?",
    "v.compute(X, k='cosine', n=3)": "use select(samples, size=5)",
    "v.explain(ta, top=3)": "use select(samples, size=5)",
    "v.select(ta, top_k=3)": "use select(samples, size=5)",
    "v.select(ta)": "is required; use select(samples, size=5)",
    "v.compute(ta, gamma=1)": "Pass sigma=1/sqrt(2·gamma) with k='rbf'",
    "v.compute(ta, bandwidth=1)": "`sigma`? It is an option of 'laplacian', 'rbf'",
    'v.compute(X, k="cosine", epsilom=1)': "is not an option of kernel 'cosine'",
    "v.compute(ta, n_scale=3)": "`n_scales`? It is an option of MagArea",
    'v.compute(K, metric="precomputed")': "pass a similarity matrix with score_K=True",
    'v.compute(X, metric="euclidean")': "pass k='rbf' instead",
    "v.compute(ta, by=[0] * 24)": "compare(samples, by=labels)",
    "v.score(X, X)": "and a second set as `references` of compute",
    "v.compute(X, k=K)": "pass a similarity matrix as the samples with score_K=True",
    "v.compare(ta, ns=[1, 2])": "compare requires at least two sets",
    'v.compute(ta, k="cosine_similarity")': "Did you mean 'cosine'?",
    'v.compute(ta, k="dinov2")': "Did you mean k='facebook/dinov2-base'?",
    'v.compute(ta, k="tfidf")': "Did you mean 'ngram_overlap'?",
    'v.compute(ta, measures="fid")': "'KID' and 'MMD'",
    "v.effective_number(X)": "score_K(K)",
    'v.effective_number(np.array(["a"]))': "score(samples)",
    "v.vendi": SCORE_HINT,
    'v.compute(X, "cosine")': "to use a kernel, pass it as `k`",
    'v.compute(ta, "bleu")': "to use a kernel, pass it as `k`",
    "v.compute(ta, cosine=True)": "'cosine' is a kernel; pass k='cosine'",
    "v.conditional_score(ta, ta, order=2)": "Did you mean `q`?",
    "v.compute(ta, dedup=True)": "explain(samples).kept",
    'v.compute(ta, measures={"VS": {"order": 2}})': "not an option of measure 'VS'.",
    "v.score_K(K, psd='clip')": "compute(K, score_K=True, psd='clip')",
    "v.explian": "Did you mean `explain`?",
    "v.score(ta, embedder=len)": "Pass k='text_embeddings' or",
    "v.score(ta, ngram=2)": "Did you mean `ns`?",
    "v.compute(X, measures='magnitude')": "Did you mean 'Magnitude'?",
    "v.compute(X, k='cosine', standardize=True)": "(X - X.mean(0)) / X.std(0)",
    "v.compare(ta, tb, paired=True)": "compare uses a permutation test",
    "v.per_prompt(ta, ta)": "compute(answers, groups=prompts)",
    "v.coverage(ta, tb)": "pass measures='Coverage'",
    "v.bootstrap(ta)": "compute(samples, ci=0.95)",
    "v.select_diverse(ta, 3)": "Did you mean `select`?",
    'v.score({"ours": ta, "theirs": tb})': "to compare named sets, use compare(…)",
    "v.compute(ta, references=tb)": "`references` have no effect on VS",
    "v.compute(ta, measures='NgramDiversity', n=2)": "Did you mean `sizes`?",
    "v.compute(ta, measures='NgramDiversity', ns=[2])": "pass `sizes` instead",
    "v.compute(ta, measures='NgramDiversity', sizes=[2])": "",
    "v.compute(ta, measures='NgramDiversity', k='labels')": "`k` has no effect on NgramDiversity",
    "v.compute(ta, measures='distinct_n')": "measures='NgramDiversity' with sizes=[2]",
    "v.compute(ta, measures='distinct')": "measures='NgramDiversity' with sizes=[2]",
    "v.distinct_n(ta)": "measures='NgramDiversity' with sizes=[2]",
}


@pytest.mark.filterwarnings("ignore:intervals have width 0")
@pytest.mark.parametrize(("call", "hint"), (GUESSED_CALLS | FURTHER_CALLS).items())
def test_guessed_call_runs_or_raises_error_with_hint(call: str, hint: str) -> None:
    pytest.importorskip("rdkit" if "SMILES" in call else "numpy")
    pytest.importorskip("matplotlib" if "plot()" in call or "report" in call else "numpy")
    if not hint:
        assert eval(call) is not None
        return
    with pytest.raises((TypeError, ValueError, AttributeError)) as caught:
        eval(call)
    assert hint in str(caught.value)


def cosine_of_rows(A: Any, B: Any) -> Any:
    """A function of two matrices, like `cosine_similarity` of scikit-learn."""
    if np.ndim(A) != 2 or np.ndim(B) != 2:
        raise ValueError("Expected 2D array, got 1D array instead")
    norms = [np.linalg.norm(np.asarray(x), axis=1) for x in (A, B)]
    return np.asarray(A) @ np.asarray(B).T / np.outer(*norms)


def cosine_similarity(A: Any, B: Any) -> Any:
    return cosine_of_rows(A, B)


def dots_of_rows(A: Any, B: Any) -> Any:
    return cosine_of_rows(A, B) * 4


def distances_of_rows(A: Any, B: Any) -> Any:
    return 1 - cosine_of_rows(A, B)


D = abs(X[:, None] - X).sum(2)
LABELS = [i % 3 for i in range(20)]
WEIGHTS = [10, 5, 1]
ANSWERS = {"p1": ta[:12], "p2": ta[12:]}
COUNTS = Counter("aabcc")
SITES = pd.DataFrame(_rng.poisson(3, (4, 6)), columns=list("abcdef"))
MESSAGES = [{"role": role, "content": text} for text in ta for role in ("user", "assistant")]
PIPELINE_OUTPUTS = [[{"generated_text": text}, {"generated_text": text[2:]}] for text in ta]
OUTPUTS = [SimpleNamespace(text=text) for text in ta]
TOKEN_IDS = [[1, 2, 3], [4, 5], [1, 2]]
# A call, a suggestion in its error message, and a call that applies the suggestion.
SUGGESTED_CALLS = [
    (
        "v.compute(MESSAGES)",
        "[m['content'] for m in messages if m['role'] == 'assistant']",
        "v.compute([m['content'] for m in MESSAGES if m['role'] == 'assistant'])",
    ),
    (
        "v.compute(MESSAGES[1::2])",
        "the texts of the messages: [m['content'] for m in messages]",
        "v.compute([m['content'] for m in MESSAGES[1::2]])",
    ),
    (
        "v.compute(PIPELINE_OUTPUTS)",
        "[[item['generated_text'] for item in group] for group in samples]",
        "v.compute([[item['generated_text'] for item in group] for group in PIPELINE_OUTPUTS])",
    ),
    ("v.compute(OUTPUTS)", "[sample.text for sample in", "v.compute([s.text for s in OUTPUTS])"),
    (
        "v.compute(np.eye(3), score_K=True, p=WEIGHTS)",
        "pass np.divide(p, sum(p))",
        "v.compute(np.eye(3), score_K=True, p=np.divide(WEIGHTS, sum(WEIGHTS)))",
    ),
    (
        "v.compute(np.eye(3), score_K=True, p=np.array(WEIGHTS))",
        "pass p / p.sum()",
        "v.compute(np.eye(3), score_K=True, p=np.array(WEIGHTS) / np.array(WEIGHTS).sum())",
    ),
    (
        "v.compute([ta[:2], ta[2:3]], p=[[1, 2], [3]])",
        "each weight divided by the sum of all weights",
        "v.compute([ta[:2], ta[2:3]], p=[[1 / 6, 2 / 6], [3 / 6]])",
    ),
    *(
        (call, "D.max() * compute(1 - D / D.max(), score_K=True, measures='IntDiv', p=p)", "v")
        for call in ("v.rao(D)", "v.compute(D, measures='RaoQ')")
    ),
    (
        "v.compute(ANSWERS)",
        "for the mean over its 2 lists, use compute(list(samples.values())); otherwise pass",
        "v.compute(list(ANSWERS.values()))",
    ),
    ("v.score({'text': ta})", "pass samples['text']; otherwise", "v.score({'text': ta}['text'])"),
    (
        "v.compute(dict(COUNTS))",
        "use compute(counts=list(samples.values()))",
        "v.compute(counts=list(dict(COUNTS).values()))",
    ),
    (
        "v.compute(counts=COUNTS)",
        "use compute(counts=list(counts.values()))",
        "v.compute(counts=list(COUNTS.values()))",
    ),
    (
        "v.effective_number(COUNTS)",
        "use compute(counts=list(shares.values()))",
        "v.compute(counts=list(COUNTS.values()))",
    ),
    (
        "v.compute(X, LABELS, k='cosine')",
        "pass one label per sample as `groups`",
        "v.compute(X, groups=LABELS, k='cosine')",
    ),
    ("v.compute(X, y=LABELS, k='cosine')", "`groups`: Score each group separately", "v"),
    (
        "v.compute(SITES)",
        "pass a table of counts (one row per site, one column per species) as in "
        "compute(counts=df); for other samples, pass k='cosine'",
        "v.compute(counts=SITES)",
    ),
    ("v.compute(SITES.to_numpy().tolist())", "compute(counts=df); for other samples", "v"),
    *(
        (f"v.{name}_diversity(SITES)", f"compute(counts=df{measure})", f"v.compute({call})")
        for name, measure, call in (
            ("alpha", "", "counts=SITES"),
            ("beta", ", measures='BetweenVS'", "counts=SITES, measures='BetweenVS'"),
            ("gamma", ", measures='TotalVS'", "counts=SITES, measures='TotalVS'"),
        )
    ),
    (
        "v.compute(X, k=cosine_similarity)",
        "cosine_similarity is a function of two matrices; pass k='cosine', or use "
        "compute(cosine_similarity(X, X), score_K=True)",
        "v.compute(cosine_similarity(X, X), score_K=True)",
    ),
    (
        "v.compute(X.tolist(), k=cosine_of_rows)",
        "two matrices; use compute(cosine_of_rows(X, X), score_K=True)",
        "v.compute(cosine_of_rows(X, X), score_K=True)",
    ),
    (
        "v.compute(X, k=dots_of_rows)",
        "compute(dots_of_rows(X, X), score_K=True, normalize=True)",
        "v.compute(dots_of_rows(X, X), score_K=True, normalize=True)",
    ),
    (
        "v.compute(A.groupby('prompt_id')['answer'])",
        "use compute(df['answer'], groups=df['prompt_id'])",
        "v.compute(A['answer'], groups=A['prompt_id'])",
    ),
    ("v.compute(A.groupby('prompt_id'))", "compute(df[column], groups=df['prompt_id'])", "v"),
    (
        "v.compute(A.groupby(A.prompt_id).answer)",
        "use compute(df['answer'], groups=labels) with one label per sample",
        "v.compute(A['answer'], groups=list(A.prompt_id))",
    ),
    ("v.compute(TOKEN_IDS)", "pass k='tags' to compare lists", "v.compute(TOKEN_IDS, k='tags')"),
    ("v.select(ta, 0.25)", "for a fraction of 0.25, pass size=6", "v.select(ta, size=6)"),
    ("v.select(ta, size=0.01)", "for a fraction of 0.01, pass size=1", "v.select(ta, size=1)"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "hint", "suggested_call"), SUGGESTED_CALLS)
def test_suggested_call_runs(call: str, hint: str, suggested_call: str) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError)) as caught:
        eval(call)
    assert hint in str(caught.value)
    assert eval(suggested_call) is not None


# Calls with similar arguments, and a suggestion that does not apply to them.
OTHER_CALLS = {
    "v.compute(X)": "counts",
    "v.compute((X > 0).astype(int))": "counts",
    "v.compute(-SITES)": "counts",
    "v.compute([[1, 2, 3], [4, 5, 6]])": "tags",
    "v.compute([[1.5, 2.5, 3], [4.5, 5.5]])": "tags",
    "v.compute({'p1': 'a', 'p2': 'b'})": "values",
    "v.compute(X, k=lambda a, b: 1 / 0)": "two matrices",
    "v.compute(X, k=lambda a, b: D[0])": "two matrices",
    "v.compute(X, k=distances_of_rows)": "two matrices",
    "v.select(ta, 2.5)": "fraction",
    "v.select(ta, 0)": "fraction",
    "v.effective_number('a')": "counts",
}


@pytest.mark.parametrize(("call", "hint"), OTHER_CALLS.items())
def test_suggestion_that_does_not_apply_is_omitted(call: str, hint: str) -> None:
    with pytest.raises((TypeError, ValueError, ArithmeticError)) as caught:
        eval(call)
    assert hint not in str(caught.value)


def test_rao_quadratic_entropy_is_scaled_internal_diversity() -> None:
    p = np.random.default_rng(1).dirichlet(np.ones(20))
    for weights in (None, p):
        scaled = v.compute(1 - D / D.max(), score_K=True, measures="IntDiv", p=weights)["IntDiv"]
        q = np.full(20, 1 / 20) if weights is None else weights
        assert D.max() * scaled == pytest.approx(q @ D @ q)


# Names that users may try to import, and a part of the error message.
IMPORTS = {
    "VendiScore": "compute(samples)",
    "vendi": "compute(samples)",
    "vendi_score": "compute(samples)",
    "diversity": "compute(samples)",
    "VendiKernel": "compute(samples)",
    "load_metric": "load('vendiscore')",
    "score_images": "k='pixels'",
    "score_texts": "compute(samples)",
    "text_utils": "compute(samples)",
    "molecule_utils": "k='morgan'",
    "intdiv_K": "measures='IntDiv'",
    "self_bleu": "measures='SelfBLEU'",
    "effective_rank": "score_K(K)",
    "hill_number": "`effective_number`",
    "eigenvalues": "`spectrum`",
    "magnitude_area": "`mag_area`",
    "cosine_similarity": "k='cosine'",
    "permutation_test": "`compare`",
    "near_duplicates": NEAR_DUPLICATES_HINT,
    "deduplicate": NEAR_DUPLICATES_HINT,
    "rarefaction": "`growth`",
    "embed": "`encoder`",
    "Report": "`report`",
    "zyxw": "dir(vendiscore) lists all names",
}


@pytest.mark.parametrize(("name", "hint"), IMPORTS.items())
def test_import_of_unknown_name_raises_error_with_hint(name: str, hint: str) -> None:
    with pytest.raises(ImportError, match=f"cannot import name '{name}'") as caught:
        exec(f"from vendiscore import {name}")
    assert hint in str(caught.value)
    assert not hasattr(vendiscore, name)


# Public names that users call: all except errors and results.
CALLED = [
    name
    for name in v.__all__
    if not isinstance(getattr(v, name), type) or issubclass(getattr(v, name), (Similarity, State))
]
CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "texts": ((ta,), {}),
    "vectors": ((X,), {}),
    "a matrix": ((K,), {}),
    "nothing": ((), {}),
    "two sets": ((ta, tb), {}),
    "two sets of vectors": ((X, X), {}),
    "three sets": ((X, X, X), {}),
    "a number": ((3,), {}),
    "None": ((None,), {}),
    "texts by the name": ((), {"texts": ta}),
    "data": ((), {"data": X}),
    "an unknown keyword": ((ta,), {"wrong": 1}),
    "several orders": ((np.full(4, 0.25),), {"q": [1, 2]}),
}
HINT_PATTERN = re.compile(
    r"must be |pass |; |: |Did you mean|keywords are|Available|[Ll]eave|dir\("
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CALLS)
@pytest.mark.parametrize("name", CALLED)
def test_public_function_runs_or_raises_clear_error(name: str, case: str) -> None:
    args, options = CALLS[case]
    error = caught_error(getattr(v, name), *args, **options)
    if error is not None:
        last_frame = traceback.extract_tb(error.__traceback__)[-1]
        assert (last_frame.line or "").startswith("raise "), (
            f"not an error of the package: {error!r}"
        )
        assert "vendiscore" in last_frame.filename
        assert HINT_PATTERN.search(str(error)), str(error)
        assert len(str(error)) < 1000


def caught_error(function: Any, *args: Any, **options: Any) -> Exception | None:
    try:
        function(*args, **options)
    except (TypeError, ValueError, OSError, ImportError) as error:
        return error
    return None


@pytest.mark.parametrize("call", ["get_kernel('rbf')(X[0], X[1])", "magnitude(X)", "plots(X)"])
def test_calling_non_function_raises_error_with_hint(call: str) -> None:
    importlib.import_module("vendiscore.magnitude")
    hints = r"as_similarity\(\[a, b\], k='rbf'\)|mag_area|dir\(plots\)"
    with pytest.raises(TypeError, match=hints):
        eval(f"v.{call}")
    assert pickle.loads(pickle.dumps(v.plots)) is v.plots


def test_conversions_in_hints_give_same_kernel() -> None:
    squares = ((X[:, None] - X) ** 2).sum(2)
    for gamma in (0.3, 2.0):
        gaussian = v.compute(X, k="rbf", sigma=1 / np.sqrt(2 * gamma))["VS"]
        assert gaussian == pytest.approx(v.score_K(np.exp(-gamma * squares)))
        laplacian = v.compute(X, k="laplacian", sigma=1 / gamma)["VS"]
        absolute = abs(X[:, None] - X).sum(2)
        assert laplacian == pytest.approx(v.score_K(np.exp(-gamma * absolute)))


def test_score_without_kernel_equals_compute() -> None:
    assert v.score(ta) == v.score(ta, "ngram_overlap") == v.compute(ta)["VS"]
    assert v.score(ta, q=2) == v.compute(ta, q=2)["VS_q2"]


# For each keyword with synonyms: a function that accepts it, its other arguments and a value.
ACCEPTING_CALLS: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "k": (v.compute, {"samples": X}, "cosine"),
    "metric": (v.compute, {"samples": X, "measures": "MagArea"}, "euclidean"),
    "p": (v.compute, {"samples": X, "k": "cosine"}, np.full(20, 0.05)),
    "q": (v.explain, {"samples": ta}, 2),
    "ci": (v.compute, {"samples": ta}, 0.9),
    "level": (v.growth, {"samples": ta}, 0.9),
    "allow_repeats": (v.compute, {"samples": ta, "ci": 0.9}, False),
    "size": (v.select, {"samples": X, "k": "cosine"}, 3),
    "sizes": (v.growth, {"samples": ta}, [8, 16]),
    "ns": (v.score, {"samples": ta}, 2),
    "seed": (v.compute, {"samples": ta, "method": "estimate"}, 1),
    "samples": (v.compute, {}, ta),
    "references": (v.compute, {"samples": X, "k": "cosine", "measures": "MMD"}, X + 1),
    "groups": (v.compute, {"samples": ta}, [0, 1] * 12),
    "clusters": (v.compute, {"samples": ta, "ci": 0.9}, [*range(12)] * 2),
    "counts": (v.compute, {}, [3, 1, 2]),
    "prompts": (v.compute, {"samples": ta}, ["x", "y"] * 12),
    "given_prompt": (v.compute, {"samples": ta, "prompts": ["x", "y"] * 12}, False),
    "measures": (v.compute, {"samples": ta}, "IntDiv"),
    "threshold": (v.explain, {"samples": ta}, 0.9),
    "normalize": (v.compute, {"samples": X, "k": "linear"}, True),
    "sigma": (v.compute, {"samples": X, "k": "rbf"}, 2.0),
    "t": (v.magnitude_weights, {"samples": X}, 1.0),
    "scales": (v.magnitude_function, {"samples": X}, [0.5, 1.0]),
    "n_scales": (v.mag_area, {"samples": X}, 10),
    "neighbours": (v.compute, {"samples": X, "references": X + 1, "measures": "Recall"}, 3),
    "quality": (v.group_rewards, {"samples": ta}, [1.0] * 24),
    "tradeoff": (
        v.select,
        {"samples": X, "k": "cosine", "size": 3, "quality": np.ones(20)},
        0.5,
    ),
    "objective": (v.select, {"samples": X, "k": "cosine", "size": 3}, "represent"),
    "initial": (v.select, {"samples": X, "k": "cosine", "size": 3}, [1]),
    "quota": (v.select, {"samples": X, "k": "cosine", "size": 2, "groups": [0, 1] * 10}, 1),
    "details": (v.compute, {"samples": ta}, True),
    "on_error": (v.compute, {"samples": ta}, "skip"),
    "method": (v.compute, {"samples": ta}, "estimate"),
    "tokenizer": (v.compute, {"samples": ta}, None),
    "lowercase": (v.compute, {"samples": ta, "k": "word_overlap"}, True),
}
ACCEPTING_CALLS["neighbours"][1]["k"] = "cosine"
# Keywords of `compare` and `sources`, which take sets, and options of kernels with dependencies.
OTHER_KEYWORDS = {
    "within": v.compare,
    "permutations": v.compare,
    "by": v.compare,
    "names": v.compare,
    "model": get_kernel("text_embeddings").build,
    "model_path": get_kernel("text_embeddings").build,
    "batch": State.update,
    "batch_size": get_kernel("text_embeddings").build,
    "n_bits": get_kernel("morgan").build,
    "radius": get_kernel("morgan").build,
    "chirality": get_kernel("morgan").build,
    "tokenize": get_kernel("bleu").build,
    "max_order": get_kernel("bleu").build,
    "smooth": get_kernel("bleu").build,
}


@pytest.mark.parametrize("keyword", ACCEPTING_CALLS)
def test_suggested_keyword_is_accepted(keyword: str) -> None:
    function, arguments, value = ACCEPTING_CALLS[keyword]
    assert accepts_value(keyword, value)
    assert function(**(arguments | {keyword: value})) is not None


@pytest.mark.parametrize(
    ("keyword", "synonym"),
    [
        (keyword, word)
        for keyword in ACCEPTING_CALLS
        for word in SYNONYMS["keyword"][keyword].split()
    ],
)
def test_synonym_of_keyword_raises_error_with_keyword(keyword: str, synonym: str) -> None:
    function, arguments, value = ACCEPTING_CALLS[keyword]
    if synonym in inspect.signature(function).parameters:
        pytest.skip("the function has a parameter of this name")
    with pytest.raises((TypeError, ValueError)) as caught:
        function(**arguments, **{synonym: value})
    message = str(caught.value)
    assert re.search(rf"`{keyword}\b|\b{keyword}=", message), message
    assert f"Did you mean `{synonym}`" not in message


def test_synonym_table_contains_only_existing_names() -> None:
    functions = [OTHER_KEYWORDS.get(name) for name in SYNONYMS["keyword"]]
    for name, function in zip(SYNONYMS["keyword"], functions, strict=True):
        assert name in ACCEPTING_CALLS or name in describe_parameters(function), name
    parsers = [build_parser(command) for command in COMMANDS]
    flags = {name for parser in parsers for name in parser.flags}
    names = {
        "flag": flags,
        "command": set(COMMANDS),
        "kernel": {kernel.name for kernel in list_kernels()} | {*NAMED_MODELS},
        "measure": {measure.name for measure in list_measures()} | {*PRESETS},
        "metric": {*METRICS, *KERNEL_METRICS, "precomputed"},
        "objective": {*OBJECTIVES},
        "function": {*v.__all__},
        "attribute": {name for result in RESULTS for name in dir(result)} | {"VS"},
    }
    for kind, table in SYNONYMS.items():
        assert kind == "keyword" or table.keys() <= names[kind], (kind, table.keys() - names[kind])
        for target, words in table.items():
            for word in words.split():
                assert word == normalize_name(word)
                assert word != normalize_name(target), f"{word} is the name itself"


RESULTS = (
    v.explain(ta),
    v.growth(ta),
    v.select(ta, 3),
    v.read(ta),
    v.novelty(ta, tb),
    v.phrases(ta),
    v.phrases(ta, tb, permutations=19),
    v.compare(ta, tb, permutations=19),
    v.compare(ta, tb, permutations=19).pairs[0],
    v.compare(ta, tb, permutations=19).sets[0],
    v.sources({"a": ta, "b": tb}),
    v.sources({"a": ta, "b": tb}).found,
    v.magnitude_function(X),
    v.report(ta),
    v.as_similarity(ta),
    v.State("cosine"),
)


@pytest.mark.parametrize("kind", ["function", "kernel", "measure", "metric", "objective"])
def test_hint_sentences_are_not_hidden_by_synonyms(kind: NameKind) -> None:
    """All names of these kinds are always accepted, so a synonym takes precedence."""
    synonyms = {word for words in SYNONYMS[kind].values() for word in words.split()}
    sentences = [word for words in ELSEWHERE[kind] for word in words.split()]
    assert synonyms.isdisjoint(sentences), synonyms.intersection(sentences)
    assert len({*sentences}) == len(sentences)


SENTENCES = [(kind, *entry) for kind, table in ELSEWHERE.items() for entry in table.items()]


@pytest.mark.parametrize(("kind", "words", "sentence"), SENTENCES)
def test_hint_sentences_contain_only_existing_names(kind, words, sentence) -> None:
    for word in words.split():
        assert replacement_hint(word, kind) == sentence
        assert word == normalize_name(word)
    kernels = {kernel.name for kernel in list_kernels()}
    options = {option for kernel in list_kernels() for option in kernel.options}
    options |= {option for measure in list_measures() for option in measure.options}
    keywords = options | {"axis", "ddof"}
    for function in (v.compute, v.compare, v.select):
        keywords |= set(inspect.signature(function).parameters)
    assert set(re.findall(r"\bk='(\w+)'", sentence)) <= kernels | {*NAMED_MODELS}
    other_functions = ("dir", "help", "sqrt", "exp", "cov", "float", "repeat", "log")
    for name in re.findall(r"(?<![.\w])(\w+)\(", sentence):
        assert name in v.__all__ or name in other_functions or hasattr(np.linalg, name), name
    if kind not in ("flag", "command"):
        for name in re.findall(r"(?<!-)\b(\w+)=", sentence):
            assert name in keywords, name
    for name in re.findall(r"measures=\[?'(\w+)'", sentence):
        assert get_measure(name)
    for name in re.findall(r"`(\w+)`", sentence):
        assert name in keywords or name in v.__all__ or any(hasattr(r, name) for r in RESULTS)
    for name in re.findall(r"\)\.(\w+)", sentence):
        assert any(hasattr(result, name) for result in RESULTS) or hasattr(pd.DataFrame, name)
    for command, arguments in re.findall(r"`vendiscore (\w+)([^`]*)`", sentence):
        assert command in COMMANDS or command in ("FILE", "K")
        for flag in re.findall(r"--?[a-z][\w-]*", arguments):
            parser = build_parser(command if command in COMMANDS else "score")
            assert flag.lstrip("-") in parser.flags, flag
    if kind == "flag":
        flags = {name for command in COMMANDS for name in build_parser(command).flags}
        assert {flag.lstrip("-") for flag in re.findall(r"(?<!\w)--[a-z][\w-]*", sentence)} <= flags


def test_suggest_name_never_returns_typed_word() -> None:
    assert suggest_name("seed", ["k"], ["seed"], quote="`") == "Available: k."
    assert "Did you mean" not in suggest_name("seed", ["on_error"], ["seed"], kind="keyword")


def test_missing_names_raise_attribute_and_import_errors() -> None:
    for name in ("near_duplicates", "plot", "VendiScore", "__wrapped__", "nosuch"):
        assert not hasattr(vendiscore, name)
        with pytest.raises(ImportError, match=f"cannot import name '{name}'"):
            exec(f"from vendiscore import {name}")
    with pytest.raises(AttributeError, match=r"has no attribute '__wrapped__'$"):
        _ = vendiscore.__wrapped__
    space: dict[str, Any] = {}
    exec("from vendiscore import *", space)
    assert set(vendiscore.__all__) <= space.keys()
    assert inspect.unwrap(vendiscore) is vendiscore
    assert dict(inspect.getmembers(vendiscore))["compute"] is v.compute
    assert pickle.loads(pickle.dumps(v.compute)) is v.compute
    assert importlib.reload(vendiscore).compute is v.compute


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["score", "f.txt", "--kernal", "rbf"], "Did you mean --kernel?"),
        (["score", "f.txt", "--similarity=rbf"], "Did you mean --kernel?"),
        (["select", "f.txt", "-n", "3", "--top", "3"], "Did you mean --size?"),
        (["score", "f.txt", "--confidence", "0.9"], "Did you mean --ci?"),
        (["compare", "f.txt", "g.txt", "--random-state", "1"], "Did you mean --seed?"),
        (["score", "f.txt", "--gamma", "1"], "sigma = 1/sqrt(2 gamma)"),
        (["explain", "f.txt", "--by", "model"], "It is an option of `vendiscore score`, `vendis"),
        (["score", "f.txt", "--q", "2"], "Did you mean --order?"),
        (["score", "f.txt", "--alpha", "2"], "--order: "),
        (["score", "f.txt", "--json"], "Did you mean -f json?"),
        (["score", "f.txt", "--model", "minilm"], "--kernel: "),
        (["score", "f.npy", "--precomputed"], "Did you mean --matrix?"),
        (["score", "f.txt", "--output", "g.txt"], "add `> FILE` to the end of the command."),
        (["score", "f.txt", "--text", "answer"], "Did you mean --column?"),
        (["score", "f.txt", "-x"], "there is no option -x. The short flags are -k, -q, -m"),
        (["completion"], "`vendiscore completion --help` lists all"),
    ],
)
def test_errors_about_wrong_flags_contain_hints(arguments, hint, capsys) -> None:
    command, *options = arguments
    assert command in COMMANDS
    with pytest.raises(SystemExit) as caught:
        build_parser(command).parse_intermixed_args(options)
    assert caught.value.code == 2
    message = capsys.readouterr().err
    assert hint in message
    assert message.count("\n") <= 6


@pytest.mark.parametrize(
    ("word", "suggestion"),
    [
        ("dedupe", "dedup"),
        ("near-duplicates", "dedup"),
        ("rarefaction", "growth"),
        ("compute", "score"),
        ("vendi", "score"),
        ("html", "report"),
        ("sourcs", "sources"),
        ("kernel", "kernels"),
        ("subset", "select"),
        ("answers", "answers.csv"),
        ("zyxw", ""),
    ],
)
def test_unknown_command_error_lists_commands(word, suggestion, run, tmp_path, monkeypatch):
    (tmp_path / "answers.csv").write_text("answer\na cat\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, _, message = run(word, "answers.csv")
    assert code == 2
    assert f"no such file or command: {word}." in message
    assert (f"Did you mean `vendiscore {suggestion}`?" in message) == bool(suggestion)
    assert message.endswith(f"The commands are {', '.join(COMMANDS)}.\n")
    (tmp_path / word).write_text("a cat\na dog\n", encoding="utf-8")
    assert run(word)[0] == 0


def test_command_line_suggests_a_kernel_for_unknown_kernel_names(tmp_path, capsys) -> None:
    from vendiscore.cli import main

    path = tmp_path / "texts.txt"
    path.write_text("\n".join(ta), encoding="utf-8")
    assert main([str(path), "-k", "gaussian"]) == 2
    assert "Did you mean 'rbf'?" in capsys.readouterr().err
    assert main([str(path), "-k", "minilm"]) == 2
    assert "Did you mean -k semantic, or -k sentence-transformers/" in capsys.readouterr().err
