"""First rows of data sets, from the Hub alone: `load_dataset` opens whatever file a card names."""

from __future__ import annotations

import json
import os
import re
import urllib.error
import urllib.request
from dataclasses import replace

from vendiscore.report import AskError, RefusedError, join_names
from vendiscore.support.errors import short_repr

from ..aliases import Options
from ..quotas import MAX_UPLOAD
from .cells import of_file
from .submission import Asked, Dataset
from .visitor_samples import Samples

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_ID = re.compile(rf"({_NAME}/{_NAME})(?::([\w.+-]{{1,100}}(?:/[\w.-]{{1,60}})?))?", re.ASCII)
_SECONDS = 20
_HINT = "owner/name, or owner/name:config/split"


def endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def fetch(asked: Asked) -> Dataset:
    """Fetch the first file of the part of a dataset that is asked for."""
    text = str(asked.dataset).strip()
    found = _ID.fullmatch(text)
    if found is None or ".." in text or "--" in text:
        raise RefusedError(f"Expected the name of a dataset, {_HINT}; got {short_repr(text)}.")
    name, part = found.groups()
    files = _files(name)
    part = _choose(name, files, part or "")
    first, *others = files[part]
    note = f"Only the first of {len(others) + 1} files was read, which may not be a random subset."
    return Dataset(f"{name}:{part}", _fetched(first, name), [note][: len(others)])


def read(dataset: Dataset, asked: Asked) -> Samples:
    samples = of_file(dataset.name, dataset.data, "parquet", asked)
    return replace(samples, notes=(*samples.notes, *dataset.notes), python=None)


def _choose(name: str, files: Options, wanted: str) -> str:
    """Return the configuration and split that are named or usual; ask for them among others."""
    could = [part for part in files if f"{part}/".startswith(f"{wanted}/" if wanted else "")]
    if not could:
        raise RefusedError(
            f"{name} has no part {short_repr(wanted)}. Available: {join_names(files)}."
        )
    usual = [f"{config}/train" for config in ("default", name.rpartition("/")[2])]
    likely = [part for part in could if part in usual] or could
    if len(likely) > 1:
        raise AskError(
            f"Which part of {name} should be read? Available: {join_names(could)}.",
            [(part, {"dataset": f"{name}:{part}"}) for part in could[:100]],
        )
    return likely[0]


def _files(name: str) -> dict[str, list[str]]:
    """Return the addresses of the parquet files of each configuration and split."""
    data = _fetched(f"{endpoint()}/api/datasets/{name}/parquet", name)
    try:
        files = {
            f"{config}/{split}": [*map(str, urls)]
            for config, splits in json.loads(data).items()
            for split, urls in splits.items()
            if urls
        }
    except (ValueError, AttributeError, TypeError, RecursionError):
        files = {}
    addresses = [url for urls in files.values() for url in urls]
    if not addresses or not all(url.startswith(f"{endpoint()}/") for url in addresses):
        raise RefusedError(
            f"The Hub has no readable tables of {name}; download a file of it and send that."
        )
    return files


def _fetched(address: str, name: str) -> bytes:
    request = urllib.request.Request(address, headers={"User-Agent": "vendiscore"})
    status = 0
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            if (answer.length or 0) <= MAX_UPLOAD:
                data: bytes = answer.read(MAX_UPLOAD)
                return data
    except urllib.error.HTTPError as error:
        status = error.code
        error.close()
    except (OSError, ValueError):
        status = 500
    if status in (401, 403, 404):
        raise RefusedError(
            f"There is no public dataset {name:.100} on the Hub, or the Hub has no table of it; "
            f"check the name ({_HINT}), or download a file of it and send that."
        )
    if status:
        raise RefusedError(
            "The Hub does not respond; try again later, or send a file of the dataset."
        )
    raise RefusedError(
        f"The first file of {name:.100} has {answer.length / 1e6:,.0f} MB, more than "
        f"{MAX_UPLOAD // 10**6} MB; download it and send a random subset of its rows."
    )
