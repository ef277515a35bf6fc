"""The search of the built documentation lists the expected page first."""

import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORDS = {
    word: target.partition("#")[0]
    for target, words in tomllib.loads(
        (ROOT / "docs" / "search_words.toml").read_text(encoding="utf-8")
    ).items()
    for word in words
}
# Some words are repeated here, so removing them from the table fails a test.
EXPECTED = {
    "deduplicate": "tasks/near_duplicates",
    "near-duplicates": "tasks/near_duplicates",
    "uniqueness": "tasks/near_duplicates",
    "mode collapse": "tasks/training",
    "reward": "tasks/training",
    "effective sample size": "concepts/effective_number",
    "semantic entropy": "tasks/same_answer",
    "novelty": "tasks/compare_models",
    "p-value": "tasks/compare_models",
    "homogeneity": "tasks/different_models",
    "self-BLEU": "reference/measures",
    "distinct-n": "reference/measures",
    "bootstrap": "concepts/uncertainty",
    "confidence interval": "concepts/uncertainty",
    "bandwidth": "choose",
    "embedding": "choose",
    "Tanimoto": "reference/kernels",
    "magnitude": "concepts/magnitude",
    "coverage": "concepts/growth",
    "Hill numbers": "concepts/order",
    "GPU": "tasks/large",
    "prompt": "tasks/per_prompt",
    "RAG": "tasks/choose_hundred",
    "citation": "tasks/quote",
    "install": "start",
    "vendi_score": "migrate",
    "magnipy": "coming_from",
    "effective rank": "concepts/effective_number",
    "RankMe": "concepts/effective_number",
    "embedding collapse": "tasks/training",
    "vegan": "from_r",
    "iNEXT": "from_r",
    "rdiversity": "from_r",
}


@pytest.fixture(scope="module")
def pages_by_word() -> dict[str, list[str]]:
    """Pages that the search lists for each word, best first."""
    if not (site := os.environ.get("VENDISCORE_SITE")):
        pytest.skip("set VENDISCORE_SITE to FOLDER: python -m sphinx -W docs FOLDER")
    if not (node := shutil.which("node")):
        pytest.skip("no node: apt-get install nodejs")
    script = ROOT / "tests" / "javascript" / "site_search.mjs"
    command = [node, str(script), site, *sorted({*WORDS, *EXPECTED})]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    pages: dict[str, list[str]] = json.loads(done.stdout)
    return pages


@pytest.mark.parametrize("word", EXPECTED)
def test_search_word_finds_expected_page_first(
    pages_by_word: dict[str, list[str]], word: str
) -> None:
    assert pages_by_word[word][0] == EXPECTED[word], pages_by_word[word][:4]


def test_words_of_search_table_find_listed_page_first(pages_by_word: dict[str, list[str]]) -> None:
    assert {word: pages_by_word[word][:1] for word in WORDS} == {
        w: [page] for w, page in WORDS.items()
    }


def test_search_words_find_different_pages(pages_by_word: dict[str, list[str]]) -> None:
    """The script runs a real search: different words give different pages."""
    assert len({pages[0] for pages in pages_by_word.values()}) > 15
