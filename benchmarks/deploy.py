"""Installs and starts the Space as its host does: requirements first, then the checkout.

python benchmarks/deploy.py --gradio 6.31.0 --python python3.12 --minilm MODEL_DIR

In a fresh environment and from an empty folder, `pip install -r requirements.txt gradio==…`; then
the files that git tracks are copied in and `python app.py` is started, several times. Prints how
long it takes until the page is served, and how much memory the idle server holds. The folder of
MiniLM goes where a Space finds it preloaded; the last server scores twelve texts by it, and the
number must be the package's own here.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psutil

from vendiscore.result import key_at
from vendiscore.scoring.compute import compute
from vendiscore_page.answers import offered_encoders
from vendiscore_page.inputs import examples

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "helpers"))
import hub_cache  # noqa: E402
import visitor  # noqa: E402

MINILM = offered_encoders.ALLOWED["texts"]["MiniLM"]
TEXTS = examples.find_example("A model in a rut").text.splitlines()


def run(*command: str | Path, cwd: Path) -> str:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def nothing(url: str) -> dict[str, Any]:
    return {}


def start(
    python: Path, checkout: Path, then: Callable[[str], dict[str, Any]] = nothing
) -> tuple[float, float, dict[str, Any]]:
    """Return seconds until the page is served, megabytes 10 s later, and the result of `then`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {"PATH": os.environ["PATH"], "GRADIO_SERVER_PORT": str(port)}
    environment |= {"HOME": str(checkout), "HF_HUB_OFFLINE": "1"}
    begin = time.perf_counter()
    process = subprocess.Popen(
        [python, "app.py"], cwd=checkout, env=environment, stdout=subprocess.DEVNULL
    )
    try:
        while True:
            if process.poll() is not None:
                raise RuntimeError("the server ended before it served")
            try:
                page = urllib.request.urlopen(f"http://127.0.0.1:{port}").read()
                break
            except OSError:
                time.sleep(0.05)
        seconds = time.perf_counter() - begin
        if b"effectively different" not in page:
            raise RuntimeError("this is another page")
        time.sleep(10)
        server = psutil.Process(process.pid)
        idle = server.memory_info().rss / 1e6
        found = then(f"http://127.0.0.1:{port}")
        if found:
            found["megabytes"] = round(server.memory_info().rss / 1e6, 1)
        return seconds, idle, found
    finally:
        process.terminate()
        process.wait()


def encode(url: str) -> dict[str, Any]:
    """Score twelve texts by the sentence encoder, first with one order, then with another."""
    seconds, scores, box = [], [], "\n".join(TEXTS)
    with httpx.Client(base_url=url, timeout=300) as http:
        for q in (1, 2):
            begin = time.perf_counter()
            answer = visitor.show(http, "MiniLM", box, settings={"q": q})
            scores.append(answer[key_at(q)])
            seconds.append(round(time.perf_counter() - begin, 2))
    return {"VS": scores[0], "VS_q2": scores[1], "first_seconds": seconds[0], "again": seconds[1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gradio", required=True, help="the README's sdk_version")
    parser.add_argument("--python", default="python3.12")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--minilm", type=Path, help="the folder of all-MiniLM-L6-v2")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        empty, checkout, environment = (Path(folder) / name for name in ("empty", "app", "venv"))
        empty.mkdir()
        run(options.python, "-m", "venv", environment, cwd=empty)
        shutil.copy(ROOT / "requirements.txt", Path(folder) / "requirements.txt")
        python = environment / "bin" / "python"
        begin = time.perf_counter()
        requirements = Path(folder) / "requirements.txt"
        pip = (python, "-m", "pip", "install", "-q", "--no-cache-dir")
        run(*pip, "-r", requirements, f"gradio=={options.gradio}", cwd=empty)
        installing = time.perf_counter() - begin
        for name in run("git", "ls-files", cwd=ROOT).splitlines():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, checkout / name, follow_symlinks=False)
        if options.minilm:
            home = checkout / ".cache" / "huggingface"
            hub_cache.put(MINILM["model_path"], options.minilm, home)
        starts = [start(python, checkout) for _ in range(options.repeats)]
        *_, encoded = start(python, checkout, encode) if options.minilm else ({},)
        version = run(python, "--version", cwd=empty).strip()
        installed = len(run(python, "-m", "pip", "list", "--format=freeze", cwd=empty).splitlines())
    if encoded:
        right = compute(TEXTS, **MINILM | {"model_path": str(options.minilm)})["VS"]
        if abs(encoded["VS"] - right) > 1e-6 * right:
            raise RuntimeError(f"the Space says {encoded['VS']}, the package {right}")
    seconds, memory, _ = zip(*starts, strict=True)
    result = {
        "python": version,
        "gradio": options.gradio,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "packages": installed,
        "install_seconds": round(installing, 1),
        "first_start_seconds": round(seconds[0], 2),
        "start_seconds_median": round(statistics.median(seconds), 2),
        "start_seconds": [round(value, 2) for value in seconds],
        "idle_megabytes_median": round(statistics.median(memory), 1),
        "encoder": encoded,
    }
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
