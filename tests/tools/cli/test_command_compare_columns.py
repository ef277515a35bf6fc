"""Naming one column keeps the others that were detected; `--pool` ignores these."""

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
PROMPTS, MODELS, TEXTS = (list(each) for each in zip(*ROWS, strict=True))
NAMES = ("prompt", "model", "answer")
PERMUTED = ("--permutations", 99)


def table(names=NAMES) -> str:
    return "\n".join(map(",".join, [names, *ROWS])) + "\n"


@pytest.fixture
def path(save):
    return save("answers.csv", table())


TAKEN = "24 texts of column 'answer', in 3 groups by column 'prompt', in 2 sets by column 'model'\n"


@pytest.mark.parametrize("command", ["compare", "sources", "table", "score"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_naming_detected_model_column_changes_nothing(run, save, command, ending):
    records = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    text = table() if ending == "csv" else "".join(f"{json.dumps(row)}\n" for row in records)
    path = save(f"answers.{ending}", text)
    more = PERMUTED if command in ("compare", "table") else ()
    detected = run(command, path, *more)
    assert detected[0] == 0
    assert TAKEN in detected[2]
    assert run(command, path, "--by", "model", *more) == detected


def test_naming_prompt_column_keeps_detected_models(run, path):
    right = vendiscore.compare(TEXTS, by=MODELS, groups=PROMPTS, permutations=99)
    for named in ((), ("--by", "model"), ("--prompt", "prompt"), ("--group-by", "prompt")):
        out = run("compare", path, *named, *PERMUTED, "-f", "json")[1]
        assert json.loads(out) == json.loads(json.dumps(right.to_dict())), named
    err = run("compare", path, "--prompt", "prompt", *PERMUTED)[2]
    assert "in 2 sets by column 'model', answers to 3 prompts of column 'prompt'" in err


def test_pool_ignores_detected_columns_and_keeps_named_columns(run, path):
    pooled = vendiscore.compare(TEXTS, by=MODELS, permutations=99)
    out = run("compare", path, "--by", "model", "--pool", *PERMUTED, "-f", "json")[1]
    assert json.loads(out) == json.loads(json.dumps(pooled.to_dict()))
    whole, within = vendiscore.compute(TEXTS), vendiscore.compute(TEXTS, groups=PROMPTS)
    assert run(path, "--pool", "-b")[1] == f"{whole['VS']!r}\n"
    assert run(path, "--group-by", "prompt", "--pool", "-b")[1] == f"{within['VS']!r}\n"
    assert run(path, "--prompt", "prompt", "--pool", "-b")[1] == f"{within['VS']!r}\n"


def test_score_by_column_gives_row_per_set(run, save):
    path = save("answers.csv", table(("Prompt", "LLM", "answer")))
    each = json.loads(run(path, "--by", "LLM", "-f", "json")[1])
    for row, name in zip(each, WORDS, strict=True):
        some = [i for i, model in enumerate(MODELS) if model == name]
        right = vendiscore.compute([TEXTS[i] for i in some], groups=[PROMPTS[i] for i in some])
        assert (row["file"], row["VS"]) == (name, right["VS"])
    pooled = json.loads(run(path, "--by", "LLM", "--pool", "-f", "json")[1])
    assert [row["VS"] for row in pooled] == [
        vendiscore.compute([t for t, m in zip(TEXTS, MODELS, strict=True) if m == name])["VS"]
        for name in WORDS
    ]


def test_group_by_uses_detected_prompts_within_groups(run, path):
    right = vendiscore.compute(TEXTS, groups=MODELS, prompts=PROMPTS, given_prompt=False)["VS"]
    assert run(path, "--group-by", "model", "-b")[1] == f"{right!r}\n"


@pytest.mark.parametrize("command", ["score", "compare", "table", "sources"])
def test_suggested_commands_include_detected_columns(run, save, command):
    path = save("answers.csv", table(("Prompt", "LLM", "answer")))
    start = [] if command == "score" else [command]
    code, _, err = run(*start, path)
    assert code == 2
    lines = [line.strip() for line in err.splitlines()[1:]]
    assert lines[0] == shlex.join(["vendiscore", *start, path, "--by", "LLM", "--prompt", "Prompt"])
    for line in lines:
        more = PERMUTED if command in ("compare", "table") else ()
        assert run(*shlex.split(line)[1:], *more)[0] == 0, line


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
    detected = run("compare", path, *PERMUTED)
    for named in (("--by", "generator"), ("--column", "output")):
        assert run("compare", path, *named, *PERMUTED) == detected


SITES = "site,habitat,oak,ash,elm\na,wet,5,4,3\nb,wet,6,1,9\nc,dry,10,0,1\nd,dry,12,1,0\n"


def individuals(*sites: str) -> list[str]:
    counts = {row[0]: row.split(",")[2:] for row in SITES.split()[1:]}
    return [
        kind
        for site in sites
        for kind, count in zip(("oak", "ash", "elm"), counts[site], strict=True)
        for _ in range(int(count))
    ]


def test_counts_are_accepted_with_pool_growth_and_compare(run, save):
    path = save("s.csv", SITES)
    whole = vendiscore.compute(individuals(*"abcd"), k="labels")["VS"]
    assert run(path, "--counts", "--pool", "-b")[1] == f"{whole!r}\n"
    grown = json.loads(run("growth", path, "--counts", "--pool", "-f", "json")[1])
    right = vendiscore.growth(individuals(*"abcd"), k="labels")
    assert grown == json.loads(json.dumps(right.to_dict()))
    sites = [site for site in "abcd" for _ in individuals(site)]
    right = vendiscore.compare(individuals(*"abcd"), by=sites, k="labels")
    for named in ((), ("--by", "site")):
        result = json.loads(run("compare", path, "--counts", *named, "-f", "json")[1])
        assert result == json.loads(json.dumps(right.to_dict()))
    by = ["wet" if site in "ab" else "dry" for site in sites]
    right = vendiscore.compare(individuals(*"abcd"), by=by, k="labels", permutations=99)
    asked = ("compare", path, "--counts", "--by", "habitat")
    result = json.loads(run(*asked, "--pool", *PERMUTED, "-f", "json")[1])
    assert result == json.loads(json.dumps(right.to_dict()))
    code, _, err = run(*asked)
    assert code == 2
    assert (
        "so sets cannot be compared site by site; pass --pool to pool the sites of each set" in err
    )


def test_error_for_pooled_counts_does_not_suggest_missing_column(run, save):
    code, _, err = run("compare", save("s.csv", SITES), "--counts", "--pool")
    assert code == 2
    assert "--by model" not in err
    assert "without --pool, each site is a set" in err
