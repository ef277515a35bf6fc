"""The command as a process: pipes, signals, encodings, closed streams, imported packages."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import vendiscore
from vendiscore.cli import main
from vendiscore.support import progress

ROOT = Path(__file__).resolve().parents[3]
TEXTS = [f"Jane saw {i} of Spot's {i % 7} naïve runs." for i in range(300)]
COMMAND = (sys.executable, "-m", "vendiscore")


def environment(**variables: str) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return os.environ | {"PYTHONPATH": path, "PYTHONWARNINGS": "error"} | variables


@pytest.fixture
def texts(save):
    return save("x.txt", "\n".join(TEXTS) + "\n")


def test_piped_input_matches_compute(texts):
    with open(texts, "rb") as file:
        process = subprocess.run(
            [*COMMAND, "-", "-b", "--quiet"],
            stdin=file,
            capture_output=True,
            env=environment(),
            check=False,
        )
    assert (process.returncode, process.stderr) == (0, b"")
    expected = vendiscore.compute(TEXTS)["VS"]
    assert float(process.stdout) == pytest.approx(expected, rel=1e-13)  # by other threads


def test_output_is_utf8_in_ascii_locale(texts):
    ascii_environment = environment(LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    process = subprocess.run(
        [*COMMAND, "select", texts, "-n", "1"],
        capture_output=True,
        env=ascii_environment,
        check=True,
    )
    assert "naïve" in process.stdout.decode("utf-8")
    subprocess.run([*COMMAND, "--help"], capture_output=True, env=ascii_environment, check=True)


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals of POSIX")
def test_closed_output_pipe_exits_quietly_with_141(texts):
    command = [*COMMAND, "kernels"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None
    process.stdout.close()
    stderr = process.stderr.read() if process.stderr else b""
    if process.stderr:
        process.stderr.close()
    assert (process.wait(timeout=60), stderr) == (141, b"")


CLOSED_STREAMS = {
    ("x.txt", "1"): (1, "vendiscore: error: cannot print results: standard output is closed"),
    ("x.txt", "2"): (0, ""),
    ("none.txt", "1 2"): (1, ""),
    ("-", "0"): (
        1,
        "vendiscore: error: standard input: it is closed; pass a file, or pipe data to the command",
    ),
}


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals of POSIX")
@pytest.mark.parametrize(("command", "closed"), CLOSED_STREAMS)
def test_closed_stream_sets_exit_code_without_traceback(texts, command, closed):
    code = (
        "import os, runpy\n"
        f"for each in {closed!r}.split(): os.close(int(each))\n"
        f"os.execv({sys.executable!r}, {[*COMMAND, *command.split()]!r})"
    )
    process = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=Path(texts).parent,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    expected, message = CLOSED_STREAMS[command, closed]
    assert process.returncode == expected
    assert process.stderr.startswith(message)
    assert "Traceback" not in process.stderr
    assert ("VS = " in process.stdout) == (expected == 0)


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals of POSIX")
def test_interrupt_while_reading_exits_quietly_with_130():
    code = (
        "import os, signal, sys, threading\n"
        # In the background of a shell that has no jobs interrupts are ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from vendiscore.cli import main\n"
        "end = lambda: os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Timer(1, end).start()\n"
        "sys.exit(main(['-']))  # waits for input\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stderr is not None
    assert process.stdin is not None
    stderr = process.stderr.read()
    process.stdin.close()
    process.stderr.close()
    assert (process.wait(timeout=60), stderr) == (130, b"")


def test_scoring_few_texts_imports_no_heavy_packages(tmp_path):
    path = tmp_path / "few.txt"
    path.write_text("\n".join(TEXTS[:40]), encoding="utf-8")
    code = (
        f"import sys; sys.argv = ['vendiscore', {str(path)!r}, '-b']\n"
        "from vendiscore.cli import main\n"
        "assert main() == 0\n"
        "print(*sys.modules)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment(PYTHONWARNINGS="ignore"),
        check=True,
    )
    number, loaded = process.stdout.splitlines()
    assert float(number) == pytest.approx(vendiscore.compute(TEXTS[:40])["VS"], rel=1e-13)
    heavy = {"evaluate", "datasets", "torch", "pandas", "pyarrow", "sklearn", "nltk"}
    scipy_modules = ("sparse", "stats", "optimize", "spatial", "special", "fft", "linalg")
    assert not {*heavy, *(f"scipy.{module}" for module in scipy_modules)} & set(loaded.split())


def test_interrupt_while_scoring_exits_with_130(monkeypatch, texts, capsys):
    from vendiscore.tools.cli import command_score

    def interrupted(args):
        raise KeyboardInterrupt

    monkeypatch.setattr(command_score, "run_score", interrupted)
    assert main([texts]) == 130
    assert capsys.readouterr() == ("", "")


def test_progress_bars_are_printed_only_on_terminals(texts, save, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_DELAY", 0)
    other_texts = save("y.txt", "\n".join(TEXTS[::2]))

    def compare_and_read_stderr() -> str:
        assert main(["compare", texts, other_texts, "--permutations", "19", "--level", "0.9"]) == 0
        return capsys.readouterr().err

    assert "comparing sets" not in compare_and_read_stderr()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert "comparing sets" in compare_and_read_stderr()


@pytest.mark.parametrize("form", ["text", "json"])
def test_interrupted_select_writes_partial_result_and_exits_with_130(
    form, texts, monkeypatch, capsys
):
    def stopped(items, total, description):
        yield from (0, 1, 2)
        raise KeyboardInterrupt

    monkeypatch.setattr("vendiscore.tools.selection.search.track", stopped)
    assert main(["select", texts, "-n", "5", *(["-f", "json"] * (form == "json"))]) == 130
    out, err = capsys.readouterr()
    assert "warning: interrupted: the result contains the first 3 of 5 samples" in err
    selected = json.loads(out)["places"] if form == "json" else out.splitlines()
    assert len(selected) == 3


def test_expected_duration_is_printed_without_terminal(texts, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_MIN_ANNOUNCED_SECONDS", 0.0)
    assert main(["select", texts, "-n", "3"]) == 0
    assert capsys.readouterr().err.count("Selecting 3 of 300 samples: about ") == 1
    assert main(["select", texts, "-n", "3", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_quiet_context_suppresses_progress_announcements(capsys):
    with progress.quiet():
        progress.announce("nobody hears")
    with progress.quiet(False):
        progress.announce("somebody hears")
    assert capsys.readouterr().err == "somebody hears\n"
