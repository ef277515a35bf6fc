"""Registration, lookup and validation of kernels, and kernels of other packages."""

import importlib
import math
import re
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import vendiscore
from vendiscore import (
    MatrixSimilarity,
    SampleError,
    as_similarity,
    compute,
    get_kernel,
    list_kernels,
    register_kernel,
)
from vendiscore.cli import main
from vendiscore.measures.measure import _measures
from vendiscore.resolve.kernel import _kernels

ROOT = Path(vendiscore.__path__[0]).parent

pytestmark = pytest.mark.usefixtures("restored_registries")


def test_registered_kernel_is_usable_everywhere(capsys):
    @register_kernel("same_length", samples="text", source="this test")
    def same_length(texts, tolerance=0):
        """1 if two texts are equally long."""
        lengths = np.array([len(text) for text in texts])
        is_near = np.abs(lengths[:, None] - lengths) <= tolerance
        return MatrixSimilarity(is_near.astype(float), psd=tolerance == 0)

    assert compute(["cat", "dog", "mouse"], k="same_length")["VS"] == pytest.approx(
        1.8899, abs=1e-4
    )
    assert compute(["cat", "dog", "mouse"], k="same_length", tolerance=2) == {"VS": 1.0}
    assert compute(["a", "b"], k={"same_length": 0.5, "labels": 0.5})["VS"] < 2
    assert get_kernel("same_length").options == {"tolerance": 0, "on_error": "raise"}
    assert get_kernel("same_length").summary == "1 if two texts are equally long."
    main(["kernels"])
    assert "same_length  text  1 if two texts are equally long." in re.sub(
        r"  +", "  ", capsys.readouterr().out
    )


def test_register_kernel_rejects_a_registered_name():
    with pytest.raises(ValueError, match=r"'semantic' has the short name of the model sentence-tr"):
        register_kernel("semantic", samples="text", source="this test")
    with pytest.raises(ValueError, match=r"'cosine' is already registered by vendiscore.kernels"):
        register_kernel("cosine", samples="vectors", source="")(lambda vectors: None)


@pytest.mark.parametrize("registry", [_kernels, _measures])
def test_registry_modules_match_registrations(registry):
    folder = importlib.import_module(f"vendiscore.{registry.package}")
    files = {f"{folder.__name__}.{file.stem}" for file in Path(folder.__path__[0]).glob("*.py")}
    for module in sorted(files - {f"{folder.__name__}.__init__"}):
        importlib.import_module(module)
    registry.load()
    modules = {name: function.__module__ for name, (_, function) in registry.registrations.items()}
    package_modules = {name: module for name, module in modules.items() if module in files}
    assert registry.modules == package_modules


