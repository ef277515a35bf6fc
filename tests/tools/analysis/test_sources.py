"""The effective number of sources agrees with sums written out, and copies do not raise it."""

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


def brute_force(answers, k, same=1.0, corrected=False):
    """Return the similarity of sources, from lists of lists of answers, by every pair."""
    names = list(answers)
    asked = range(len(answers[names[0]]))

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
            shared = [p for p in asked if answers[a][p] and answers[b][p]]
            sums = [sum(mean(x, y, p) for p in shared) for x, y in ((a, b), (a, a), (b, b))]
            S[i, j] = same if i == j else sums[0] / math.sqrt(sums[1] * sums[2])
    return S


def cosine(a, b):
    return float(np.dot(a, b) / math.sqrt(np.dot(a, a) * np.dot(b, b)))


def entropy_score(S, q=1.0):
    values = np.clip(np.linalg.eigvalsh(S), 0, None)
    values = values[values > 0] / values.sum()
    if q == 1:
        return float(np.exp(-(values * np.log(values)).sum()))
    return float((values**q).sum() ** (1 / (1 - q)))


def drawn(seed, sizes, prompts=12, d=5):
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(len(sizes), 1, d))
    return {
        f"s{i}": [list(own[i, 0] + rng.normal(size=(m, d))) for _ in range(prompts)]
        for i, m in enumerate(sizes)
    }


def arrays(answers):
    return {name: np.array(own) for name, own in answers.items()}


@pytest.mark.parametrize("q", [0.5, 1, 2, 3.5])
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (3, 1, 2), (2, 2), (4, 4, 4, 4, 4)])
def test_it_is_the_score_of_mean_similarities_written_out(q, sizes):
    answers = drawn(1, sizes)
    result = sources(arrays(answers), k="cosine", q=q)
    S = brute_force(answers, cosine)
    np.testing.assert_allclose(result.similarity, S, atol=1e-10)
    assert result.score == pytest.approx(entropy_score(S, q), abs=1e-10)


def test_the_corrected_score_leaves_out_answers_beside_themselves():
    answers = drawn(2, (3, 4, 2))
    result = sources(arrays(answers), k="cosine")
    S = brute_force(answers, cosine, corrected=True)
    assert result.corrected.value == pytest.approx(entropy_score(S), abs=1e-10)
    assert sources(arrays(drawn(2, (3, 1))), k="cosine").corrected is None


def test_missing_answers_are_left_out_pair_by_pair():
    answers = drawn(3, (1, 2, 1, 1))
    answers["s0"][3], answers["s2"][3], answers["s2"][7] = [], [], []
    lists = {
        name: [None if not own else [np.array(x) for x in own] for own in asked]
        for name, asked in answers.items()
    }
    result = sources(lists, k=cosine, psd="clip")
    np.testing.assert_allclose(result.similarity, brute_force(answers, cosine), atol=1e-10)


def test_pairs_over_other_prompts_are_repaired_and_that_is_said():
    # Each two agree or not by the prompt that they share.
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
def test_copies_do_not_raise_the_number(size):
    answers = arrays(drawn(4, (size,) * 4))
    result = sources(answers, k="cosine")
    more = sources({**answers, "copy": answers["s0"], "again": answers["s0"]}, k="cosine")
    assert more.score <= result.score
    assert more.pairs(1)[0][2] == pytest.approx(1)
    only = sources({"a": answers["s0"], "b": answers["s0"]}, k="cosine")
    assert only.score == pytest.approx(1)


def test_two_samples_of_one_source_are_one_when_corrected():
    """Each of 400 prompts has its own answers, of which every source draws six."""
    rng = np.random.default_rng(5)
    centre = rng.normal(size=(400, 1, 1, 20))
    drawn = centre + rng.normal(size=(400, 3, 6, 20))
    result = sources(list(drawn.swapaxes(0, 1)), k="cosine")
    assert result.score > 1.15
    assert result.corrected.low <= 1.001
    assert result.corrected.value < 1.02


def test_parts_of_one_set_are_one_source_when_corrected():
    X = np.random.default_rng(6).normal(size=(4, 1000, 8)) + 1
    result = sources(list(X), k="cosine", aligned=False)
    assert result.score > 1.003
    assert result.corrected.low == 1
    assert result.corrected.value < 1.006
    assert result.prompts == ()
    assert result.per_prompt == ()


def halves(rows, of):
    """Return two sources for each of three, by `of` the answers of one and 0 or 1."""
    names = ("human", "gemini-1.5-pro", "gpt-4o")
    answers = {name: [row["generations"] for row in rows if row["model"] == name] for name in names}
    return {(name, half): of(own, half) for name, own in answers.items() for half in (0, 1)}


