"""Embeddings that a folder keeps: later calls embed new texts only, and give the same numbers."""

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

# Some shared texts are too long for the small model, or have no word that it knows.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Kernel 'text_embeddings' (represents|cannot represent)"
)

TEXTS = [*SENTENCES[:4], SENTENCES[0]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def asked(monkeypatch):
    """The texts that a network embedded, in order."""
    from vendiscore.encoders.text_encoders import TextNetwork

    texts = []
    inputs = TextNetwork.prepare_inputs

    def noted(self, batch, report):
        texts.extend(batch)
        return inputs(self, batch, report)

    monkeypatch.setattr(TextNetwork, "prepare_inputs", noted)
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
    expected, _, report = plain.embed_with_report(texts)
    for _ in range(2):
        X, settings, result = keeping.embed_with_report(texts)
        np.testing.assert_allclose(X, expected, rtol=0, atol=1e-6)
        assert result["partial"] == report["partial"] != {}
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
    make_tiny_tokenizer(pad_token="[PAD]", unk_token="[UNK]").save_pretrained(bare)
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
    monkeypatch.setattr(progress, "_measure_flops_per_second", lambda single: 1.0)
    monkeypatch.setattr(progress, "_MIN_ANNOUNCED_SECONDS", 1e-9)
    embed.encode(TEXTS)
    assert f"Embedding {len(TEXTS)} texts: about " in capsys.readouterr().err


def test_a_network_without_weights_has_no_time_to_announce(folder):
    embed = encoder(folder, pooling="mean")
    network = embed._model
    assert network.estimate_work(TEXTS) > 0
    network.model = torch.nn.Identity()
    assert network.estimate_work(TEXTS) == 0


LONE = "a half \ud800 of a pair"


def file_of(folder, **settings):
    return EmbeddingCache(folder, {"model": "m", **settings})


def filled(folder, count=5):
    """Return a cache of texts with rows of three numbers, and the texts."""
    texts = [f"text {i}" for i in range(count)]
    X = np.arange(3.0 * count, dtype=np.float32).reshape(count, 3)
    cache = file_of(folder)
    cache.add(texts, X, {"missed": {}, "partial": {1: "is cut"}})
    return cache, texts


def test_texts_with_halves_of_pairs_are_told_apart(tmp_path):
    cache = file_of(tmp_path)
    texts = [LONE, LONE.replace("\ud800", "\ud801"), LONE.replace("\ud800", "?"), "a half"]
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
def test_a_damaged_row_is_not_returned(tmp_path, damage):
    cache, texts = filled(tmp_path)
    with cache.database:
        cache.database.execute(f"UPDATE texts SET {damage} WHERE text = ?", (b"text 1",))
    with pytest.warns(
        UserWarning, match=f"1 of 5 embeddings in the cache {cache.path} are damaged"
    ):
        rows = file_of(tmp_path).read(texts)
    assert [i for i, row in enumerate(rows) if row is None] == [1]


def test_two_rows_that_were_exchanged_are_not_returned(tmp_path):
    cache, texts = filled(tmp_path)
    with cache.database:
        cache.database.execute(
            "UPDATE texts SET row = (SELECT row FROM texts WHERE text = ?) WHERE text = ?",
            (b"text 3", b"text 2"),
        )
    with pytest.warns(UserWarning, match="damaged"):
        assert cache.read(texts)[2] is None


def test_a_damaged_row_is_computed_again_and_replaced(folder, tmp_path, asked):
    how = {"k": "text_embeddings", "model_path": folder, "pooling": "mean", "cache": tmp_path}
    right = compute(TEXTS, **how)
    (path,) = tmp_path.glob("*.sqlite")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE texts SET row = (SELECT row FROM texts LIMIT 1)")
    asked.clear()
    with pytest.warns(UserWarning, match="3 of 4 embeddings"):
        assert compute(TEXTS, **how) == pytest.approx(right, rel=1e-6)
    assert len(asked) == 3
    assert compute(TEXTS, **how) == pytest.approx(right, rel=1e-6)  # without a warning
    assert len(asked) == 3


def former(path, rows):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE texts (text BLOB PRIMARY KEY, row BLOB, missed TEXT, partial TEXT)"
        )
        database.executemany("INSERT INTO texts VALUES (?, ?, ?, ?)", rows)


def test_a_cache_of_the_former_schema_is_read_and_extended(tmp_path):
    path = file_of(tmp_path).path
    path.unlink()
    X = np.arange(9000, dtype=np.float32).reshape(3000, 3)
    rows = [(f"text {i}".encode(), row.tobytes(), None, "is cut") for i, row in enumerate(X)]
    former(path, [*rows, (b"damaged", b"123", None, None)])
    cache = file_of(tmp_path)
    texts = [f"text {i}" for i in range(3000)]
    assert cache.read(texts) == [row[1:] for row in rows]
    cache.add(["new"], X[:1], {"missed": {}, "partial": {}})
    with pytest.warns(UserWarning, match="1 of 2 embeddings"):
        assert file_of(tmp_path).read(["damaged", "new"])[0] is None
    with cache.database:
        cache.database.execute("UPDATE texts SET row = zeroblob(12) WHERE text = ?", (b"text 7",))
    with pytest.warns(UserWarning, match="1 of 3,000"):
        assert cache.read(texts)[7] is None


def test_the_former_schema_gives_the_numbers_that_it_gave(folder, tmp_path, asked):
    how = {"k": "text_embeddings", "model_path": folder, "pooling": "mean", "cache": tmp_path}
    right = compute(TEXTS, **how)
    (path,) = tmp_path.glob("*.sqlite")
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT text, row, missed, partial FROM texts").fetchall()
    path.unlink()
    former(path, rows)
    asked.clear()
    assert compute(TEXTS, **how) == right
    assert asked == []


@pytest.mark.parametrize("damage", ["no database", "middle", "cut"])
def test_a_damaged_file_is_named(tmp_path, damage):
    cache, texts = filled(tmp_path, 3000)
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
        file_of(tmp_path).read(texts)
    assert str(cache.path) in str(caught.value)
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)


def test_a_file_that_is_locked_or_a_folder_is_named(tmp_path):
    cache, _ = filled(tmp_path)
    cache.database.execute("PRAGMA busy_timeout = 10")
    with closing(sqlite3.connect(cache.path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OSError, match=r"is locked.*no other process locks it"):
            cache.read(["text 1"])
    path = file_of(tmp_path, other=1).path
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="unable to open") as caught:
        file_of(tmp_path, other=1)
    assert str(path) in str(caught.value)


def test_a_text_twice_is_embedded_once_and_its_fault_named_at_both_places(folder, tmp_path, asked):
    keeping = encoder(folder, pooling="mean", cache=tmp_path)
    X = keeping.encode([TEXTS[0], TEXTS[1], TEXTS[0]])
    assert sorted(asked) == sorted(TEXTS[:2])
    np.testing.assert_array_equal(X[0], X[2])
    np.testing.assert_array_equal(X, keeping.encode([TEXTS[0], TEXTS[1], TEXTS[0]]))
