"""Encoders of samples: loaded once, used for any number of sets."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from ..similarity.sample_arrays import as_samples
from ..support.arguments import check_choice, check_int
from ..support.errors import SampleError
from ..support.optional import is_network
from ..support.progress import Counts, announce_duration, run_with_progress
from ..support.signature import to_plain
from ..support.types import Record, Samples
from .embeddings import Encode, check_no_conflict, embed
from .model_cache import load_from_cache_first
from .networks import ModelFiles, Network, Pooling, resolve_model_files
from .static_models import StaticModel, find_static_files

BATCH_SIZE = 64
# Scripts supported by the default models, as prefixes of Unicode character names. All three models
# are for English; other models declare no script.
MODEL_SCRIPTS = {
    "princeton-nlp/unsup-simcse-roberta-base": ("LATIN",),
    "sentence-transformers/all-MiniLM-L6-v2": ("LATIN",),
    "wordllama": ("LATIN",),
}


@dataclass
class CallableModel:
    """A model as a function `encode` from a batch of samples to embeddings, with its settings.

    If the model truncates long texts, `limit` and `tokenizer` are used to report these texts.
    """

    encode: Encode
    settings: Record
    limit: int | None = None  # maximum number of tokens of a text
    tokenizer: Callable[..., Any] | None = None  # tokenizer of the model, if there is a limit

    @contextmanager
    def inference_mode(
        self, samples: Sequence[object], report: Record
    ) -> Iterator[tuple[Encode, Record]]:
        """Yield a function from batches to embeddings, and the settings.

        The function adds truncated texts to the dict `report["partial"]`, by index.
        """

        def encode(batch: list[Any]) -> Any:
            # Embeds a batch, and adds its truncated texts to the report. `report["places"]`
            # contains the indices of the samples in the batch.
            if self.tokenizer is not None and self.limit is not None:
                tokens = self.tokenizer(batch, verbose=False)["input_ids"]
                for i, ids in zip(report["places"], tokens, strict=True):
                    if len(ids) > self.limit:
                        report["partial"][i] = f"is truncated at {self.limit} tokens"
            return self.encode(batch)

        yield encode, self.settings


Model = CallableModel | Network
# rows, settings, and the attributes `missed` and `partial` of a Similarity
EmbeddingResult = tuple[np.ndarray, Record, Record]


class Modality(NamedTuple):
    """A type of samples, with functions to check, read and load models for them."""

    name: str  # "text" or "images", as in `Kernel.samples` and the extras
    adapter: str  # keyword for the tokenizer or transform of a torch network
    check: Callable[[Sequence[Any]], None]  # raises a SampleError before any work
    load: Callable[[ModelFiles, Any, Any], Network]  # arguments: files, pooling, max_length
    # builds a Network from the caller's model; arguments: model, adapter, pooling, max_length
    wrap: Callable[..., Network]
    list_alternatives: Callable[[str], list[str]]  # kernels that need no network, for messages
    default: str | None = None  # default of `model_path`
    read: Callable[[list[object]], list[object]] = list  # converts a batch to inputs of the model


class Encoder:
    """A model that turns texts or images into embeddings; create it with `vendiscore.encoder`.

    Threads may share an encoder.

    Attributes
    ----------
    kind : {"text", "images"}
        Type of the samples.
    batch_size : int
        Number of samples per forward pass.
    settings : mapping
        How samples are embedded: model, revision, pooling and where it is specified, and others.

    See Also
    --------
    vendiscore.encoder : Load a model.

    Examples
    --------
    >>> from vendiscore import encoder
    >>> lengths = encoder(model=lambda texts: [[len(text), 1.0] for text in texts])
    >>> lengths.kind, lengths.batch_size
    ('text', 64)
    """

    def __init__(
        self, modality: Modality, model: Model, batch_size: int, cache: str | Path | None = None
    ) -> None:
        self._modality = modality
        self._model = model
        self.batch_size = batch_size
        self._cache = None
        if cache is not None:
            from .embedding_cache import EmbeddingCache

            settings = model.settings
            # The weights identify the model, because files at the same path can change.
            if isinstance(model, Network):
                settings = {**settings, "weights": model.digest()}
            self._cache = EmbeddingCache(cache, settings)

    @property
    def kind(self) -> str:
        """Type of the samples: "text" or "images"."""
        return self._modality.name

    @property
    def settings(self) -> Record:
        """How samples are embedded, by name of the setting."""
        return {**self._model.settings, "batch_size": self.batch_size}

    @property
    def scripts(self) -> Sequence[str]:
        """Writing systems that the model supports, such as "Latin"; empty if unknown."""
        return MODEL_SCRIPTS.get(str(self.settings.get("model_path")), ())

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"<encoder of {self.kind}: {listed}>"

    def encode(self, samples: Samples) -> np.ndarray:
        """Compute the embeddings of samples.

        Parameters
        ----------
        samples : iterable
            Strings, or images of any type that the image kernels accept.

        Returns
        -------
        array of shape (n, d)
            The output of the model, not normalized: float64 if the model returns it, otherwise
            float32.

        Raises
        ------
        SampleError
            If samples cannot be embedded, or their embeddings are zero or not finite; the message
            lists their indices.
        TypeError, ValueError
            If there are no samples, or the model does not return one row per sample.
        """
        sample_list: Any = as_samples(samples)
        self._modality.check(sample_list)
        return self.embed_with_report(sample_list)[0]

    def with_reader(self, read: Callable[[list[object]], list[object]]) -> "Encoder":
        """Return an encoder with the same model that first converts each batch by `read`.

        For example, `read` converts a batch of images of any type to RGB.
        """
        return Encoder(self._modality._replace(read=read), self._model, self.batch_size)

    def embed_with_report(self, samples: Sequence[object]) -> EmbeddingResult:
        """Embed samples without checking their types; return embeddings, settings and report.

        The report is a dict: "missed" maps the index of a sample that the model cannot represent to
        the reason, and "partial" that of a sample of which it represents only a part, such as a
        truncated text. A progress bar is shown.
        """
        if self._cache is None:
            return self._embed_with_progress(samples)
        # Embed each text that is not cached once, and add it to the cache.
        texts = list(map(str, samples))
        cached = self._cache.read(texts)
        indices_of_new: dict[str, list[int]] = {}  # indices of each text that is not cached
        for i, text in enumerate(texts):
            if cached[i] is None:
                indices_of_new.setdefault(text, []).append(i)
        if indices_of_new:
            new_texts = list(indices_of_new)
            try:
                X, _, report = self._embed_with_progress(new_texts)
            except SampleError as error:
                raise error.reindexed(
                    [np.array(indices) for indices in indices_of_new.values()]
                ) from error.__cause__
            self._cache.add(new_texts, X, report)
            for j, (row, indices) in enumerate(zip(X, indices_of_new.values(), strict=True)):
                # The same tuple as `read` returns for a cached text: the bytes of float32 values,
                # and the reasons why the model cannot represent the text, or only a part of it.
                entry = (
                    row.astype("f4").tobytes(),
                    report["missed"].get(j),
                    report["partial"].get(j),
                )
                for i in indices:
                    cached[i] = entry
        # Now all texts are cached. Also new embeddings are rounded to single precision, so that
        # later calls return the same values.
        # `filter` removes nothing, but tells type checkers that no entry is None.
        rows, missed, partial = zip(*filter(None, cached), strict=True)
        X = np.array([np.frombuffer(row, np.float32) for row in rows])
        report = {
            "missed": {i: reason for i, reason in enumerate(missed) if reason},
            "partial": {i: reason for i, reason in enumerate(partial) if reason},
        }
        return X, {**self.settings, "dims": X.shape[1]}, report

    def _embed_with_progress(self, samples: Sequence[object]) -> EmbeddingResult:
        """Embed samples with a progress bar; announce long computations."""
        noun = "texts" if self.kind == "text" else self.kind
        # Only text networks estimate their work; other models are not announced.
        work = getattr(self._model, "estimate_work", lambda samples: 0.0)(samples)
        with announce_duration(f"Embedding {len(samples):,} {noun}", work, single_precision=True):
            return run_with_progress(self.embed_steps(samples), len(samples), f"embedding {noun}")

    def embed_steps(self, samples: Sequence[object]) -> Counts[EmbeddingResult]:
        """Embed one batch per step; yield the number of samples done.

        The generator returns the embeddings, the settings, and a report of samples that the model
        cannot represent ("missed") or represents only in part ("partial"), by index. A torch
        network that the user passed is in evaluation mode until the generator ends or is closed.
        """
        modality = self._modality
        is_text = modality.name == "text"
        # Batches contain texts of similar length.
        lengths = list(map(len, samples)) if is_text else None  # type: ignore[arg-type]
        report: Record = {"missed": {}, "partial": {}}
        with self._model.inference_mode(samples, report) as (encode, settings):
            X = yield from embed(
                samples,
                lambda batch: encode(modality.read(batch)),
                report,
                batch_size=self.batch_size,
                lengths=lengths,
            )
            del report["places"]  # used by `embed` and `encode` only
            settings = {**settings, "batch_size": self.batch_size, "dims": X.shape[1]}
            return X, settings, report


# Encoders that `make_encoder` loaded within `keep_encoders`, by its arguments; None outside of it.
_kept_encoders: ContextVar[dict[tuple[object, ...], Encoder] | None] = ContextVar(
    "_kept_encoders", default=None
)


@contextmanager
def keep_encoders() -> Iterator[None]:
    """Load each model only once within this context, for example for many batches of samples.

    A context within another such context has no effect.
    """
    if _kept_encoders.get() is not None:
        yield
        return
    token = _kept_encoders.set({})
    try:
        yield
    finally:
        _kept_encoders.reset(token)


def make_encoder(
    modality: Modality,
    model_path: object,
    model: Any,
    adapter: object,
    pooling: object,
    batch_size: object,
    device: object,
    half: bool | None,
    revision: str | None,
    max_length: object = None,
    cache: str | Path | None = None,
) -> Encoder:
    """Validate the keywords of an embedding kernel or of `encoder`, and return the encoder.

    `modality` is texts or images, and `adapter` is the tokenizer or the transform of a torch
    network. The other arguments are the keywords of `vendiscore.encoder` with the same name.
    """
    network_options = {"pooling": pooling, "max_length": max_length, "device": device, "half": half}
    pooling = None if pooling is None else check_choice("pooling", pooling, get_args(Pooling))
    batch_size = check_int("batch_size", batch_size)
    max_length = None if max_length is None else check_int("max_length", max_length)
    if not isinstance(model_path, (str, Path, type(None))):
        raise TypeError(
            f"`model_path` must be a Hub id or a folder, got {type(model_path).__name__}; pass a "
            "loaded model as model=…"
        )
    if model is None:  # load the model
        # The tokenizer or transform is loaded with the model.
        check_no_conflict({modality.adapter: adapter}, "model_path=…, which defines it")
        path = modality.default if model_path is None else model_path
        kept = _kept_encoders.get()
        key = (modality.name, path, batch_size, cache, revision, *network_options.values())
        if kept is not None and key in kept:
            return kept[key]
        if modality.name == "text" and (static_files := find_static_files(str(path))):
            check_no_conflict(
                {**network_options, "revision": revision},
                "a static model, which is a table of vectors",
            )
            static_model = StaticModel(path, static_files)
            loaded: Model = CallableModel(static_model.encode, static_model.settings)
        else:
            files = resolve_model_files(path, revision, modality.name, device, half)
            loaded = load_from_cache_first(
                files,
                lambda source: modality.load(source, pooling, max_length),
                modality.list_alternatives,
                # The default models are loaded without modules.json.
                uses_modules_file=path != modality.default,
            )
        encoder = Encoder(modality, loaded, batch_size, cache)
        if kept is not None:
            kept[key] = encoder
        return encoder
    # The caller passed a model. The default of `model_path`, passed by kernels, is no conflict.
    path = None if model_path == modality.default else model_path
    check_no_conflict({"model_path": path, "revision": revision, "cache": cache}, "model=…")
    # A torch network with its tokenizer or transform.
    if adapter is not None:
        check_no_conflict({"half": half, "device": device}, "model=…; set it on the model")
        return Encoder(modality, modality.wrap(model, adapter, pooling, max_length), batch_size)
    if isinstance(model, Encoder):
        if model.kind != modality.name:
            raise TypeError(
                f"`model` must be an encoder of {modality.name}, got {model!r}; pass "
                f"vendiscore.encoder(…, kind={modality.name!r})"
            )
        # A kernel always passes its default BATCH_SIZE, which is no conflict.
        custom_batch_size = None if batch_size == BATCH_SIZE else batch_size
        check_no_conflict(
            {**network_options, "batch_size": custom_batch_size},
            "an encoder, which has its own settings",
        )
        return model
    callable_model = _wrap_callable(model, modality)
    check_no_conflict(network_options, "a model that encodes samples itself")
    return Encoder(modality, callable_model, batch_size)


def _wrap_callable(model: Any, modality: Modality) -> CallableModel:
    """Wrap a function, or an object with a method `encode`, that embeds a list of samples."""
    encode = _get_encode(model, modality.adapter)
    # The signature includes the code of functions, but only the type of objects, which can be
    # large.
    is_function = hasattr(model, "__qualname__") or isinstance(model, partial)
    name = to_plain(model) if is_function else type(model).__qualname__
    settings = {"model": name, "model_path": None, "pooling": None}
    # A SentenceTransformer truncates texts without reporting it.
    limit = getattr(model, "max_seq_length", None)
    tokenizer = getattr(model, "tokenizer", None)
    # Without both a limit and a tokenizer, truncated texts cannot be detected.
    if modality.name != "text" or not (isinstance(limit, int) and callable(tokenizer)):
        limit = tokenizer = None
    return CallableModel(encode, settings, limit, tokenizer)


def _get_encode(model: Any, adapter: str) -> Encode:
    """Return the method or function with which a model embeds a list of samples.

    A torch network without such a method raises a TypeError that asks for `adapter`, the name of
    the keyword for the tokenizer or transform of the network.
    """
    encode = getattr(model, "encode", None)
    if callable(encode) and not isinstance(model, str):  # a str has another method `encode`
        return encode
    if is_network(model):
        raise TypeError(
            f"`{adapter}` is missing: `model` is a torch network ({type(model).__name__}) without "
            f"a method encode(list of samples); pass the {adapter} with which it was trained"
        )
    if not callable(model):
        hint = f"; pass model_path={model!r}" if isinstance(model, str) else ""
        raise TypeError(
            f"`model` must have a method encode(list of samples), be a function of such a list, "
            f"or be a torch network, got {type(model).__name__}{hint}"
        )
    return model
