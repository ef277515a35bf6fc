"""Kernels that are unsuitable for samples, by the content and the languages that they support."""

from collections.abc import Sequence

from ..resolve.kernel import parse_kernel_name
from ..similarity.encoder_scope import Mismatch, find_mismatch
from .sample_encoder import MODEL_SCRIPTS

# A kernel for each content of files.
_KERNEL_BY_CONTENT = {
    "texts": "k='ngram_overlap'",
    "sequences": "k='ngram_overlap', analyzer='char'",
    "molecules": "k='morgan'",
    "images": "k='pixels'",
    "vectors": "k='cosine'",
}


def find_unsupported(name: str, samples: Sequence[object], content: str) -> Mismatch | None:
    """Return why a kernel or model is unsuitable for samples, and a kernel to use instead.

    `name` is a string passed as `k`, and `content` the type of the samples: "texts", "sequences",
    "molecules", "images", "vectors" or "values". The result is None if no reason was detected.

    >>> find_unsupported("semantic", ["CCO", "CCN"], "molecules").kernel
    "k='morgan'"
    >>> find_unsupported("static", ["MKVLA", "MKVIA"], "sequences").kernel
    "k='ngram_overlap', analyzer='char'"
    >>> find_unsupported("semantic", ["a cat sat"], "texts") is None
    True
    """
    kernel, model = parse_kernel_name(name)
    scripts = MODEL_SCRIPTS.get(model or "", ())
    if content in ("texts", "sequences"):
        mismatch = find_mismatch(samples, scripts, sequences=content == "sequences")
        if mismatch:
            return mismatch
    if not kernel.content or content in kernel.content:
        return None
    suitable = _KERNEL_BY_CONTENT.get(content, "k='labels'")
    return Mismatch(f"the samples are {content}", suitable)
