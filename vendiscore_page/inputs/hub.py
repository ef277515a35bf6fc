"""First rows of data sets, from the Hub alone: `load_dataset` opens whatever file a card names."""

from __future__ import annotations

import io
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import replace
from typing import Any, cast

from vendiscore.core.errors import quoted
from vendiscore.report import AskError, Columns, RefusedError, join_names

from ..aliases import Options
from ..quotas import INPUT
from .cells import of_columns
from .submission import Asked
from .visitor_samples import Samples

MAX_ROWS = 10_000
MAX_BYTES = 64_000_000  # that are fetched
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_ID = re.compile(rf"({_NAME}/{_NAME})(?::([\w.+-]{{1,100}})(?:/([\w.-]{{1,60}}))?)?", re.ASCII)
_SECONDS = 20
_LIST_BYTES = 4_000_000  # of the list of files
_BLOCK = 1 << 18  # bytes that are fetched at least
_HINT = "owner/name, or owner/name:config/split"


def endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def read(asked: Asked) -> Samples:
    text = str(asked.dataset).strip()
    found = _ID.fullmatch(text)
    if found is None or ".." in text or "--" in text:
        raise RefusedError(f"Expected the id of a data set, {_HINT}; got {quoted(text)}.")
    name, config, split = found.groups()
    configs = _files(name)
    likely = "default", name.rpartition("/")[2]
    config = _one_of(configs, config, "configuration", f"{name}:", likely)
    splits = configs[config]
    split = _one_of(splits, split, "split", f"{name}:{config}/", ("train",))
    addresses = splits[split]
    file = cast(Any, io.BufferedReader(_Remote(addresses[0]), _BLOCK))
    opened = Columns(file, replace(INPUT, samples=MAX_ROWS))
    samples = of_columns(opened, f"{name}:{config}/{split}", asked)
    note = f"From the Hub: the data set {name}, configuration {config}, split {split}."
    if opened.more or len(addresses) > 1:
        known = f"{'more than ' * (len(addresses) > 1)}{opened.rows:,} rows"
        first = min(opened.rows, MAX_ROWS)
        note += f" The first {first:,} of {known} were read; data sets are often sorted."
    notes = tuple(n for n in samples.notes if not n.startswith("Only the first"))
    others = [f"{name}:{config}/{other}" for other in splits if other != split]
    more = (f"It also has {join_names(others)}.",) if others else ()
    return replace(samples, notes=(note, *more, *notes), python=None)


def _one_of(
    there: Options, asked: str | None, what: str, before: str, usual: tuple[str, ...]
) -> str:
    if asked is not None:
        if asked not in there:
            raise RefusedError(
                f"There is no {what} {quoted(asked)}; there are {join_names(there)}."
            )
        return asked
    likely = [*there] if len(there) == 1 else [name for name in usual if name in there]
    if likely:
        return likely[0]
    raise AskError(
        f"Which {what} of {before.rstrip('/:')}? It has {join_names(there)}.",
        [(name, {"dataset": before + name}) for name in list(there)[:100]],
    )


def _files(name: str) -> dict[str, dict[str, list[str]]]:
    """Return the addresses of the parquet files of each configuration and split."""
    owner, _, own = name.partition("/")
    address = f"{endpoint()}/api/datasets/{owner}/{own}/parquet"
    with _asked(address, name) as answer:
        data = answer.read(_LIST_BYTES + 1)
    try:
        found = json.loads(data[:_LIST_BYTES]) if len(data) <= _LIST_BYTES else {}
        files = {
            str(config): {str(split): [*map(str, urls)] for split, urls in splits.items() if urls}
            for config, splits in found.items()
            if any(splits.values())
        }
    except (ValueError, AttributeError, TypeError, RecursionError):
        files = {}
    addresses = [url for splits in files.values() for urls in splits.values() for url in urls]
    if not addresses or not all(url.startswith(f"{endpoint()}/") for url in addresses):
        raise RefusedError(
            f"The Hub has no tables of {name} that can be read; download a file of it."
        )
    return files


def _asked(address: str, name: str, **headers: str) -> Any:
    request = urllib.request.Request(address, headers={"User-Agent": "vendiscore", **headers})
    try:
        return urllib.request.urlopen(request, timeout=_SECONDS)
    except urllib.error.HTTPError as error:
        status = error.code
        error.close()
    except (OSError, ValueError):
        raise RefusedError(
            "The Hub does not answer just now: try again later, or send a file of the data set."
        ) from None
    if status in (401, 403, 404):
        raise RefusedError(
            f"There is no public data set {name:.100} on the Hub, or the Hub has no table of it: "
            f"check the id ({_HINT}), or download a file of it and send that."
        )
    raise RefusedError(f"The Hub answered with error {status} for {name:.100}: try again later.")


class _Remote(io.RawIOBase):
    """A file of the Hub, of which parts are fetched as they are read, up to a limit."""

    def __init__(self, address: str) -> None:
        self._address, self._at, self._left = address, 0, MAX_BYTES
        self._read: dict[tuple[int, int], Any] = {}  # the first rows are looked at twice
        self._name = address.partition("/datasets/")[2].partition("/parquet/")[0]
        with _asked(address, self._name, Range="bytes=0-0") as answer:
            span = answer.headers.get("Content-Range", "")
            self._address = answer.geturl()  # where the Hub keeps it, for some minutes
        size = span.rpartition("/")[2]
        if not size.isdigit():
            raise RefusedError(
                "The Hub sends this data set as a whole only: download a file of it."
            )
        self._size = int(size)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), self._size - self._at)
        if wanted <= 0:
            return 0
        data = self._read.get((self._at, wanted))
        if data is None:
            self._left -= wanted
            if self._left < 0:
                raise RefusedError(
                    f"The first rows of this data set take more than {MAX_BYTES // 10**6} MB: "
                    f"download it and send a random part of the texts."
                )
            part = f"bytes={self._at}-{self._at + wanted - 1}"
            with _asked(self._address, self._name, Range=part) as answer:
                data = answer.read(wanted)
        self._read[self._at, wanted] = data
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
