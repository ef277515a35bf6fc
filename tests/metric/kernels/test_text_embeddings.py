"""Kernel "text_embeddings": options, batches, models of the caller, and errors."""

import subprocess
import sys

import numpy as np
import pytest
from tiny_text_models import (
    TEXTS,
    LetterCounts,
    cosine_matrix,
    embed_one_by_one,
    make_tiny_tokenizer,
    save_tiny_bert,
    text_similarity,
    torch,
    transformers,
)

from vendiscore import MissingPackageError, SampleError, compute, list_kernels
from vendiscore.encoders.networks import pick_device, pick_dtype

# Some shared texts are too long for the small model, or contain only unknown words.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Kernel 'text_embeddings' (represents|cannot represent)"
)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.mark.parametrize("pooling", ["pooler", "cls", "mean"])
@pytest.mark.parametrize("batch_size", [1, 3, 6, 64])  # with 6, the last batch has one text
def test_similarity_does_not_depend_on_batches(bert, pooling, batch_size):
    K = text_similarity(TEXTS, model_path=bert, pooling=pooling, batch_size=batch_size).dense()
    np.testing.assert_allclose(K, cosine_matrix(embed_one_by_one(bert, TEXTS, pooling)), atol=2e-6)


def test_similarity_is_symmetric_with_unit_diagonal(bert):
    S = text_similarity(TEXTS, model_path=bert, pooling="pooler")
    K, n = S.dense(), len(TEXTS)
    np.testing.assert_allclose(np.diagonal(K), 1, atol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    np.testing.assert_allclose(S.features() @ S.features().T, K, atol=1e-8)
    np.testing.assert_allclose(S.matmul(np.eye(n)), K, atol=1e-8)
    np.testing.assert_allclose(S.rows(np.array([4, 1])), K[[4, 1]], atol=1e-8)


def test_permuted_texts_have_permuted_similarities(bert):
    order = np.random.default_rng(0).permutation(len(TEXTS))
    options = {"model_path": bert, "pooling": "pooler", "batch_size": 2}
    K = text_similarity(TEXTS, **options).dense()
    permuted = text_similarity([TEXTS[i] for i in order], **options).dense()
    np.testing.assert_allclose(permuted, K[np.ix_(order, order)], atol=2e-6)


def test_single_text_scores_1_and_duplicates_count_once(bert):
    options = {"k": "text_embeddings", "model_path": bert, "pooling": "pooler"}
    assert compute(["the cat"], **options)["VS"] == pytest.approx(1)
    assert compute(["a cat"] * 5, **options)["VS"] == pytest.approx(1)
    assert compute(TEXTS * 2, **options)["VS"] == pytest.approx(compute(TEXTS, **options)["VS"])


def test_callers_model_matches_folder_and_keeps_training_mode(bert):
    model = transformers.AutoModel.from_pretrained(bert).train()
    model.encoder.layer[1].eval()
    modes_before = [module.training for module in model.modules()]
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    S = text_similarity(TEXTS, model=model, tokenizer=tokenizer, pooling="pooler")
    K = text_similarity(TEXTS, model_path=bert, pooling="pooler").dense()
    np.testing.assert_allclose(S.dense(), K, atol=1e-6)
    assert [module.training for module in model.modules()] == modes_before
    assert all(parameter.grad is None for parameter in model.parameters())
    assert S.settings["model"] == "BertModel"
    assert S.settings["model_path"] == str(bert)


def test_callers_model_keeps_training_mode_after_error(bert):
    model = transformers.AutoModel.from_pretrained(bert).train()
    model.embeddings.register_forward_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        text_similarity(TEXTS, model=model, tokenizer=make_tiny_tokenizer(), pooling="pooler")
    assert model.training
    assert model.encoder.layer[0].training


def test_truncated_texts_are_reported(bert):
    S = text_similarity([*TEXTS, TEXTS[3]], model_path=bert, pooling="mean")
    expected_note = (
        "Kernel 'text_embeddings' represents 2 of 8 samples only in part; sample 3 is truncated at "
        "12 tokens."
    )
    assert any(note.endswith(expected_note) for note in S.notes)
    assert S.settings["max_length"] == 12
    options = {"model_path": bert, "pooling": "pooler", "max_length": 5}
    details = compute(TEXTS, k="text_embeddings", **options, details=True)
    reported_options = details["details"]["options"]
    note = (
        "represents 4 of 7 samples only in part; sample 1 is truncated at 5 tokens (also sample 3, "
        "sample 5)."
    )
    assert f"Kernel 'text_embeddings' {note}" in details["details"]["notes"]
    assert (reported_options["max_length"], reported_options["dims"], reported_options["half"]) == (
        5,
        16,
        False,
    )
    assert (reported_options["device"], reported_options["pooling"]) == ("cpu", "pooler")
    K = text_similarity(TEXTS, **options).dense()
    np.testing.assert_allclose(
        K, cosine_matrix(embed_one_by_one(bert, TEXTS, "pooler", max_length=5)), atol=2e-6
    )


def test_options_change_score_except_batch_size(bert):
    def compute_score(**options):
        options = {"pooling": "pooler", **options}
        return compute(TEXTS, k="text_embeddings", model_path=bert, **options)["VS"]

    scores = [
        compute_score(),
        compute_score(pooling="cls"),
        compute_score(pooling="mean"),
        compute_score(max_length=4),
    ]
    assert np.diff(np.sort(scores)).min() > 1e-3
    assert compute_score(batch_size=2) == pytest.approx(compute_score(), abs=1e-5)


def test_non_string_is_rejected_before_model_is_loaded():
    with pytest.raises(SampleError, match="sample 2 must be a str, got float: nan"):
        text_similarity(["a", "b", float("nan")], model_path="no/such")
    with pytest.raises(SampleError, match="sample 1 must be a str, got NoneType: None"):
        text_similarity(["a", None], model_path="no/such")


def test_half_of_a_surrogate_pair_is_rejected_before_model_is_loaded():
    with pytest.raises(SampleError, match=r"sample 1 contains '\\ud83d', which is not valid"):
        text_similarity(["a \U0001f600", "b \ud83d"], model_path="no/such")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"pooling": "max"}, ValueError, "`pooling` must be 'pooler', 'cls' or 'mean', got 'max'"),
        ({"batch_size": 0}, ValueError, "`batch_size` must be an integer of at least 1, got 0"),
        ({"device": "tpu9"}, ValueError, "`device` must be a torch device that .*'tpu9'"),
        ({"half": True, "device": "cpu"}, ValueError, "`half` must be False on a CPU, got True"),
        ({"tokenizer": str.split}, ValueError, "`tokenizer` has no effect with model_path=…"),
        ({"model": len, "model_path": "b"}, ValueError, "`model_path` has no effect with model=…"),
        ({"model": len, "pooling": "cls"}, ValueError, "`pooling` has no effect with a model tha"),
        ({"model": len, "max_length": 3}, ValueError, "`max_length` has no effect with a model t"),
        (
            {"model": len, "tokenizer": len},
            TypeError,
            "`tokenizer` requires a transformers network",
        ),
    ],
)
def test_invalid_options_are_rejected(options, error, message):
    with pytest.raises(error, match=message):
        text_similarity(["a", "b"], **options)