@pytest.mark.filterwarnings("ignore:Kernel 'ngram_overlap' ")
def test_halves_of_the_answers_to_each_prompt_are_nearest_to_each_other(novelty_answers):
    def every_second(own, half):
        return [each[half::2] for each in own]

    result = sources({str(key): own for key, own in halves(novelty_answers, every_second).items()})
    assert [row.nearest[:5] for row in result.sources] == [row.name[:5] for row in result.sources]


@pytest.mark.filterwarnings("ignore:Kernel 'ngram_overlap' ")
def test_models_are_known_by_answers_to_other_prompts_and_eight_people_are_not(novelty_answers):
    def half_of_prompts(own, half):
        return [text for each in own[50 * half :][:50] for text in each]

    sets = {str(key): own for key, own in halves(novelty_answers, half_of_prompts).items()}
    result = sources(sets, aligned=False)
    known = [row.nearest[:5] == row.name[:5] for row in result.sources]
    assert known == [False, False, True, True, True, True]


def test_intervals_hold_the_number_of_a_larger_set_of_prompts():
    """60 draws of 40 of 2,000 prompts: from 54 on they hold 95 % (p > 0.05 of fewer)."""
    rng = np.random.default_rng(7)
    own = rng.normal(size=(6, 1, 1, 4))
    X = own + rng.normal(size=(6, 2000, 2, 4)) * rng.gamma(1, 1.5, size=(1, 2000, 1, 1))
    truth = sources(X, k="cosine", level=None)
    held = np.zeros(2)
    for _ in range(60):
        result = sources(X[:, rng.choice(2000, 40, replace=False)], k="cosine")
        pairs = ((result.found, truth.found), (result.corrected, truth.corrected))
        held += [part.low <= all_of.value <= part.high for part, all_of in pairs]
    assert (held >= 54).all(), held


def test_the_interval_leaves_out_one_prompt_at_a_time():
    answers = arrays(drawn(8, (2, 2, 2), prompts=9))
    result = sources(answers, k="cosine", level=0.9).found
    left = [
        sources(
            {name: np.delete(own, p, axis=0) for name, own in answers.items()}, k="cosine"
        ).score
        for p in range(9)
    ]
    assert result.se == pytest.approx(math.sqrt(8 / 9 * np.sum((left - np.mean(left)) ** 2)))

    def logit(score):
        return np.log((score - 1) / (len(answers) - score))

    logits = logit(np.array(left))
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
def test_the_interval_is_not_of_width_0_where_no_prompt_changes_the_score(answers, score, level):
    """Five prompts do not exclude other prompts to which all answers agree, or none do."""
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


@pytest.mark.parametrize(("prompts", "noted"), [(3, True), (5, True), (7, True), (8, False)])
def test_notes_on_fewer_than_8_prompts_have_the_measured_coverage(prompts, noted):
    answers = {"a": [f"x{i % 2}" for i in range(prompts)], "b": ["x0"] * prompts}
    notes = sources(answers, k="labels").notes
    measured = [note for note in notes if note.startswith(f"With {prompts} prompts, 95 % ")]
    assert len(measured) == noted
    for note in measured:
        lowest, highest = MEASURED_COVERAGE[prompts]
        assert f"covered the true value in {lowest} to {highest} % of cases" in note
    for level in (None, 0.9):
        assert not sources(answers, k="labels", level=level).notes


def test_measured_coverages_are_those_of_the_results():
    file = Path(__file__).parents[3] / "benchmarks" / "results" / "sources.json"
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    of_few = [row for row in rows if row["part"] in ("few", "empty")]
    for row in of_few:
        if row["prompts"] in MEASURED_COVERAGE:
            lowest, highest = MEASURED_COVERAGE[row["prompts"]]
            assert lowest - 0.5 <= 100 * row["held"] <= highest + 0.5
        elif row["prompts"] > 2:
            assert 93 <= 100 * row["held"] <= 97.5
    assert {4, 6, 12, 30} <= {row["prompts"] for row in of_few}


def test_two_prompts_have_no_interval_and_a_note():
    result = sources({"a": ["x", "y"], "b": ["x", "z"]}, k="labels")
    assert (result.found.se, result.found.low, result.found.high) == (None, None, None)
    assert "% interval" not in result.sentence
    (note,) = result.notes
    assert note == ("There is no interval, because it requires at least 3 prompts, got 2.")


def test_sets_of_two_samples_have_no_interval_and_sets_of_three_have_one():
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


def test_an_interval_of_a_score_near_a_bound_stays_within_the_bounds():
    """One of nine prompts differs from eight in which all sources agree, or none do."""
    for usual, unusual in ((["x", "x"], ["x", "y"]), (["x", "y"], ["x", "x"])):
        rows = [usual] * 8 + [unusual]
        result = sources({"a": [row[0] for row in rows], "b": [row[1] for row in rows]}, k="labels")
        interval = result.found
        assert 1 <= interval.low < interval.value < interval.high <= 2


