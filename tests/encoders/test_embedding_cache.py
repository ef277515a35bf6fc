"""Embeddings that a folder keeps: later calls embed new texts only, and give the same numbers."""

import shutil

import numpy as np
import pytest
from sentences import TEXTS as SENTENCES
from sentences import tiny_bert, tiny_tokenizer, torch

from vendiscore import SampleError, compare, compute, encoder, explain, progress

TEXTS = [*SENTENCES[:4], SENTENCES[0]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def asked(monkeypatch):
    """The texts that a network embedded, in order."""
    from vendiscore.encoders.text_encoders import TextNetwork

    texts = []
    inputs = TextNetwork.inputs

    def noted(self, batch, report):
        texts.extend(batch)
        return inputs(self, batch, report)

    monkeypatch.setattr(TextNetwork, "inputs", noted)
    return texts


def test_a_table_is_embedded_once_by_all_calls(folder, tmp_path, asked):
    how = {"k": "text_embeddings", "model_path": folder, "pooling": "mean"}
    alone = compute(TEXTS, **how)
    asked.clear()
    how["cache"] = tmp_path / "kept"
    assert compute(TEXTS, **how) == pytest.approx(alone, rel=1e-5)
    assert sorted(asked) == sorted(set(TEXTS))
    explain(TEXTS, **how)
    compare(TEXTS, TEXTS[1:], **how)
    assert len(asked) == len(set(TEXTS))
    compute([*TEXTS, SENTENCES[5]], **how)
    assert asked[len(set(TEXTS)) :] == [SENTENCES[5]]


def test_rows_and_reports_are_those_without_a_cache(folder, tmp_path):
    plain = encoder(folder, pooling="mean", max_length=4)
    keeping = encoder(folder, pooling="mean", max_length=4, cache=tmp_path)
    texts = [*TEXTS, " ".join(SENTENCES)]
    expected, _, report = plain.embedded(texts)
    for _ in range(2):
        X, settings, found = keeping.embedded(texts)
        np.testing.assert_allclose(X, expected, rtol=0, atol=1e-6)
        assert found["partial"] == report["partial"] != {}
        assert settings["dims"] == X.shape[1]


def test_settings_and_weights_have_files_of_their_own(folder, tmp_path):
    files = set()
    for max_length in (4, 8):
        encoder(folder, pooling="mean", max_length=max_length, cache=tmp_path).encode(TEXTS)
        files |= {path.name for path in tmp_path.glob("*.sqlite")}
    assert len(files) == 2
    other = encoder(folder, pooling="mean", max_length=8)
    before = other._model.digest()
    with torch.no_grad():
        next(other._model.model.parameters()).add_(1.0)
    assert other._model.digest() != before


def test_a_text_that_cannot_be_embedded_is_named_by_its_place(folder, tmp_path):
    bare = tmp_path / "bare"
    shutil.copytree(folder, bare)
    tiny_tokenizer(pad_token="[PAD]", unk_token="[UNK]").save_pretrained(bare)
    keeping = encoder(bare, pooling="mean", cache=tmp_path / "kept")
    keeping.encode(TEXTS[:2])
    with pytest.raises(SampleError, match="sample 2 has no tokens"):
        keeping.encode([*TEXTS[:2], ""])


def test_a_cache_of_a_model_that_is_no_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="`cache` has no effect with model=…"):
        encoder(model=lambda texts: np.ones((len(texts), 2)), cache=tmp_path)
    with pytest.raises(ValueError, match="`cache` has no effect with kind='images'"):
        encoder(kind="images", cache=tmp_path)


def test_long_work_is_announced_with_its_time(folder, capsys, monkeypatch):
    embed = encoder(folder, pooling="mean")
    embed.encode(TEXTS)
    assert "Embedding" not in capsys.readouterr().err
    monkeypatch.setattr(progress, "_rate", lambda single: 1.0)
    monkeypatch.setattr(progress, "_LONG", 1e-9)
    embed.encode(TEXTS)
    assert f"Embedding {len(TEXTS)} texts: about " in capsys.readouterr().err


def test_a_network_without_weights_has_no_time_to_announce(folder):
    embed = encoder(folder, pooling="mean")
    network = embed._model
    assert network.work(TEXTS) > 0
    network.model = torch.nn.Identity()
    assert network.work(TEXTS) == 0
