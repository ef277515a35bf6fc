"""A score knows its neighbours among known sets, under the same kernel, options, n and order."""

import json
import re
from pathlib import Path

import evaluate
import numpy as np
import pytest
from contract import CASES, OPTIONS

from vendiscore import as_similarity, compute, explain, list_kernels, report
from vendiscore.scoring import typical
from vendiscore.scoring.typical import settings_that_count, typical_sentence

ROOT = Path(__file__).resolve().parents[2]
TABLES = typical._tables()
EVERY = [
    (table, n, q)
    for table in TABLES
    for n, q in (map(int, key.split(",")) for key in table["values"])
]
CAPTIONS = (ROOT / "examples" / "captions" / "middling.txt").read_text(encoding="utf-8").split("\n")
CAPTIONS = [line for line in CAPTIONS if line]


def first_example() -> tuple[list[str], list[int]]:
    """Return the samples and the `ns` of the first example of README.md."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"metric\.compute\(samples=(\[.*?\]), ns=(\[.*?\])\)", text)
    assert found
    return json.loads(found[1]), json.loads(found[2])


def test_the_first_example_of_the_readme_is_placed_among_known_sets(tmp_path, run) -> None:
    samples, ns = first_example()
    metric = evaluate.load(str(ROOT / "vendiscore.py"))
    found = metric.compute(samples=samples, ns=ns, details=True)
    said = found["details"]["typical"]
    assert said.startswith("For 3 texts by n-grams of one and two words, this is between ")
    names = re.findall(r"\(([\d.]+)\)", said)
    assert float(names[0]) <= found["VS"] <= float(names[1])
    assert explain(samples, ns=ns).sentence.endswith(said)
    assert said in report(samples, ns=ns).html()
    path = tmp_path / "answers.txt"
    path.write_text("\n".join(samples), encoding="utf-8")
    code, out, _ = run(path, "-o", "ns=1,2")
    assert (code, said in out) == (0, True)
    code, out, _ = run("explain", path, "-o", "ns=1,2")
    assert (code, said in out) == (0, True)
    assert said not in run(path, "-o", "ns=1,2", "-b")[1]


def test_the_first_command_of_the_readme_is_placed_too() -> None:
    assert len(CAPTIONS) == 20
    said = compute(CAPTIONS, details=True)["details"]["typical"]
    assert said.startswith("For 20 texts by n-grams, this is between ")


def test_the_page_says_it() -> None:
    pytest.importorskip("gradio")
    from answered import answered

    said = compute(CAPTIONS, details=True)["details"]["typical"]
    assert answered(CAPTIONS)["typical"] == said != ""
    assert answered(CAPTIONS[:-1])["typical"] == ""
    assert answered(CAPTIONS, q=3)["typical"] == ""


@pytest.mark.parametrize(("table", "n", "q"), EVERY)
def test_a_score_stands_between_its_neighbours(table, n, q) -> None:
    known = table["values"][f"{n},{q}"]
    values = sorted(known.values())
    settings = table["settings"]
    for value in np.linspace(0.9, values[-1] + 0.1, 23):
        said = typical_sentence(settings, n, q, value)
        told = [float(x) for x in re.findall(r"\(([\d.]+)\)", said)]
        below = [x for x in values if x <= value][-1:]
        above = [x for x in values if x >= value][:1]
        assert told == [float(f"{x:.3g}") for x in (below + above if below != above else below)]
    assert f"this is the same as {next(iter(known))} " in typical_sentence(
        settings, n, q, next(iter(known.values()))
    )


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table["by"])
def test_nothing_is_said_under_another_option_n_order_or_weight(table) -> None:
    settings = table["settings"]
    n, q = map(int, next(iter(table["values"])).split(","))
    assert typical_sentence(settings, n, q, 1.5)
    assert not typical_sentence(settings, n, q, 1.5, np.full(n, 1 / n))
    for other in (0, 0.5, 1.0001, 1.5, 3, np.inf):
        assert not typical_sentence(settings, n, other, 1.5)
    sizes = {int(key.split(",")[0]) for key in table["values"]}
    assert not any(typical_sentence(settings, m, q, 1.5) for m in range(1, 1200) if m not in sizes)
    for name, value in settings.items():
        for wrong in ("another", 17, [value], [1, 2, 3]):
            assert not typical_sentence({**settings, name: wrong}, n, q, 1.5), name
        assert not typical_sentence({k: x for k, x in settings.items() if k != name}, n, q, 1.5)
    for more in ({"normalize": True}, {"columns": 64}, {"tokenizer": str.split}, {"new": 1}):
        assert not typical_sentence({**settings, **more}, n, q, 1.5)


@pytest.mark.parametrize("name", sorted(kernel.name for kernel in list_kernels()))
@pytest.mark.parametrize("n", [3, 4, 6])
@pytest.mark.filterwarnings("ignore")
def test_every_kernel_and_option_is_silent_unless_it_is_in_the_table(name, n) -> None:
    samples, needed = CASES[name]
    options = [{}, *({key: value} for key, (value, _) in OPTIONS.get(name, {}).items() if value)]
    options += [{"normalize": True}] if name != "linear" else []
    for option in options:
        try:
            found = compute(samples[:n], k=name, psd="clip", details=True, **needed, **option)
        except (TypeError, ValueError):  # options that go with others
            continue
        usual = settings_that_count(as_similarity(samples[:n], k=name, **needed, **option).settings)
        known = [table for table in TABLES if table["settings"] == usual]
        expected = bool(known) and f"{n},1" in known[0]["values"]
        assert bool(found["details"]["typical"]) == expected, (option, found["details"]["typical"])
        if option and expected:  # an option that is the usual one after all
            assert usual == settings_that_count(as_similarity(samples[:n], k=name).settings)


def test_only_one_plain_vendi_score_is_placed() -> None:
    texts = CAPTIONS

    def said(samples=texts, **how) -> str:
        return compute(samples, details=True, **how)["details"]["typical"]

    assert said() == said(q=[2, 1]) == said(measures=["IntDiv", "VS"]) == said(p=None)
    assert said(q=[2, 3]) == said(q=2) != said()
    assert "at q = 2" in said(q=2)
    assert said(measures=["IntDiv"]) == ""
    assert said(p=np.full(20, 0.05)) == ""
    assert said(prompts="What happens on the beach?", given_prompt=True) == ""
    assert said(k=lambda a, b: float(a == b)) == ""
    assert said(k={"ngram_overlap": 0.5, "word_overlap": 0.5}) == ""
    assert said(as_similarity(texts).dense(), score_K=True) == ""
    assert said(as_similarity(texts)) == said()
    assert said(ns=2) == ""
    assert said(analyzer="word") == said()


def test_groups_of_one_size_are_placed_by_their_mean() -> None:
    groups = [CAPTIONS[:8], CAPTIONS[8:16]]
    found = compute(groups, details=True)
    said = found["details"]["typical"]
    assert said.startswith("For 8 texts by n-grams, this is ")
    mean = np.mean([compute(group)["VS"] for group in groups])
    numbers = [float(x) for x in re.findall(r"\(([\d.]+)\)", said)]
    assert min(numbers) <= mean <= max(numbers)
    assert compute([*groups, CAPTIONS[:3]], details=True)["details"]["typical"] == ""


def test_the_model_that_is_meant_counts_and_not_where_it_ran() -> None:
    table = next((t for t in TABLES if t["settings"]["kernel"] == "text_embeddings"), None)
    assert table
    ran = {"device": "cuda:0", "batch_size": 7, "dims": 384, "revision": "c9745ed"}
    settings = {**table["settings"], **ran, "pooling_from": "given"}
    assert typical_sentence(settings, 8, 1, 4.0).startswith("For 8 texts by MiniLM, this is ")
    for wrong in ({"model_path": "BAAI/bge-small-en"}, {"pooling": "cls"}, {"max_length": 64}):
        assert not typical_sentence({**settings, **wrong}, 8, 1, 4.0)


def test_the_file_that_ships_is_that_of_the_results_and_small() -> None:
    results = ROOT / "benchmarks" / "results" / "typical_values.json"
    rows = json.loads(results.read_text(encoding="utf-8"))["rows"]
    assert Path(typical.__file__).with_name("typical_values.json").stat().st_size < 16_000
    rows = [row for row in rows if row["kind"] != "vectors"]
    known = [(t["by"], key, len(own)) for t in TABLES for key, own in t["values"].items()]
    assert sum(count for *_, count in known) == len(rows)
    for row in rows:
        (table,) = (table for table in TABLES if table["settings"] == row["settings"])
        assert table["values"][f"{row['n']},{row['q']}"][row["source"]] == float(f"{row['VS']:.3g}")
        assert row["VS_low"] <= row["VS"] <= row["VS_high"]
    assert len({row["source"] for row in rows}) >= 12
    assert len(TABLES) >= 4


@pytest.mark.filterwarnings("ignore:.* is one word; ")
def test_what_is_said_of_people_and_models_is_what_their_answers_score(answers) -> None:
    table = next(t for t in TABLES if t["by"] == "n-grams")
    for model, name in (("human", "eight people"), ("gpt-4o", "gpt-4o")):
        starts = [i for i, text in enumerate(answers) if text == model]
        starts = [i for i in starts if answers[i + 1].startswith("curated-")]
        assert len(starts) == 100
        found = compute([answers[i + 3 : i + 11] for i in starts])["VS"]  # behind id and prompt
        assert table["values"]["8,1"][name] == pytest.approx(found, rel=5e-3)


def test_what_ngrams_measure_is_said_of_them_alone_with_the_numbers_of_people():
    name = "n-grams of 1 to 4 words (the default)"
    path = ROOT / "benchmarks" / "results" / "people" / "human_scores.json"
    found = json.loads(path.read_text(encoding="utf-8"))["rows"]
    (row,) = (
        row
        for row in found
        if (row["name"], row["prompt"], row["measure"]) == (name, False, "VS, q = 1")
    )
    labels = [each["accuracy"] for each in row["labels"] if each["test"] == "McDiv_nuggets"]
    assert [round(accuracy, 2) for accuracy in labels] == list(typical.HARD_SETS)
    assert typical.wording_sentence({"kernel": "ngram_overlap"}) == typical.WORDING
    assert typical.wording_sentence({"kernel": "ngram_overlap"}, "") == typical.NGRAMS
    assert typical.wording_sentence({"kernel": "cosine"}) == ""
