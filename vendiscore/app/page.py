"""The page, the API and the MCP tools: gradio Blocks around the plain functions of `handlers`."""

from __future__ import annotations

import functools
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gradio as gr

from . import encoders, examples, handlers, reading, report, scale, tidy
from .guard import Guard
from .handlers import Job
from .limits import IN_WORDS, MAX_UPLOAD, RefusedError
from .pictures import IMAGE_FILES, pictures

Shown = tuple[str, str]  # HTML of the result, lines of Python

_log = logging.getLogger(__name__)
_EXPECTED = (ValueError, TypeError, MemoryError, ImportError)
# One pool for everybody: the Space has two cores, and every job uses one.
_POOL: dict[str, Any] = {"concurrency_id": "cpu", "concurrency_limit": 2}
_QUEUE = 40  # who comes later is told that the page is busy
_ABOUT = """# How many *effectively different* samples are here?
The **Vendi Score** of a set is a number between 1 (all samples are the same) and *n* (no two have
anything in common). It is read off the spectrum of their similarities. Paste your own, or pick an
example."""
_OURS = "Something went wrong on our side, not with your input; please try again later."


def build() -> gr.Blocks:
    """The page, with a result on every tab. Start it by `launch`."""
    # A folder of its own, so that nothing else is ever swept or served.
    os.environ.setdefault("GRADIO_TEMP_DIR", tempfile.mkdtemp(prefix="vendiscore-"))
    with gr.Blocks(
        title="Vendi Score: how many effectively different samples?",
        analytics_enabled=False,
        delete_cache=(tidy.EVERY, tidy.KEEP),
    ) as page:
        gr.Markdown(_ABOUT)
        with gr.Tab("Text"):
            _text_tab()
        with gr.Tab("Images"):
            _image_tab()
        with gr.Tab("Molecules"):
            _molecule_tab()
        with gr.Tab("Vectors"):
            _vector_tab()
        with gr.Tab("Compare"):
            _compare_tab()
        gr.Markdown(
            f"**Limits.** {IN_WORDS} Uploads are deleted after 15 minutes at the latest.",
            elem_classes="vs-limits",
        )
        for function in (
            handlers.text,
            handlers.images,
            handlers.molecules,
            handlers.vectors,
            handlers.compare,
        ):
            gr.api(_told(function), api_name=function.__name__, **_POOL)
    page.queue(max_size=_QUEUE, default_concurrency_limit=2)
    return page


def launch(page: gr.Blocks, **options: Any) -> Any:
    """Start the server with the settings that the page relies on; `options` as for gradio."""
    from starlette.middleware import Middleware

    tidy.start()
    system = ["system-ui", "sans-serif"]
    return page.launch(
        **{
            "theme": gr.themes.Default(
                primary_hue="indigo", font=system, font_mono=["ui-monospace", "monospace"]
            ),
            "css_paths": Path(__file__).with_name("style.css"),
            "max_file_size": MAX_UPLOAD,
            "ssr_mode": False,
            "run_history": False,
            "enable_monitoring": False,
            "footer_links": ["api", "settings"],
            "mcp_server": find_spec("mcp") is not None,
            "app_kwargs": {"middleware": [Middleware(Guard)]},
            **options,
        }
    )


def stages(job: Job, q: Any, zoom: Any) -> Iterator[Shown]:
    """The result as soon as there is one, then with the magnitude function.

    Between the stages, a visitor's Stop takes effect.
    """
    analysis = job.score(q)
    code = job.code(q)

    def html(found: scale.Scale | None) -> str:
        return report.page(analysis, job.what, job.cell, job.labels, found, job.notes)

    if analysis.n > 200:  # else the magnitude function takes no time
        yield html(None), code
    yield html(scale.look(analysis.similarity, _zoom(zoom))), code


def show_text(
    box: str,
    path: str | None,
    column: str | None,
    kernel: str,
    ns: list[int],
    unit: str,
    q: float,
    zoom: float,
) -> Iterator[Shown]:
    """The text tab; a file counts before the box."""
    texts = reading.texts(path, column) if path else reading.lines(box)
    yield from stages(handlers.text_job(texts, kernel, ns, unit), q, zoom)


