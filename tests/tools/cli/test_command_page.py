"""`vendiscore page` serves the web app at a port; test_cli_commands.py tests usage errors."""

import os
import socket
import subprocess
import sys
import time
import urllib.request

import psutil
import pytest


def fetch_title(url: str) -> str:
    with urllib.request.urlopen(url) as page:
        assert page.status == 200
        return page.read().decode().partition("<title>")[2].partition("</title>")[0]


def test_page_command_serves_web_app_at_port(tmp_path, start_app):
    pytest.importorskip("uvicorn")
    with start_app(tmp_path, "-m", "vendiscore", "page", "--port", "{port}") as page:
        assert "diverse" in fetch_title(page.url)
        assert page.url in (tmp_path / "log.txt").read_text(encoding="utf-8")


def test_port_out_of_range_is_rejected(tmp_path, start_app):
    pytest.importorskip("uvicorn")
    with (
        pytest.raises(
            AssertionError, match="error: port 65536 is not available; pass another --port"
        ),
        start_app(tmp_path, "-m", "vendiscore", "page", "--port", "65536"),
    ):
        pass


def test_port_in_use_is_rejected(tmp_path, start_app):
    pytest.importorskip("uvicorn")
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


def test_page_is_sent_within_seconds_and_gradio_never_imported(tmp_path):
    pytest.importorskip("uvicorn")
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        port = free_socket.getsockname()[1]
    # A package in place of gradio, which leaves a file when it is imported.
    (tmp_path / "gradio").mkdir()
    mark = tmp_path / "imported"
    (tmp_path / "gradio" / "__init__.py").write_text(f"open({str(mark)!r}, 'w').close()")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "vendiscore", "page", "--port", str(port)]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": path}
    )
    try:
        while True:
            try:
                title = fetch_title(f"http://127.0.0.1:{port}")
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.01)
        times = psutil.Process(process.pid).cpu_times()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/openapi.json", timeout=120) as answer:
            assert answer.status == 200
    finally:
        process.terminate()
        process.wait(20)
    assert "diverse" in title
    # Of the server's own time, which other programs on this machine do not change.
    assert times.user + times.system < 1.5
    assert not mark.exists()
