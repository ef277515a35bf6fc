"""Classifiers of pairs of texts by transformers: whether one entails the other, or both are one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..optional import require
from .inference import Network
from .networks import ModelFiles, describe, load_pretrained
from .text_encoders import limit_of

# Labels of pairs that are the same, of classifiers of two classes that name them.
_SAME = re.compile(r"(?!not|non|un)\w*(same|equivalent|duplicate|paraphrase|similar)", re.I)


@dataclass
class PairClassifier:
    """A sequence classifier of pairs, and the label that means that both texts are the same.

    `both` says that pairs are asked in both directions, as entailment has two: the smaller of both
    probabilities counts. Other heads are asked once, as they were trained: first text first.
    """

    network: Network
    label: int
    both: bool

    def probabilities(self, pairs: Sequence[tuple[str, str]], batch_size: int) -> np.ndarray:
        """Return how probable it is that the texts of each pair are the same, shape (m,)."""
        asked = [*pairs, *((b, a) for a, b in pairs if self.both)]
        order = np.argsort([-len(a) - len(b) for a, b in asked], kind="stable")
        found = np.empty(len(asked))
        with self.network.running(asked) as (encode, _):
            for start in range(0, len(asked), batch_size):
                at = order[start : start + batch_size]
                logits = encode([asked[i] for i in at]).float()
                shares = logits.sigmoid() if logits.shape[1] == 1 else logits.softmax(-1)
                found[at] = shares[:, self.label].cpu().numpy()
        return found.reshape(-1, len(pairs)).min(axis=0)


def load_pair_classifier(files: ModelFiles, max_length: int | None) -> PairClassifier:
    """Load a sequence classifier: an NLI model, one of two classes, or of one logit."""
    transformers = require("transformers", files.extra, "kernel 'equivalence'")
    model = load_pretrained(files, None, "AutoModelForSequenceClassification")
    tokenizer = transformers.AutoTokenizer.from_pretrained(files.path, revision=files.revision)
    limit = limit_of(model, tokenizer, max_length, None)

    def prepare(pairs: list[object]) -> Any:
        first, second = map(list, zip(*pairs, strict=True))
        how = {"truncation": limit is not None, "max_length": limit, "verbose": False}
        return dict(tokenizer(first, second, padding=True, return_tensors="pt", **how))

    network = Network(
        *(model, files.device, describe(model) | {"max_length": limit}, prepare),
        *(lambda inputs: model(**inputs).logits, True),
    )
    return PairClassifier(network, *_same_label(model.config, files.path))


def _same_label(config: Any, path: object) -> tuple[int, bool]:
    """Return the label of pairs that are the same, and whether it stands for entailment."""
    names = {int(i): str(name) for i, name in config.id2label.items()}
    entails = [i for i, name in names.items() if name.lower() == "entailment"]
    if entails:
        return entails[0], True
    if len(names) > 2:
        raise ValueError(
            f"`same` must be an NLI model with a label 'entailment', or a classifier of one or two "
            f"classes, but {str(path)!r} has {', '.join(names.values())}; pass another model, or a "
            f"function of two texts"
        )
    named = [i for i, name in names.items() if _SAME.match(name)]
    return (named or [len(names) - 1])[0], False
