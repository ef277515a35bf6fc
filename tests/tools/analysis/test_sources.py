"""The effective number of sources matches brute force and ignores copies."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import vendiscore
from vendiscore import NotPSDError, SampleError, as_similarity, sources
from vendiscore.tools.analysis.source_scores import MEASURED_COVERAGE


def brute_force_similarity(answers, k, diagonal=1.0, corrected=False):
    """Return the similarity of sources from all pairs of answers (lists of lists)."""
    names = list(answers)
    prompt_indices = range(len(answers[names[0]]))

    def mean(a, b, p):
        pairs = [
            (i, j)
            for i in range(len(answers[a][p]))
            for j in range(len(answers[b][p]))
            if not (corrected and a == b and i == j)
        ]
        return float(np.mean([k(answers[a][p][i], answers[b][p][j]) for i, j in pairs]))

    S = np.eye(len(names))
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            shared = [p for p in prompt_indices if answers[a][p] and answers[b][p]]
            sums = [sum(mean(x, y, p) for p in shared) for x, y in ((a, b), (a, a), (b, b))]
            S[i, j] = diagonal if i == j else sums[0] / math.sqrt(sums[1] * sums[2])
    return S


def cosine(a, b):
    return float(np.dot(a, b) / math.sqrt(np.dot(a, a) * np.dot(b, b)))


def entropy_score(S, q=1.0):
    values = np.clip(np.linalg.eigvalsh(S), 0, None)
    values = values[values > 0] / values.sum()
    if q == 1:
        return float(np.exp(-(values * np.log(values)).sum()))
    return float((values**q).sum() ** (1 / (1 - q)))


def draw_answers(seed, sizes, prompts=12, d=5):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(len(sizes), 1, d))
    return {
        f"s{i}": [list(centres[i, 0] + rng.normal(size=(m, d))) for _ in range(prompts)]
        for i, m in enumerate(sizes)
    }


def to_arrays(answers):
    return {name: np.array(values) for name, values in answers.items()}


@pytest.mark.parametrize("q", [0.5, 1, 2, 3.5])
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (3, 1, 2), (2, 2), (4, 4, 4, 4, 4)])
def test_score_matches_brute_force_similarities(q, sizes):
    answers = draw_answers(1, sizes)
    result = sources(to_arrays(answers), k="cosine", q=q)
    S = brute_force_similarity(answers, cosine)
    np.testing.assert_allclose(result.similarity, S, atol=1e-10)
    assert result.score == pytest.approx(entropy_score(S, q), abs=1e-10)


def test_corrected_score_excludes_answers_paired_with_themselves():
    answers = draw_answers(2, (3, 4, 2))
    result = sources(to_arrays(answers), k="cosine")
    S = brute_force_similarity(answers, cosine, corrected=True)
    assert result.corrected.value == pytest.approx(entropy_score(S), abs=1e-10)
    assert sources(to_arrays(draw_answers(2, (3, 1))), k="cosine").corrected is None


def test_missing_answers_are_excluded_pairwise():
    answers = draw_answers(3, (1, 2, 1, 1))
    answers["s0"][3], answers["s2"][3], answers["s2"][7] = [], [], []
    lists = {
        name: [None if not samples else [np.array(x) for x in samples] for samples in by_prompt]
        for name, by_prompt in answers.items()
    }
    result = sources(lists, k=cosine, psd="clip")
    np.testing.assert_allclose(
        result.similarity, brute_force_similarity(answers, cosine), atol=1e-10
    )


def test_negative_eigenvalues_from_missing_answers_are_clipped_with_a_note():
    # Similarities of different pairs come from different prompts.
    answers = {"a": ["x", "x", None], "b": ["x", None, "y"], "c": [None, "x", "z"]}
    result = sources(answers, ns=1)
    assert result.similarity[0].tolist() == [1, 1, 1]
    assert result.similarity[1, 2] == 0
    assert any("Negative eigenvalues" in note for note in result.notes)
    values = np.clip(np.linalg.eigvalsh(result.similarity), 0, None)
    assert result.score == pytest.approx(
        float(np.exp(-(p := values[values > 0] / values.sum()) @ np.log(p)))
    )
    with pytest.raises(NotPSDError):
        sources({"a": ["x"] * 2, "b": ["y"] * 2, "c": ["z"] * 2}, k=lambda a, b: a == b or -0.9)


@pytest.mark.parametrize("size", [1, 4])
def test_copies_of_a_source_do_not_increase_the_score(size):
    answers = to_arrays(draw_answers(4, (size,) * 4))
    result = sources(answers, k="cosine")
    with_copies = sources({**answers, "copy": answers["s0"], "again": answers["s0"]}, k="cosine")
    assert with_copies.score <= result.score
    assert with_copies.pairs(1)[0][2] == pytest.approx(1)
    only_copies = sources({"a": answers["s0"], "b": answers["s0"]}, k="cosine")
    assert only_copies.score == pytest.approx(1)


def test_corrected_score_of_one_source_sampled_three_times_is_near_1():
    """All three sources draw six answers per prompt from the same 400 distributions."""
    rng = np.random.default_rng(5)
    prompt_means = rng.normal(size=(400, 1, 1, 20))
    answers = prompt_means + rng.normal(size=(400, 3, 6, 20))
    result = sources(list(answers.swapaxes(0, 1)), k="cosine")
    assert result.score > 1.15
    assert result.corrected.low <= 1.001
    assert result.corrected.value < 1.02


def test_corrected_score_of_one_set_split_in_four_is_near_1():
    X = np.random.default_rng(6).normal(size=(4, 1000, 8)) + 1
    result = sources(list(X), k="cosine", aligned=False)
    assert result.score > 1.003
    assert result.corrected.low == 1
    assert result.corrected.value < 1.006
    assert result.prompts == ()
    assert result.per_prompt == ()


def split_sources(rows, select_half):
    """Split each of three sources in two; `select_half(answers, 0 or 1)` returns a half."""
    names = ("human", "gemini-1.5-pro", "gpt-4o")
    answers = {name: [row["generations"] for row in rows if row["model"] == name] for name in names}
    return {
        (name, half): select_half(samples, half)
        for name, samples in answers.items()
        for half in (0, 1)
    }


@pytest.mark.filterwarnings("ignore:Kernel 'ngram_overlap' ")
def test_halves_of_the_same_source_are_nearest_to_each_other(novelty_answers):
    def every_second(samples, half):
        return [texts[half::2] for texts in samples]

    result = sources(
        {str(key): samples for key, samples in split_sources(novelty_answers, every_second).items()}
    )
    assert [row.nearest[:5] for row in result.sources] == [row.name[:5] for row in result.sources]


@pytest.mark.filterwarnings("ignore:Kernel 'ngram_overlap' ")
def test_models_are_recognized_across_prompts_but_humans_are_not(novelty_answers):
    def half_of_prompts(samples, half):
        return [text for texts in samples[50 * half :][:50] for text in texts]

    sets = {
        str(key): texts for key, texts in split_sources(novelty_answers, half_of_prompts).items()
    }
    result = sources(sets, aligned=False)
    recognized = [row.nearest[:5] == row.name[:5] for row in result.sources]
    assert recognized == [False, False, True, True, True, True]


def test_interval_covers_the_score_of_more_prompts():
    """60 draws of 40 from 2,000 prompts; fewer than 54 covered contradict 95 % (p < 0.05)."""
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(6, 1, 1, 4))
    X = centres + rng.normal(size=(6, 2000, 2, 4)) * rng.gamma(1, 1.5, size=(1, 2000, 1, 1))
    truth = sources(X, k="cosine", level=None)
    covered = np.zeros(2)
    for _ in range(60):
        result = sources(X[:, rng.choice(2000, 40, replace=False)], k="cosine")
        pairs = ((result.found, truth.found), (result.corrected, truth.corrected))
        covered += [score.low <= true_score.value <= score.high for score, true_score in pairs]
    assert (covered >= 54).all(), covered


def test_interval_matches_delete_one_prompt_jackknife():
    answers = to_arrays(draw_answers(8, (2, 2, 2), prompts=9))
    result = sources(answers, k="cosine", level=0.9).found
    leave_one_out = [
        sources(
            {name: np.delete(values, p, axis=0) for name, values in answers.items()}, k="cosine"
        ).score
        for p in range(9)
    ]
    assert result.se == pytest.approx(
        math.sqrt(8 / 9 * np.sum((leave_one_out - np.mean(leave_one_out)) ** 2))
    )

    def logit(score):
        return np.log((score - 1) / (len(answers) - score))

    logits = logit(np.array(leave_one_out))
    spread = math.sqrt(8 / 9 * np.sum((logits - logits.mean()) ** 2))
    assert logit(result.high) - logit(result.value) == pytest.approx(1.8595480375 * spread)
    assert logit(result.value) - logit(result.low) == pytest.approx(1.8595480375 * spread)
    assert sources(answers, k="cosine", level=None).found.se is None


@pytest.mark.parametrize(
    ("answers", "score"),
    [
        ({"a": ["x"] * 5, "b": ["x"] * 5, "c": ["x"] * 5}, 1.0),
        ({"a": ["x"] * 5, "b": ["y"] * 5, "c": ["z"] * 5}, 3.0),
        ({"a": ["x"] * 5, "b": ["x"] * 5, "c": ["z"] * 5}, 1.889881574842),
    ],
)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_interval_has_positive_width_if_prompts_agree(answers, score, level):
    """Five prompts do not exclude unobserved prompts with identical or unrelated answers."""
    result = sources(answers, k="labels", level=level)
    assert result.score == pytest.approx(score)
    unseen = 1 - stats.beta.ppf((1 - level) / 2, 5.5, 0.5)
    S = result.similarity
    low = entropy_score((1 - unseen) * S + unseen * np.ones((3, 3)))
    high = entropy_score((1 - unseen) * S + unseen * np.eye(3))
    assert (result.found.low, result.found.high) == pytest.approx((low, high))
    assert result.found.low < score or score == 1
    assert result.found.high > score or score == 3
    assert result.found.low < result.found.high


@pytest.mark.parametrize(("prompts", "expects_note"), [(3, True), (5, True), (7, True), (8, False)])
def test_fewer_than_8_prompts_add_a_note_with_measured_coverage(prompts, expects_note):
    answers = {"a": [f"x{i % 2}" for i in range(prompts)], "b": ["x0"] * prompts}
    notes = sources(answers, k="labels").notes
    coverage_notes = [note for note in notes if note.startswith(f"With {prompts} prompts, 95 % ")]
    assert len(coverage_notes) == expects_note
    for note in coverage_notes:
        lowest, highest = MEASURED_COVERAGE[prompts]
        assert f"covered the true value in {lowest} to {highest} % of cases" in note
    for level in (None, 0.9):
        assert not sources(answers, k="labels", level=level).notes


def test_measured_coverage_matches_benchmark_results():
    file = Path(__file__).parents[3] / "benchmarks" / "results" / "sources.json"
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    few_prompt_rows = [row for row in rows if row["part"] in ("few", "empty")]
    for row in few_prompt_rows:
        if row["prompts"] in MEASURED_COVERAGE:
            lowest, highest = MEASURED_COVERAGE[row["prompts"]]
            assert lowest - 0.5 <= 100 * row["held"] <= highest + 0.5
        elif row["prompts"] > 2:
            assert 93 <= 100 * row["held"] <= 97.5
    assert {4, 6, 12, 30} <= {row["prompts"] for row in few_prompt_rows}


def test_two_prompts_have_a_note_instead_of_an_interval():
    result = sources({"a": ["x", "y"], "b": ["x", "z"]}, k="labels")
    assert (result.found.se, result.found.low, result.found.high) == (None, None, None)
    assert "% interval" not in result.sentence
    (note,) = result.notes
    assert note == ("There is no interval, because it requires at least 3 prompts, got 2.")


def test_interval_requires_three_samples_per_set():
    rng = np.random.default_rng(0)
    sets = {name: rng.normal(size=(n, 3)) for name, n in (("a", 2), ("b", 9), ("c", 9))}
    result = sources(sets, k="rbf", sigma=1.0, aligned=False)
    assert result.corrected.se is None
    assert result.found.se is None
    assert result.notes[-1].startswith("There is no interval, because it requires at least 3")
    sets["a"] = rng.normal(size=(3, 3))
    result = sources(sets, k="rbf", sigma=1.0, aligned=False)
    assert result.corrected.se > 0
    assert result.found.low < result.score < result.found.high


def test_interval_near_a_bound_stays_within_the_bounds():
    """Sources agree (or differ) at eight prompts and do the opposite at the ninth."""
    for common, rare in ((["x", "x"], ["x", "y"]), (["x", "y"], ["x", "x"])):
        rows = [common] * 8 + [rare]
        result = sources({"a": [row[0] for row in rows], "b": [row[1] for row in rows]}, k="labels")
        interval = result.found
        assert 1 <= interval.low < interval.value < interval.high <= 2


@pytest.mark.filterwarnings("ignore:Kernel 'ngram_overlap' ")
def test_interval_of_six_prompts_covers_the_score_of_all_prompts(novelty_answers):
    """Measured: 94.3 to 97 % of 1,000 draws; at 94 %, fewer than 135 of 150 have p < 0.01."""
    texts = {
        name: [row["generations"][0] for row in novelty_answers if row["model"] == name]
        for name in ("gemini-1.5-pro", "gpt-4o")
    }
    all_texts = [
        text for texts_by_model in zip(*texts.values(), strict=True) for text in texts_by_model
    ]
    similarity = as_similarity(all_texts, k="ngram_overlap", ns=[1, 2])
    pairs = np.arange(len(all_texts)).reshape(-1, 2)

    def score_prompts(prompts):
        prompt_labels = np.repeat(np.arange(len(prompts)), 2).tolist()
        subset = similarity.take(pairs[prompts].ravel())
        return sources(subset, prompt_labels, by=["gemini", "gpt"] * len(prompts))

    truth = score_prompts(np.arange(len(pairs))).score
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(150):
        interval = score_prompts(rng.integers(len(pairs), size=6)).found
        covered += interval.low <= truth <= interval.high
    assert covered >= 135


def test_all_input_formats_give_the_same_score():
    texts = {"a": ["x y", "z"], "b": ["x w", "z"], "c": ["v", "u z"]}
    rows = [
        {"model": name, "question": p, "text": text}
        for p in range(2)
        for name, answers in texts.items()
        for text in [answers[p]]
    ]
    frame = pd.DataFrame(rows)
    results = [
        sources(texts, ns=1),
        sources(texts, ["p", "q"], ns=1),
        sources({name: dict(enumerate(answers)) for name, answers in texts.items()}, ns=1),
        sources(list(texts.values()), names=["a", "b", "c"], ns=1),
        sources({name: [[text] for text in answers] for name, answers in texts.items()}, ns=1),
        sources(frame["text"], prompts=frame["question"], by=frame["model"], ns=1),
    ]
    assert len({result.score for result in results}) == 1
    assert {tuple(result.names) for result in results} == {("a", "b", "c")}
    assert results[1].prompts == ("p", "q")
    assert results[0].prompts == (0, 1)


@pytest.mark.parametrize("k", ["rbf", "laplacian"])
def test_bandwidth_is_fitted_to_all_answers(k):
    X = np.random.default_rng(9).normal(size=(3, 20, 4))
    result = sources(X, k=k)
    fitted = vendiscore.as_similarity(X.reshape(-1, 4), k=k).fitted
    assert fitted.keys() <= result.settings.keys()
    assert result.score == pytest.approx(sources(X, k=k, **fitted).score, abs=1e-12)


def test_mixture_and_given_prompt_match_as_similarity():
    texts = {"a": ["why not x", "is z y"], "b": ["why x w", "is z not"], "c": ["so x", "z it y"]}
    prompts = ["why x", "is z"]
    result = sources(texts, prompts, given_prompt=True, ns=1)
    K = [
        vendiscore.as_similarity(
            [answers[p] for answers in texts.values()], prompts=prompts[p], given_prompt=True, ns=1
        ).dense()
        for p in range(2)
    ]
    np.testing.assert_allclose(result.similarity, (K[0] + K[1]) / 2, atol=1e-12)
    mixture = sources(
        texts, k={"ngram_overlap": 0.5, "labels": 0.5}, options={"ngram_overlap": {"ns": 1}}
    )
    ngram_similarity = sources(texts, ns=1).similarity
    np.testing.assert_allclose(mixture.similarity, (ngram_similarity + np.eye(3)) / 2, atol=1e-12)


def test_adds_is_the_drop_of_the_score_without_the_source():
    X = to_arrays(draw_answers(10, (1, 1, 1, 1, 1)))
    result = sources(X, k="cosine", q=2)
    for row in result.sources:
        remaining = sources(
            {name: values for name, values in X.items() if name != row.name}, k="cosine", q=2
        )
        assert row.adds == pytest.approx(result.score - remaining.score, abs=1e-9)


def test_per_prompt_contains_the_score_of_the_answers_to_each_prompt():
    X = to_arrays(draw_answers(10, (1, 1, 1, 1, 1)))
    for p, score in enumerate(sources(X, k="cosine", q=2).per_prompt):
        rows = [values[p, 0] for values in X.values()]
        assert score == pytest.approx(vendiscore.score_X(rows, q=2, normalize=True))


def test_pairs_and_groups_of_sources_follow_from_their_similarities():
    X = to_arrays(draw_answers(10, (1, 1, 1, 1, 1)))
    result = sources(X, k="cosine", q=2)
    nearest, farthest = result.pairs(1)[0], result.pairs(1, farthest=True)[0]
    off_diagonal = result.similarity[np.triu_indices(5, 1)]
    assert (nearest[2], farthest[2]) == (off_diagonal.max(), off_diagonal.min())
    assert sorted(name for group in result.groups(0.5) for name in group) == sorted(X)
    assert len(result.groups(1)) == 5
    assert len(result.groups(-1)) == 1


def test_within_is_the_mean_similarity_within_a_source():
    texts = {"same": [["a b"] * 3, ["c"] * 3], "other": [["a", "b", "c"], ["d", "e", "d"]]}
    identical, diverse = sources(texts, ns=1).sources
    assert identical.within == pytest.approx(1)
    assert diverse.within == pytest.approx((0 + 1 / 3) / 2)


def test_result_converts_to_dict_frame_plot_and_html():
    from matplotlib.figure import Figure

    result = sources(to_arrays(draw_answers(11, (2, 2, 2))), k="cosine")
    record = result.to_dict()
    assert record["VS"] == result.score
    assert record["VS_corrected"] == result.corrected.value
    assert [row["name"] for row in record["sources"]] == result.names
    assert result.to_frame("prompts").shape == (12, 2)
    assert result.to_frame("pairs").shape == (3, 3)
    assert "The effective number of sources is" in result.sentence
    assert "kernel=cosine" in result.signature
    for kind in ("map", "heat"):
        assert result.plot(Figure().add_subplot(), kind=kind) is not None
    assert "<table>" in result._repr_html_()


ANSWERS = {"a": ["x", "y"], "b": ["x", "z"]}


@pytest.mark.parametrize(
    ("answers", "options", "message"),
    [
        ({"a": ["x", "y"], "b": ["x"]}, {}, "'b' has 1 and 'a' has 2; use None for"),
        ({"a": ["x"]}, {}, "`sources` requires at least two sources, got only 'a'"),
        ({"a": ["x", ""], "b": ["x", "y"]}, {}, r"\(an answer of 'a' to prompt 1\) has no tokens"),
        ({"a": [None], "b": ["x"]}, {}, "'a' has no answers; remove this source"),
        ({"a": ["x", None], "b": [None, "y"]}, {}, "no prompt has answers from two sources"),
        ({"a": "xx.", "b": "yy."}, {}, "must be a collection of samples, got one str"),
        ({1: ["x"], "1": ["y"]}, {}, "names of sources must be distinct as strings"),
        (ANSWERS, {"prompts": ["p", "p"]}, "`prompts` contains 'p' twice"),
        (ANSWERS, {"prompts": ["p"]}, "'a' must have 1 items, one per prompt, got 2"),
        ({"a": {"p": "x"}, "b": {"q": "x"}}, {"prompts": ["p"]}, "'b' has an answer to 'q', which"),
        ([["x"], ["y"]], {"names": ["a", "a"]}, "`names` must contain 2 distinct strings"),
        (ANSWERS, {"names": ["a", "b"]}, "cannot be combined with a dict of sources"),
        (ANSWERS, {"q": 0}, "`q` must be an order above 0"),
        (ANSWERS, {"level": 2}, "`level` must be a confidence level from 0.5 to below 1"),
        (ANSWERS, {"source": "model"}, "unknown keyword 'source'"),
        (
            ["x", "y"],
            {"by": ["a", "b"], "prompts": [1]},
            "`prompts` must contain one label per sample",
        ),
        (["x", "y"], {"by": ["a", None]}, "has no label in `by`"),
        ("texts", {}, "`answers` must be a dict from sources to answers"),
        (
            {
                "a": ["x", None, "y"],
                "b": ["x", "y", None],
                "c": [None, "y", "z"],
                "d": ["x", None, None],
            },
            {},
            "'c' and 'd' have no answered prompt in common",
        ),
    ],
)
def test_invalid_answers_or_options_raise(answers, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        sources(answers, **options)


def test_blank_answer_raises_or_is_skipped_like_a_missing_answer():
    answers = {"a": ["x", "", "y"], "b": ["x", "z", "y"], "c": ["w", "z", "y"]}
    with pytest.raises(SampleError) as caught:
        sources(answers)
    assert list(caught.value.problems) == [1]
    with pytest.warns(UserWarning, match="dropped 1 of"):
        result = sources(answers, on_error="skip")
    missing = {**answers, "a": ["x", None, "y"]}
    np.testing.assert_array_equal(result.similarity, sources(missing).similarity)


def test_sources_compares_only_answers_to_the_same_prompt():
    compared_pairs = []

    def record_pair(a, b):
        compared_pairs.append((a[0], b[0]))
        return 1.0 if a[1] == b[1] else 0.5

    sources([[(p, s % 2) for p in range(4)] for s in range(3)], k=record_pair, level=None)
    distinct_pairs = [pair for pair in compared_pairs if pair[0] != pair[1]]
    assert len(distinct_pairs) <= 12 * 11 / 2  # includes the check for fitted options


@pytest.mark.parametrize("prompts", [None, ["p", "q", "p", "q", "p", "q"]])
def test_similarity_of_samples_gives_the_result_of_samples(prompts):
    texts, by = ["a b", "c", "a b", "c d", "e f", "c d"], ["x", "x", "y", "y", "z", "z"]
    expected = sources(texts, prompts, by=by, ns=[1]).to_dict()
    similarity = vendiscore.as_similarity(texts, k="ngram_overlap", ns=[1])
    result = sources(similarity, prompts, by=by).to_dict()
    assert result["VS"] == pytest.approx(expected["VS"], rel=1e-12)
    assert result["similarity"] == pytest.approx(np.array(expected["similarity"]), rel=1e-12)
    assert [row["n"] for row in result["sources"]] == [2, 2, 2]
