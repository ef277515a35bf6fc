"""The bytes that a visitor's browser gets, and axe's findings on the page.

python benchmarks/page.py --json benchmarks/results/page.json

Starts `python app.py` and opens it in Chromium. Bytes are those that came through the network,
compressed and with their headers. The times from a click to the result, and to the first number
over a slow network, are printed, but kept nowhere: they depend on this machine.

With HF_HOME at a cache that `tests/helpers/hub_cache.py` filled, and HF_HUB_OFFLINE=1, the
encoders of the page take part.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import csv
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from load import wait_for
from pairs import environment
from playwright.sync_api import Browser, Page, sync_playwright

from vendiscore.scoring.compute import compute

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "helpers"))
sys.path.append(str(ROOT / "tests" / "browser"))
import axe  # noqa: E402

from conftest import CHROMIUM, SWITCHES  # noqa: E402

QUESTIONS = ROOT.parent / "shared" / "data" / "trec_questions.tsv"
TABS = ("texts", "images", "molecules", "vectors", "compare")
SIZES = {"desk": (1280, 720), "phone": (390, 844)}
_DONE = "#result .r-bar >> visible=true"
# A slow line to a phone: 1.6 Mbit/s down, and 150 ms to each answer (the profile "slow 4G" of
# Lighthouse).
_SLOW = {"latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 93_750}
_FIRST = """() => new Promise((seen) => {
  const look = () => document.querySelector("#example .r-sides b, #example table")
    ? requestAnimationFrame(() => seen(performance.now())) : setTimeout(look, 5);
  look();
})"""


@contextlib.contextmanager
def opened() -> Iterator[tuple[Browser, str]]:
    """Yield a browser, and the address of the page, which is started for it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "app.py"],
            cwd=ROOT,
            env=os.environ | {"GRADIO_SERVER_PORT": str(port), "GRADIO_TEMP_DIR": folder},
            stdout=subprocess.DEVNULL,
        )
        try:
            wait_for(url)
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=CHROMIUM, args=SWITCHES.split(" "))
                yield browser, url
                browser.close()
        finally:
            server.terminate()
            server.wait()


def visited(browser: Browser, url: str, width: int = 1280, height: int = 720, **how: Any) -> Page:
    page = browser.new_context(viewport={"width": width, "height": height}, **how).new_page()
    page.set_default_timeout(120_000)
    page.goto(url)
    page.locator("#kernels input").first.wait_for()
    return page


class Traffic:
    """The bytes that came through the network, by address."""

    def __init__(self, page: Page) -> None:
        self.names: dict[str, str] = {}
        self.came: collections.Counter[str] = collections.Counter()
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.on("Network.responseReceived", self._began)
        network.on("Network.dataReceived", self._more)
        network.on("Network.loadingFinished", self._ended)

    def _began(self, event: dict[str, Any]) -> None:
        self.names[event["requestId"]] = event["response"]["url"]
        self.came[event["requestId"]] += event["response"]["encodedDataLength"]

    def _more(self, event: dict[str, Any]) -> None:
        self.came[event["requestId"]] += event["encodedDataLength"]

    def _ended(self, event: dict[str, Any]) -> None:
        # Requests that are left once their last line is there have no end.
        length = int(event["encodedDataLength"])
        self.came[event["requestId"]] = max(self.came[event["requestId"]], length)

    @property
    def bytes(self) -> collections.Counter[str]:
        found: collections.Counter[str] = collections.Counter()
        for request, url in self.names.items():
            found[url] += self.came[request]
        return found

    def of(self, ending: str) -> int:
        return int(sum(n for url, n in self.bytes.items() if url.endswith(ending)))


def texts(n: int = 1_000) -> list[str]:
    """Return questions of TREC where they are at hand, or else sentences of random words."""
    rng = np.random.default_rng(0)
    if QUESTIONS.exists():
        with QUESTIONS.open(encoding="utf-8") as file:
            every = [row["question"] for row in csv.DictReader(file, delimiter="\t")]
        return [every[i] for i in sorted(rng.choice(len(every), n, replace=False))]
    words = np.array(["".join(rng.choice(list("aeiourstln"), 5)) for _ in range(3_000)])
    return [" ".join(rng.choice(words, rng.integers(6, 14))) for _ in range(n)]


def weights(browser: Browser, url: str) -> dict[str, int]:
    """Return bytes of the first visit, of a score of 1,000 texts, and of moving its slider."""
    page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
    page.set_default_timeout(120_000)
    traffic = Traffic(page)
    page.goto(url, wait_until="networkidle")
    first = {"first_document_bytes": traffic.of(f"{url}/")}
    first["first_visit_bytes"] = sum(traffic.bytes.values())
    first["first_visit_files"] = len(traffic.bytes)
    samples = texts()
    page.locator("#box").fill("\n".join(samples))
    page.get_by_role("radio", name="share words").check()
    page.locator("#read", has_text="1,000 lines").wait_for()
    start = time.perf_counter()
    page.locator("#score").click()
    page.locator(_DONE).wait_for()
    print(f"1,000 texts from click to result: {time.perf_counter() - start:.2f} s")
    right = f"{compute(samples, k='ngram_overlap')['VS']:,.1f}"
    assert right in page.locator("#result .r-number").inner_text(), right
    page.wait_for_load_state("networkidle")
    with page.expect_response(lambda response: response.url.endswith("/page/groups")):
        page.get_by_role("slider", name="alike from").press("Home")  # most samples are in groups
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)  # until the end of the last answer is counted
    return {
        **first,
        "read_1000_texts_bytes": traffic.of("/page/read"),
        "score_1000_texts_bytes": traffic.of("/page/score"),
        "move_threshold_bytes": traffic.of("/page/groups"),
    }


def first_numbers(browser: Browser, url: str, times: int = 5) -> list[float]:
    """Return the seconds from the address to the first number of visits over a slow network."""
    found = []
    for _ in range(times):
        page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.send("Network.emulateNetworkConditions", {"offline": False, **_SLOW})
        page.goto(url, wait_until="commit")
        found.append(page.evaluate(_FIRST) / 1000)
        page.context.close()
    return found


def accessibility(browser: Browser, url: str) -> dict[str, Any]:
    """Count axe's findings by impact: on all tabs, empty and full, in both colours and sizes."""
    found: collections.Counter[str] = collections.Counter()
    looked = 0
    for size in SIZES.values():
        for colour in ("light", "dark"):
            page = visited(browser, url, *size, color_scheme=colour, reduced_motion="reduce")
            for tab in TABS:
                page.locator(f"#tab-{tab}").click()
                found.update(impact for impact, *_ in axe.findings(page))
                example(page)
                found.update(impact for impact, *_ in axe.findings(page))
                looked += 2
            page.context.close()
    return {"axe_pages": looked, "axe_findings": dict(found)}


def example(page: Page, at: int = 0) -> None:
    """Score an example of the tab, and open all that can be opened."""
    page.locator("#examples button:visible, #sets-examples button:visible").nth(at).click()
    page.locator(_DONE).wait_for()
    page.locator("details").evaluate_all("all => all.forEach((each) => (each.open = true))")
    page.wait_for_load_state("networkidle")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with opened() as (browser, url):
        waits = ", ".join(f"{wait:.2f}" for wait in sorted(first_numbers(browser, url)))
        print(f"to the first number at 1.6 Mbit/s and 150 ms: {waits} s")
        result = {
            **weights(browser, url),
            **accessibility(browser, url),
            "texts": QUESTIONS.stem if QUESTIONS.exists() else "made",
            "browser": browser.version,
            "environment": environment("gradio", "playwright", "axe-playwright-python"),
        }
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
