"""The matrix of prompts and models matches `compute`, and contains the answers of each cell."""

import numpy as np
import pytest
from page_answers import compare_as_json, make_samples

from vendiscore import as_similarity, compute
from vendiscore.result import key_at
from vendiscore_page.answers import prompt_matrix

NS = {"k": "ngram_overlap", "ns": [1, 2, 3, 4]}
WORDS = ["apple", "pear", "plum", "sea", "sky", "stone", "river", "cat", "dog", "house"]


def make_answers(seed: int, unpaired: bool = False):
    """Return models, prompts and answers, some of them repeated."""
    rng = np.random.default_rng(seed)
    rows = [
        (model, f"Question {prompt}?", " ".join(rng.choice(WORDS[: 3 + 3 * model.count("l")], 3)))
        for prompt in range(5)
        for model in ("a", "bl", "cll")
        for _ in range(int(rng.integers(2, 6)))
    ]
    if unpaired:
        rows += [("a", "Only here?", "one"), ("a", "Only here?", "two words")]
    rng.shuffle(rows)
    return list(zip(*rows, strict=True))


@pytest.mark.parametrize("q", [1, 2, "inf"])
@pytest.mark.parametrize("unpaired", [False, True])
def test_matrix_cells_match_compute(q, unpaired):
    models, prompts, texts = make_answers(0, unpaired)
    page = compare_as_json({"A": make_samples(list(texts), sets=models, groups=prompts)}, q=q)
    matrix = page["matrix"]
    key = key_at(q)
    assert matrix["models"] == [row["name"] for row in page["rows"]]
    assert set(matrix["prompts"]) == set(prompts)
    for i, prompt in enumerate(matrix["prompts"]):
        for j, model in enumerate(matrix["models"]):
            cell_texts = [
                text
                for m, p, text in zip(models, prompts, texts, strict=True)
                if (m, p) == (model, prompt)
            ]
            assert matrix["n"][i][j] == len(cell_texts)
            if cell_texts:
                expected = compute(cell_texts, q=q, **NS)[key]
                assert matrix[key][i][j] == pytest.approx(expected, abs=1e-12)
            else:
                assert matrix[key][i][j] is None


def test_repeats_point_to_first_similar_answer_of_cell():
    models, prompts, texts = make_answers(1)
    page = compare_as_json({"A": make_samples(list(texts), sets=models, groups=prompts)})["map"]
    K = as_similarity(page["text"], **NS).dense()
    for i, first in enumerate(page["repeats"]):
        assert (page["set"][i], page["group"][i]) == (page["set"][first], page["group"][first])
        assert page["repeats"][first] == first <= i
        if first != i:
            assert (
                K[i].max(where=np.arange(len(K)) != i, initial=0)
                >= prompt_matrix.DUPLICATE_SIMILARITY - 1e-9
            )
        cell = [
            (page["set"][j], page["group"][j]) == (page["set"][i], page["group"][i])
            for j in range(i)
        ]
        assert (first == i) == (
            not (K[i, :i][cell] >= prompt_matrix.DUPLICATE_SIMILARITY - 1e-9).any()
        )


@pytest.mark.filterwarnings("ignore:The interval of VS has width 0")
def test_map_contains_each_sample_once_or_random_subset():
    models, prompts, texts = make_answers(2)
    page = compare_as_json({"A": make_samples(list(texts), sets=models, groups=prompts)})["map"]
    map_samples = sorted(zip(page["set"], page["group"], page["text"], strict=True))
    assert map_samples == sorted(zip(models, prompts, texts, strict=True))
    assert max(*page["x"], *page["y"]) == 1000
    assert min(*page["x"], *page["y"]) == 0
    sets = {name: [f"{name} {i}" for i in range(700)] for name in "ab"}
    large = compare_as_json(sets)
    assert len(large["map"]["x"]) == prompt_matrix.MAX_MAPPED
    assert large["matrix"] is None
