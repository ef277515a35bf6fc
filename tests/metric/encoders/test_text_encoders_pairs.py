"""Models that judge pairs of texts: tiny ones of random weights, as folders."""

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


def tokenizer():
    from tokenizers import processors

    made = make_tiny_tokenizer()
    made.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return made


def classifier(folder, labels, seed=0):
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        **BERT_SIZES, max_position_embeddings=24, pad_token_id=0, id2label=labels,
        label2id={name: i for i, name in labels.items()}, num_labels=len(labels),
    )  # fmt: skip
    return save_model(transformers.BertForSequenceClassification(config), tokenizer(), folder)


@cache
def loaded(folder):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def probability(folder, a, b, label):
    """Return one pair by itself, without padding."""
    model, tokenizer = loaded(folder)
    inputs = tokenizer(a, b, truncation=True, max_length=24, return_tensors="pt")
    with torch.no_grad():
        logits = model(**inputs).logits[0].double()
    shares = logits.sigmoid() if len(logits) == 1 else logits.softmax(-1)
    return float(shares[label])


# Two of the shared texts have more tokens together than the small model takes.
pytestmark = pytest.mark.filterwarnings("ignore:the model `same` truncates")
TEXTS = [text for text in TEXTS if text]
PAIRS = [(i, j) for i in range(len(TEXTS)) for j in range(i + 1, len(TEXTS))]


