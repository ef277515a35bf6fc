"""Naming one column keeps the other detected columns; `--pool` ignores detected columns."""

import json
import shlex

import pytest

import vendiscore

WORDS = {
    "m": ["a b c", "a b d", "a b c", "e f g"],
    "n": ["h i j", "k l m", "n o p", "q r s"],
}
ROWS = [
    (prompt, model, f"{prompt} {text[: 5 - i]}")
    for i, prompt in enumerate(("p q", "r s", "t u"))
    for model, texts in WORDS.items()
    for text in texts
]
PROMPTS, MODELS, TEXTS = (list(column) for column in zip(*ROWS, strict=True))
NAMES = ("prompt", "model", "answer")
PERMUTATION_OPTIONS = ("--permutations", 99)


def table(names=NAMES) -> str:
    return "\n".join(map(",".join, [names, *ROWS])) + "\n"


@pytest.fixture
def path(save):
    return save("answers.csv", table())


SUMMARY = (
    "24 texts of column 'answer', in 3 groups by column 'prompt', in 2 sets by column 'model'\n"
)


@pytest.mark.parametrize("command", ["compare", "sources", "table", "score"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_naming_detected_model_column_changes_nothing(run, save, command, ending):
    records = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    text = table() if ending == "csv" else "".join(f"{json.dumps(row)}\n" for row in records)
    path = save(f"answers.{ending}", text)
    options = PERMUTATION_OPTIONS if command in ("compare", "table") else ()
    detected = run(command, path, *options)
    assert detected[0] == 0
    assert SUMMARY in detected[2]
    assert run(command, path, "--by", "model", *options) == detected


def test_naming_prompt_column_keeps_detected_models(run, path):
    expected = vendiscore.compare(TEXTS, by=MODELS, groups=PROMPTS, permutations=99)
    for options in ((), ("--by", "model"), ("--prompt", "prompt"), ("--group-by", "prompt")):
        out = run("compare", path, *options, *PERMUTATION_OPTIONS, "-f", "json")[1]
        assert json.loads(out) == json.loads(json.dumps(expected.to_dict())), options
    err = run("compare", path, "--prompt", "prompt", *PERMUTATION_OPTIONS)[2]
    assert "in 2 sets by column 'model', answers to 3 prompts of column 'prompt'" in err


def test_pool_ignores_detected_columns_and_keeps_named_columns(run, path):
    pooled = vendiscore.compare(TEXTS, by=MODELS, permutations=99)
    out = run("compare", path, "--by", "model", "--pool", *PERMUTATION_OPTIONS, "-f", "json")[1]
    assert json.loads(out) == json.loads(json.dumps(pooled.to_dict()))
    pooled_scores, scores_within_prompts = (
        vendiscore.compute(TEXTS),
        vendiscore.compute(TEXTS, groups=PROMPTS),
    )
    assert run(path, "--pool", "-b")[1] == f"{pooled_scores['VS']!r}\n"
    assert (
        run(path, "--group-by", "prompt", "--pool", "-b")[1] == f"{scores_within_prompts['VS']!r}\n"
    )
    assert (
        run(path, "--prompt", "prompt", "--pool", "-b")[1] == f"{scores_within_prompts['VS']!r}\n"
    )


def test_score_by_column_gives_row_per_set(run, save):
    path = save("answers.csv", table(("Prompt", "LLM", "answer")))
    results = json.loads(run(path, "--by", "LLM", "-f", "json")[1])
    for row, name in zip(results, WORDS, strict=True):
        indices = [i for i, model in enumerate(MODELS) if model == name]
        expected = vendiscore.compute(
            [TEXTS[i] for i in indices], groups=[PROMPTS[i] for i in indices]
        )
        assert (row["file"], row["VS"]) == (name, expected["VS"])
    pooled = json.loads(run(path, "--by", "LLM", "--pool", "-f", "json")[1])
    assert [row["VS"] for row in pooled] == [
        vendiscore.compute([t for t, m in zip(TEXTS, MODELS, strict=True) if m == name])["VS"]
        for name in WORDS
    ]


def test_group_by_uses_detected_prompts_within_groups(run, path):
    expected = vendiscore.compute(TEXTS, groups=MODELS, prompts=PROMPTS, given_prompt=False)["VS"]
    assert run(path, "--group-by", "model", "-b")[1] == f"{expected!r}\n"


@pytest.mark.parametrize("command", ["score", "compare", "table", "sources"])
def test_suggested_commands_include_detected_columns(run, save, command):
    path = save("answers.csv", table(("Prompt", "LLM", "answer")))
    start = [] if command == "score" else [command]
    code, _, err = run(*start, path)
    assert code == 2
    lines = [line.strip() for line in err.splitlines()[1:]]
    assert lines[0] == shlex.join(["vendiscore", *start, path, "--by", "LLM", "--prompt", "Prompt"])
    for line in lines:
        options = PERMUTATION_OPTIONS if command in ("compare", "table") else ()
        assert run(*shlex.split(line)[1:], *options)[0] == 0, line


def test_missing_set_column_error_suggests_table_column(run, save):
    path = save("answers.csv", table(("Prompt", "LLM", "answer")))
    code, _, err = run("compare", path, "--prompt", "Prompt")
    assert code == 2
    assert "assigns rows to sets, for example --by LLM\n" in err
    code, _, err = run("compare", path, "--group-by", "LLM")
    assert "for example --by LLM instead of --group-by\n" in err


def test_explain_and_growth_reject_several_prompts(run, path):
    for command in ("explain", "growth"):
        code, _, err = run(command, path)
        assert code == 2
        assert (
            "--pool to use all samples as one set, or --prompt prompt --pool to compare only" in err
        )
        assert run(command, path, "--prompt", "prompt", "--pool")[0] == 0


def test_prompts_with_single_answers_are_ignored_with_note(run, save):
    path = save("a.csv", "prompt,answer\n" + "".join(f"p{i},a b{i}\n" for i in range(4)))
    assert "left out: prompt (most have one answer)\n" in run(path)[2]


def test_naming_columns_of_known_record_format_changes_nothing(run, save):
    record = {"instruction": "", "output": "", "generator": ""}
    rows = [dict(zip(record, row, strict=True)) for row in ((p, t, m) for p, m, t in ROWS)]
    path = save("x.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    detected = run("compare", path, *PERMUTATION_OPTIONS)
    for options in (("--by", "generator"), ("--column", "output")):
        assert run("compare", path, *options, *PERMUTATION_OPTIONS) == detected


SITES = "site,habitat,oak,ash,elm\na,wet,5,4,3\nb,wet,6,1,9\nc,dry,10,0,1\nd,dry,12,1,0\n"


def individuals(*sites: str) -> list[str]:
    counts = {row[0]: row.split(",")[2:] for row in SITES.split()[1:]}
    return [
        species
        for site in sites
        for species, count in zip(("oak", "ash", "elm"), counts[site], strict=True)
        for _ in range(int(count))
    ]


def test_counts_are_accepted_with_pool_growth_and_compare(run, save):
    path = save("s.csv", SITES)
    pooled_score = vendiscore.compute(individuals(*"abcd"), k="labels")["VS"]
    assert run(path, "--counts", "--pool", "-b")[1] == f"{pooled_score!r}\n"
    result_of_growth = json.loads(run("growth", path, "--counts", "--pool", "-f", "json")[1])
    expected = vendiscore.growth(individuals(*"abcd"), k="labels")
    assert result_of_growth == json.loads(json.dumps(expected.to_dict()))
    sites = [site for site in "abcd" for _ in individuals(site)]
    expected = vendiscore.compare(individuals(*"abcd"), by=sites, k="labels")
    for options in ((), ("--by", "site")):
        result = json.loads(run("compare", path, "--counts", *options, "-f", "json")[1])
        assert result == json.loads(json.dumps(expected.to_dict()))
    by = ["wet" if site in "ab" else "dry" for site in sites]
    expected = vendiscore.compare(individuals(*"abcd"), by=by, k="labels", permutations=99)
    command = ("compare", path, "--counts", "--by", "habitat")
    result = json.loads(run(*command, "--pool", *PERMUTATION_OPTIONS, "-f", "json")[1])
    assert result == json.loads(json.dumps(expected.to_dict()))
    code, _, err = run(*command)
    assert code == 2
    assert (
        "so sets cannot be compared site by site; pass --pool to pool the sites of each set" in err
    )


def test_error_for_pooled_counts_does_not_suggest_missing_column(run, save):
    code, _, err = run("compare", save("s.csv", SITES), "--counts", "--pool")
    assert code == 2
    assert "--by model" not in err
    assert "without --pool, each site is a set" in err