@pytest.mark.filterwarnings("ignore:Kernel 'ngram_overlap' ")
def test_intervals_of_few_prompts_cover_the_number_of_all_prompts(novelty_answers):
    """94.3 to 97 % of 1,000 draws; of 150 draws fewer than 135 occur with p < .01 at 94 %."""
    texts = {
        name: [row["generations"][0] for row in novelty_answers if row["model"] == name]
        for name in ("gemini-1.5-pro", "gpt-4o")
    }
    every = [text for own in zip(*texts.values(), strict=True) for text in own]
    similarity = as_similarity(every, k="ngram_overlap", ns=[1, 2])
    pairs = np.arange(len(every)).reshape(-1, 2)

    def found_of(prompts):
        units = np.repeat(np.arange(len(prompts)), 2).tolist()
        part = similarity.take(pairs[prompts].ravel())
        return sources(part, units, by=["gemini", "gpt"] * len(prompts))

    truth = found_of(np.arange(len(pairs))).score
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(150):
        interval = found_of(rng.integers(len(pairs), size=6)).found
        covered += interval.low <= truth <= interval.high
    assert covered >= 135


def test_however_answers_come_the_number_is_one():
    texts = {"a": ["x y", "z"], "b": ["x w", "z"], "c": ["v", "u z"]}
    rows = [
        {"model": name, "question": p, "text": text}
        for p in range(2)
        for name, own in texts.items()
        for text in [own[p]]
    ]
    frame = pd.DataFrame(rows)
    every = [
        sources(texts, ns=1),
        sources(texts, ["p", "q"], ns=1),
        sources({name: dict(enumerate(own)) for name, own in texts.items()}, ns=1),
        sources(list(texts.values()), names=["a", "b", "c"], ns=1),
        sources({name: [[text] for text in own] for name, own in texts.items()}, ns=1),
        sources(frame["text"], prompts=frame["question"], by=frame["model"], ns=1),
    ]
    assert len({result.score for result in every}) == 1
    assert {tuple(result.names) for result in every} == {("a", "b", "c")}
    assert every[1].prompts == ("p", "q")
    assert every[0].prompts == (0, 1)


@pytest.mark.parametrize("k", ["rbf", "laplacian"])
def test_a_bandwidth_follows_from_all_answers(k):
    X = np.random.default_rng(9).normal(size=(3, 20, 4))
    result = sources(X, k=k)
    fitted = vendiscore.as_similarity(X.reshape(-1, 4), k=k).fitted
    assert fitted.keys() <= result.settings.keys()
    assert result.score == pytest.approx(sources(X, k=k, **fitted).score, abs=1e-12)


def test_a_mixture_and_a_prompt_are_taken_as_elsewhere():
    texts = {"a": ["why not x", "is z y"], "b": ["why x w", "is z not"], "c": ["so x", "z it y"]}
    asked = ["why x", "is z"]
    result = sources(texts, asked, given_prompt=True, ns=1)
    K = [
        vendiscore.as_similarity(
            [own[p] for own in texts.values()], prompts=asked[p], given_prompt=True, ns=1
        ).dense()
        for p in range(2)
    ]
    np.testing.assert_allclose(result.similarity, (K[0] + K[1]) / 2, atol=1e-12)
    mixed = sources(
        texts, k={"ngram_overlap": 0.5, "labels": 0.5}, options={"ngram_overlap": {"ns": 1}}
    )
    plain = sources(texts, ns=1).similarity
    np.testing.assert_allclose(mixed.similarity, (plain + np.eye(3)) / 2, atol=1e-12)


def test_what_each_adds_and_tells_apart():
    X = arrays(drawn(10, (1, 1, 1, 1, 1)))
    result = sources(X, k="cosine", q=2)
    for row in result.sources:
        rest = sources({name: own for name, own in X.items() if name != row.name}, k="cosine", q=2)
        assert row.adds == pytest.approx(result.score - rest.score, abs=1e-9)
    for p, score in enumerate(result.per_prompt):
        rows = [own[p, 0] for own in X.values()]
        assert score == pytest.approx(vendiscore.score_X(rows, q=2, normalize=True))
    near, far = result.pairs(1)[0], result.pairs(1, farthest=True)[0]
    off = result.similarity[np.triu_indices(5, 1)]
    assert (near[2], far[2]) == (off.max(), off.min())
    assert sorted(name for group in result.groups(0.5) for name in group) == sorted(X)
    assert len(result.groups(1)) == 5
    assert len(result.groups(-1)) == 1


