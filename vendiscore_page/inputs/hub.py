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
from .cells import read_file
from .submission import Dataset, InputSettings
from .visitor_samples import Samples

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_ID = re.compile(rf"({_NAME}/{_NAME})(?::([\w.+-]{{1,100}}(?:/[\w.-]{{1,60}})?))?", re.ASCII)
_SECONDS = 20
_HINT = "owner/name, or owner/name:config/split"


def get_endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def fetch(settings: InputSettings) -> Dataset:
    """Fetch the first file of the requested part of a dataset."""
    text = str(settings.dataset).strip()
    match = _ID.fullmatch(text)
    if match is None or ".." in text or "--" in text:
        raise RefusedError(f"Expected the name of a dataset, {_HINT}; got {short_repr(text)}.")
    name, part = match.groups()
    files = _list_files(name)
    part = _select_part(name, files, part or "")
    first, *others = files[part]
    note = f"Only the first of {len(others) + 1} files was read, which may not be a random subset."
    return Dataset(f"{name}:{part}", _fetch_bytes(first, name), [note][: len(others)])


def read(dataset: Dataset, settings: InputSettings) -> Samples:
    samples = read_file(dataset.name, dataset.data, "parquet", settings)
    return replace(samples, notes=(*samples.notes, *dataset.notes), python=None)


def _select_part(name: str, files: Options, name_start: str) -> str:
    """Return the configuration and split that are named or usual; ask for them among others."""
    candidates = [
        part for part in files if f"{part}/".startswith(f"{name_start}/" if name_start else "")
    ]
    if not candidates:
        raise RefusedError(
            f"{name} has no part {short_repr(name_start)}. Available: {join_names(files)}."
        )
    default_parts = [f"{config}/train" for config in ("default", name.rpartition("/")[2])]
    preferred = [part for part in candidates if part in default_parts] or candidates
    if len(preferred) > 1:
        raise AskError(
            f"Which part of {name} should be read? Available: {join_names(candidates)}.",
            [(part, {"dataset": f"{name}:{part}"}) for part in candidates[:100]],
        )
    return preferred[0]


def _list_files(name: str) -> dict[str, list[str]]:
    """Return the addresses of the parquet files of each configuration and split."""
    data = _fetch_bytes(f"{get_endpoint()}/api/datasets/{name}/parquet", name)
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
    if not addresses or not all(url.startswith(f"{get_endpoint()}/") for url in addresses):
        raise RefusedError(
            f"The Hub has no readable tables of {name}; download a file of it and send that."
        )
    return files


def _fetch_bytes(address: str, name: str) -> bytes:
    request = urllib.request.Request(address, headers={"User-Agent": "vendiscore"})
    status = 0
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as response:
            if (response.length or 0) <= MAX_UPLOAD:
                data: bytes = response.read(MAX_UPLOAD)
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
        f"The first file of {name:.100} has {response.length / 1e6:,.0f} MB, more than "
        f"{MAX_UPLOAD // 10**6} MB; download it and send a random subset of its rows."
    )
