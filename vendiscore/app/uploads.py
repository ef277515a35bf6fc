"""Files instead of what is pasted: what counts, which column, and what was read.

gradio tells nobody but the visitor, and that for a few seconds, that it has turned a file down for
its size or type, or that it is still being sent. So it is not left to the file to say whether it
counts: what the visitor turned to last does. Opening the upload turns to the file; closing it or
changing what is pasted turns back.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from . import reading, shows
from .samples import read_html
from .shows import BOX, EXPECTED, FILE

QUICK: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": 8}
_CLOSED = "{__type__: 'update', open: false}"


@dataclass(frozen=True)
class Upload:
    """The parts of an upload.

    Attributes
    ----------
    accordion : gr.Accordion
    files : list of gr.File
    sources : list of gr.Textbox
        Hidden: `BOX` or `FILE`, one for each file.
    column : gr.Dropdown
    by : gr.Dropdown
        The column of groups, where a tab has groups.
    seen : gr.HTML
        What was read.
    """

    accordion: gr.Accordion
    files: list[gr.File]
    sources: list[gr.Textbox]
    column: gr.Dropdown
    by: gr.Dropdown
    seen: gr.HTML

    @property
    def all(self) -> list[Any]:
        """What `cleared` is for."""
        return [*self.files, *self.sources, self.accordion]

    def cleared(self) -> list[Any]:
        """No file, and the upload closed."""
        n = len(self.files)
        return [None] * n + [BOX] * n + [gr.update(open=False)]


def upload(
    labels: Sequence[str],
    pasted: Sequence[Any],
    types: Sequence[str],
    title: str = "Upload a file instead",
) -> Upload:
    """An upload closed at first, with a file for each of the components that one pastes into."""
    with gr.Accordion(title, open=False) as accordion:
        options: dict[str, Any] = {"type": "filepath", "height": 120 if len(labels) > 1 else None}
        files = [
            gr.File(label=label, file_types=list(types) or None, **options) for label in labels
        ]
        column = gr.Dropdown(
            [],
            label="Column",
            info="of all files; empty: as found in each" if len(labels) > 1 else None,
            visible=False,
            allow_custom_value=True,
        )
        by = gr.Dropdown(
            [],
            label="Grouped by",
            info="what says of each text which group it is in; empty: no groups",
            visible=False,
            allow_custom_value=True,
        )
        seen = gr.HTML("")
    sources = [gr.Textbox(BOX, visible=False) for _ in labels]
    for event, source in ((accordion.expand, FILE), (accordion.collapse, BOX)):
        event(None, None, sources, js=_always(f"'{source}'", len(sources)), **QUICK)
    for box, file, source in zip(pasted, files, sources, strict=True):
        changed = box.upload if isinstance(box, gr.Gallery) else box.change
        changed(
            None,
            None,
            [source, file, accordion],
            js=f"() => ['{BOX}', null, {_CLOSED}]",
            **QUICK,
        )
    return Upload(accordion, files, sources, column, by, seen)


def show_what_is_read(at: Upload, what: str, given: Sequence[Any] = ()) -> None:
    """Offer the columns of the file, if any, and say what is read from it, before it is scored.

    `given` are the separator and whether blank lines separate groups, where a tab has them.
    """
    (file,) = at.files

    def look(
        path: str | None,
        column: str | None,
        by: str | None,
        sign: str = reading.LINE,
        blocks: bool = False,
    ) -> str:
        if not path:
            return ""
        if what == "row":
            return _told(lambda: shows.vectors("", path, FILE).notes)
        return _told(lambda: shows.texts("", path, column, what, sign, FILE, blocks, by).notes)

    def offer(path: str | None, sign: str = reading.LINE, blocks: bool = False) -> list[Any]:
        try:
            names, likely = reading.columns(path, what) if path and what != "row" else ([], None)
        except EXPECTED:
            names, likely = [], None  # `look` says what is wrong
        several = len(names) > 1
        column = gr.update(choices=names, value=likely if several else None, visible=several)
        by = gr.update(choices=names, value=None, visible=several and len(given) > 0)
        return [column, by, look(path, likely, None, sign, blocks)]

    file.change(offer, [file, *given], [at.column, at.by, at.seen], **QUICK)
    for changed in (at.column, at.by, *given):
        changed.input(look, [file, at.column, at.by, *given], at.seen, **QUICK)


def show_what_is_compared(at: Upload, kind: gr.Radio, separator: gr.Dropdown) -> None:
    """The same for several files: one column for all, or else found in each."""

    def offer(kind: str, column: str | None, sign: str, *paths: str | None) -> list[Any]:
        names: dict[str, None] = {}
        told = ""
        for letter, path in zip("ABC", paths, strict=False):
            if path and kind != "images":
                read = functools.partial(_of_set, kind, path, column, sign)
                told += _told(read, f"Set {letter}: ")
            if path and kind in ("texts", "molecules"):
                with contextlib.suppress(*EXPECTED):  # told already
                    names |= dict.fromkeys(reading.columns(path, kind[:-1])[0])
        kept = column if column in names else None
        return [gr.update(choices=list(names), value=kept, visible=len(names) > 1), told]

    events = [kind.input, at.column.input, separator.input, *(file.change for file in at.files)]
    gr.on(events, offer, [kind, at.column, separator, *at.files], [at.column, at.seen], **QUICK)


def _of_set(kind: str, path: str, column: str | None, sign: str) -> Sequence[str]:
    samples = shows.sample_set(kind, "", path, column, sign, FILE)
    return samples.notes if samples else ()


def _told(read: Callable[[], Sequence[str]], before: str = "") -> str:
    try:
        return read_html([f"{before}{note}" for note in read()])
    except EXPECTED as error:
        return read_html([f"{before}{error}"])


def _always(value: str, n: int) -> str:
    """JavaScript that gives the value for each of n outputs."""
    return f"() => {value}" if n == 1 else f"() => [{', '.join([value] * n)}]"
