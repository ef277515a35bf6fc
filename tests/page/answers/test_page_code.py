"""Addresses of code, documentation and citation in the footer of the web app."""

import pytest

from vendiscore_page.answers import page_code

REMOTE = "https://example.org/someone/vendiscore"


def test_links_of_space_point_to_its_files(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/vendiscore")
    files = "https://huggingface.co/spaces/someone/vendiscore"
    assert page_code.list_links() == {
        "Code": f"{files}/tree/main",
        "Documentation": f"{files}/tree/main/docs",
        "How to cite": f"{files}/blob/main/CITATION.cff",
    }


@pytest.mark.parametrize(
    "url",
    [
        f"{REMOTE}.git",
        f"{REMOTE}/",
        "https://user:secret@example.org/someone/vendiscore.git",
        "git@example.org:someone/vendiscore.git",
        "ssh://git@example.org:22/someone/vendiscore",
    ],
)
def test_links_of_clone_point_to_its_origin(monkeypatch, tmp_path, url):
    monkeypatch.delenv("SPACE_ID", raising=False)
    monkeypatch.setattr(page_code, "GIT_CONFIG", tmp_path / "config")
    page_code.GIT_CONFIG.write_text(f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n')
    assert page_code.list_links()["Code"] == f"{REMOTE}/tree/main"


@pytest.mark.parametrize("text", ["", "[core", '[remote "origin"]\n\turl = /home/me/vendiscore\n'])
def test_links_are_empty_without_known_address(monkeypatch, tmp_path, text):
    monkeypatch.delenv("SPACE_ID", raising=False)
    monkeypatch.setattr(page_code, "GIT_CONFIG", tmp_path / "config")
    assert page_code.list_links() == {}
    page_code.GIT_CONFIG.write_text(text)
    assert page_code.list_links() == {}
