"""Models that judge pairs of texts, tested with small models with random weights."""

import warnings
from functools import cache

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import numpy as np  # noqa: E402
from tiny_text_models import (  # noqa: E402
    BERT_SIZES,
    TEXTS,
    WORDS,
    make_tiny_tokenizer,
    save_model,
    save_tiny_bert,
)

from vendiscore import as_similarity, compute  # noqa: E402

NLI = {0: "contradiction", 1: "neutral", 2: "entailment"}


def make_tokenizer():
    from tokenizers import processors

    tokenizer_of_pairs = make_tiny_tokenizer()
    tokenizer_of_pairs.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return tokenizer_of_pairs


def make_classifier(folder, labels, seed=0):
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        **BERT_SIZES, max_position_embeddings=24, pad_token_id=0, id2label=labels,
        label2id={name: i for i, name in labels.items()}, num_labels=len(labels),
    )  # fmt: skip
    return save_model(transformers.BertForSequenceClassification(config), make_tokenizer(), folder)


@cache
def load_classifier(folder):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def compute_probability(folder, a, b, label):
    """Return the probability of `label` for a single pair, without padding."""
    model, make_tokenizer = load_classifier(folder)
    inputs = make_tokenizer(a, b, truncation=True, max_length=24, return_tensors="pt")
    with torch.no_grad():
        logits = model(**inputs).logits[0].double()
    probabilities = logits.sigmoid() if len(logits) == 1 else logits.softmax(-1)
    return float(probabilities[label])


# One pair of the shared texts exceeds the maximum length of the small model.
pytestmark = pytest.mark.filterwarnings("ignore:the model `same` truncates")
TEXTS = [text for text in TEXTS if text]
PAIRS = [(i, j) for i in range(len(TEXTS)) for j in range(i + 1, len(TEXTS))]


@pytest.mark.parametrize(
    ("labels", "label", "uses_both_orders"),
    [
        (NLI, 2, True),
        ({0: "ENTAILMENT", 1: "not_entailment"}, 0, True),
        ({0: "LABEL_0", 1: "LABEL_1"}, 1, False),
        ({0: "same", 1: "different"}, 0, False),
        ({0: "not_equivalent", 1: "equivalent"}, 1, False),
        ({0: "LABEL_0"}, 0, False),
    ],
    ids=lambda value: str(list(value.values())) if isinstance(value, dict) else "",
)
def test_classes_match_probabilities_of_single_pairs(tmp_path, labels, label, uses_both_orders):
    folder = make_classifier(tmp_path, labels)
    P = np.eye(len(TEXTS))
    for i, j in PAIRS:
        order_probabilities = [compute_probability(folder, TEXTS[i], TEXTS[j], label)]
        order_probabilities += (
            [compute_probability(folder, TEXTS[j], TEXTS[i], label)] if uses_both_orders else []
        )
        P[i, j] = P[j, i] = min(order_probabilities)
    threshold = float(np.median([P[pair] for pair in PAIRS])) + 1e-4
    expected = as_similarity(TEXTS, k="equivalence", same=P, same_above=threshold).dense()
    for batch_size in (3, 64):
        K = as_similarity(
            TEXTS, k="equivalence", same=folder, same_above=threshold, batch_size=batch_size
        )
        np.testing.assert_array_equal(K.dense(), expected)
    assert 1 < np.linalg.matrix_rank(expected) < len(TEXTS)


def test_pairs_are_judged_once_and_groups_separately(tmp_path, monkeypatch):
    from vendiscore.encoders.text_encoders import PairClassifier

    batches, original = [], PairClassifier.probabilities

    def record_pairs(self, text_pairs, batch_size):
        batches.append(text_pairs)
        return original(self, text_pairs, batch_size)

    monkeypatch.setattr(PairClassifier, "probabilities", record_pairs)
    folder = str(make_classifier(tmp_path, NLI))
    groups = [["the cat", "a dog", "the cat"], ["the cat", "a dog", "a mat"]]
    options = {"k": "equivalence", "same": folder, "same_above": 0.999}
    result = compute(
        groups, measures=["VS", "DistinctK", "SemanticEntropy"], details=True, **options
    )
    judged_pairs = [pair for pairs in batches for pair in pairs]
    assert len(judged_pairs) == len(set(judged_pairs)) == 3
    assert len(batches[0]) == 2  # the first batch has pairs of both groups; one pair occurs in both
    assert result["DistinctK"] == 2.5
    assert any("checked in 0 of 1 sets" in note for note in result["details"]["notes"])
    assert result["details"]["options"]["model"] == "BertForSequenceClassification"


