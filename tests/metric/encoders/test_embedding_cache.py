"""Embeddings are cached in a folder: later calls embed only new texts and return equal values."""

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from tiny_text_models import TEXTS as SENTENCES
from tiny_text_models import make_tiny_tokenizer, save_tiny_bert, torch

from vendiscore import SampleError, compare, compute, encoder, explain
from vendiscore.encoders.embedding_cache import EmbeddingCache
from vendiscore.support import progress

# Some shared texts are too long for the small model, or contain only unknown words.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Kernel 'text_embeddings' (represents|cannot represent)"
)

TEXTS = [*SENTENCES[:4], SENTENCES[0]]


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def embedded_texts(monkeypatch):
    """List of the texts that a network embedded, in order."""
    from vendiscore.encoders.text_encoders import TextNetwork

    texts = []
    inputs = TextNetwork.prepare_inputs

    def record_texts(self, batch, report):
        texts.extend(batch)
        return inputs(self, batch, report)

    monkeypatch.setattr(TextNetwork, "prepare_inputs", record_texts)
    return texts


def test_embedding_cache_is_shared_by_functions(model_folder, tmp_path, embedded_texts):
    options = {"k": "text_embeddings", "model_path": model_folder, "pooling": "mean"}
    expected = compute(TEXTS, **options)
    embedded_texts.clear()
    options["cache"] = tmp_path / "kept"
    assert compute(TEXTS, **options) == pytest.approx(expected, rel=1e-5)
    assert sorted(embedded_texts) == sorted(set(TEXTS))
    explain(TEXTS, **options)
    compare(TEXTS, TEXTS[1:], **options)
    assert len(embedded_texts) == len(set(TEXTS))
    compute([*TEXTS, SENTENCES[5]], **options)
    assert embedded_texts[len(set(TEXTS)) :] == [SENTENCES[5]]


def test_cached_embeddings_and_truncation_reports_match_uncached(model_folder, tmp_path):
    uncached_encoder = encoder(model_folder, pooling="mean", max_length=4)
    cached_encoder = encoder(model_folder, pooling="mean", max_length=4, cache=tmp_path)
    texts = [*TEXTS, " ".join(SENTENCES)]
    expected, _, report = uncached_encoder.embed_with_report(texts)
    for _ in range(2):
        X, settings, result = cached_encoder.embed_with_report(texts)
        np.testing.assert_allclose(X, expected, rtol=0, atol=1e-6)
        assert result["partial"] == report["partial"] != {}
        assert settings["dims"] == X.shape[1]


def test_settings_and_weights_have_separate_cache_files(model_folder, tmp_path):
    files = set()
    for max_length in (4, 8):
        encoder(model_folder, pooling="mean", max_length=max_length, cache=tmp_path).encode(TEXTS)
        files |= {path.name for path in tmp_path.glob("*.sqlite")}
    assert len(files) == 2
    model = encoder(model_folder, pooling="mean", max_length=8)
    digest = model._model.digest()
    with torch.no_grad():
        next(model._model.model.parameters()).add_(1.0)
    assert model._model.digest() != digest


def test_cached_encoder_names_sample_without_tokens(model_folder, tmp_path):
    bert_copy = tmp_path / "bare"
    shutil.copytree(model_folder, bert_copy)
    make_tiny_tokenizer(pad_token="[PAD]", unk_token="[UNK]").save_pretrained(bert_copy)
    model = encoder(bert_copy, pooling="mean", cache=tmp_path / "kept")
    model.encode(TEXTS[:2])
    with pytest.raises(SampleError, match="sample 2 has no tokens"):
        model.encode([*TEXTS[:2], ""])


def test_cache_rejects_functions_and_images(tmp_path):
    with pytest.raises(ValueError, match="`cache` has no effect with model=…"):
        encoder(model=lambda texts: np.ones((len(texts), 2)), cache=tmp_path)
    with pytest.raises(ValueError, match="`cache` has no effect with kind='images'"):
        encoder(kind="images", cache=tmp_path)


