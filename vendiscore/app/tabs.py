"""The tabs: what a visitor can set on each, and what a change of it runs."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from . import examples, jobs, reading, report
from .pictures import IMAGE_FILES, pictures
from .shows import (
    Shown,
    safe,
    show_comparison,
    show_images,
    show_molecules,
    show_text,
    show_vectors,
    stages,
)
from .sifting import LEAVE_OUT
from .uploads import QUICK, show_what_is_compared, show_what_is_read, upload
from .zoom import FURTHEST

# One pool for everybody: the Space has two cores, and every job uses one.
POOL: dict[str, Any] = {"concurrency_id": "cpu", "concurrency_limit": 2}
# The last that was said of work under way would else stay; a result stays.
_STOPPED = (
    "shown => shown.includes('class=\"vs-note\"') ? "
    f"{json.dumps(report.note('Stopped. Score starts again.'))} : shown"
)
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
        FURTHEST,
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
    stopped = stop.click(None, cancels=running, api_visibility="private")
    for pause in (0, 1000, 2000):  # what was on its way may come after
        wait = f"() => new Promise(done => setTimeout(done, {pause}))"
        stopped = stopped.then(None, js=wait, api_visibility="private")
        stopped = stopped.then(None, outputs[0], outputs[0], js=_STOPPED, api_visibility="private")


def _leave_out() -> gr.Checkbox:
    return gr.Checkbox(False, label=LEAVE_OUT)


def _separator() -> gr.Dropdown:
    return gr.Dropdown(
        [reading.LINE, reading.BLANK],
        value=reading.LINE,
        label="Between two texts",
        info="or type a sign, such as ===",
        allow_custom_value=True,
    )


def text_tab() -> None:
    first = next(iter(examples.TEXTS.values()))
    with gr.Row(elem_classes="vs-layout"):
        with gr.Column():
            choices = _choices(list(examples.TEXTS))
            box = gr.Textbox(first, label="Texts, one a line", lines=6, max_lines=12)
            separator = _separator()
            blocks = gr.Checkbox(False, label=f"{reading.BLOCKS} (one group per prompt)")
            files = upload([", ".join(reading.TEXT_FILES)], [box], reading.TEXT_FILES)
            leave_out = _leave_out()
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
        **QUICK,
    )
    show_what_is_read(files, "text", [separator, blocks])
    loads = _loads(
        choices,
        [(text, reading.LINE, False) for text in examples.TEXTS.values()],
        [box, separator, blocks, *files.all],
        lambda *given: [*given, *files.cleared()],
    )
    read = [separator, leave_out, blocks, files.by]
    inputs = [box, *files.files, files.column, kernel, ns, unit, q, zoom, *read]
    controls = [kernel, ns, unit, q, zoom, files.column, *read]
    _wire(show_text, [*inputs, *files.sources], outputs, buttons, controls, loads)


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
            files = upload([".zip of images"], [gallery], [".zip"], "Upload a .zip instead")
            leave_out = _leave_out()
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
    loads = _loads(
        choices,
        [(shown,) for shown in sets.values()],
        [gallery, *files.all],
        lambda shown: [shown, *files.cleared()],
    )
    inputs = [gallery, *files.files, kernel, q, zoom, leave_out, *files.sources]
    _wire(show_images, inputs, outputs, buttons, [kernel, q, zoom, leave_out], loads)


def _as_pictures(images: Sequence[Any]) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"example {i:02}.png" for i in range(len(images))]
        for image, path in zip(images, paths, strict=True):
            image.save(path)
        return list(pictures([str(path) for path in paths]).values)


def molecule_tab() -> None:
    first = next(iter(examples.MOLECULES.values()))
    with gr.Row(elem_classes="vs-layout"):
        with gr.Column():
            choices = _choices(list(examples.MOLECULES))
            box = gr.Textbox(first, label="SMILES, one a line", lines=6, max_lines=12)
            files = upload([", ".join(reading.TEXT_FILES)], [box], reading.TEXT_FILES)
            leave_out = _leave_out()
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
    show_what_is_read(files, "molecule")
    loads = _loads(
        choices,
        [(text,) for text in examples.MOLECULES.values()],
        [box, *files.all],
        lambda text: [text, *files.cleared()],
    )
    inputs = [box, *files.files, files.column, kernel, q, zoom, leave_out, *files.sources]
    controls = [kernel, q, zoom, files.column, leave_out]
    _wire(show_molecules, inputs, outputs, buttons, controls, loads)


def vector_tab() -> None:
    rows, chosen, width = next(iter(examples.VECTORS.values()))
    with gr.Row(elem_classes="vs-layout"):
        with gr.Column():
            choices = _choices(list(examples.VECTORS))
            box = gr.Textbox(rows, label="Rows of numbers", lines=6, max_lines=12)
            files = upload([", ".join(reading.MATRIX_FILES)], [box], reading.MATRIX_FILES)
            leave_out = _leave_out()
            buttons = _buttons()
        with gr.Column():
            outputs = _result(_first(show_vectors(rows, None, chosen, width, 1, 1)))
        with gr.Column():
            kernel = gr.Dropdown(
                list(jobs.VECTOR_CHOICES),
                value=chosen,
                label="Kernel",
                info="K: the rows are similarities already",
            )
            sigma = gr.Number(
                width, label="Bandwidth σ", info="of rbf and laplacian; 0: the median"
            )
            q, zoom = _order(), _scale()
    show_what_is_read(files, "row")
    loads = _loads(
        choices,
        list(examples.VECTORS.values()),
        [box, kernel, sigma, *files.all],
        lambda *given: [*given, *files.cleared()],
    )
    inputs = [box, *files.files, kernel, sigma, q, zoom, leave_out, *files.sources]
    _wire(show_vectors, inputs, outputs, buttons, [kernel, sigma, q, zoom, leave_out], loads)


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
            boxes = []
            for letter, text in zip("ABC", sets, strict=True):
                label = f"Set {letter}" + (" (may be left empty)" if letter == "C" else "")
                boxes.append(gr.Textbox(text, label=label, lines=4, max_lines=8))
            separator = _separator()
            names = [f"Set {letter}" for letter in "ABC"]
            files = upload(names, boxes, [], "Upload files instead")
            leave_out = _leave_out()
            buttons = _buttons()
        with gr.Column():
            a, b, c = sets
            initial = show_comparison(kind, menus[kind][0], a, b, c, None, None, None, 1, 299)
            outputs = _result(_first(initial), "The scores of whole sets in Python")
        with gr.Column():
            q = _order()
            permutations = gr.Slider(
                299, 999, 299, step=100, label="Permutations", info="at most, of each two sets"
            )

    def turn_to(kind: str) -> list[Any]:
        """The kernels of the kind; images come as files, so that there is nothing to paste."""
        images = kind == "images"
        label = "Upload a .zip of images for each set" if images else "Upload files instead"
        return [
            gr.update(choices=menus[kind], value=menus[kind][0]),
            gr.update(open=images, label=label),
            gr.update(visible=kind == "texts"),
            *[gr.update(visible=not images) for _ in boxes],
        ]

    def load(kind: str, *texts: str) -> list[Any]:  # gradio takes updates apart: new ones each time
        menu, _, shown, *_ = turn_to(kind)
        filled = [gr.update(value=text, visible=True) for text in texts]
        *cleared, accordion = files.cleared()
        accordion["label"] = "Upload files instead"
        return [kind, menu, {**shown, "value": reading.LINE}, *filled, *cleared, accordion]

    targets = [kinds, kernel, separator, *boxes, *files.all]
    loads = _loads(choices, list(examples.COMPARISONS.values()), targets, load)
    kinds.input(turn_to, kinds, [kernel, files.accordion, separator, *boxes], **QUICK)
    show_what_is_compared(files, kinds, separator)
    inputs = [
        kinds,
        kernel,
        *boxes,
        *files.files,
        q,
        permutations,
        files.column,
        separator,
        leave_out,
    ]
    controls = [kernel, q, permutations, files.column, separator, leave_out]
    _wire(show_comparison, [*inputs, *files.sources], outputs, buttons, controls, loads)
