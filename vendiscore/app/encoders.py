"""Sentence encoders that the page offers: a list of our own, never a name from a visitor."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from typing import Any

_ALLOWED: dict[str, dict[str, Any]] = {
    "MiniLM": {"model_path": "sentence-transformers/all-MiniLM-L6-v2", "pooling": "mean"},
}


@cache
def offered() -> dict[str, dict[str, Any]]:
    """The encoders that can be had here, as options of the kernel `text_embeddings`.

    They need torch and transformers, and a model that is in the local cache or can be downloaded,
    as on a Space.
    """
    if not all(map(find_spec, ("torch", "transformers", "huggingface_hub"))):
        return {}
    return {name: options for name, options in _ALLOWED.items() if _at_hand(options["model_path"])}


def _at_hand(model: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return "SPACE_ID" in os.environ or isinstance(try_to_load_from_cache(model, "config.json"), str)