def show_images(
    gallery: list[Any] | None, archive: str | None, q: float, zoom: float
) -> Iterator[Shown]:
    """The image tab; a zip counts before the gallery."""
    paths = [archive] if archive else [path for path, _ in gallery or []]
    yield from stages(handlers.image_job(pictures(paths)), q, zoom)


def show_molecules(
    box: str, path: str | None, column: str | None, kernel: str, q: float, zoom: float
) -> Iterator[Shown]:
    """The molecules tab; a file counts before the box."""
    smiles = reading.texts(path, column, "molecule") if path else reading.lines(box)
    yield from stages(handlers.molecule_job(smiles, kernel), q, zoom)


def show_vectors(
    box: str, path: str | None, kernel: str, sigma: float | None, q: float, zoom: float
) -> Iterator[Shown]:
    """The tab of vectors and matrices; a file counts before the box."""
    X = reading.matrix(path) if path else reading.numbers(box)
    yield from stages(handlers.vector_job(X, kernel, sigma or 0.0, path), q, zoom)


def show_comparison(
    kind: str,
    kernel: str,
    a: str,
    b: str,
    c: str,
    file_a: str | None,
    file_b: str | None,
    file_c: str | None,
    q: float,
    draws: float,
) -> Iterator[Shown]:
    """The tab that compares."""
    sources = [(a, file_a), (b, file_b), (c, file_c)]
    sets = [_set(box, path, kind) for box, path in sources if path or (box or "").strip()]
    steps = handlers.comparison(sets, kind, kernel, q, int(draws))
    while True:
        try:
            done = next(steps)
        except StopIteration as end:
            yield report.comparison(end.value, sets, kind), report.comparison_code(end.value)
            return
        if max(map(len, sets)) > 200:
            yield report.note(f"Comparing: {100 * done:.0f} % done."), ""


def _set(box: str, path: str | None, kind: str) -> Any:
    if kind == "vectors":
        return reading.matrix(path) if path else reading.numbers(box)
    return reading.texts(path, None, kind[:-1]) if path else reading.lines(box)


def _zoom(zoom: Any) -> float:
    try:
        value = float(zoom)
    except (TypeError, ValueError):
        raise RefusedError(f"The scale must be a number, got {zoom!r:.40}.") from None
    if not 0 <= value <= scale.FURTHEST:
        raise RefusedError(f"The scale must be from 0 to {scale.FURTHEST}, got {value:g}.")
    return value


def _safe(show: Callable[..., Iterator[Shown]]) -> Callable[..., Iterator[Shown]]:
    """The handler, with what goes wrong said in the place of the result."""

    @functools.wraps(show)
    def run(*values: Any) -> Iterator[Shown]:
        try:
            yield from show(*values)
        except _EXPECTED as error:
            yield report.problem(str(error)), ""
        except Exception:
            _log.exception("%s failed", show.__name__)
            yield report.problem(_OURS), ""

    return run


