"""benchmarks/people (agreement with human ratings): statistics, scorers, results, document."""

import importlib
import json
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from vendiscore import as_similarity, compute

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks" / "people"
RESULTS = ROOT / "benchmarks" / "results" / "people"
PARTS = ("human_scores", "labelled_pairs", "three_sources", "mpnet", "mcdiv")


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    """Return an importer of modules of the folder, which are removed afterwards."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.syspath_prepend(str(FOLDER))
    module_names = {path.stem for path in FOLDER.glob("*.py")} | {"cells", "pairs"}
    for name in module_names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module
    for name in module_names:
        sys.modules.pop(name, None)


def test_given_prompt_matches_residual_vectors_and_compute(load):
    given_prompt = load("scorers").condition_on_prompt
    X = np.random.default_rng(0).standard_normal((6, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    u, residuals = X[0], X[1:] - np.outer(X[1:] @ X[0], X[0])
    residuals /= np.linalg.norm(residuals, axis=1, keepdims=True)
    K = given_prompt(X @ X.T)
    np.testing.assert_allclose(K, residuals @ residuals.T, atol=1e-12)
    expected = compute(X[1:], k="cosine", prompts=u[None], given_prompt=True, q=[0.5, 1, 2])
    result = compute(K, score_K=True, q=[0.5, 1, 2])
    assert expected == pytest.approx(result, abs=1e-10)


def test_given_prompt_matches_compute_for_texts(load):
    given_prompt = load("scorers").condition_on_prompt
    prompt, texts = "name a red fruit", ["a red apple", "a cherry", "fruit", "name it: a berry"]
    for options in ({"k": "ngram_overlap"}, {"k": "word_overlap"}):
        K = np.asarray(as_similarity([prompt, *texts], **options).dense())
        theirs = compute(given_prompt(K), score_K=True)["VS"]
        assert compute(texts, prompts=prompt, given_prompt=True, **options)["VS"] == pytest.approx(
            theirs, abs=1e-10
        )


def test_given_prompt_drops_answer_equal_to_prompt(load):
    given_prompt = load("scorers").condition_on_prompt
    K = np.array([[1, 1, 0.5, 0], [1, 1, 0.5, 0], [0.5, 0.5, 1, 0.2], [0, 0, 0.2, 1]])
    assert given_prompt(K).shape == (2, 2)
    assert given_prompt(np.eye(3)).tolist() == np.eye(2).tolist()


def test_auc_equals_proportion_of_ordered_pairs(load):
    area = load("agreement").compute_auc
    rng = np.random.default_rng(0)
    scores, positive = rng.integers(0, 6, 40).astype(float), rng.random(40) < 0.4
    pairs = [(a > b) + (a == b) / 2 for a, b in product(scores[positive], scores[~positive])]
    result = area(scores, positive)
    assert result["auc"] == pytest.approx(np.mean(pairs))
    assert result["low"] < result["auc"] < result["high"]


def test_standard_errors_of_auc_use_prompts_as_units(load):
    agreement = load("agreement")
    rng = np.random.default_rng(1)
    prompts = np.repeat(np.arange(120), 3)
    positive = rng.random(360) < 0.5
    shared = rng.standard_normal(120)[prompts]  # makes sets of the same prompt similar
    values = np.round(positive + 1.5 * shared + 0.5 * rng.standard_normal(360), 1)
    auc, contributions = agreement.compute_auc_by_prompt(values, positive, prompts)
    result = agreement.summarize_contributions(auc, contributions)
    assert auc == pytest.approx(agreement.compute_auc(values, positive)["auc"])
    assert contributions.sum() == pytest.approx(0, abs=1e-12)
    resampled_aucs = []
    for _ in range(400):
        resampled_prompts = rng.integers(0, 120, 120)
        sets = (3 * resampled_prompts[:, None] + np.arange(3)).ravel()
        resampled_aucs.append(agreement.compute_auc(values[sets], positive[sets])["auc"])
    assert result["se"] == pytest.approx(np.std(resampled_aucs), rel=0.15)
    auc_without_groups, contributions = agreement.compute_auc_by_prompt(
        values, positive, np.arange(360)
    )
    result_without_groups = agreement.summarize_contributions(auc_without_groups, contributions)
    V10 = [
        np.mean((v > values[~positive]) + (v == values[~positive]) / 2) for v in values[positive]
    ]
    V01 = [np.mean((values[positive] > v) + (values[positive] == v) / 2) for v in values[~positive]]
    delong_variance = np.var(V10, ddof=1) / positive.sum() + np.var(V01, ddof=1) / (~positive).sum()
    assert result_without_groups["se"] == pytest.approx(np.sqrt(delong_variance), rel=0.01)


def test_bootstrap_difference_matches_rank_correlations(load):
    agreement = load("agreement")
    rng = np.random.default_rng(2)
    prompts = np.repeat(np.arange(100), 2)
    human = rng.standard_normal(200)
    accurate, inaccurate = (human + noise * rng.standard_normal(200) for noise in (0.5, 1.5))
    sources = [np.arange(200) < 100, np.arange(200) >= 100]
    result = agreement.bootstrap_difference(
        accurate, inaccurate, human, sources, prompts, draws=200
    )
    expected = [
        spearmanr(accurate[source], human[source]).statistic
        - spearmanr(inaccurate[source], human[source]).statistic
        for source in sources
    ]
    assert result["difference"] == pytest.approx(np.mean(expected))
    assert 0 < result["low"] < result["difference"] < result["high"]
    same = agreement.bootstrap_difference(accurate, accurate, human, sources, prompts, draws=20)
    assert list(same.values()) == [0, 0, 0]


def test_threshold_maximizes_accuracy(load):
    agreement = load("agreement")
    scores, positive = np.array([1.0, 2, 3, 4, 5]), np.array([0, 0, 1, 0, 1], bool)
    cut = agreement.find_best_threshold(scores, positive)
    assert agreement.compute_accuracy(scores, positive, cut)["accuracy"] == 0.8
    assert agreement.find_best_threshold(scores, np.ones(5, bool)) < 1


def test_spearman_intervals_cover_true_correlation(load):
    spearman = load("agreement").spearman_with_interval
    rng, n_covered = np.random.default_rng(0), 0
    truth = 6 / np.pi * np.arcsin(0.8 / 2)  # of normal variables of correlation 0.8
    for _ in range(300):
        x, e = rng.standard_normal((2, 200))
        result = spearman(x, 0.8 * x + 0.6 * e)
        n_covered += result["low"] < truth < result["high"]
    assert result["rho"] == pytest.approx(spearmanr(x, 0.8 * x + 0.6 * e).statistic)
    assert 0.91 <= n_covered / 300 <= 0.99
    assert spearman(np.ones(10), np.arange(10.0))["rho"] == 0


def test_halves_are_split_by_prompt(load):
    answers = load("answers")
    answer_sets = [answers.AnswerSet(f"prompt {i}", ("a",), {}) for i in range(400)]
    assert 150 < sum(answer_set.is_in_test_half for answer_set in answer_sets) < 250
    assert (
        answer_sets[0].is_in_test_half
        == answers.AnswerSet("prompt 0", ("b",), {"label": 1}).is_in_test_half
    )


@pytest.mark.parametrize("part", PARTS)
def test_results_are_from_clean_commit(part):
    environment = json.loads((RESULTS / f"{part}.json").read_text(encoding="utf-8"))["environment"]
    assert environment["dirty"] is False


def test_embeddings_in_context_agree_with_human_scores(load):
    page = load("people_page")
    default = page.find_row("human_scores", page.DEFAULT)
    without_prompt, given_prompt = (
        page.find_row("human_scores", page.MINILM, prompt) for prompt in (False, True)
    )
    in_context = page.find_row("human_scores", page.IN_CONTEXT, True)
    assert page.mean_correlation(in_context) >= page.mean_correlation(given_prompt) + 0.012
    assert page.response_correlation(in_context) >= page.response_correlation(given_prompt) + 0.015
    assert page.mean_correlation(without_prompt) == pytest.approx(0.738, abs=0.005)
    assert page.mean_correlation(default) == pytest.approx(0.594, abs=0.005)
    assert page.response_correlation(default) == pytest.approx(0.562, abs=0.005)
    assert given_prompt["reported on"]["mean"]["rho"] >= 0.78
    assert (
        page.mean_correlation(page.find_row("human_scores", "lengths alone", measure="mean length"))
        < 0.1
    )


def test_two_encoders_in_context_reach_target_on_further_sources(load):
    page = load("people_page")
    rows = [row for row in page.load_rows("mpnet") if row["measure"] == page.VS_NAME]
    best = max(rows, key=page.response_correlation)
    assert best["name"] == "mpnet and MiniLM in context"
    assert page.response_correlation(best) >= 0.745


def test_embeddings_beat_default_kernel_for_controlled_wording(load):
    a, b, c, d = load("people_page").controlled_accuracies()
    assert c > a + 0.1
    assert d > 0.6 > 0.5 > b


def test_kernels_rank_sources_like_noveltybench(load):
    page = load("people_page")
    for name, prompt in product((page.DEFAULT, page.MINILM), (False, True)):
        assert page.find_row("three_sources", name, prompt)["same_order"]
    assert page.find_row("three_sources", page.IN_CONTEXT, True)["same_order"]


def test_documents_match_results(load):
    page = load("people_page")
    text = (ROOT / "docs" / "people.md").read_text(encoding="utf-8")
    assert page.page() in text
    assert page.tabulate_summary().count("\n") == 1 + len(
        page.TABLE_ROWS
    )  # a head, a line, the rows
    assert page.choice() in (ROOT / "docs" / "choose.md").read_text(encoding="utf-8")
    for name in ("README.md", "docs/choose.md"):
        assert page.wording() in (ROOT / name).read_text(encoding="utf-8")


def test_document_reports_better_scorers_and_decreases(load):
    page = load("people_page")
    assert (
        "linguistic-diversity 2.0.0 reports a mean ρ of 0.816 for its default"
        in page.describe_better_methods()
    )
    assert "% of the pairs correctly" in page.describe_better_methods()
    assert "and ρ decreases for " in page.describe_context()


def test_confirmatory_run_is_reported_completely(load):
    """The result contains all listed measures and differences, the document all rows."""
    page, mcdiv = load("people_page"), load("mcdiv")
    rows = page.load_rows("mcdiv")
    assert [tuple(r[key] for key in ("name", "prompt", "measure")) for r in rows if "auc" in r] == [
        *mcdiv.MEASURES
    ]
    pairs = [(r["first"], r["second"]) for r in rows if "difference" in r]
    assert [(tuple(a.values()), tuple(b.values())) for a, b in pairs] == [*mcdiv.DIFFERENCES]
    assert page.tabulate_confirmation().count("\n") == 1 + len(mcdiv.MEASURES)
    assert sum(cell["sets"] for cell in rows[0]["cells"].values()) == 3792


def test_random_values_have_auc_of_one_half(load):
    answers, mcdiv = load("answers"), load("mcdiv")
    rng = np.random.default_rng(0)
    sets = [
        answers.AnswerSet(
            f"prompt {i // 2}",
            ("a", "b"),
            {"source": mcdiv.SOURCES[i // 2 % 3], "nugget": i // 6 % 2, "contents_differ": i % 2},
        )
        for i in range(1200)
    ]
    label = np.array([item.facts["contents_differ"] for item in sets])
    values = {key: rng.standard_normal(1200) for key in mcdiv.MEASURES}
    values[mcdiv.MEASURES[0]] = label + 0.0
    _, perfect, *other_rows = mcdiv.compute_rows(sets, values)
    assert perfect["auc"]["all"]["value"] == 1
    noise = [row["auc"]["all"] for row in other_rows if "auc" in row]
    assert all(abs(item["value"] - 0.5) < 4 * item["se"] for item in noise)
    assert {item["se"] < 0.03 for item in noise} == {True}


def test_scores_of_source_match_committed_result(load):
    answers, scorers, page = load("answers"), load("scorers"), load("people_page")
    data = load("pairs").DATA
    if not (data / "human_diversity.jsonl.gz").exists():
        pytest.skip(f"human_diversity.jsonl.gz is not in {data}; set VENDISCORE_DATA")
    sets = answers.read_judged_sets(data)
    sets = [s for s in sets if (s.facts["test"], s.facts["source"]) == ("conTest", "story_gen")]
    score = next(
        item for item in scorers.make_package_scorers({}) if item.name == page.DEFAULT
    ).score
    values = [score(item)["VS, q = 1"] for item in sets]
    result = spearmanr(values, [item.facts["human"] for item in sets]).statistic
    (committed,) = (
        item["rho"]
        for item in page.find_row("human_scores", page.DEFAULT)["all"]["sources"]
        if (item["test"], item["source"]) == ("conTest", "story_gen")
    )
    assert result == pytest.approx(committed, abs=1e-4)
