"""Run the web app in a process of its own, on a free port."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class PageProcess(NamedTuple):
    url: str
    folder: Path
    mapped: str  # memory map of the process when the server was ready, on Linux

    @property
    def leftover_files(self) -> set[str]:
        """Files that the server left in its folder, except its log and a module of torch."""
        names = {path.name for path in self.folder.rglob("*") if path.is_file()} - {"log.txt"}
        return {name for name in names if not name.startswith("_remote_module_non_scriptable.")}


@contextlib.contextmanager
def running_app(
    folder: Path, *command: str, home: str = "", space: Path = ROOT
) -> Iterator[PageProcess]:
    """Start the web app by `python app.py`, or by another Python command, on a free port.

    "{port}" in the command is replaced by the port; otherwise GRADIO_SERVER_PORT sets it. The
    web app writes into `folder`. `home` is the Hub cache with encoders; without them, torch is not
    needed. `space` is the folder of the files of the Space.
    """
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        port = free_socket.getsockname()[1]
    environment = os.environ | {
        "TMPDIR": str(folder),
        "HF_HOME": home or f"{os.environ['HF_HOME']}/empty",
    }
    if "{port}" not in command:
        environment["GRADIO_SERVER_PORT"] = str(port)
    url = f"http://127.0.0.1:{port}"
    log = folder / "log.txt"
    start = time.perf_counter()
    with log.open("wb") as out:
        process = subprocess.Popen(
            [
                sys.executable,
                *(argument.replace("{port}", str(port)) for argument in command or ("app.py",)),
            ],
            cwd=space,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        while True:
            assert process.poll() is None, log.read_text()
            assert time.perf_counter() - start < 300, log.read_text()
            with contextlib.suppress(OSError), urllib.request.urlopen(url) as page:
                assert page.status == 200
                break
            time.sleep(0.1)
        # The server sends the page before it has imported what other requests need.
        urllib.request.urlopen(f"{url}/openapi.json", timeout=300).close()
        maps = Path(f"/proc/{process.pid}/maps")
        yield PageProcess(url, folder, maps.read_text() if maps.exists() else "")
    finally:
        process.terminate()
        process.wait(timeout=20)


def load_encoder(app: PageProcess) -> None:
    """Score two texts by meaning, so that no test waits while a worker imports the encoder.

    On a busy machine, the import takes longer than the time limits of the tests in a browser.
    """
    body = json.dumps({"texts": ["a", "b"], "kernel": "MiniLM"}).encode()
    request = urllib.request.Request(f"{app.url}/api/vendi_score_texts", data=body)
    with urllib.request.urlopen(request, timeout=300) as response:
        assert response.status == 200
