"""`vendiscore page` serves the web app at a port; test_cli_commands.py tests usage errors."""

import socket
import urllib.request

import pytest


def fetch_title(url: str) -> str:
    with urllib.request.urlopen(url) as page:
        assert page.status == 200
        return page.read().decode().partition("<title>")[2].partition("</title>")[0]


def test_page_command_serves_web_app_at_port(tmp_path, start_app):
    pytest.importorskip("gradio")
    with start_app(tmp_path, "-m", "vendiscore", "page", "--port", "{port}") as page:
        assert "diverse" in fetch_title(page.url)
        assert page.url in (tmp_path / "log.txt").read_text(encoding="utf-8")


def test_port_out_of_range_is_rejected(tmp_path, start_app):
    pytest.importorskip("gradio")
    with (
        pytest.raises(
            AssertionError, match="error: port 65536 is not available; pass another --port"
        ),
        start_app(tmp_path, "-m", "vendiscore", "page", "--port", "65536"),
    ):
        pass


def test_port_in_use_is_rejected(tmp_path, start_app):
    pytest.importorskip("gradio")
    with socket.socket() as used_socket:
        used_socket.bind(("127.0.0.1", 0))
        used_socket.listen()
        port = used_socket.getsockname()[1]
        with (
            pytest.raises(
                AssertionError, match=f"error: port {port} is not available; pass another"
            ),
            start_app(tmp_path, "-m", "vendiscore", "page", "--port", str(port)),
        ):
            pass