def test_likeness_within_a_source_stands_beside_that_between_sources():
    texts = {"same": [["a b"] * 3, ["c"] * 3], "other": [["a", "b", "c"], ["d", "e", "d"]]}
    same, other = sources(texts, ns=1).sources
    assert same.within == pytest.approx(1)
    assert other.within == pytest.approx((0 + 1 / 3) / 2)


def test_a_result_is_a_table_a_dict_and_pictures():
    from matplotlib.figure import Figure

    result = sources(arrays(drawn(11, (2, 2, 2))), k="cosine")
    plain = result.to_dict()
    assert plain["VS"] == result.score
    assert plain["VS_corrected"] == result.corrected.value
    assert [row["name"] for row in plain["sources"]] == result.names
    assert result.to_frame("prompts").shape == (12, 2)
    assert result.to_frame("pairs").shape == (3, 3)
    assert "The effective number of sources is" in result.sentence
    assert "kernel=cosine" in result.signature
    for kind in ("map", "heat"):
        assert result.plot(Figure().add_subplot(), kind=kind) is not None
    assert "<table>" in result._repr_html_()


LONG = {"a": ["x", "y"], "b": ["x", "z"]}


@pytest.mark.parametrize(
    ("answers", "how", "said"),
    [
        ({"a": ["x", "y"], "b": ["x"]}, {}, "'b' has 1 and 'a' has 2; use None for"),
        ({"a": ["x"]}, {}, "`sources` requires at least two sources, got only 'a'"),
        ({"a": ["x", ""], "b": ["x", "y"]}, {}, r"\(an answer of 'a' to prompt 1\) has no tokens"),
        ({"a": [None], "b": ["x"]}, {}, "'a' has no answers; remove this source"),
        ({"a": ["x", None], "b": [None, "y"]}, {}, "no prompt has answers from two sources"),
        ({"a": "xx.", "b": "yy."}, {}, "must be a collection of samples, got one str"),
        ({1: ["x"], "1": ["y"]}, {}, "names of sources must be distinct as strings"),
        (LONG, {"prompts": ["p", "p"]}, "`prompts` contains 'p' twice"),
        (LONG, {"prompts": ["p"]}, "'a' must have 1 items, one per prompt, got 2"),
        ({"a": {"p": "x"}, "b": {"q": "x"}}, {"prompts": ["p"]}, "'b' has an answer to 'q', which"),
        ([["x"], ["y"]], {"names": ["a", "a"]}, "`names` must contain 2 distinct strings"),
        (LONG, {"names": ["a", "b"]}, "cannot be combined with a dict of sources"),
        (LONG, {"q": 0}, "`q` must be an order above 0"),
        (LONG, {"level": 2}, "`level` must be a confidence level from 0.5 to below 1"),
        (LONG, {"source": "model"}, "unknown keyword 'source'"),
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
def test_what_cannot_be_compared_is_refused_in_a_sentence(answers, how, said):
    with pytest.raises((ValueError, TypeError), match=said):
        sources(answers, **how)


def test_answers_without_words_are_left_out_as_asked():
    answers = {"a": ["x", "", "y"], "b": ["x", "z", "y"], "c": ["w", "z", "y"]}
    with pytest.raises(SampleError) as caught:
        sources(answers)
    assert list(caught.value.problems) == [1]
    with pytest.warns(UserWarning, match="dropped 1 of"):
        result = sources(answers, on_error="skip")
    missing = {**answers, "a": ["x", None, "y"]}
    np.testing.assert_array_equal(result.similarity, sources(missing).similarity)


def test_no_more_than_the_answers_to_one_prompt_are_compared_at_a_time():
    seen = []

    def near(a, b):
        seen.append((a[0], b[0]))
        return 1.0 if a[1] == b[1] else 0.5

    sources([[(p, s % 2) for p in range(4)] for s in range(3)], k=near, level=None)
    asked = [pair for pair in seen if pair[0] != pair[1]]
    assert len(asked) <= 12 * 11 / 2  # the probe that says whether anything is fitted


@pytest.mark.parametrize("prompts", [None, ["p", "q", "p", "q", "p", "q"]])
def test_a_similarity_stands_for_the_samples_that_it_is_of(prompts):
    texts, by = ["a b", "c", "a b", "c d", "e f", "c d"], ["x", "x", "y", "y", "z", "z"]
    right = sources(texts, prompts, by=by, ns=[1]).to_dict()
    similarity = vendiscore.as_similarity(texts, k="ngram_overlap", ns=[1])
    result = sources(similarity, prompts, by=by).to_dict()
    assert result["VS"] == pytest.approx(right["VS"], rel=1e-12)
    assert result["similarity"] == pytest.approx(np.array(right["similarity"]), rel=1e-12)
    assert [row["n"] for row in result["sources"]] == [2, 2, 2]
