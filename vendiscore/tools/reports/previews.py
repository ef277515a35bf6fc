"""Previews of samples: texts unchanged, molecules and images small, vectors by row number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import numpy as np

from ...encoders.pil_images import as_image
from ...magnitude.space import MetricSpace
from ...measures.sample_set import SampleSet
from ...similarity import sparse as sp
from ...similarity.base import Similarity
from ...support.errors import SampleError
from ...support.namespace import to_host
from ...support.optional import require
from ...support.signature import to_plain
from ...support.summary import truncate
from ..analysis import sentences
from .markup import escape, folded
from .thumbnails import sketch, small

# The word for one sample of each kind.
_WORDS = {"text": "text", "molecules": "molecule", "images": "image", "vectors": "row"}
_PICTURES = 100_000  # characters of all pictures of samples together, to keep the file small


@dataclass
class Previews:
    """Samples as HTML and as plain text, by their places in the list passed."""

    samples: Any = field(repr=False)
    kind: str  # "text", "molecules", "images", "vectors", "records" or ""
    _left: int = field(default=_PICTURES, repr=False)
    _pictures: dict[int, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, subject: SampleSet) -> Previews:
        """Return previews of the samples of a subject that was measured."""
        how = subject.spec
        samples = subject.samples
        whole = isinstance(samples, (Similarity, MetricSpace))
        if how.input_form or how.metric == "precomputed" or whole:
            return cls(None, "")
        kind = "" if how.k is None else how.get_sample_type(samples)
        return cls(samples, kind if kind in (*_WORDS, "records") else _kind_of(samples[0]))

    def counted(self, n: int) -> str:
        """Count samples in words: "1 text", "1,000 molecules"."""
        return f"{n:,} {self.word if n == 1 else self.what}"

    @property
    def word(self) -> str:
        """The word for one sample, such as "text"."""
        return _WORDS.get(self.kind, "sample")

    @property
    def what(self) -> str:
        """The plural of `word`."""
        return f"{self.word}s"

    def cell(self, place: int, longest: int) -> str:
        """Return a sample as HTML; fold a long text, and cut it at `longest` characters."""
        label = self.label(place)
        picture = self._picture(place)
        if self.kind == "images":
            name = escape(label)
            return f'<img src="{picture}" alt="{name}">' if picture else f"<span>{name}</span>"
        if self.kind in ("text", "molecules"):
            return picture + folded(label, longest)
        return f"<bdi>{escape(label)}</bdi>"

    def label(self, place: int) -> str:
        """Return a sample as plain text."""
        if self.samples is None or sp.issparse(self.samples):
            return f"row {place}"
        if self.kind == "records" and isinstance(self.samples, Mapping):
            return _said({name: column[place] for name, column in self.samples.items()})
        if hasattr(self.samples, "iloc"):
            return _said(dict(self.samples.iloc[place]))
        try:
            sample = self.samples[place]
        except (KeyError, IndexError, TypeError):
            return f"sample {place}"
        if self.kind == "vectors":
            row = np.ravel(to_host(sample) if hasattr(sample, "dtype") else sample)
            return f"row {place}: {sentences.numbers(row, 3)}"
        if self.kind == "images":
            return _name(sample) or f"image {place}"
        return _said(sample) or f"sample {place}"

    def _picture(self, place: int) -> str:
        """Return a small picture; "" if it cannot be drawn or the file has enough pictures."""
        if place not in self._pictures:
            self._pictures[place] = self._drawn(place) if self._left > 0 else ""
        picture = self._pictures[place]
        if len(picture) > self._left:
            return ""
        self._left -= len(picture)
        return picture

    def _drawn(self, place: int) -> str:
        try:
            if self.kind == "molecules":
                return sketch(_said(self.samples[place]))
            if self.kind == "images":
                return small(as_image(self.samples[place], place))
        except (SampleError, ImportError, OSError, ValueError):
            pass
        return ""


def _kind_of(sample: Any) -> str:
    if isinstance(sample, str):
        return "text"
    if type(sample).__module__.startswith("PIL."):
        return "images"
    row = getattr(sample, "ndim", 0) == 1 or isinstance(sample, (list, tuple))
    numbers = row and all(isinstance(x, Number) or getattr(x, "ndim", -1) == 0 for x in sample)
    return "vectors" if numbers else ""


def _name(image: object) -> str:
    """Return the name of the file that an image is in, if it has one."""
    if isinstance(image, Mapping):
        image = image.get("path") or ""
    text = str(image) if isinstance(image, str) or hasattr(image, "__fspath__") else ""
    return text.replace("\\", "/").rpartition("/")[2]


def _said(sample: object) -> str:
    if isinstance(sample, str):
        return sample
    if isinstance(sample, Mapping):
        return ", ".join(f"{name}: {_said(value)}" for name, value in sample.items())
    if hasattr(sample, "GetNumAtoms"):
        return require("rdkit.Chem", "molecules", "a molecule").MolToSmiles(sample)
    said = to_plain(sample)
    return truncate(said if isinstance(said, str) else repr(said), 300)