def _told(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The API function, with what goes wrong as an error that clients are told."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            return function(*args, **kwargs)
        except _EXPECTED as error:
            raise gr.Error(str(error), print_exception=False) from None
        except Exception:
            _log.exception("%s failed", function.__name__)
            raise gr.Error(_OURS, print_exception=False) from None

    return run


def _first(shown: Iterator[Shown]) -> Shown:
    return list(shown)[-1]


def _result(shown: Shown) -> list[Any]:
    html = gr.HTML(shown[0])
    code = gr.Code(
        shown[1],
        language="python",
        label="The same number in Python",
        interactive=False,
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
        return gr.Button("Score", variant="primary"), gr.Button("Stop")


def _choices(names: Sequence[str]) -> list[gr.Button]:
    with gr.Row():
        return [gr.Button(name, size="sm", min_width=90) for name in names]


def _wire(
    show: Callable[..., Iterator[Shown]],
    inputs: list[Any],
    outputs: list[Any],
    buttons: tuple[gr.Button, gr.Button],
    controls: Sequence[Any],
    loads: Sequence[tuple[gr.Button, Callable[[], Any], list[Any]]],
) -> None:
    """Run on Score, on any change of a control, and after an example is loaded; Stop stops."""
    score, stop = buttons
    run: dict[str, Any] = {
        "fn": _safe(show),
        "inputs": inputs,
        "outputs": outputs,
        "api_visibility": "private",
        "trigger_mode": "always_last",
        **_POOL,
    }
    triggers = [score.click, *(control.change for control in controls)]
    running = [gr.on(triggers, **run)]
    for button, load, targets in loads:
        loaded = button.click(load, None, targets, api_visibility="private", queue=False)
        running.append(loaded.then(**run))
    stop.click(None, cancels=running, api_visibility="private")


def _columns(file: gr.File, column: gr.Dropdown) -> None:
    """Offer the columns of an uploaded file."""

    def offer(path: str | None) -> Any:
        try:
            names = reading.columns(path) if path else []
        except _EXPECTED:
            names = []  # the handler will say what is wrong
        return gr.update(choices=names, value=names[0] if names else None, visible=bool(names))

    file.change(offer, file, column, api_visibility="private", queue=False)


def _text_tab() -> None:
    first = next(iter(examples.TEXTS.values()))
    kernels = ["ngram_overlap", *encoders.offered()]
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            choices = _choices(list(examples.TEXTS))
            box = gr.Textbox(first, label="Texts, one a line", lines=8, max_lines=14)
            with gr.Accordion("Upload a file instead", open=False):
                file = gr.File(
                    label=".txt, .csv or .jsonl",
                    file_types=list(reading.TEXT_FILES),
                    type="filepath",
                )
                column = gr.Dropdown([], label="Column", visible=False, allow_custom_value=True)
            kernel = gr.Dropdown(kernels, value=kernels[0], label="Kernel")
            ns = gr.CheckboxGroup([1, 2, 3, 4], value=[1, 2, 3, 4], label="Lengths of n-grams")
            unit = gr.Radio(["word", "char"], value="word", label="n-grams of")
            q, zoom = _order(), _scale()
            buttons = _buttons()
        with gr.Column(scale=5, min_width=300):
            initial = show_text(first, None, None, "ngram_overlap", [1, 2, 3, 4], "word", 1, 1)
            outputs = _result(_first(initial))
    loads = [
        (button, functools.partial(lambda text: (text, None), text), [box, file])
        for button, text in zip(choices, examples.TEXTS.values(), strict=True)
    ]
    _columns(file, column)
    inputs = [box, file, column, kernel, ns, unit, q, zoom]
    _wire(show_text, inputs, outputs, buttons, [kernel, ns, unit, q, zoom, column], loads)


def _image_tab() -> None:
    sets = examples.images()
    first = next(iter(sets.values()))
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            choices = _choices(list(sets))
            gallery = gr.Gallery(
                first,
                label="Images",
                type="filepath",
                format="png",
                columns=3,
                height=300,
                interactive=True,
                file_types=list(IMAGE_FILES),
                object_fit="contain",
            )
            with gr.Accordion("Upload a .zip instead", open=False):
                archive = gr.File(label=".zip of images", file_types=[".zip"], type="filepath")
            gr.Markdown("Compared by `pixels`: 32 × 32 pixels in colour, cosine.")
            q, zoom = _order(), _scale()
            buttons = _buttons()
        with gr.Column(scale=5, min_width=300):
            job = handlers.image_job(_as_pictures(first))
            outputs = _result(_first(stages(job, 1, 1)))
    loads = [
        (button, functools.partial(lambda shown: (shown, None), shown), [gallery, archive])
        for button, shown in zip(choices, sets.values(), strict=True)
    ]
    _wire(show_images, [gallery, archive, q, zoom], outputs, buttons, [q, zoom], loads)


def _as_pictures(images: Sequence[Any]) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"example {i:02}.png" for i in range(len(images))]
        for image, path in zip(images, paths, strict=True):
            image.save(path)
        return pictures([str(path) for path in paths])


def _molecule_tab() -> None:
    first = next(iter(examples.MOLECULES.values()))
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            choices = _choices(list(examples.MOLECULES))
            box = gr.Textbox(first, label="SMILES, one a line", lines=8, max_lines=14)
            with gr.Accordion("Upload a file instead", open=False):
                file = gr.File(
                    label=".txt, .csv or .jsonl",
                    file_types=list(reading.TEXT_FILES),
                    type="filepath",
                )
                column = gr.Dropdown([], label="Column", visible=False, allow_custom_value=True)
            kernel = gr.Dropdown(
                list(handlers.MOLECULE_KERNELS),
                value="morgan",
                label="Fingerprint",
                info="compared by Tanimoto similarity",
            )
            q, zoom = _order(), _scale()
            buttons = _buttons()
        with gr.Column(scale=5, min_width=300):
            outputs = _result(_first(show_molecules(first, None, None, "morgan", 1, 1)))
    loads = [
        (button, functools.partial(lambda text: (text, None), text), [box, file])
        for button, text in zip(choices, examples.MOLECULES.values(), strict=True)
    ]
    _columns(file, column)
    inputs = [box, file, column, kernel, q, zoom]
    _wire(show_molecules, inputs, outputs, buttons, [kernel, q, zoom, column], loads)


def _vector_tab() -> None:
    rows, chosen = next(iter(examples.VECTORS.values()))
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            choices = _choices(list(examples.VECTORS))
            box = gr.Textbox(rows, label="Rows of numbers", lines=8, max_lines=14)
            with gr.Accordion("Upload a file instead", open=False):
                file = gr.File(
                    label=".npy, .csv or .parquet",
                    file_types=list(reading.MATRIX_FILES),
                    type="filepath",
                )
            kernel = gr.Dropdown(
                list(handlers.VECTOR_KERNELS),
                value=chosen,
                label="Kernel",
                info="X and dual: dot products of normalised rows; K: the rows are similarities",
            )
            sigma = gr.Number(0, label="Bandwidth σ", info="of rbf and laplacian; 0: the median")
            q, zoom = _order(), _scale()
            buttons = _buttons()
        with gr.Column(scale=5, min_width=300):
            outputs = _result(_first(show_vectors(rows, None, chosen, 0, 1, 1)))
    loads = [
        (button, functools.partial(lambda text, k: (text, None, k), *example), [box, file, kernel])
        for button, example in zip(choices, examples.VECTORS.values(), strict=True)
    ]
    inputs = [box, file, kernel, sigma, q, zoom]
    _wire(show_vectors, inputs, outputs, buttons, [kernel, sigma, q, zoom], loads)


_KERNELS = {
    "texts": ["ngram_overlap"],
    "molecules": list(handlers.MOLECULE_KERNELS),
    "vectors": ["cosine", "rbf", "laplacian"],
}


def _compare_tab() -> None:
    kind, *sets = next(iter(examples.COMPARISONS.values()))
    menus = {**_KERNELS, "texts": [*_KERNELS["texts"], *encoders.offered()]}
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            choices = _choices(list(examples.COMPARISONS))
            kinds = gr.Radio(list(menus), value=kind, label="What the lines are")
            kernel = gr.Dropdown(
                menus[kind], value=menus[kind][0], label="Kernel", allow_custom_value=True
            )
            boxes, files = [], []
            for letter, text in zip("ABC", sets, strict=True):
                label = f"Set {letter}" + (" (may be left empty)" if letter == "C" else "")
                boxes.append(gr.Textbox(text, label=label, lines=4, max_lines=8))
            with gr.Accordion("Upload files instead", open=False):
                files = [gr.File(label=f"Set {letter}", type="filepath") for letter in "ABC"]
            q = _order()
            draws = gr.Slider(2, 20, 10, step=1, label="Draws", info="seeds 0, 1, … of each")
            buttons = _buttons()
        with gr.Column(scale=5, min_width=300):
            initial = show_comparison(kind, menus[kind][0], *sets, None, None, None, 1, 10)
            outputs = _result(_first(initial))

    def load(kind: str, *texts: str) -> list[Any]:
        return [
            kind,
            gr.update(choices=menus[kind], value=menus[kind][0]),
            *texts,
            None,
            None,
            None,
        ]

    loads = [
        (button, functools.partial(load, *example), [kinds, kernel, *boxes, *files])
        for button, example in zip(choices, examples.COMPARISONS.values(), strict=True)
    ]
    kinds.input(
        lambda kind: gr.update(choices=menus[kind], value=menus[kind][0]),
        kinds,
        kernel,
        api_visibility="private",
        queue=False,
    )
    inputs = [kinds, kernel, *boxes, *files, q, draws]
    _wire(show_comparison, inputs, outputs, buttons, [q, draws], loads)