def test_register_kernel_rejects_names_of_modules_not_yet_imported():
    code = (
        "import sys, vendiscore\n"
        "assert 'vendiscore.kernels.vectors' not in sys.modules\n"
        "vendiscore.register_kernel('cosine', samples='vectors', source='')(lambda rows: None)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert "'cosine' is already registered by vendiscore.kernels.vectors" in result.stderr


def test_register_kernel_rejects_callable_rows():
    with pytest.raises(TypeError, match="`rows` must be True or False, got <function"):
        register_kernel("new", samples="text", source="", rows=lambda **options: True)


def test_register_kernel_rejects_unknown_keywords():
    with pytest.raises(TypeError, match="unknown keyword 'unit_diagonal'"):
        register_kernel("new", samples="text", source="", unit_diagonal=False)


def test_kernel_file_run_again_replaces_its_registration():
    """Run a file of `kernels` that the registry has already imported."""
    path = ROOT / "kernels" / "word_overlap.py"
    if not path.exists():
        pytest.skip("not in a checkout")
    kernel = runpy.run_path(str(path))["word_overlap"]
    assert get_kernel("word_overlap").build is kernel


def test_unknown_kernel_raises_with_suggestion():
    with pytest.raises(ValueError, match=r"unknown kernel `k='morgen'`\. Did you mean 'morgan'"):
        get_kernel("morgen")


def test_list_kernels_is_sorted_and_contains_metadata():
    kernels = list_kernels()
    assert [k.name for k in kernels] == sorted(k.name for k in kernels)
    expected = {
        "atom_pair", "bleu", "cosine", "labels", "laplacian", "linear", "maccs", "morgan",
        "ngram_overlap", "probability_product", "rbf", "rdkit", "tags",
        "topological_torsion",
    }  # fmt: skip
    assert expected <= {k.name for k in kernels}
    assert "bleu" in [k.name for k in kernels if not k.psd]
    assert {k.needs for k in kernels if k.samples == "molecules"} == {"molecules"}


def test_extras_of_kernels_exist_in_pyproject():
    tomllib = pytest.importorskip("tomllib")
    project = ROOT / "pyproject.toml"
    if not project.exists():
        pytest.skip("not in a checkout")
    extras = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {k.needs for k in list_kernels() if k.needs} <= set(extras)


def test_registries_script_prints_kernel_table():
    module = ROOT / "benchmarks" / "registries.py"
    if not module.exists():
        pytest.skip("not in a checkout")
    command = [sys.executable, "-W", "error", str(module)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.stderr == ""
    header, separator, *rows = result.stdout.splitlines()
    assert header.startswith("| kernel | compares |")
    rows = rows[: rows.index("")]  # further tables follow
    assert len(rows) == len(list_kernels())
    cells = {line.replace(r"\|", "").count("|") for line in (header, separator, *rows)}
    assert cells == {7}, "a cell must not contain an unescaped bar"


PLUGIN_CODE = """
import numpy as np
from vendiscore import MatrixSimilarity, register_kernel

@register_kernel("same_length", samples="text", source="a plugin", needs="")
def same_length(texts):
    '''1 if two texts are equally long.'''
    lengths = np.array([len(text) for text in texts])
    return MatrixSimilarity((lengths[:, None] == lengths).astype(float), psd=True)
"""
USER_CODE = """
import warnings, sys
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import vendiscore
    assert "lengths" not in sys.modules and "broken" not in sys.modules, "loaded before it is used"
    print([kernel.name for kernel in vendiscore.list_kernels() if kernel.source == "a plugin"])
    print(vendiscore.compute(["cat", "dog", "mouse"], k="same_length")["VS"])
    vendiscore.list_kernels()
for warning in caught:
    print(warning.category.__name__, warning.message)
"""


def write_plugin(folder: Path, name: str, code: str) -> None:
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[vendiscore.kernels]\n{name}_kernels = {name}\n")


def run_with_plugins(*paths: Path) -> list[str]:
    code = f"import sys; sys.path[:0] = {[str(ROOT), *map(str, paths)]!r}\n{USER_CODE}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_entry_point_of_a_package_registers_kernels(tmp_path):
    write_plugin(tmp_path, "lengths", PLUGIN_CODE)
    names, score = run_with_plugins(tmp_path)
    assert names == "['same_length']"
    assert float(score) == pytest.approx(1.8899, abs=1e-4)


def test_broken_package_warns_once_and_others_are_loaded(tmp_path):
    write_plugin(tmp_path, "broken", "import no_such_module")
    write_plugin(tmp_path, "clash", PLUGIN_CODE.replace("same_length", "cosine"))
    write_plugin(tmp_path, "lengths", PLUGIN_CODE)
    names, score, *warning_lines = run_with_plugins(tmp_path)
    assert names == "['same_length']"
    assert float(score) == pytest.approx(1.8899, abs=1e-4)
    assert len(warning_lines) == 2
    broken, clash = sorted(warning_lines)
    assert "UserWarning cannot import the kernels of 'broken_kernels' (broken)" in broken
    assert "ModuleNotFoundError: No module named 'no_such_module'" in broken
    assert "kernel 'cosine' is already registered" in clash


def test_kernels_of_a_wheel_are_registered(tmp_path):
    """Write the files of a wheel, with its metadata, as pip installs them."""
    source = tmp_path / "source"
    source.mkdir()
    write_plugin(source, "lengths", PLUGIN_CODE)
    wheel = tmp_path / "lengths-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in source.rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(source))
    names, _ = run_with_plugins(wheel)
    assert names == "['same_length']"


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (lambda n: np.eye(n), TypeError, "must return a Similarity, got ndarray; wrap .*MatrixSim"),
        (lambda n: None, TypeError, "must return a Similarity, got NoneType"),
        (
            lambda n: MatrixSimilarity(np.eye(n + 1)),
            ValueError,
            "of all 3 samples in their order, got a Similarity of 4",
        ),
        (
            lambda n: MatrixSimilarity(np.eye(1)),
            ValueError,
            "of all 3 samples in their order, got a Similarity of 1",
        ),
        (
            lambda n: MatrixSimilarity(np.eye(n) + np.eye(n, k=1) / 2),
            ValueError,
            r"symmetric .* got k\(x, y\) = 0.5 and k\(y, x\) = 0 for samples 0 and 2",
        ),
        (
            lambda n: MatrixSimilarity(np.full((n, n), np.nan)),
            ValueError,
            r"symmetric Similarity of finite numbers, got k\(x, y\) = nan",
        ),
    ],
)
def test_invalid_return_value_of_a_kernel_raises(returned, error, message):
    register_kernel("broken", samples="text", source="this test")(lambda x: returned(len(x)))
    with pytest.raises(error, match=message):
        compute(["a", "a", "b", "c"], k="broken")