def test_max_length_is_validated(bert):
    with pytest.raises(ValueError, match="`max_length` must be an integer of at least 1, got 0"):
        text_similarity(["a"], model_path=bert, max_length=0)


def test_pick_dtype_uses_half_precision_on_cuda_and_mps():
    assert pick_dtype(None, torch.device("cuda")) == torch.float16
    assert pick_dtype(None, torch.device("mps")) == torch.float16
    assert pick_dtype(False, torch.device("cuda")) == torch.float32
    assert pick_dtype(None, torch.device("cpu")) == torch.float32
    assert pick_device("cpu", "text") == torch.device("cpu")


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_missing_package_error_gives_install_command(monkeypatch, bert, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"'{package}'.*pip install {package}"):
        text_similarity(TEXTS, model_path=bert)
    assert text_similarity(TEXTS, model=LetterCounts()).n == len(TEXTS)  # needs neither package


def test_kernel_is_listed_with_extra_and_default_model():
    kernel = next(kernel for kernel in list_kernels() if kernel.name == "text_embeddings")
    assert (kernel.samples, kernel.needs, kernel.psd) == ("text", "text", True)
    assert kernel.options["model_path"] == "princeton-nlp/unsup-simcse-roberta-base"


def test_listing_kernels_imports_no_heavy_package():
    code = """
import sys, vendiscore
vendiscore.list_kernels()
vendiscore.compute(["a", "b"], k="text_embeddings", model=lambda texts: [[1.0]] * len(texts))
heavy = {"torch", "torchvision", "transformers", "PIL"} & sys.modules.keys()
sys.exit(f"imported {heavy}" if heavy else 0)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr


@pytest.mark.parametrize(
    ("option", "equivalent_values", "invalid_values"),
    [
        ("batch_size", [2, np.int64(2), np.uint8(2)], [True, 2.0, "2", 0]),
        ("max_length", [5, np.int32(5)], [True, 5.5, -1]),
        ("half", [False, np.False_], ["no", 1]),
        ("device", ["cpu", torch.device("cpu")], [True, "cuda:99", "meta", 3.5]),
    ],
)
def test_options_accept_equivalent_types_and_reject_others(
    bert, option, equivalent_values, invalid_values
):
    options = {"model_path": bert, "pooling": "mean"}
    scores = [
        compute(TEXTS, k="text_embeddings", **options, **{option: value})["VS"]
        for value in equivalent_values
    ]
    assert len(set(scores)) == 1
    for value in invalid_values:
        with pytest.raises((TypeError, ValueError), match=f"`{option}`"):
            compute(TEXTS, k="text_embeddings", **options, **{option: value})
