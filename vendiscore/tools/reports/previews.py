"""Previews of samples: texts, thumbnails of molecules and images, and row numbers of vectors."""

from __future__ import annotations

import re
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
from ..analysis import report_text
from .markup import escape, render_collapsible
from .thumbnails import sketch, small

# The word for one sample of each type.
_SINGULARS = {"text": "text", "molecules": "molecule", "images": "image", "vectors": "row"}
# Maximum number of characters of all thumbnails together, to keep the file small.
MAX_THUMBNAIL_CHARACTERS = 100_000


@dataclass
class Previews:
    """Samples as HTML and as plain text.

    Attributes
    ----------
    samples : collection or None
        The samples; None for a similarity or distance matrix, or for features.
    sample_type : str
        "text", "molecules", "images", "vectors", "records" or "" for other samples.
    marks : re.Pattern or None
        What is highlighted in texts, such as repeated phrases.
    """

    samples: Any = field(repr=False)
    sample_type: str
    _remaining_characters: int = field(default=MAX_THUMBNAIL_CHARACTERS, repr=False)
    _thumbnails: dict[int, str] = field(default_factory=dict, repr=False)
    marks: re.Pattern[str] | None = field(default=None, kw_only=True)

    @classmethod
    def from_sample_set(cls, sample_set: SampleSet) -> Previews:
        """Return previews of the samples of a set.

        They are empty if the set contains similarities, distances or features instead of samples.
        """
        spec = sample_set.spec
        samples = sample_set.samples
        is_matrix = isinstance(samples, (Similarity, MetricSpace))
        if spec.input_form or spec.metric == "precomputed" or is_matrix:
            return cls(None, "")
        sample_type = "" if spec.k is None else spec.get_sample_type(samples)
        if sample_type not in (*_SINGULARS, "records"):
            sample_type = _detect_sample_type(samples[0])
        return cls(samples, sample_type)

    def format_count(self, n: int) -> str:
        """Format a number of samples: "1 text", "1,000 molecules"."""
        return f"{n:,} {self.singular if n == 1 else self.plural}"

    @property
    def singular(self) -> str:
        """The word for one sample, such as "text"."""
        return _SINGULARS.get(self.sample_type, "sample")

    @property
    def plural(self) -> str:
        """The word for several samples, such as "texts"."""
        return f"{self.singular}s"

    def render_html(self, index: int, max_characters: int) -> str:
        """Render a sample; a long text is collapsed, and truncated to `max_characters`."""
        description = self.describe(index)
        thumbnail = self._render_thumbnail_within_limit(index)
        if self.sample_type == "images":
            name = escape(description)
            return f'<img src="{thumbnail}" alt="{name}">' if thumbnail else f"<span>{name}</span>"
        if self.sample_type in ("text", "molecules"):
            return thumbnail + render_collapsible(description, max_characters, self.marks)
        return f"<bdi>{escape(description)}</bdi>"

    def describe(self, index: int) -> str:
        """Describe a sample as plain text: its text, file name, or row number with some values."""
        if self.samples is None or sp.issparse(self.samples):
            return f"row {index}"
        if self.sample_type == "records" and isinstance(self.samples, Mapping):
            return _to_text({name: column[index] for name, column in self.samples.items()})
        if hasattr(self.samples, "iloc"):
            return _to_text(dict(self.samples.iloc[index]))
        try:
            sample = self.samples[index]
        except (KeyError, IndexError, TypeError):
            return f"sample {index}"
        if self.sample_type == "vectors":
            row = np.ravel(to_host(sample) if hasattr(sample, "dtype") else sample)
            return f"row {index}: {report_text.format_row(row, 3)}"
        if self.sample_type == "images":
            return _image_file_name(sample) or f"image {index}"
        return _to_text(sample) or f"sample {index}"

    def _render_thumbnail_within_limit(self, index: int) -> str:
        """Render a thumbnail; "" if there is none, or if the file has reached its limit."""
        if index not in self._thumbnails:
            self._thumbnails[index] = (
                self._render_thumbnail(index) if self._remaining_characters > 0 else ""
            )
        thumbnail = self._thumbnails[index]
        if len(thumbnail) > self._remaining_characters:
            return ""
        self._remaining_characters -= len(thumbnail)
        return thumbnail

    def _render_thumbnail(self, index: int) -> str:
        """Return a picture of a molecule or image; "" if it cannot be drawn."""
        try:
            if self.sample_type == "molecules":
                return sketch(_to_text(self.samples[index]))
            if self.sample_type == "images":
                return small(as_image(self.samples[index], index))
        except (SampleError, ImportError, OSError, ValueError):
            pass
        return ""


def _detect_sample_type(sample: Any) -> str:
    """Return the type of a sample by its class; "" if it is unknown."""
    if isinstance(sample, str):
        return "text"
    if type(sample).__module__.startswith("PIL."):
        return "images"
    is_row = getattr(sample, "ndim", 0) == 1 or isinstance(sample, (list, tuple))
    has_numbers = is_row and all(
        isinstance(x, Number) or getattr(x, "ndim", -1) == 0 for x in sample
    )
    return "vectors" if has_numbers else ""


def _image_file_name(image: object) -> str:
    """Return the file name of an image that is passed as a path; "" for other images."""
    if isinstance(image, Mapping):
        image = image.get("path") or ""
    text = str(image) if isinstance(image, str) or hasattr(image, "__fspath__") else ""
    return text.replace("\\", "/").rpartition("/")[2]


def _to_text(sample: object) -> str:
    """Return a sample as text: SMILES of a molecule, the items of a record, or its repr."""
    if isinstance(sample, str):
        return sample
    if isinstance(sample, Mapping):
        return ", ".join(f"{name}: {_to_text(value)}" for name, value in sample.items())
    if hasattr(sample, "GetNumAtoms"):
        return require("rdkit.Chem", "molecules", "a molecule").MolToSmiles(sample)
    plain = to_plain(sample)
    return truncate(plain if isinstance(plain, str) else repr(plain), 300)
