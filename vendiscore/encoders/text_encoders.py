"""Text encoders and classifiers of text pairs: transformers models with their tokenizers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support.errors import SampleError, short_repr, warn
from ..support.namespace import to_host
from ..support.optional import is_network
from ..support.progress import track
from ..support.text_detection import INVISIBLE_CHARACTERS
from ..support.types import Options, Record
from .embeddings import Encode
from .model_cache import list_text_alternatives, load_from_cache_first
from .networks import (
    ModelFiles,
    Network,
    Pooling,
    build_sentence_embed,
    default_prompt,
    describe_network,
    has_modules_file,
    load_pretrained,
    load_sentence_transformer,
    pool,
    sentence_settings,
)
from .sample_encoder import Modality

if TYPE_CHECKING:
    import torch
    from sentence_transformers import CrossEncoder, SentenceTransformer
    from transformers import (
        BatchEncoding,
        PretrainedConfig,
        PreTrainedModel,
        PreTrainedTokenizerBase,
    )

# The model of the reference implementation; its pooled output was trained as an embedding.
MODEL_PATH = "princeton-nlp/unsup-simcse-roberta-base"
_HALF_SURROGATE = re.compile("[\ud800-\udfff]")
# Names of the class of equivalent pairs, in classifiers with two named classes.
_SAME_LABEL_PATTERN = re.compile(
    r"(?!not|non|un)\w*(same|equivalent|duplicate|paraphrase|similar)", re.I
)


def check_texts(texts: Sequence[object]) -> None:
    """Raise a `SampleError` for samples that are not strings, or are not valid Unicode."""
    problems = {}
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            problems[i] = f"must be a str, got {type(text).__name__}: {short_repr(text)}"
        elif not text.isascii() and (half := _HALF_SURROGATE.search(text)):
            # Tokenizers encode texts as UTF-8, which has no halves of surrogate pairs.
            problems[i] = f"contains {half[0]!a}, which is not valid Unicode; remove it"
    SampleError.check(problems)


def _load_network(
    files: ModelFiles, pooling: Pooling | None, max_length: int | None
) -> TextNetwork:
    """Load a network with the tokenizer, token limit and pooling specified by its files."""
    path = files.path
    pooling_source = "given"
    stated_length = None  # the limit that the files state in addition to that of the tokenizer
    settings = {}
    # The pooling of this model is stated on its model card, so modules.json is not read below.
    if path == MODEL_PATH and pooling is None:
        pooling = "pooler"
        pooling_source = "its card"
    if path != MODEL_PATH and has_modules_file(files):
        sentence_model = load_sentence_transformer(files, pooling)
        if getattr(sentence_model[0], "do_lower_case", False):
            settings["lowercase"] = True
        if pooling is None:
            return _build_sentence_network(sentence_model, max_length, settings, files.device)
        # The user chose a pooling, so only the network, tokenizer and limit of the model are used.
        model = sentence_model.transformers_model
        tokenizer = sentence_model.tokenizer
        stated_length = sentence_model.max_seq_length
    elif pooling is None:
        # If the path is invalid, this raises an error of transformers, which explains more.
        files.load_component("AutoConfig")
        raise ValueError(
            f"the files of the model {str(path)!r} do not specify its pooling (no modules.json); "
            "pass pooling='mean', 'cls' or 'pooler', as stated on its model card"
        )
    else:
        model = load_pretrained(files, pooling)
        tokenizer = files.load_component("AutoTokenizer")
        if tokenizer.pad_token is None:  # padding is masked, so any token works
            tokenizer.pad_token = tokenizer.eos_token
    limit = get_token_limit(model, tokenizer, max_length, stated_length)
    network = _build_transformer(model, tokenizer, pooling, pooling_source, limit, files.device)
    network.settings |= settings
    return network


def _wrap_network(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    pooling: Pooling | None,
    max_length: int | None,
) -> TextNetwork:
    """Wrap a transformers network that the user passed, and its tokenizer."""
    if not (is_network(model) and hasattr(model, "config")):
        raise TypeError(
            f"`tokenizer` requires a transformers network as `model`, got {type(model).__name__}; "
            f"remove `tokenizer` if the model tokenizes texts itself"
        )
    if pooling is None:
        raise ValueError(
            "`pooling` is required with a transformers `model`, to combine token vectors into one "
            "embedding; pass pooling='mean', 'cls' or 'pooler', as stated on its model card"
        )
    limit = get_token_limit(model, tokenizer, max_length, stated_length=None)
    return _build_transformer(
        model, tokenizer, pooling, pooling_source="given", limit=limit, device=None
    )


TEXTS = Modality(
    "text",
    "tokenizer",
    check_texts,
    _load_network,
    _wrap_network,
    list_text_alternatives,
    MODEL_PATH,
)


def _build_transformer(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    pooling: Pooling,
    pooling_source: str,
    limit: int | None,
    device: torch.device | None,
) -> TextNetwork:
    """Build a transformers network whose token vectors are pooled by `pool`.

    `pooling_source` says where the pooling is specified, for the settings. `limit` is the maximum
    number of tokens of a text; longer texts are truncated. `device` is None for a network that the
    user passed.
    """
    # Of models with a decoder, such as T5, only the encoder is used. A model of texts and images,
    # such as CLIP, has a separate method for texts.
    has_decoder = getattr(model.config, "is_encoder_decoder", False)
    forward = model.get_encoder() if has_decoder else getattr(model, "get_text_features", model)

    # Pooling requires the first token at position 0.
    tokenize = partial(_truncating_tokenizer(tokenizer, limit), padding_side="right")

    def embed(inputs: Record) -> torch.Tensor:
        return pool(forward(**inputs), pooling, inputs["attention_mask"])

    settings = describe_network(model) | {
        "tokenizer": type(tokenizer).__name__,
        "pooling": pooling,
        "pooling_from": pooling_source,
        "max_length": limit,
    }
    return TextNetwork(model, device, settings, tokenize, embed, tokenizer)


def _build_sentence_network(
    model: SentenceTransformer,
    max_length: int | None,
    settings: Record,
    device: torch.device,
) -> TextNetwork:
    """Build a network from a model of sentence-transformers, which computes the pooling itself.

    `max_length` is the maximum number of tokens that the user passed. `settings` are additional
    settings for the signature of a result.
    """
    transformer = model.transformers_model  # None, for example, for a bag of words
    limit = None
    # Only a transformer has a limit that `max_length` can change.
    if transformer is not None:
        limit = get_token_limit(transformer, model.tokenizer, max_length, model.max_seq_length)
        model.max_seq_length = limit
    elif max_length is not None:
        raise ValueError(
            f"`max_length` has no effect with a {type(model[0]).__name__}; remove `max_length`"
        )

    settings = {
        **sentence_settings(model, model if transformer is None else transformer),
        "tokenizer": type(model.tokenizer).__name__,
        "max_length": limit,
        **settings,
    }
    if prompt := default_prompt(model):
        settings["prompt"] = prompt
    tokenize = partial(model.preprocess, prompt=prompt)
    embed = build_sentence_embed(model)
    return TextNetwork(model, device, settings, tokenize, embed, model.tokenizer)


# operations per weight and token, doubled to allow for small matrix products
_WORK_PER_WEIGHT = 4.0
_tokenizer_lock = Lock()  # tokenizers store padding and truncation as state during a call


@dataclass(eq=False)
class TextNetwork(Network):
    """A text network with its tokenizer.

    Texts without tokens raise an error. Truncated texts, and texts in which all tokens are unknown
    to the model, are added to a report.
    """

    tokenizer: PreTrainedTokenizerBase

    def check(self, samples: Sequence[Any]) -> None:
        """Raise a `SampleError` for texts without tokens."""
        # numel: the number of token ids; 0 if the tokenizer returns none for the text.
        with _tokenizer_lock:
            problems = {
                i: f"has no tokens: {short_repr(text)}; remove empty texts"
                for i, text in enumerate(samples)
                # Only texts that look blank are tokenized, because this is slow.
                if not (
                    text.strip(INVISIBLE_CHARACTERS) or self.prepare([text])["input_ids"].numel()
                )
            }
        SampleError.check(problems)

    def estimate_work(self, texts: Sequence[str]) -> float:
        """Estimate the number of floating-point operations that are needed to embed texts.

        Four characters per token are assumed. On a GPU, whose speed is unknown, the result is 0.
        """
        weights = list(self.model.parameters())  # may be empty, as for a bag of words
        if any(parameter.device.type != "cpu" for parameter in weights):
            return 0.0  # the speed of a GPU is unknown
        max_tokens = self.settings["max_length"] or math.inf
        # Two special tokens per text, such as [CLS] and [SEP].
        tokens = sum(min(len(text) / 4 + 2, max_tokens) for text in texts)
        return _WORK_PER_WEIGHT * tokens * sum(parameter.numel() for parameter in weights)

    def prepare_inputs(self, batch: list[str], report: Record) -> Options:
        """Tokenize a batch of texts; return the inputs of the network.

        `report["partial"]` and `report["missed"]` are dicts from the index of a text, among all
        texts to embed, to a description. Truncated texts are added to the first, and texts in which
        all tokens are unknown to the model to the second. `report["places"]` contains the indices
        of the texts of the batch.
        """
        limit = self.settings["max_length"]
        prompt = self.settings.get("prompt", "")
        with _tokenizer_lock:
            inputs = self.prepare(batch)
            mask = inputs.get("attention_mask")
            if mask is None:  # of models without an attention mask
                return inputs
            # A text with exactly `limit` tokens may be truncated, so tokenize it without a limit.
            lengths = mask.sum(dim=1).tolist()
            full_positions = [i for i, length in enumerate(lengths) if length == limit]
            texts = [prompt + batch[i] for i in full_positions]
            untruncated = self.tokenizer(texts, verbose=False)["input_ids"] if texts else []
        indices = report["places"]
        for i, ids in zip(full_positions, untruncated, strict=True):
            if len(ids) > limit:
                report["partial"][indices[i]] = f"is truncated at {limit} tokens"
        # A text with only special tokens has no known word: the unknown token is one of them. "▁"
        # is the token of a space in SentencePiece.
        special_ids = {*self.tokenizer.all_special_ids, self.tokenizer.convert_tokens_to_ids("▁")}
        for index, ids in zip(indices, inputs["input_ids"].tolist(), strict=True):
            if special_ids.issuperset(ids):
                report["missed"][index] = "has only tokens that are unknown to the model; remove it"
        return inputs


def _truncating_tokenizer(
    tokenizer: PreTrainedTokenizerBase, limit: int | None
) -> partial[BatchEncoding]:
    """Return a function that tokenizes a batch of texts, truncated to `limit` tokens if passed."""
    return partial(
        tokenizer,
        padding=True,
        truncation=limit is not None,
        max_length=limit,
        return_tensors="pt",
        verbose=False,
    )


def get_token_limit(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    max_length: int | None,
    stated_length: int | None,
) -> int | None:
    """Return the maximum number of tokens of a text, or None if there is no limit.

    It is `max_length`, the argument of the user, if it is passed. Otherwise it is the smaller of
    the number of positions of the model and `stated_length`, the limit that the files of the model
    state; if this is None, the limit of the tokenizer is used. Raise a ValueError if `max_length`
    exceeds the number of positions.
    """
    n_positions = getattr(model.config, "max_position_embeddings", None)
    for name, module in model.named_modules():
        # RoBERTa-like models number positions from padding_idx + 1.
        padding_idx = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and padding_idx is not None:
            n_positions = module.num_embeddings - padding_idx - 1
    # `n_positions` is None for models with relative positions, which have no maximum.
    if max_length is None:
        bounds = [stated_length or tokenizer.model_max_length, n_positions]
        # Tokenizers without a limit report 10³⁰.
        limits = [bound for bound in bounds if bound is not None and bound < 1 << 24]
        return min(limits, default=None)
    if n_positions is not None and max_length > n_positions:
        raise ValueError(
            f"`max_length` must be at most {n_positions} for this model, got {max_length}; pass a "
            f"smaller number, or omit it"
        )
    return max_length


@dataclass
class PairClassifier:
    """A sequence classifier of text pairs that returns the probability of equivalence.

    With `both_directions`, as for entailment, each pair is classified in both orders and the
    smaller probability is used. Otherwise each pair is classified once, in the order in which it is
    passed. `limit` is the maximum number of tokens of a pair, or None.
    """

    network: Network
    both_directions: bool
    tokenizer: PreTrainedTokenizerBase
    limit: int | None
    # whether truncated pairs were reported; a kernel classifies pairs in several rounds
    has_warned: bool = False

    def probabilities(self, pairs: Sequence[tuple[str, str]], batch_size: int) -> np.ndarray:
        """Return for each pair the probability that its two texts are equivalent."""
        self._warn_about_truncation(pairs)
        # Pairs in the given order, followed by all pairs in the other order.
        ordered_pairs = [*pairs, *((b, a) for a, b in pairs if self.both_directions)]
        with self.network.inference_mode(ordered_pairs, {}) as (encode, _):
            scores = score_in_batches(ordered_pairs, batch_size, encode)
        # One row per order of the texts (one or two rows), and one column per pair.
        return scores.reshape(-1, len(pairs)).min(axis=0)

    def _warn_about_truncation(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Warn once if the model truncates some of the pairs."""
        limit = self.limit
        if limit is None or self.has_warned:
            return
        truncated = []
        for a, b in pairs:
            # Only pairs that can be too long are tokenized: a token has at least one byte, and a
            # pair has at most four special tokens.
            if len(f"{a}{b}".encode("utf-8", "replace")) + 4 > limit:
                with _tokenizer_lock:
                    tokens = self.tokenizer(a, b, verbose=False)["input_ids"]
                truncated += [(a, b)] if len(tokens) > limit else []
        if truncated:
            self.has_warned = True
            example = " and ".join(map(short_repr, truncated[0]))
            warn(
                f"the model `same` truncates {len(truncated):,} of {len(pairs):,} pairs of texts "
                f"to {limit} tokens, such as {example}; the text beyond this limit is ignored. "
                f"Pass shorter texts"
            )


