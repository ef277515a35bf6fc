"""What somebody meant by a name that is none of ours: one word, or where to look.

Names of other libraries come first (`kernel=`, `weights=`, "tanimoto"), then those that differ in
case, marks or their end ("vs", "ngram"), then those that are spelt alike.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# More names than these are a wall of text, which nobody reads.
LISTED = 12
# How our names are called elsewhere, in small letters and digits only.
_ELSEWHERE = {
    "k": "kernel kernelname kernelfn kernelfunction similarity sim similarityfn",
    "p": "weights weight probs probabilities",
    "q": "order orders alpha",
    "samples": "texts text sentences generations images molecules smiles inputs input x",
    "sigma": "bandwidth lengthscale",
    "model_path": "modelname modelid modelnameorpath checkpoint",
    "n_bits": "fpsize",
    "ngram_overlap": "ngrams text texts string strings",
    "text_embeddings": "sbert sentencetransformers bert minilm simcse embedding embeddings",
    "image_embeddings": "inception inceptionv3 dino dinov2 clip",
    "pixels": "image images",
    "morgan": "ecfp ecfp4 tanimoto smiles molecule molecules fingerprint fingerprints",
    "rbf": "gaussian",
    "euclidean": "l2",
    "manhattan": "l1",
    "linear": "dot dotproduct inner",
    "labels": "classes categories",
    "VS": "vendi vendiscore",
    "IntDiv": "internaldiversity",
    "MagArea": "magnitude",
}
_MEANT: dict[str, list[str]] = {}
for _ours, _theirs in _ELSEWHERE.items():
    for _word in _theirs.split():
        _MEANT.setdefault(_word, []).append(_ours)


def meant(name: object, known: Iterable[str]) -> str | None:
    """The one of `known` that `name` stands for, if any.

    >>> meant("weights", ["k", "p"]), meant("ngram", ["ngram_overlap"]), meant("spin", ["k"])
    ('p', 'ngram_overlap', None)
    """
    folded = {_fold(ours): ours for ours in sorted(known)}
    word = _fold(str(name))
    if not word:
        return None
    for ours in _MEANT.get(word, ()):
        if ours in folded.values():
            return ours
    if word in folded:
        return folded[word]
    longer = [ours for key, ours in folded.items() if len(word) > 2 and key.startswith(word)]
    close = longer if len(longer) == 1 else difflib.get_close_matches(word, folded, n=1)
    return folded[_fold(close[0])] if close else None


def suggestion(
    name: object,
    known: Iterable[str],
    also: Iterable[str] = (),
    *,
    mark: str = "'",
    look: str = "",
) -> str:
    """`Did you mean …?` for an unknown name, then what there is if that is little.

    Parameters
    ----------
    name : object
        What was given.
    known : iterable of str
        What it may be.
    also : iterable of str
        What else it may stand for, without being listed.
    mark : str
        Around a name: "'" for values, "`" for keywords.
    look : str
        A sentence that says where many names are listed.

    >>> suggestion("wieghts", ["k", "weights"], mark="`")
    'Did you mean `weights`? Available: k, weights.'
    """
    names = sorted(known)
    found = meant(name, {*names, *also})
    hint = [f"Did you mean {mark}{found}{mark}?"] if found else []
    if len(names) > LISTED:
        rest = look or f"Available: {', '.join(names[:LISTED])}, …"
        return hint[0] if hint else rest
    return " ".join([*hint, *([f"Available: {', '.join(names)}."] if names else [])])


def _fold(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