def test_max_length_truncates_pairs(tmp_path):
    folder = make_classifier(tmp_path, NLI)
    long_texts = [" ".join(WORDS.split()), " ".join(WORDS.split()[:-1]) + " dog"]
    options = {"k": "equivalence", "same": folder, "same_above": 0.0, "details": True}
    assert compute(long_texts, max_length=9, **options)["details"]["options"]["max_length"] == 9
    assert compute(long_texts, **options)["details"]["options"]["max_length"] == 24


def test_models_that_cannot_judge_pairs_are_rejected(tmp_path):
    labels = {0: "bad", 1: "fair", 2: "good"}
    with pytest.raises(ValueError, match=r"label 'entailment'.*has bad, fair, good"):
        compute(["a", "b"], k="equivalence", same=make_classifier(tmp_path / "many", labels))
    with pytest.raises(ValueError, match="must contain all weights"):
        compute(["a", "b"], k="equivalence", same=save_tiny_bert(tmp_path / "bert"))
    folder = make_classifier(tmp_path / "nli", NLI)
    with pytest.raises(ValueError, match="`max_length` must be at most 24"):
        compute(["a", "b"], k="equivalence", same=folder, max_length=999)


def compute_single_score(folder, a, b, label):
    """Return the score of a single pair, in the precision of the model."""
    model, make_tokenizer = load_classifier(folder)
    inputs = make_tokenizer([a], [b], truncation=True, max_length=24, return_tensors="pt")
    with torch.inference_mode():
        logits = model(**inputs).logits
        probabilities = logits.sigmoid() if logits.shape[1] == 1 else logits.softmax(-1)
    return float(probabilities[0, label])


def compute_mean_scores(folder, label):
    """Return the similarity matrix from single pairs, with the smallest diagonal shift δ."""
    K = np.eye(len(TEXTS))
    for i, j in PAIRS:
        order_scores = [
            compute_single_score(folder, TEXTS[a], TEXTS[b], label) for a, b in ((i, j), (j, i))
        ]
        K[i, j] = K[j, i] = sum(order_scores) / 2
    delta = max(0.0, -np.linalg.eigvals(K).real.min())
    return (K + delta * np.eye(len(TEXTS))) / (1 + delta)


GRADED = {"k": "equivalence", "graded": True}


@pytest.mark.parametrize(
    ("labels", "label"),
    [({0: "LABEL_0"}, 0), (NLI, 2), ({0: "same", 1: "different"}, 0)],
    ids=["one logit", "NLI", "two classes"],
)
@pytest.mark.parametrize("loaded_by", ["path", "CrossEncoder"])
def test_graded_similarities_are_means_of_both_orders(tmp_path, labels, label, loaded_by):
    folder = same = make_classifier(tmp_path, labels)
    expected = compute_mean_scores(folder, label)
    if loaded_by == "CrossEncoder":
        library = pytest.importorskip("sentence_transformers")
        same = library.CrossEncoder(str(folder), device="cpu")
    texts = [*TEXTS, TEXTS[0]]
    K = as_similarity(texts, same=same, batch_size=1, **GRADED).dense()
    indices = [*range(len(TEXTS)), 0]
    np.testing.assert_allclose(K, expected[np.ix_(indices, indices)], rtol=0, atol=1e-10)
    batched = as_similarity(texts, same=same, batch_size=64, **GRADED).dense()
    np.testing.assert_allclose(batched, K, rtol=0, atol=1e-6)


