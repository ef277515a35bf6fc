"""Examples of the API documentation run against the server."""

import json
import re
import shutil
import socket
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import page_client
import pytest

pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

from vendiscore import compute  # noqa: E402
from vendiscore_page.serving import server as app_server  # noqa: E402
from vendiscore_page.serving.tools import INSTRUCTIONS  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs" / "tasks" / "page_api.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```text\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
(COMMANDS,) = (block for block in BLOCKS if "GRADIO_" in block)
(SETTINGS,) = (block for block in BLOCKS if "mcpServers" in block)


@pytest.fixture(params=["server", "gradio_server"])
def insert_url(request):
    """A function that inserts the URL of a server without or with gradio into an example."""
    url = request.getfixturevalue(request.param).url
    return lambda text: text.replace("http://127.0.0.1:7860", url)


def read_example(name: str) -> str:
    assert f"{{literalinclude}} ../../examples/page_api/{name}\n" in TEXT
    return (ROOT / "examples" / "page_api" / name).read_text(encoding="utf-8")


def test_python_call_example_prints_score(insert_url, capsys):
    exec(insert_url(read_example("call.py")), {})
    value, _, sentence = capsys.readouterr().out.partition(" ")
    assert float(value) == pytest.approx(compute(["a cat sat", "a dog ran"], q=2)["VS_q2"])
    assert sentence.strip().endswith(".")


def test_compute_example_prints_values_of_library(insert_url, capsys):
    exec(insert_url(read_example("compute.py")), {})
    kernel_values, magnitude_values = map(literal_eval, capsys.readouterr().out.splitlines())
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]
    expected = compute(rows, k="rbf", sigma=0.5, q=2, measures=["VS", "IntDiv"])
    assert kernel_values == pytest.approx(expected, rel=1e-12)
    measures = {"Magnitude": {"t": [0.5, 1.0]}, "MagArea": {}, "t_conv": {}}
    assert magnitude_values == pytest.approx(compute(rows, measures=measures), rel=1e-12)


def test_compare_example_prints_scores_within_prompts(insert_url, capsys):
    exec(insert_url(read_example("compare.py")), {})
    lively, dull, verdict = capsys.readouterr().out.splitlines()
    texts = [[f"a {pet} {did}" for did in ("sat", "ran", "hid", "ate")] for pet in ("cat", "dog")]
    assert dull == "dull     1.00 of 4, mean of 2 prompts"
    assert lively == f"lively   {compute(texts)['VS']:.2f} of 4, mean of 2 prompts"
    assert verdict


def test_mcp_tool_example_prints_score(insert_url):
    pytest.importorskip("mcp")
    script = insert_url(read_example("tools.py"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    instructions, value = done.stdout.strip().rsplit("\n", 1)
    assert instructions == f"vendiscore {INSTRUCTIONS}"
    assert float(value) == pytest.approx(compute(["a cat sat", "a dog ran"], q="inf")["VS_qinf"])


def run_shell(script: str) -> str:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    command = ["bash", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_shell_call_example_returns_result(insert_url):
    assert json.loads(run_shell(insert_url(read_example("call.sh"))))["n"] == 2


def test_examples_of_gradio_return_results(gradio_server, capsys):
    python, shell = (
        read_example(f"call_gradio.{suffix}").replace("http://127.0.0.1:7860", gradio_server.url)
        for suffix in ("py", "sh")
    )
    exec(python, {})
    value, _, sentence = capsys.readouterr().out.partition(" ")
    assert float(value) == pytest.approx(compute(["a cat sat", "a dog ran"], q=2)["VS_q2"])
    assert sentence.strip().endswith(".")
    name, data = page_client.parse_events(run_shell(shell))[-1]
    assert name == "complete"
    assert json.loads(data)[0]["n"] == 2


def test_server_without_gradio_names_the_flag_in_one_line(server):
    for path in ("/config", "/gradio_api/info"):
        answer = httpx.get(f"{server.url}{path}")
        assert answer.status_code == 404
        assert "`vendiscore page --gradio`" in answer.text
        assert "\n" not in answer.text
    answer = httpx.post(f"{server.url}/gradio_api/call/v2/vendi_score_texts", json={})
    assert "`vendiscore page --gradio`" in answer.text


def test_documented_mcp_url_lists_documented_tools(insert_url):
    pytest.importorskip("mcp")
    url = json.loads(insert_url(SETTINGS))["mcpServers"]["vendiscore"]["url"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    with httpx.Client(timeout=60) as http:
        answer = http.post(url, json=body, headers=page_client.MCP_HEADERS)
    tools = json.loads(page_client.parse_events(answer.text)[0][1])["result"]["tools"]
    assert all(f"`{tool['name']}`" in TEXT for tool in tools)


def test_documented_environment_variables_set_host_and_port(monkeypatch):
    names = set(re.findall(r"\b(GRADIO_\w+)=", COMMANDS))
    assert names == {"GRADIO_SERVER_PORT", "GRADIO_SERVER_NAME"}
    with socket.socket() as used_socket:
        used_socket.bind(("127.0.0.1", 0))
        used_socket.listen()
        used_port = used_socket.getsockname()[1]
        monkeypatch.setenv("GRADIO_SERVER_PORT", str(used_port))
        monkeypatch.setenv("GRADIO_SERVER_NAME", "127.0.0.1")
        with app_server.open_socket() as opened:
            host, port = opened.getsockname()
    assert host == "127.0.0.1"
    assert used_port < port < used_port + 100  # the first free port from this one
