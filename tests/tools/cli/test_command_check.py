"""`vendiscore check` tests answers against a baseline, and reports the result as exit status."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from vendiscore import Monitor, compute
from vendiscore.tools.cli.exit_codes import ALARM, CHECK_DATA, USAGE

COLORS = ["red", "green", "blue", "black", "white", "brown"]


@pytest.fixture
def write_answers(tmp_path):
    """Return a function that writes a table of random answers and returns its path."""

    def write(name, n_colors, prompts=30, n=4, seed=0, prefix="p", **columns):
        rng = np.random.default_rng(seed)
        rows = [
            {"prompt": f"{prefix}{i}", "answer": f"the {rng.choice(COLORS[:n_colors])} house"}
            for i in range(prompts)
            for _ in range(n)
        ]
        path = tmp_path / name
        pd.DataFrame(rows).assign(**columns).to_csv(path, index=False)
        return path

    return write


def test_lower_diversity_causes_an_alarm(run, write_answers):
    earlier, answers = write_answers("earlier.csv", 6), write_answers("new.csv", 1)
    code, out, _ = run("check", answers, "--baseline", earlier)
    assert code == ALARM == 1
    assert re.fullmatch(
        r"Diversity is lower than the baseline: the mean ratio of scores to the baseline is 0\.\d+ "
        r"\(.* to .*\), 95 % interval \(30 prompts with 4 answers each; evidence .*, alarm at 20\)"
        r"\.\n",
        out,
    )


def test_equal_diversity_causes_no_alarm(run, write_answers):
    earlier, answers = write_answers("earlier.csv", 6), write_answers("new.csv", 6, seed=1)
    code, out, _ = run("check", answers, "--baseline", earlier)
    assert code == 0
    assert out.startswith("No decrease of diversity was detected: the mean ratio of scores")
    # The opposite direction is no decrease.
    assert run("check", earlier, "--baseline", write_answers("new.csv", 1))[0] == 0


@pytest.mark.parametrize("options", [(), ("-q", 2, "-o", "ns=1"), ("--given-prompt",)])
def test_result_equals_that_of_a_paired_monitor(run, write_answers, options):
    paths = [write_answers("new.csv", 5, seed=1), write_answers("earlier.csv", 5, prompts=25)]
    out = run("check", paths[0], "--baseline", paths[1], "-f", "json", "--alpha", 0.1, *options)[1]
    result = json.loads(out)
    tables = [pd.read_csv(path).groupby("prompt", sort=False)["answer"] for path in paths]
    keywords = {"q": 2, "ns": 1} if "-q" in options else {}
    scores = []
    for table in tables:
        scores.append({})
        for prompt, answers in table:
            if "--given-prompt" in options:
                keywords = {"prompts": prompt, "given_prompt": True}
            scores[-1][prompt] = next(iter(compute([*answers], **keywords).values()))
    monitor = Monitor(scores[1], size=4, alpha=0.1)
    for prompt in scores[1]:
        monitor.update(scores[0][prompt], prompt)
    assert result["n_prompts"] == monitor.n == 25
    assert result["paired"]
    assert result["mean"] == pytest.approx(monitor.mean)
    assert result["alpha"] == 0.1
    assert result["size"] == 4


def test_number_is_the_expected_score(run, write_answers):
    path = write_answers("new.csv", 2)
    code, out, _ = run("check", path, "--baseline", 3.5)
    assert code == ALARM
    assert "the mean effective number of answers is 1." in out
    assert "; the baseline is 3.5 (30 prompts" in out
    assert run("check", path, "--baseline", 1.2)[0] == 0


def test_file_with_other_prompts_is_an_unpaired_baseline(run, write_answers):
    earlier = write_answers("earlier.csv", 6, prefix="q", prompts=40)
    for n_colors, expected in ((1, ALARM), (6, 0)):
        answers = write_answers("new.csv", n_colors)
        code, out, err = run("check", answers, "--baseline", earlier)
        assert code == expected
        assert "the mean effective number of answers is" in out
        assert "no prompt is in both files, so the mean scores are compared" in err


def test_answers_are_reduced_to_the_common_number(run, write_answers):
    earlier, answers = write_answers("earlier.csv", 6, n=3), write_answers("new.csv", 6, n=5)
    out, err = run("check", answers, "--baseline", earlier, "-f", "json")[1:]
    result = json.loads(out)
    assert result["size"] == 3
    assert "each prompt is scored with 3 answers" in err
    for seed in (0, 1):
        options = ("--baseline", earlier, "-f", "json", "--seed", seed)
        again = json.loads(run("check", answers, *options)[1])
        assert (again["mean"] == result["mean"]) == (seed == 0)
    code, _, err = run("check", answers, "--baseline", earlier, "--size", 5)
    assert code == USAGE
    assert (
        "requires prompts with at least 5 answers, and there are none; pass a smaller --size" in err
    )


def test_prompts_with_too_few_answers_are_omitted(run, tmp_path):
    path = tmp_path / "answers.csv"
    rows = [("p1", "a cat"), ("p1", "a dog"), ("p2", "so it goes"), ("p3", "no"), ("p3", "so")]
    pd.DataFrame(rows, columns=["prompt", "answer"]).to_csv(path, index=False)
    options = ("--column", "answer", "--prompt", "prompt")
    out, err = run("check", path, "--baseline", path, "-f", "json", *options)[1:]
    assert json.loads(out)["n_prompts"] == 2
    assert "1 prompt is left out with fewer than 2 answers" in err


def test_data_errors_differ_from_alarms(run, write_answers, tmp_path):
    answers = write_answers("answers.csv", 6)
    (binary := tmp_path / "binary.csv").write_bytes(b"prompt,answer\n\0\1")
    for files in [(answers, binary), (binary, answers), (answers, tmp_path)]:
        code, out, err = run("check", files[0], "--baseline", files[1])
        assert code == CHECK_DATA not in (ALARM, USAGE)
        assert out == ""
        assert err.startswith("vendiscore: error: ")


def test_unusable_samples_are_reported_by_file(run, write_answers, tmp_path):
    earlier = write_answers("earlier.csv", 6)
    table = pd.read_csv(write_answers("new.csv", 6))
    table.loc[0, "answer"] = ""
    table.to_csv(path := tmp_path / "new.csv", index=False)
    code, _, err = run("check", path, "--baseline", earlier)
    assert code == CHECK_DATA
    assert "new.csv, row 2, column 'answer' has no tokens" in err
    code, out, err = run("check", path, "--baseline", earlier, "--on-error", "skip", "-f", "json")
    assert code == 0
    assert "new.csv: 1 sample is left out: row 2" in err
    assert json.loads(out)["size"] == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "check requires a baseline; pass --baseline FILE or --baseline NUMBER"),
        (("--baseline", 9), "--baseline must be a number from 1 to 4, got 9"),
        (("--baseline", 2, "--alpha", 2), "--alpha must be a probability between 0 and 0.5"),
        (("--baseline", 2, "--size", 1), "--size must be at least 2, got 1"),
        (("--baseline", 2, "-k", "nonsense"), "unknown kernel"),
        (
            ("--baseline", 2, "--pool"),
            "check requires several answers to each prompt, but there is",
        ),
    ],
)
def test_invalid_commands_are_usage_errors(run, write_answers, options, message):
    code, out, err = run("check", write_answers("new.csv", 6), *options)
    assert (code, out) == (USAGE, "")
    assert message in err


def test_files_must_contain_one_model(run, write_answers):
    models = ["small", "large"] * 60
    path = write_answers("new.csv", 6, model=models)
    code, _, err = run("check", path, "--baseline", 2)
    assert code == USAGE
    assert "expected answers of one model, but column 'model' contains 2; pass" in err
    assert run("check", path, "--baseline", 1.5, "--pool", "--prompt", "prompt")[0] == 0
    assert "requires exactly one FILE, got 2" in run("check", path, path, "--baseline", 2)[2]
