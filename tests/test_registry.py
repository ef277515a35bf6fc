"""Adding kernels, finding them, and getting them from other packages."""

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import vendiscore
from vendiscore import (
    MatrixSimilarity,
    compute,
    get_kernel,
    list_kernels,
    register_kernel,
    registry,
)
from vendiscore.catalogue import markdown

ROOT = Path(vendiscore.__path__[0]).parent


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    """What a test registers is forgotten after it."""
    list_kernels()
    monkeypatch.setattr(registry, "_kernels", dict(registry._kernels))


def test_a_kernel_is_added_in_ten_lines():
    @register_kernel("same_length", samples="text", source="this test")
    def same_length(texts, tolerance=0):
        """1 if two texts are equally long."""
        lengths = np.array([len(text) for text in texts])
        near = np.abs(lengths[:, None] - lengths) <= tolerance
        return MatrixSimilarity(near.astype(float), psd=tolerance == 0)

    assert compute(["cat", "dog", "mouse"], k="same_length")["VS"] == pytest.approx(
        1.8899, abs=1e-4
    )
    assert compute(["cat", "dog", "mouse"], k="same_length", tolerance=2) == {"VS": 1.0}
    assert compute(["a", "b"], k={"same_length": 0.5, "labels": 0.5})["VS"] < 2
    assert get_kernel("same_length").options == {"tolerance": 0}
    assert get_kernel("same_length").summary == "1 if two texts are equally long."
    assert "| `same_length` | text | 1 if two texts are equally long | " in markdown()


def test_the_way_to_add_a_kernel_that_the_module_documents_works():
    block = registry.__doc__.partition("adds its kernels:\n")[2].partition("\nAn installed")[0]
    code = "\n".join(line.removeprefix("    ") for line in block.splitlines())
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    exec(
        code,
        {
            "register_kernel": register_kernel,
            "np": np,
            "MatrixSimilarity": MatrixSimilarity,
            "__name__": "documented",
        },
    )
    assert compute(["cat", "dog", "mouse"], k="same_length")["VS"] == pytest.approx(
        1.8899, abs=1e-4
    )


def test_a_name_is_not_taken_twice():
    with pytest.raises(ValueError, match=r"'cosine' is already registered by vendiscore.kernels"):
        register_kernel("cosine", samples="vectors", source="")(lambda vectors: None)


def test_unknown_kernel_is_answered_by_the_nearest():
    with pytest.raises(ValueError, match=r"unknown kernel `k='morgen'`\. Did you mean 'morgan'"):
        get_kernel("morgen")


def test_kernels_are_listed_by_name_with_all_that_the_table_tells():
    kernels = list_kernels()
    assert [k.name for k in kernels] == sorted(k.name for k in kernels)
    expected = {
        "atom_pair", "bleu", "cosine", "labels", "laplacian", "linear", "maccs", "morgan",
        "ngram_overlap", "polynomial", "probability_product", "rbf", "rdkit", "tags",
        "topological_torsion",
    }  # fmt: skip
    assert expected <= {k.name for k in kernels}
    assert [k.name for k in kernels if not k.unit_diagonal] == ["linear"]
    assert "bleu" in [k.name for k in kernels if not k.psd]
    assert {k.needs for k in kernels if k.samples == "molecules"} == {"molecules"}


def test_extras_that_kernels_need_are_extras_of_the_distribution():
    tomllib = pytest.importorskip("tomllib")
    project = ROOT / "pyproject.toml"
    if not project.exists():
        pytest.skip("not in a checkout")
    extras = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {k.needs for k in list_kernels() if k.needs} <= set(extras)


def test_table_is_printed_by_its_module():
    command = [sys.executable, "-W", "error", "-m", "vendiscore.catalogue"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.stderr == ""
    head, rule, *rows = ran.stdout.splitlines()
    assert head.startswith("| kernel | compares |")
    assert len(rows) == len(list_kernels())
    cells = {line.replace(r"\|", "").count("|") for line in (head, rule, *rows)}
    assert cells == {8}, "a cell with a bar of its own breaks the table"


GOOD = """
import numpy as np
from vendiscore import MatrixSimilarity, register_kernel

@register_kernel("same_length", samples="text", source="a plugin", needs="")
def same_length(texts):
    '''1 if two texts are equally long.'''
    lengths = np.array([len(text) for text in texts])
    return MatrixSimilarity((lengths[:, None] == lengths).astype(float), psd=True)
"""
USE = """
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


def use(*paths: Path) -> list[str]:
    code = f"import sys; sys.path[:0] = {[str(ROOT), *map(str, paths)]!r}\n{USE}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_a_package_brings_kernels_by_an_entry_point(tmp_path):
    write_plugin(tmp_path, "lengths", GOOD)
    names, score = use(tmp_path)
    assert names == "['same_length']"
    assert float(score) == pytest.approx(1.8899, abs=1e-4)


def test_a_broken_package_is_named_once_and_breaks_no_other(tmp_path):
    write_plugin(tmp_path, "broken", "import no_such_module")
    write_plugin(tmp_path, "clash", GOOD.replace("same_length", "cosine"))
    write_plugin(tmp_path, "lengths", GOOD)
    names, score, *warned = use(tmp_path)
    assert names == "['same_length']"
    assert float(score) == pytest.approx(1.8899, abs=1e-4)
    assert len(warned) == 2
    broken, clash = sorted(warned)
    assert "UserWarning the kernels of 'broken_kernels' (broken) are left out" in broken
    assert "ModuleNotFoundError: No module named 'no_such_module'" in broken
    assert "kernel 'cosine' is already registered" in clash


def test_a_plugin_that_is_a_wheel_works_from_the_wheel(tmp_path):
    """As pip would install it: the files of a wheel, metadata and all."""
    source = tmp_path / "source"
    source.mkdir()
    write_plugin(source, "lengths", GOOD)
    wheel = tmp_path / "lengths-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in source.rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(source))
    names, _ = use(wheel)
    assert names == "['same_length']"