def test_long_embedding_prints_estimated_time(model_folder, capsys, monkeypatch):
    embed = encoder(model_folder, pooling="mean")
    embed.encode(TEXTS)
    assert "Embedding" not in capsys.readouterr().err
    monkeypatch.setattr(progress, "_measure_flops_per_second", lambda single: 1.0)
    monkeypatch.setattr(progress, "_MIN_ANNOUNCED_SECONDS", 1e-9)
    embed.encode(TEXTS)
    assert f"Embedding {len(TEXTS)} texts: about " in capsys.readouterr().err


def test_network_without_weights_estimates_no_work(model_folder):
    embed = encoder(model_folder, pooling="mean")
    network = embed._model
    assert network.estimate_work(TEXTS) > 0
    network.model = torch.nn.Identity()
    assert network.estimate_work(TEXTS) == 0


LONE_SURROGATE_TEXT = "a half \ud800 of a pair"


def open_cache(model_folder, **settings):
    return EmbeddingCache(model_folder, {"model": "m", **settings})


def make_filled_cache(model_folder, count=5):
    """Return a cache with one row of three numbers per text, and the texts."""
    texts = [f"text {i}" for i in range(count)]
    X = np.arange(3.0 * count, dtype=np.float32).reshape(count, 3)
    cache = open_cache(model_folder)
    cache.add(texts, X, {"missed": {}, "partial": {1: "is cut"}})
    return cache, texts


def test_texts_with_lone_surrogates_stay_distinct(tmp_path):
    cache = open_cache(tmp_path)
    texts = [
        LONE_SURROGATE_TEXT,
        LONE_SURROGATE_TEXT.replace("\ud800", "\ud801"),
        LONE_SURROGATE_TEXT.replace("\ud800", "?"),
        "a half",
    ]
    X = np.arange(12, dtype=np.float32).reshape(4, 3)
    cache.add(texts, X, {"missed": {}, "partial": {}})
    rows = [np.frombuffer(row, np.float32).tolist() for row, _, _ in cache.read(texts)]
    assert rows == X.tolist()
    assert cache.read(["a half � of a pair"]) == [None]


@pytest.mark.parametrize(
    "damage",
    [
        "row = zeroblob(12)",
        "row = x'00'",
        "row = 'text'",
        "row = NULL",
        "partial = 'is whole'",
        "missed = 'nothing'",
        "missed = CAST(x'ff' AS TEXT)",
        "checksum = NULL",
        "checksum = zeroblob(8)",
    ],
)
def test_damaged_row_is_not_returned(tmp_path, damage):
    cache, texts = make_filled_cache(tmp_path)
    with cache.database:
        cache.database.execute(f"UPDATE texts SET {damage} WHERE text = ?", (b"text 1",))
    with pytest.warns(
        UserWarning, match=f"1 of 5 embeddings in the cache {cache.path} are damaged"
    ):
        rows = open_cache(tmp_path).read(texts)
    assert [i for i, row in enumerate(rows) if row is None] == [1]


def test_swapped_rows_are_not_returned(tmp_path):
    cache, texts = make_filled_cache(tmp_path)
    with cache.database:
        cache.database.execute(
            "UPDATE texts SET row = (SELECT row FROM texts WHERE text = ?) WHERE text = ?",
            (b"text 3", b"text 2"),
        )
    with pytest.warns(UserWarning, match="damaged"):
        assert cache.read(texts)[2] is None


def cached_mean_options(model_folder, folder):
    """Return options of mean-pooled embeddings with a cache in `folder`."""
    return {
        "k": "text_embeddings",
        "model_path": model_folder,
        "pooling": "mean",
        "cache": folder,
    }


