"""`sources` with all sample types, tables of other packages, and missing or unusable answers."""

import copy
import threading

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import vendiscore
from vendiscore import SampleError, sources

TEXTS = {
    "a": ["the cat sat on a mat", "it rains"],
    "b": ["The cat sat on a mat.", "it snows a lot"],
    "c": ["dog", "it rains"],
}
ROWS = [{"m": name, "p": p, "t": x} for name, texts in TEXTS.items() for p, x in enumerate(texts)]
X = np.random.default_rng(0).normal(size=(4, 12, 6))


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float32", 1e-6), ("float64", 1e-12), (None, 1e-12)]
)
def test_tensors_and_lists_give_the_score_of_arrays(dtype, tolerance):
    torch = pytest.importorskip("torch")
    expected = sources(X, k="cosine").score
    Y = X.tolist() if dtype is None else torch.tensor(X, dtype=getattr(torch, dtype))
    assert sources(Y, k="cosine").score == pytest.approx(expected, abs=tolerance)
    rows = {"a": list(X[0]), "b": list(X[1])}
    assert sources(rows, k="cosine").score == sources(X[:2], k="cosine").score
    unaligned_score = sources(Y, k="cosine", aligned=False).score
    assert unaligned_score == pytest.approx(
        sources(X, k="cosine", aligned=False).score, abs=tolerance
    )


def test_sources_accepts_images_and_folders_of_images(tmp_path):
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 255, (2, 4, 8, 8, 3), dtype=np.uint8)
    images = {
        name: list(map(Image.fromarray, images_of_source))
        for name, images_of_source in zip("ab", pixels, strict=True)
    }
    for name, images_of_source in images.items():
        (tmp_path / name).mkdir()
        for i, image in enumerate(images_of_source):
            image.save(tmp_path / name / f"{i}.png")
    folders = {name: tmp_path / name for name in images}
    for aligned in (True, False):
        result = sources(images, k="pixels", aligned=aligned)
        assert sources(folders, k="pixels", aligned=aligned).score == pytest.approx(result.score)
    repeated = {
        name: [[image, image] for image in images_of_source]
        for name, images_of_source in images.items()
    }
    assert sources(repeated, k="pixels").score == pytest.approx(sources(images, k="pixels").score)


def test_molecules_are_compared_as_unaligned_sets():
    pytest.importorskip("rdkit")
    molecules = {"g1": ["CCO", "CCN", "c1ccccc1"], "g2": ["CCO", "CCC", "c1ccccc1O", "CO"]}
    result = sources(molecules, k="morgan", aligned=False)
    assert 1 < result.score < 2
    with pytest.raises(SampleError, match=r"an answer of 'g3'.*'C\('"):
        sources({**molecules, "g3": ["C(", "CC"]}, k="morgan", aligned=False)


def test_sources_accepts_equivalence_bleu_labels_and_tags():
    result = sources(TEXTS, k="equivalence", same=lambda a, b: a[:3].lower() == b[:3].lower())
    assert result.similarity[0].tolist() == [1, 1, 0.5]
    assert 1 < sources(TEXTS, k="bleu", psd="clip").score < 3
    assert sources({"a": [1, 2], "b": [1, 4]}, k="labels").similarity[0, 1] == 0.5
    assert sources({"a": [{"x"}, {"y"}], "b": [{"x"}, {"z"}]}, k="tags").similarity[0, 1] == 0.5


class LetterCounter:
    """A model that embeds texts by letter counts and counts its calls."""

    def __init__(self):
        self.calls = 0

    def encode(self, texts, **options):
        self.calls += 1
        return np.array([[len(x), x.count("a"), x.count("t"), 1.0] for x in texts])


@pytest.mark.parametrize("options", [{}, {"aligned": False}])
def test_model_encodes_all_answers_in_one_call(options):
    model = LetterCounter()
    sources(TEXTS, k="text_embeddings", model=model, **options)
    assert model.calls == 1


