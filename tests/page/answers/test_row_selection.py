"""Rows to keep: as `select` chooses them, with ids, within the page's quota."""

import pytest

from vendiscore import compute, select
from vendiscore.support.progress import run_steps
from vendiscore_page import quotas
from vendiscore_page.answers import one_set
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.inputs.uploads import Asked, Given, RefusedError, read

TEXTS = [f"{a} {b} {c}" for a in ("red", "blue") for b in "abc" for c in ("cat", "dog", "cow")]


def result(q: float = 1, **asked):
    table = "id,text\n" + "".join(f"r{i},{text}\n" for i, text in enumerate(TEXTS))
    samples = read(Given(files=[("a.csv", table.encode())]), Asked(**asked))
    return run_steps(one_set.score(samples, Settings("ngram_overlap", q=q)))


@pytest.mark.parametrize("size", [1, 5, len(TEXTS)])
def test_selected_rows_match_select(size):
    found, right = result().subset(size), select(TEXTS, size, k="ngram_overlap")
    assert found["rows"] == right.places.tolist()
    assert found["VS"] == pytest.approx(right.scores[-1], abs=1e-12)
    some = compute([TEXTS[i] for i in found["rows"]], k="ngram_overlap")["VS"]
    assert found["VS"] == pytest.approx(some, abs=1e-9)
    assert found["of"] == len(TEXTS)


def test_rows_are_labelled_by_id_column():
    answer = result().answer
    assert answer["id_column"] == "id"
    assert answer["samples"]["place"] == [f"r{i}" for i in range(len(TEXTS))]
    assert result(id="").answer["id_column"] == ""
    assert result(id="").answer["samples"]["place"] == list(range(2, len(TEXTS) + 2))


def test_selection_uses_order_one_if_order_is_unsupported():
    found = result(q=0).subset(3)
    assert found["q"] == 1
    assert "VS" in found
    assert "VS_q2" in result(q=2).subset(3)
    assert result(q=0.5).subset(3)["q"] == 0.5


@pytest.mark.parametrize("size", [0, -1, 19, 2.0, True, None, "3"])
def test_selection_rejects_invalid_sizes(size):
    with pytest.raises(RefusedError, match="must be from 1 to 18"):
        result().subset(size)


def test_script_uses_selection_limit_of_server():
    from pathlib import Path

    page = Path(quotas.__file__).parent / "static" / "showing" / "subset.js"
    assert f"const MOST = {quotas.MAX_CHOSEN};" in page.read_text(encoding="utf-8")