def test_damaged_row_is_recomputed_and_replaced(model_folder, tmp_path, embedded_texts):
    options = cached_mean_options(model_folder, tmp_path)
    expected = compute(TEXTS, **options)
    (path,) = tmp_path.glob("*.sqlite")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE texts SET row = (SELECT row FROM texts LIMIT 1)")
    embedded_texts.clear()
    with pytest.warns(UserWarning, match="3 of 4 embeddings"):
        assert compute(TEXTS, **options) == pytest.approx(expected, rel=1e-6)
    assert len(embedded_texts) == 3
    assert compute(TEXTS, **options) == pytest.approx(expected, rel=1e-6)  # without a warning
    assert len(embedded_texts) == 3


def write_old_schema(path, rows):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE texts (text BLOB PRIMARY KEY, row BLOB, missed TEXT, partial TEXT)"
        )
        database.executemany("INSERT INTO texts VALUES (?, ?, ?, ?)", rows)


def test_cache_with_old_schema_is_read_and_extended(tmp_path):
    path = open_cache(tmp_path).path
    path.unlink()
    X = np.arange(9000, dtype=np.float32).reshape(3000, 3)
    rows = [(f"text {i}".encode(), row.tobytes(), None, "is cut") for i, row in enumerate(X)]
    write_old_schema(path, [*rows, (b"damaged", b"123", None, None)])
    cache = open_cache(tmp_path)
    texts = [f"text {i}" for i in range(3000)]
    assert cache.read(texts) == [row[1:] for row in rows]
    cache.add(["new"], X[:1], {"missed": {}, "partial": {}})
    with pytest.warns(UserWarning, match="1 of 2 embeddings"):
        assert open_cache(tmp_path).read(["damaged", "new"])[0] is None
    with cache.database:
        cache.database.execute("UPDATE texts SET row = zeroblob(12) WHERE text = ?", (b"text 7",))
    with pytest.warns(UserWarning, match="1 of 3,000"):
        assert cache.read(texts)[7] is None


def test_cache_with_old_schema_keeps_scores(model_folder, tmp_path, embedded_texts):
    options = cached_mean_options(model_folder, tmp_path)
    expected = compute(TEXTS, **options)
    (path,) = tmp_path.glob("*.sqlite")
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT text, row, missed, partial FROM texts").fetchall()
    path.unlink()
    write_old_schema(path, rows)
    embedded_texts.clear()
    assert compute(TEXTS, **options) == expected
    assert embedded_texts == []


@pytest.mark.parametrize("damage", ["no database", "middle", "truncated"])
def test_error_names_damaged_cache_file(tmp_path, damage):
    cache, texts = make_filled_cache(tmp_path, 3000)
    cache.database.close()
    data = bytearray(cache.path.read_bytes())
    if damage == "no database":
        data = bytearray(b"this is no database" * 1000)
    elif damage == "middle":
        data[4096:] = bytes(len(data) - 4096)
    else:
        del data[5000:]
    cache.path.write_bytes(data)
    with pytest.raises(OSError, match=r"is damaged \(.*\); delete the file") as caught:
        open_cache(tmp_path).read(texts)
    assert str(cache.path) in str(caught.value)
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)


def test_error_names_locked_file_or_folder(tmp_path):
    cache, _ = make_filled_cache(tmp_path)
    cache.database.execute("PRAGMA busy_timeout = 10")
    with closing(sqlite3.connect(cache.path)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OSError, match=r"is locked.*no other process locks it"):
            cache.read(["text 1"])
    path = open_cache(tmp_path, other=1).path
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="unable to open") as caught:
        open_cache(tmp_path, other=1)
    assert str(path) in str(caught.value)


def test_repeated_text_is_embedded_once(model_folder, tmp_path, embedded_texts):
    model = encoder(model_folder, pooling="mean", cache=tmp_path)
    X = model.encode([TEXTS[0], TEXTS[1], TEXTS[0]])
    assert sorted(embedded_texts) == sorted(TEXTS[:2])
    np.testing.assert_array_equal(X[0], X[2])
    np.testing.assert_array_equal(X, model.encode([TEXTS[0], TEXTS[1], TEXTS[0]]))
