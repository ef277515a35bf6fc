"""Samples of every kind as answers, tables of other packages, and what is refused or left out."""

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
ROWS = [{"m": name, "p": p, "t": x} for name, own in TEXTS.items() for p, x in enumerate(own)]
X = np.random.default_rng(0).normal(size=(4, 12, 6))


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float32", 1e-6), ("float64", 1e-12), (None, 1e-12)]
)
def test_tensors_and_lists_are_taken_as_arrays_are(dtype, tolerance):
    torch = pytest.importorskip("torch")
    right = sources(X, k="cosine").score
    Y = X.tolist() if dtype is None else torch.tensor(X, dtype=getattr(torch, dtype))
    assert sources(Y, k="cosine").score == pytest.approx(right, abs=tolerance)
    rows = {"a": list(X[0]), "b": list(X[1])}
    assert sources(rows, k="cosine").score == sources(X[:2], k="cosine").score
    whole = sources(Y, k="cosine", aligned=False).score
    assert whole == pytest.approx(sources(X, k="cosine", aligned=False).score, abs=tolerance)


def test_images_and_folders_of_images(tmp_path):
    rng = np.random.default_rng(1)
    made = rng.integers(0, 255, (2, 4, 8, 8, 3), dtype=np.uint8)
    images = {name: list(map(Image.fromarray, own)) for name, own in zip("ab", made, strict=True)}
    for name, own in images.items():
        (tmp_path / name).mkdir()
        for i, image in enumerate(own):
            image.save(tmp_path / name / f"{i}.png")
    folders = {name: tmp_path / name for name in images}
    for aligned in (True, False):
        result = sources(images, k="pixels", aligned=aligned)
        assert sources(folders, k="pixels", aligned=aligned).score == pytest.approx(result.score)
    several = {name: [[image, image] for image in own] for name, own in images.items()}
    assert sources(several, k="pixels").score == pytest.approx(sources(images, k="pixels").score)


def test_molecules_of_generators_are_sets():
    pytest.importorskip("rdkit")
    made = {"g1": ["CCO", "CCN", "c1ccccc1"], "g2": ["CCO", "CCC", "c1ccccc1O", "CO"]}
    result = sources(made, k="morgan", aligned=False)
    assert 1 < result.score < 2
    with pytest.raises(SampleError, match=r"an answer of 'g3'.*'C\('"):
        sources({**made, "g3": ["C(", "CC"]}, k="morgan", aligned=False)


def test_classes_of_equal_answers_and_kernels_that_are_not_semidefinite():
    result = sources(TEXTS, k="equivalence", same=lambda a, b: a[:3].lower() == b[:3].lower())
    assert result.similarity[0].tolist() == [1, 1, 0.5]
    assert 1 < sources(TEXTS, k="bleu", psd="clip").score < 3
    assert sources({"a": [1, 2], "b": [1, 4]}, k="labels").similarity[0, 1] == 0.5
    assert sources({"a": [{"x"}, {"y"}], "b": [{"x"}, {"z"}]}, k="tags").similarity[0, 1] == 0.5


class Lengths:
    """A model that counts letters, and how often it is asked."""

    def __init__(self):
        self.calls = 0

    def encode(self, texts, **options):
        self.calls += 1
        return np.array([[len(x), x.count("a"), x.count("t"), 1.0] for x in texts])


@pytest.mark.parametrize("how", [{}, {"aligned": False}])
def test_a_model_embeds_all_answers_at_once(how):
    model = Lengths()
    sources(TEXTS, k="text_embeddings", model=model, **how)
    assert model.calls == 1


@pytest.mark.parametrize("kind", ["pyarrow", "datasets", "categories", "index"])
def test_tables_of_other_packages_are_read(kind):
    frame = pd.DataFrame(ROWS)
    if kind in ("pyarrow", "datasets"):
        package = pytest.importorskip(kind)
        make = package.table if kind == "pyarrow" else package.Dataset.from_pandas
        table = make(frame)
    elif kind == "categories":
        table = frame.assign(m=frame.m.astype("category"))
    else:
        table = frame.set_index(np.arange(6)[::-1] * 7)
    assert sources(table["t"], table["p"], by=table["m"]).score == sources(TEXTS).score


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, np.float64("nan")])
def test_missing_answers_of_a_table_are_left_out(missing):
    by, prompts, answers = ([row[name] for row in ROWS] for name in "mpt")
    answers[1] = missing
    result = sources(answers, prompts, by=by)
    assert [row.n for row in result.sources] == [1, 2, 2]
    answers[4] = ""
    with pytest.raises(SampleError) as caught:
        sources(answers, prompts, by=by)
    assert list(caught.value.problems) == [4]


def test_a_prompt_that_nobody_answers_is_no_source_and_dropped_answers_are_listed():
    with pytest.warns(UserWarning, match="dropped 2 of 4 samples that"):
        blank = sources({"a": ["x", ""], "b": ["x", ""]}, on_error="skip")
    missing = sources({"a": ["x", None], "b": ["x", None]})
    for result in (blank, missing):
        assert result.per_prompt == pytest.approx((1, np.nan), nan_ok=True)
        assert list(result.rows("prompts")) == [{"prompt": 0, "VS": 1.0}]
        assert [row.n for row in result.sources] == [1, 1]
    assert list(blank.dropped) == [1, 3]
    assert missing.dropped == {}


def test_equal_sources_one_prompt_and_prompts_of_any_type():
    same = sources(dict.fromkeys("abc", TEXTS["a"]))
    assert (same.score, [row.adds for row in same.sources]) == (pytest.approx(1), [0, 0, 0])
    one = sources({name: own[:1] for name, own in TEXTS.items()})
    assert "(1 prompt, kernel" in one.sentence
    assert one.notes == ()
    assert sources(TEXTS, [("a", 1), ("b", 2)]).prompts == (("a", 1), ("b", 2))
    assert sources(TEXTS, np.arange(2)).to_dict()["prompts"][1]["prompt"] == 1
    assert sources({1: TEXTS["a"], 2.5: TEXTS["b"]}).names == ["1", "2.5"]
    assert sources(TEXTS, level=None).notes == ()


def test_what_can_be_read_once_is_and_nothing_is_changed():
    drawn = {name: (x for x in own) for name, own in TEXTS.items()}
    assert sources(drawn, (p for p in "xy")).score == sources(TEXTS).score
    before, Y = copy.deepcopy(TEXTS), X.copy()
    sources(TEXTS)
    sources(Y, k="rbf")
    assert before == TEXTS
    np.testing.assert_array_equal(X, Y)


def test_calls_side_by_side_give_the_same_number():
    result = []
    calls = [
        threading.Thread(target=lambda: result.append(sources(X, k="rbf").score)) for _ in range(4)
    ]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert result == [sources(X, k="rbf").score] * 4


@pytest.mark.parametrize(
    ("answers", "how", "said"),
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
def test_what_would_be_ignored_or_undefined_is_refused(answers, how, said):
    with pytest.raises((TypeError, ValueError), match=said):
        sources(answers, **how)


def test_answers_that_cancel_out_at_one_prompt_are_no_source_there():
    Y = np.stack([X, X], axis=2)
    Y[0, 3, 1] *= -1
    result = sources(Y, k="cosine")
    rest = X[1:, 3]
    assert result.per_prompt[3] == pytest.approx(vendiscore.score_X(rest, normalize=True))