@pytest.mark.parametrize(
    ("labels", "label", "both"),
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
def test_classes_are_those_of_the_probabilities_of_single_pairs(tmp_path, labels, label, both):
    folder = classifier(tmp_path, labels)
    P = np.eye(len(TEXTS))
    for i, j in PAIRS:
        result = [probability(folder, TEXTS[i], TEXTS[j], label)]
        result += [probability(folder, TEXTS[j], TEXTS[i], label)] if both else []
        P[i, j] = P[j, i] = min(result)
    above = float(np.median([P[pair] for pair in PAIRS])) + 1e-4
    expected = as_similarity(TEXTS, k="equivalence", same=P, same_above=above).dense()
    for batch_size in (3, 64):
        K = as_similarity(
            TEXTS, k="equivalence", same=folder, same_above=above, batch_size=batch_size
        )
        np.testing.assert_array_equal(K.dense(), expected)
    assert 1 < np.linalg.matrix_rank(expected) < len(TEXTS)


def test_pairs_are_remembered_and_groups_judged_by_themselves(tmp_path, monkeypatch):
    from vendiscore.encoders.text_encoders import PairClassifier

    asked, original = [], PairClassifier.probabilities

    def counted(self, pairs, batch_size):
        asked.append(pairs)
        return original(self, pairs, batch_size)

    monkeypatch.setattr(PairClassifier, "probabilities", counted)
    folder = str(classifier(tmp_path, NLI))
    groups = [["the cat", "a dog", "the cat"], ["the cat", "a dog", "a mat"]]
    how = {"k": "equivalence", "same": folder, "same_above": 0.999}
    result = compute(groups, measures=["VS", "DistinctK", "SemanticEntropy"], details=True, **how)
    every = [pair for pairs in asked for pair in pairs]
    assert len(every) == len(set(every)) == 3
    assert len(asked[0]) == 2  # the first of both groups at once; one pair is in both
    assert result["DistinctK"] == 2.5
    assert any("checked in 0 of 1 sets" in note for note in result["details"]["notes"])
    assert result["details"]["options"]["model"] == "BertForSequenceClassification"


def test_max_length_cuts_pairs(tmp_path):
    folder = classifier(tmp_path, NLI)
    long = [" ".join(WORDS.split()), " ".join(WORDS.split()[:-1]) + " dog"]
    how = {"k": "equivalence", "same": folder, "same_above": 0.0, "details": True}
    assert compute(long, max_length=9, **how)["details"]["options"]["max_length"] == 9
    assert compute(long, **how)["details"]["options"]["max_length"] == 24


def test_models_that_judge_no_pairs_are_refused(tmp_path):
    many = {0: "bad", 1: "fair", 2: "good"}
    with pytest.raises(ValueError, match=r"label 'entailment'.*has bad, fair, good"):
        compute(["a", "b"], k="equivalence", same=classifier(tmp_path / "many", many))
    with pytest.raises(ValueError, match="must contain all weights"):
        compute(["a", "b"], k="equivalence", same=save_tiny_bert(tmp_path / "bert"))
    folder = classifier(tmp_path / "nli", NLI)
    with pytest.raises(ValueError, match="`max_length` must be at most 24"):
        compute(["a", "b"], k="equivalence", same=folder, max_length=999)


def single_score(folder, a, b, label):
    """Return the score of one pair by itself, in the precision of the model."""
    model, tokenizer = loaded(folder)
    inputs = tokenizer([a], [b], truncation=True, max_length=24, return_tensors="pt")
    with torch.inference_mode():
        logits = model(**inputs).logits
        shares = logits.sigmoid() if logits.shape[1] == 1 else logits.softmax(-1)
    return float(shares[0, label])


def mean_scores(folder, label):
    """Return the matrix of the definition by single pairs: loops, and the least δ."""
    K = np.eye(len(TEXTS))
    for i, j in PAIRS:
        both = [single_score(folder, TEXTS[a], TEXTS[b], label) for a, b in ((i, j), (j, i))]
        K[i, j] = K[j, i] = sum(both) / 2
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
    folder = same = classifier(tmp_path, labels)
    expected = mean_scores(folder, label)
    if loaded_by == "CrossEncoder":
        library = pytest.importorskip("sentence_transformers")
        same = library.CrossEncoder(str(folder), device="cpu")
    texts = [*TEXTS, TEXTS[0]]
    K = as_similarity(texts, same=same, batch_size=1, **GRADED).dense()
    order = [*range(len(TEXTS)), 0]
    np.testing.assert_allclose(K, expected[np.ix_(order, order)], rtol=0, atol=1e-10)
    batched = as_similarity(texts, same=same, batch_size=64, **GRADED).dense()
    np.testing.assert_allclose(batched, K, rtol=0, atol=1e-6)


@pytest.mark.parametrize("labels", [{0: "LABEL_0"}, NLI], ids=["one logit", "NLI"])
def test_a_cross_encoder_counts_by_its_predictions(tmp_path, labels):
    library = pytest.importorskip("sentence_transformers")
    model = library.CrossEncoder(str(classifier(tmp_path, labels)), device="cpu")
    ordered = [(a, b) for a in TEXTS for b in TEXTS if a != b]
    own = {"activation_fn": torch.nn.Softmax(dim=-1)} if len(labels) > 1 else {}
    scores = [model.predict([pair], show_progress_bar=False, **own)[0] for pair in ordered]
    if len(labels) > 1:
        scores = [score[2] for score in scores]
    known = dict(zip(ordered, map(float, scores), strict=True))
    expected = as_similarity(TEXTS, same=lambda a, b: known[a, b], **GRADED).dense()
    K = as_similarity(TEXTS, same=model, batch_size=1, **GRADED)
    np.testing.assert_allclose(K.dense(), expected, rtol=0, atol=1e-10)
    # A model that is loaded with a softmax has the same probabilities.
    model.activation_fn = torch.nn.Softmax(dim=-1) if len(labels) > 1 else torch.nn.Sigmoid()
    again = as_similarity(TEXTS, same=model, batch_size=1, **GRADED)
    np.testing.assert_allclose(again.dense(), expected, rtol=0, atol=1e-10)


def test_a_cross_encoder_is_asked_for_each_pair_once(tmp_path, monkeypatch):
    library = pytest.importorskip("sentence_transformers")
    model = library.CrossEncoder(str(classifier(tmp_path, NLI)), device="cpu")
    asked, original = [], library.CrossEncoder.predict

    def counted(self, pairs, **options):
        assert options["show_progress_bar"] is False
        asked.append(pairs)
        return original(self, pairs, **options)

    monkeypatch.setattr(library.CrossEncoder, "predict", counted)
    groups = [["the cat", "a dog", "the cat"], ["the cat", "a mat", "dog"]]
    result = compute(groups, same=model, batch_size=4, details=True, **GRADED)["details"]
    pairs = [pair for batch in asked for pair in batch]
    assert len(pairs) == len(set(pairs)) == 2 + 6
    assert [len(batch) for batch in asked] == [4, 4]
    assert result["options"]["model"] == "CrossEncoder"
    assert result["options"]["max_length"] == 24
    assert result["options"]["model_path"] == str(tmp_path)


def test_scores_that_are_not_probabilities_are_refused(tmp_path):
    library = pytest.importorskip("sentence_transformers")
    folder = str(classifier(tmp_path / "one", {0: "LABEL_0"}))
    model = library.CrossEncoder(folder, device="cpu", activation_fn=torch.nn.Identity())
    with pytest.raises(ValueError, match=r"for samples \d and \d; rescale them, for example "):
        compute(TEXTS, same=model, **GRADED)
    many = classifier(tmp_path / "many", {0: "bad", 1: "fair", 2: "good"})
    with pytest.raises(ValueError, match=r"label 'entailment'.*has bad, fair, good"):
        compute(TEXTS, same=library.CrossEncoder(str(many), device="cpu"), **GRADED)
    with pytest.raises(ValueError, match="`max_length` has no effect with a `same` that is not"):
        compute(TEXTS, same=model, max_length=9, **GRADED)
    with pytest.raises(ValueError, match="sample 1 must be a str, got int"):
        compute(["a", 3], same=model, **GRADED)


def test_the_command_takes_the_folder_of_a_graded_judge(tmp_path, capsys):
    from vendiscore.cli import main

    folder = classifier(tmp_path / "nli", NLI)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    options = ["-k", "equivalence", "-o", f"same={folder}", "-o", "graded=true", "-f", "json"]
    main([str(tmp_path / "texts.txt"), *options])
    assert '"graded": true' in capsys.readouterr().out


def test_pairs_that_the_model_truncates_give_one_warning(tmp_path):
    folder = classifier(tmp_path, NLI)
    long = " ".join(["the cat sat on the mat"] * 4)
    texts = ["a dog", f"{long} a dog", f"{long} every cat", "the red house"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compute(texts, k="equivalence", same=str(folder))
    truncated = [str(x.message) for x in caught if "`same` truncates" in str(x.message)]
    assert len(truncated) == 1
    assert "to 24 tokens, such as 'a dog' and 'the cat sat" in truncated[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compute(["a dog", "every cat"], k="equivalence", same=str(folder))