def score_in_batches(pairs: Sequence[object], batch_size: int, score: Encode) -> np.ndarray:
    """Compute one score per pair; the function `score` maps a list of pairs to their scores.

    The longest pairs are scored first, so that batches contain pairs of similar length.
    """
    order = np.argsort([-len(repr(pair)) for pair in pairs], kind="stable")
    scores = np.empty(len(pairs))
    for start in track(range(0, len(pairs), batch_size), None, "judging pairs"):
        batch = order[start : start + batch_size]
        batch_scores = to_host(score([pairs[i] for i in batch]))
        # The function may be written by the user: require one real number (or boolean) per pair.
        if batch_scores.shape != batch.shape or batch_scores.dtype.kind not in "fiub":
            raise TypeError(
                f"`same` must return a number for each of {len(batch)} pairs, got "
                f"{short_repr(batch_scores)}; pass a function from a list of pairs to a list of "
                "scores"
            )
        scores[batch] = batch_scores
    return scores


def compute_cross_encoder_scores(model: CrossEncoder, pairs: list[object]) -> np.ndarray:
    """Return one score per pair of texts from a CrossEncoder of sentence-transformers.

    If the model has a single output, it is the score. If the model has several classes, the score
    is the probability of the class of equivalent pairs.
    """
    predict = partial(model.predict, pairs, batch_size=len(pairs), show_progress_bar=False)
    if model.num_labels == 1:
        return predict()
    label, _ = _find_same_label(model.config)
    return predict(activation_fn=methodcaller("softmax", -1))[:, label]


