"""The tabs: what a visitor can set on each, and what a change of it runs."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from . import examples, jobs, reading, scale
from .pictures import IMAGE_FILES, pictures
from .shows import (
    EXPECTED,
    Shown,
    safe,
    show_comparison,
    show_images,
    show_molecules,
    show_text,
    show_vectors,
    stages,
)

# One pool for everybody: the Space has two cores, and every job uses one.
POOL: dict[str, Any] = {"concurrency_id": "cpu", "concurrency_limit": 2}
# A button, what it gives, and the components that this goes to.
Load = tuple[gr.Button, Callable[[], Any], list[Any]]


def _first(shown: Iterator[Shown]) -> Shown:
    return list(shown)[-1]


def _result(shown: Shown, label: str = "The same number in Python") -> list[Any]:
    html = gr.HTML(shown[0])
    code = gr.Code(
        shown[1],
        language="python",
        label=label,
        interactive=False,
        wrap_lines=True,
    )
    return [html, code]


def _order() -> gr.Slider:
    return gr.Slider(
        0,
        10,
        1,
        step=0.25,
        label="Order q",
        info="0 counts rare samples in full; large q looks at the commonest only",
    )


def _scale() -> gr.Slider:
    return gr.Slider(
        0,
        scale.FURTHEST,
        1,
        step=0.05,
        label="Scale of the magnitude",
        info="in convergence scales",
    )


def _buttons() -> tuple[gr.Button, gr.Button]:
    with gr.Row():
        return gr.Button("Score", variant="primary", min_width=100), gr.Button(
            "Stop", min_width=100
        )


def _choices(names: Sequence[str]) -> list[gr.Button]:
    with gr.Row():
        return [gr.Button(name, size="sm", min_width=90) for name in names]


def _loads(
    buttons: Sequence[gr.Button],
    examples: Sequence[tuple[Any, ...]],
    targets: list[Any],
    load: Callable[..., Any] = lambda *given: given,
) -> list[Load]:
    """What each button of an example puts where; `load` makes the values of its targets."""
    return [
        (button, functools.partial(load, *example), targets)
        for button, example in zip(buttons, examples, strict=True)
    ]


def _wire(
    show: Callable[..., Iterator[Shown]],
    inputs: list[Any],
    outputs: list[Any],
    buttons: tuple[gr.Button, gr.Button],
    controls: Sequence[Any],
    loads: Sequence[Load],
) -> None:
    """Run on Score, when a visitor changes a control, and after an example; Stop stops."""
    score, stop = buttons
    run: dict[str, Any] = {
        "fn": safe(show),
        "inputs": inputs,
        "outputs": outputs,
        "api_visibility": "private",
        "trigger_mode": "always_last",
        **POOL,
    }
    triggers = [score.click, *(control.input for control in controls)]
    running = [gr.on(triggers, **run)]
    for button, load, targets in loads:
        loaded = button.click(load, None, targets, api_visibility="private", concurrency_limit=8)
        running.append(loaded.then(**run))
    stop.click(None, cancels=running, api_visibility="private")


def _upload() -> tuple[gr.File, gr.Dropdown]:
    """A file of texts, and which of its columns, offered when there are any."""
    with gr.Accordion("Upload a file instead", open=False):
        file = gr.File(
            label=".txt, .csv or .jsonl", file_types=list(reading.TEXT_FILES), type="filepath"
        )
        column = gr.Dropdown([], label="Column", visible=False, allow_custom_value=True)

    def offer(path: str | None) -> Any:
        try:
            names = reading.columns(path) if path else []
        except EXPECTED:
            names = []  # the handler will say what is wrong
        return gr.update(choices=names, value=names[0] if names else None, visible=bool(names))

    file.change(offer, file, column, api_visibility="private", concurrency_limit=8)
    return file, column


def text_tab() -> None:
    first = next(iter(examples.TEXTS.values()))
    with gr.Row(elem_classes="vs-layout"):
        with gr.Column():
            choices = _choices(list(examples.TEXTS))
            box = gr.Textbox(first, label="Texts, one a line", lines=6, max_lines=12)
            file, column = _upload()
            buttons = _buttons()
        with gr.Column():
            initial = show_text(first, None, None, "ngram_overlap", [1, 2, 3, 4], "word", 1, 1)
            outputs = _result(_first(initial))
        with gr.Column():
            kernel = gr.Dropdown(
                jobs.menu("texts"),
                value="ngram_overlap",
                label="Kernel",
                info="shared n-grams, or what an encoder takes the texts to mean",
            )
            ns = gr.CheckboxGroup([1, 2, 3, 4], value=[1, 2, 3, 4], label="Lengths of n-grams")
            unit = gr.Radio(["word", "char"], value="word", label="n-grams of")
            q, zoom = _order(), _scale()
    kernel.input(
        lambda name: [gr.update(visible=name == "ngram_overlap") for _ in range(2)],
        kernel,
        [ns, unit],
        api_visibility="private",
        concurrency_limit=8,
    )
    loads = _loads(choices, [(text, None) for text in examples.TEXTS.values()], [box, file])
    inputs = [box, file, column, kernel, ns, unit, q, zoom]
    _wire(show_text, inputs, outputs, buttons, [kernel, ns, unit, q, zoom, column], loads)


def image_tab() -> None:
    sets = examples.images()
    first = next(iter(sets.values()))
    with gr.Row(elem_classes="vs-layout"):
        with gr.Column():
            choices = _choices(list(sets))
            gallery = gr.Gallery(
                first,
                label="Images",
                type="filepath",
                format="png",
                columns=3,
                height=240,
                interactive=True,
                file_types=list(IMAGE_FILES),
                object_fit="contain",
            )
            with gr.Accordion("Upload a .zip instead", open=False):
                archive = gr.File(label=".zip of images", file_types=[".zip"], type="filepath")
            buttons = _buttons()
        with gr.Column():
            job = jobs.image_job(_as_pictures(first))
            outputs = _result(_first(stages(job, 1, 1)))
        with gr.Column():
            kernel = gr.Dropdown(
                jobs.menu("images"),
                value="pixels",
                label="Kernel",
                info="32 × 32 pixels in colour, or what an encoder sees",
            )
            q, zoom = _order(), _scale()
    loads = _loads(choices, [(shown, None) for shown in sets.values()], [gallery, archive])
    inputs = [gallery, archive, kernel, q, zoom]
    _wire(show_images, inputs, outputs, buttons, [kernel, q, zoom], loads)


def _as_pictures(images: Sequence[Any]) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"example {i:02}.png" for i in range(len(images))]
        for image, path in zip(images, paths, strict=True):
            image.save(path)
        return pictures([str(path) for path in paths])


def molecule_tab() -> None:
    first = next(iter(examples.MOLECULES.values()))
    with gr.Row(elem_classes="vs-layout"):
        with gr.Column():
            choices = _choices(list(examples.MOLECULES))
            box = gr.Textbox(first, label="SMILES, one a line", lines=6, max_lines=12)
            file, column = _upload()
            buttons = _buttons()
        with gr.Column():
            outputs = _result(_first(show_molecules(first, None, None, "morgan", 1, 1)))
        with gr.Column():
            kernel = gr.Dropdown(
                list(jobs.MOLECULE_KERNELS),
                value="morgan",
                label="Fingerprint",
                info="compared by Tanimoto similarity",
            )
            q, zoom = _order(), _scale()
    loads = _loads(choices, [(text, None) for text in examples.MOLECULES.values()], [box, file])
    inputs = [box, file, column, kernel, q, zoom]
    _wire(show_molecules, inputs, outputs, buttons, [kernel, q, zoom, column], loads)


def vector_tab() -> None:
    rows, chosen, width = next(iter(examples.VECTORS.values()))
    with gr.Row(elem_classes="vs-layout"):
        with gr.Column():
            choices = _choices(list(examples.VECTORS))
            box = gr.Textbox(rows, label="Rows of numbers", lines=6, max_lines=12)
            with gr.Accordion("Upload a file instead", open=False):
                file = gr.File(
                    label=".npy, .csv or .parquet",
                    file_types=list(reading.MATRIX_FILES),
                    type="filepath",
                )
            buttons = _buttons()
        with gr.Column():
            outputs = _result(_first(show_vectors(rows, None, chosen, width, 1, 1)))
        with gr.Column():
            kernel = gr.Dropdown(
                list(jobs.VECTOR_KERNELS),
                value=chosen,
                label="Kernel",
                info="X and dual: dot products of normalised rows; K: the rows are similarities",
            )
            sigma = gr.Number(
                width, label="Bandwidth σ", info="of rbf and laplacian; 0: the median"
            )
            q, zoom = _order(), _scale()
    vectors = [(*example, None) for example in examples.VECTORS.values()]
    loads = _loads(choices, vectors, [box, kernel, sigma, file])
    inputs = [box, file, kernel, sigma, q, zoom]
    _wire(show_vectors, inputs, outputs, buttons, [kernel, sigma, q, zoom], loads)


def compare_tab() -> None:
    kind, *sets = next(iter(examples.COMPARISONS.values()))
    menus = {kind: jobs.menu(kind) for kind in jobs.KERNELS}
    with gr.Row(elem_classes="vs-layout"):
        with gr.Column():
            choices = _choices(list(examples.COMPARISONS))
            kinds = gr.Radio(list(menus), value=kind, label="What the sets are")
            kernel = gr.Dropdown(
                menus[kind], value=menus[kind][0], label="Kernel", allow_custom_value=True
            )
            boxes, files = [], []
            for letter, text in zip("ABC", sets, strict=True):
                label = f"Set {letter}" + (" (may be left empty)" if letter == "C" else "")
                boxes.append(gr.Textbox(text, label=label, lines=4, max_lines=8))
            with gr.Accordion("Upload files instead", open=False) as uploads:
                files = [
                    gr.File(label=f"Set {letter}", type="filepath", height=120) for letter in "ABC"
                ]
            buttons = _buttons()
        with gr.Column():
            a, b, c = sets
            initial = show_comparison(kind, menus[kind][0], a, b, c, None, None, None, 1, 10)
            outputs = _result(_first(initial), "The scores of whole sets in Python")
        with gr.Column():
            q = _order()
            draws = gr.Slider(5, 20, 10, step=1, label="Draws", info="pairs, drawn from each set")

    def turn_to(kind: str) -> list[Any]:
        """The kernels of the kind; images come as files, so that there is nothing to paste."""
        images = kind == "images"
        label = "Upload a .zip of images for each set" if images else "Upload files instead"
        return [
            gr.update(choices=menus[kind], value=menus[kind][0]),
            gr.update(open=images, label=label),
            *[gr.update(visible=not images) for _ in boxes],
        ]

    def load(kind: str, *texts: str) -> list[Any]:  # gradio takes updates apart: new ones each time
        menu, accordion, *_ = turn_to(kind)
        shown = [gr.update(value=text, visible=True) for text in texts]
        return [kind, menu, accordion, *shown, None, None, None]

    targets = [kinds, kernel, uploads, *boxes, *files]
    loads = _loads(choices, list(examples.COMPARISONS.values()), targets, load)
    kinds.input(
        turn_to,
        kinds,
        [kernel, uploads, *boxes],
        api_visibility="private",
        concurrency_limit=8,
    )
    inputs = [kinds, kernel, *boxes, *files, q, draws]
    _wire(show_comparison, inputs, outputs, buttons, [kernel, q, draws], loads)
