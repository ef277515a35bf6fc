"""Selected rows match `select`, have ids, and are limited by the quota."""

import pytest

from vendiscore import compute, select
from vendiscore.support.progress import run_steps
from vendiscore_page import quotas
from vendiscore_page.answers import one_set
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.inputs.uploads import InputSettings, RefusedError, UserInput, read

TEXTS = [f"{a} {b} {c}" for a in ("red", "blue") for b in "abc" for c in ("cat", "dog", "cow")]


def score_table(q: float = 1, **options):
    table = "id,text\n" + "".join(f"r{i},{text}\n" for i, text in enumerate(TEXTS))
    samples = read(UserInput(files=[("a.csv", table.encode())]), InputSettings(**options))
    return run_steps(one_set.score(samples, Settings("ngram_overlap", q=q)))


@pytest.mark.parametrize("size", [1, 5, len(TEXTS)])
def test_selected_rows_match_select(size):
    selection, expected = score_table().subset(size), select(TEXTS, size, k="ngram_overlap")
    assert selection["rows"] == expected.places.tolist()
    assert selection["VS"] == pytest.approx(expected.scores[-1], abs=1e-12)
    score = compute([TEXTS[i] for i in selection["rows"]], k="ngram_overlap")["VS"]
    assert selection["VS"] == pytest.approx(score, abs=1e-9)
    assert selection["of"] == len(TEXTS)


def test_rows_are_labelled_by_id_column():
    answer = score_table().answer
    assert answer["id_column"] == "id"
    assert answer["samples"]["place"] == [f"r{i}" for i in range(len(TEXTS))]
    assert score_table(id="").answer["id_column"] == ""
    assert score_table(id="").answer["samples"]["place"] == list(range(2, len(TEXTS) + 2))


def test_selection_uses_order_one_if_order_is_unsupported():
    selection = score_table(q=0).subset(3)
    assert selection["q"] == 1
    assert "VS" in selection
    assert "VS_q2" in score_table(q=2).subset(3)
    assert score_table(q=0.5).subset(3)["q"] == 0.5


@pytest.mark.parametrize("size", [0, -1, 19, 2.0, True, None, "3"])
def test_selection_rejects_invalid_sizes(size):
    with pytest.raises(RefusedError, match="must be from 1 to 18"):
        score_table().subset(size)


def test_script_uses_selection_limit_of_server():
    from pathlib import Path

    page = Path(quotas.__file__).parent / "static" / "showing" / "subset.js"
    assert f"const MOST = {quotas.MAX_SELECTED};" in page.read_text(encoding="utf-8")