def test_similarity_returned_by_a_kernel_is_not_modified():
    similarity = MatrixSimilarity(np.eye(2))
    register_kernel("constant", samples="text", source="this test")(lambda x: similarity)
    assert as_similarity(["a", "b"], k="constant").settings["kernel"] == "constant"
    assert similarity.settings == {}


def test_on_error_skip_drops_all_samples_with_sample_errors():
    @register_kernel("strict", samples="text", source="this test")
    def strict(texts):
        for i, text in enumerate(texts):
            if len(text) > 1:
                raise SampleError(i, "is too long")
        return MatrixSimilarity(np.eye(len(texts)))

    with pytest.warns(UserWarning, match="dropped 3 of 6 samples .* sample 1"):
        similarity = as_similarity(["a", "aa", "b", "aa", "c", "dd"], k="strict", on_error="skip")
    assert dict(similarity.dropped) == dict.fromkeys([1, 3, 5], "is too long")
    assert similarity.n == 3


@pytest.mark.parametrize("index", [-1, 7])
def test_sample_error_with_invalid_index_raises(index):
    @register_kernel("invalid_index", samples="text", source="this test")
    def invalid_index(texts):
        raise SampleError(index, "does not exist")

    for on_error in ("raise", "skip"):
        with pytest.raises(
            ValueError, match=f"'invalid_index' raised a SampleError with the index {index}, but it"
        ):
            as_similarity(["a", "b"], k="invalid_index", on_error=on_error)


def test_kernel_that_drops_samples_raises():
    @register_kernel("choosy", samples="text", source="this test")
    def choosy(texts):
        return MatrixSimilarity(np.eye(len(texts) - 1))

    for on_error in ("raise", "skip"):
        with pytest.raises(
            ValueError,
            match="return a Similarity of all 3 samples in their order, got a Similarity of 2",
        ):
            as_similarity(["a", "b", "a", "b", "c"], k="choosy", on_error=on_error)


@pytest.mark.parametrize("samples", [[0.0, -0.0], [0, 0.0], [1, 1.0]])
def test_callable_kernel_receives_equal_numbers_of_different_types(samples):
    def same(a, b):
        return float((type(a), math.copysign(1, a)) == (type(b), math.copysign(1, b)))

    assert compute(samples, k=same)["VS"] == pytest.approx(2)


@pytest.mark.parametrize("options", [{"k": "labels"}, {"k": lambda a, b: float(a == b)}])
@pytest.mark.parametrize("samples", [["", "''"], ["''", "", "''", ""], [b"", b"b''"]])
def test_empty_sample_differs_from_its_repr(samples, options):
    assert compute(samples, **options)["VS"] == pytest.approx(2)


def test_kernels_ignore_numpy_error_settings():
    X = np.random.default_rng(0).standard_normal((30, 4)) * 100
    for name in ("rbf", "laplacian", "cosine"):
        expected = as_similarity(X, k=name).dense()
        with np.errstate(all="raise"):
            K = as_similarity(X, k=name).dense()
        np.testing.assert_array_equal(K, expected)