@pytest.mark.parametrize("table_type", ["pyarrow", "datasets", "categories", "index"])
def test_sources_accepts_tables_of_other_packages(table_type):
    frame = pd.DataFrame(ROWS)
    if table_type in ("pyarrow", "datasets"):
        package = pytest.importorskip(table_type)
        build_table = package.table if table_type == "pyarrow" else package.Dataset.from_pandas
        table = build_table(frame)
    elif table_type == "categories":
        table = frame.assign(m=frame.m.astype("category"))
    else:
        table = frame.set_index(np.arange(6)[::-1] * 7)
    assert sources(table["t"], table["p"], by=table["m"]).score == sources(TEXTS).score


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, np.float64("nan")])
def test_missing_answers_of_a_column_are_omitted(missing):
    by, prompts, answers = ([row[name] for row in ROWS] for name in "mpt")
    answers[1] = missing
    result = sources(answers, prompts, by=by)
    assert [row.n for row in result.sources] == [1, 2, 2]
    answers[4] = ""
    with pytest.raises(SampleError) as caught:
        sources(answers, prompts, by=by)
    assert list(caught.value.problems) == [4]


def test_prompt_without_answers_has_no_score():
    with pytest.warns(UserWarning, match="dropped 2 of 4 samples that"):
        with_blank = sources({"a": ["x", ""], "b": ["x", ""]}, on_error="skip")
    missing = sources({"a": ["x", None], "b": ["x", None]})
    for result in (with_blank, missing):
        assert result.per_prompt == pytest.approx((1, np.nan), nan_ok=True)
        assert list(result.rows("prompts")) == [{"prompt": 0, "VS": 1.0}]
        assert [row.n for row in result.sources] == [1, 1]
    assert list(with_blank.dropped) == [1, 3]
    assert missing.dropped == {}


def test_identical_sources_single_prompts_and_prompt_types():
    identical = sources(dict.fromkeys("abc", TEXTS["a"]))
    assert (identical.score, [row.adds for row in identical.sources]) == (
        pytest.approx(1),
        [0, 0, 0],
    )
    single_prompt = sources({name: answers[:1] for name, answers in TEXTS.items()})
    assert "(1 prompt, kernel" in single_prompt.sentence
    assert single_prompt.notes == ()
    assert sources(TEXTS, [("a", 1), ("b", 2)]).prompts == (("a", 1), ("b", 2))
    assert sources(TEXTS, np.arange(2)).to_dict()["prompts"][1]["prompt"] == 1
    assert sources({1: TEXTS["a"], 2.5: TEXTS["b"]}).names == ["1", "2.5"]
    assert sources(TEXTS, level=None).notes == ()


def test_sources_accepts_iterators_and_does_not_modify_inputs():
    generators = {name: (x for x in answers) for name, answers in TEXTS.items()}
    assert sources(generators, (p for p in "xy")).score == sources(TEXTS).score
    original, Y = copy.deepcopy(TEXTS), X.copy()
    sources(TEXTS)
    sources(Y, k="rbf")
    assert original == TEXTS
    np.testing.assert_array_equal(X, Y)


def test_concurrent_calls_give_the_same_score():
    scores = []
    calls = [
        threading.Thread(target=lambda: scores.append(sources(X, k="rbf").score)) for _ in range(4)
    ]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert scores == [sources(X, k="rbf").score] * 4


@pytest.mark.parametrize(
    ("answers", "options", "message"),
    [
        ({}, {}, "`sources` requires at least two sources, got none"),
        (pd.DataFrame(TEXTS), {}, "for a table, pass its columns"),
        (
            ["a", "b"],
            {"by": ["x", "y"], "names": ["q", "r"]},
            "`names` cannot be combined with `by`",
        ),
        (TEXTS, {"prompts": ["p", "q"], "aligned": False}, "not supported with aligned=False"),
        (TEXTS, {"given_prompt": True}, "requires prompts that are strings, got 0"),
        (TEXTS, {"given_prompt": True, "aligned": False}, "requires `prompts`"),
        (
            np.stack([X, -X], axis=2),
            {"k": "cosine"},
            "answers of 'A' to the same prompt",
        ),
    ],
)
def test_unsupported_options_raise(answers, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        sources(answers, **options)


def test_answers_that_cancel_out_are_excluded_at_their_prompt():
    Y = np.stack([X, X], axis=2)
    Y[0, 3, 1] *= -1
    result = sources(Y, k="cosine")
    remaining = X[1:, 3]
    assert result.per_prompt[3] == pytest.approx(vendiscore.score_X(remaining, normalize=True))