@pytest.mark.parametrize("labels", [{0: "LABEL_0"}, NLI], ids=["one logit", "NLI"])
def test_cross_encoder_similarities_match_its_predictions(tmp_path, labels):
    library = pytest.importorskip("sentence_transformers")
    model = library.CrossEncoder(str(make_classifier(tmp_path, labels)), device="cpu")
    ordered = [(a, b) for a in TEXTS for b in TEXTS if a != b]
    predict_options = {"activation_fn": torch.nn.Softmax(dim=-1)} if len(labels) > 1 else {}
    scores = [
        model.predict([pair], show_progress_bar=False, **predict_options)[0] for pair in ordered
    ]
    if len(labels) > 1:
        scores = [score[2] for score in scores]
    score_of_pair = dict(zip(ordered, map(float, scores), strict=True))
    expected = as_similarity(TEXTS, same=lambda a, b: score_of_pair[a, b], **GRADED).dense()
    K = as_similarity(TEXTS, same=model, batch_size=1, **GRADED)
    np.testing.assert_allclose(K.dense(), expected, rtol=0, atol=1e-10)
    # A model whose activation is already a softmax or sigmoid gives equal probabilities.
    model.activation_fn = torch.nn.Softmax(dim=-1) if len(labels) > 1 else torch.nn.Sigmoid()
    K_with_softmax = as_similarity(TEXTS, same=model, batch_size=1, **GRADED)
    np.testing.assert_allclose(K_with_softmax.dense(), expected, rtol=0, atol=1e-10)


def test_cross_encoder_predicts_distinct_pairs_once(tmp_path, monkeypatch):
    library = pytest.importorskip("sentence_transformers")
    model = library.CrossEncoder(str(make_classifier(tmp_path, NLI)), device="cpu")
    batches, original = [], library.CrossEncoder.predict

    def record_pairs(self, text_pairs, **options):
        assert options["show_progress_bar"] is False
        batches.append(text_pairs)
        return original(self, text_pairs, **options)

    monkeypatch.setattr(library.CrossEncoder, "predict", record_pairs)
    groups = [["the cat", "a dog", "the cat"], ["the cat", "a mat", "dog"]]
    details = compute(groups, same=model, batch_size=4, details=True, **GRADED)["details"]
    pairs = [pair for batch in batches for pair in batch]
    assert len(pairs) == len(set(pairs)) == 2 + 6
    assert [len(batch) for batch in batches] == [4, 4]
    assert details["options"]["model"] == "CrossEncoder"
    assert details["options"]["max_length"] == 24
    assert details["options"]["model_path"] == str(tmp_path)


def test_graded_judge_rejects_invalid_scores_and_options(tmp_path):
    library = pytest.importorskip("sentence_transformers")
    folder = str(make_classifier(tmp_path / "one", {0: "LABEL_0"}))
    model = library.CrossEncoder(folder, device="cpu", activation_fn=torch.nn.Identity())
    with pytest.raises(ValueError, match=r"for samples \d and \d; rescale them, for example "):
        compute(TEXTS, same=model, **GRADED)
    classifier_of_quality = make_classifier(tmp_path / "many", {0: "bad", 1: "fair", 2: "good"})
    with pytest.raises(ValueError, match=r"label 'entailment'.*has bad, fair, good"):
        compute(
            TEXTS, same=library.CrossEncoder(str(classifier_of_quality), device="cpu"), **GRADED
        )
    with pytest.raises(ValueError, match="`max_length` has no effect with a `same` that is not"):
        compute(TEXTS, same=model, max_length=9, **GRADED)
    with pytest.raises(ValueError, match="sample 1 must be a str, got int"):
        compute(["a", 3], same=model, **GRADED)


def test_command_accepts_folder_of_graded_judge(tmp_path, capsys):
    from vendiscore.cli import main

    folder = make_classifier(tmp_path / "nli", NLI)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    options = ["-k", "equivalence", "-o", f"same={folder}", "-o", "graded=true", "-f", "json"]
    main([str(tmp_path / "texts.txt"), *options])
    assert '"graded": true' in capsys.readouterr().out


def test_truncated_pairs_give_single_warning(tmp_path):
    folder = make_classifier(tmp_path, NLI)
    long_text = " ".join(["the cat sat on the mat"] * 4)
    texts = ["a dog", f"{long_text} a dog", f"{long_text} every cat", "the red house"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compute(texts, k="equivalence", same=str(folder))
    truncated = [str(x.message) for x in caught if "`same` truncates" in str(x.message)]
    assert len(truncated) == 1
    assert "to 24 tokens, such as 'a dog' and 'the cat sat" in truncated[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compute(["a dog", "every cat"], k="equivalence", same=str(folder))