def load_pair_classifier(files: ModelFiles, max_length: int | None) -> PairClassifier:
    """Load a sequence classifier: an NLI model, or a model with one or two classes."""
    return load_from_cache_first(
        files,
        load=lambda source: _load_pair_classifier(source, max_length),
        list_alternatives=lambda name: ["same='exact' (compares only wording)"],
        uses_modules_file=False,
    )


def _load_pair_classifier(files: ModelFiles, max_length: int | None) -> PairClassifier:
    """Load a sequence classifier from the given files, without trying the local cache first."""
    model = load_pretrained(files, pooling=None, class_name="AutoModelForSequenceClassification")
    tokenizer = files.load_component("AutoTokenizer")
    limit = get_token_limit(model, tokenizer, max_length, stated_length=None)
    label, is_entailment = _find_same_label(model.config)
    tokenize = _truncating_tokenizer(tokenizer, limit)

    def prepare(pairs: list[Any]) -> BatchEncoding:
        return tokenize(*map(list, zip(*pairs, strict=True)))  # first texts, second texts

    def probability(inputs: Record) -> torch.Tensor:
        logits = model(**inputs).logits.float()
        # One output is the logit of the only class; several are the logits of classes.
        probabilities = logits.sigmoid() if logits.shape[1] == 1 else logits.softmax(-1)
        return probabilities[:, label]

    settings = describe_network(model) | {"max_length": limit}
    network = Network(model, files.device, settings, prepare, probability)
    # Two texts are equivalent if each entails the other.
    return PairClassifier(network, both_directions=is_entailment, tokenizer=tokenizer, limit=limit)


def _find_same_label(config: PretrainedConfig) -> tuple[int, bool]:
    """Return the index of the class of equivalent pairs, and whether this class is entailment."""
    names = {int(i): str(name) for i, name in config.id2label.items()}
    entailment = [i for i, name in names.items() if name.lower() == "entailment"]
    if entailment:
        return entailment[0], True
    # Without a class "entailment", it is unknown which of three or more classes is equivalence.
    if len(names) > 2:
        raise ValueError(
            f"`same` must be an NLI model with a label 'entailment', or a classifier of one or two "
            f"classes, but {config.name_or_path!r} has {', '.join(names.values())}; pass another "
            f"model, or a function of two texts"
        )
    # Without a name such as "duplicate", the last class means equivalence: that with label 1.
    matching = [i for i, name in names.items() if _SAME_LABEL_PATTERN.match(name)]
    return (matching or [len(names) - 1])[0], False
