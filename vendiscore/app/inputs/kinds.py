"""What kind of samples somebody has sent: by the names of files, their first bytes, their cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from ...reading.columns import is_smiles
from ...reading.string_patterns import looks_like
from ...reading.tables import is_number
from ..quotas import MAX_SMILES, RefusedError
from .submission import Kind

IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".heic", ".heif", ".avif")
# What each ending is read as.
FORMATS = {
    **dict.fromkeys(IMAGES, "image"),
    ".jfif": "image",
    ".zip": "zip",
    ".txt": "txt",
    ".md": "txt",
    ".text": "txt",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".npz": "npz",
    ".smi": "smi",
    ".smiles": "smi",
}
_SHOWN = "txt, md, csv, tsv, jsonl, json, parquet, npy, npz, smi, zip and images"
# What people have and this does not read, with what to do.
_REFUSED = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "save the sheet as “CSV UTF-8”"),
    **dict.fromkeys((".pdf", ".docx", ".doc", ".rtf", ".odt"), "copy its text into the box"),
    **dict.fromkeys(
        (".pkl", ".pickle", ".pt", ".pth", ".joblib"),
        "unpickling runs what is in it; save numbers with np.save",
    ),
    **dict.fromkeys((".gz", ".tar", ".tgz", ".7z", ".rar", ".bz2", ".xz"), "unpack it, or zip it"),
    **dict.fromkeys((".tif", ".tiff", ".svg", ".psd"), "save the picture as PNG or JPEG"),
    **dict.fromkeys((".mol", ".sdf"), "convert it to SMILES"),
    ".arrow": "save it as parquet",
    ".safetensors": "save the array with np.save",
}
_MAGIC = (
    (b"\x93NUMPY", "npy"),
    (b"PAR1", "parquet"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x89PNG", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF8", "image"),
    (b"%PDF", ".pdf"),
    (b"\x1f\x8b", ".gz"),
    (b"\x80\x04\x95", ".pkl"),
    (b"\xd0\xcf\x11\xe0", ".xls"),
)
_LOOK, _LOOK_SMILES = 200, 40
_LONG = 2_000  # characters of a line that tell what the others are
_PLAIN = 0.75  # of the lines that must be molecules, where nothing else says that they are


def suffix(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).suffix.lower()


def format_of(name: str, data: bytes) -> str:
    """What a file is read as: by its ending, unless its first bytes say otherwise."""
    ending = suffix(name)
    if ending in _REFUSED:
        raise _refusal(name, ending)
    found = FORMATS.get(ending)
    inside = next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)
    if inside == "zip" and found not in ("zip", "npz"):
        if b"xl/workbook" in data or b"[Content_Types].xml" in data[:4096]:
            raise _refusal(name, ".xlsx")
        found = "zip"
    elif inside is None and data[4:12] in (b"ftypheic", b"ftypmif1", b"ftypavif", b"ftypheix"):
        found = "image"
    elif inside in _REFUSED and found in (None, "txt", "csv", "tsv"):
        raise _refusal(name, str(inside))
    elif inside and found in (None, "txt", "csv", "tsv"):
        found = inside
    if found:
        return found
    if ending and not re.fullmatch(r"\.[a-z]{1,4}", ending):
        return "txt"  # "answers of v1.2", or no ending that means anything
    if not ending:
        return "txt"
    raise RefusedError(f"{name:.60} cannot be read here: expected {_SHOWN}, got {ending}.")


def of_lines(lines: Sequence[str]) -> Kind:
    """What lines are that somebody pasted: rows of numbers, molecules if it is plain, or texts."""
    some = [line.strip() for line in lines if line.strip()]
    if are_numbers(some):
        return "vectors"
    return "molecules" if are_molecules(some) else "texts"


def others(kind: str, lines: Sequence[str]) -> tuple[Kind, ...]:
    """What else lines could be."""
    some = [line.strip() for line in lines if line.strip()]
    found: list[Kind] = []
    if kind != "texts":
        found.append("texts")
    if kind != "molecules" and share_of_molecules(some) > 0.5:
        found.append("molecules")
    if kind != "vectors" and are_numbers(some):
        found.append("vectors")
    return tuple(found)


def are_numbers(lines: Sequence[str]) -> bool:
    """Whether lines are rows of numbers, but for a row of names above and some cells."""
    some = lines[:_LOOK]
    body = [line[:_LONG] for line in (some[1:] if len(some) > 1 else some)]
    cells = [cell for line in body for cell in re.split(r"[;\t| ]+|,\s+|,(?=[^\s])", line) if cell]
    return bool(cells) and sum(map(is_number, cells)) > 0.8 * len(cells)


def are_molecules(lines: Sequence[str]) -> bool:
    """Whether nearly all lines are SMILES, and such as no words are."""
    some = _spread(lines)
    if not some or max(map(len, some)) > 2 * MAX_SMILES:
        return False
    marked = 2 * sum(not _head(line).isalpha() for line in some) >= len(some)
    if not marked:
        return False
    looks = looks_like(some)
    if looks is not None and looks.kernel != "morgan":
        return False
    return share_of_molecules(some) >= _PLAIN


def share_of_molecules(lines: Sequence[str]) -> float:
    """How many of some of the lines RDKit reads; 0 without it."""
    some = _spread(lines)
    try:
        found = [is_smiles(_head(line), MAX_SMILES) for line in some]
    except ImportError:  # without RDKit nothing is found out about molecules
        return 0.0
    return sum(found) / max(1, len(some))


def _spread(lines: Sequence[str]) -> list[str]:
    return list(lines[:: max(1, len(lines) // _LOOK_SMILES)][: 2 * _LOOK_SMILES])


def _head(line: str) -> str:
    return line.split(maxsplit=1)[0] if line.strip() else ""


def _refusal(name: str, ending: str) -> RefusedError:
    return RefusedError(
        f"{name:.60} is not read: expected {_SHOWN}, got a file of type {ending}; "
        f"{_REFUSED[ending]}."
    )
