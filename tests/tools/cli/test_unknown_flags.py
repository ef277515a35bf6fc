"""Suggestions for unknown flags are valid, and accept the value that was passed."""

import re
import shlex

import numpy as np
import pytest

from vendiscore.measures.measure import get_measure
from vendiscore.resolve.kernel import check_kernel_options, list_kernels, parse_kernel_name
from vendiscore.scoring.compute import compute
from vendiscore.support.suggestions import describe_parameters, replacement_hint
from vendiscore.support.synonyms import ELSEWHERE
from vendiscore.tools.cli.command_options import parse_option_flags
from vendiscore.tools.cli.parser import COMMANDS, build_parser
from vendiscore.tools.cli.unknown_flags import _PYTHON_CODE, LETTERS, find_unknown_flag

TEXTS = "A dog runs.\nA cat sleeps.\nTwo men play chess.\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text(TEXTS, encoding="utf-8")
    (tmp_path / "b.csv").write_text("prompt,model,answer\nx,m,a b\nx,n,c d\n", encoding="utf-8")
    (tmp_path / "m.smi").write_text("CCO\nCCN\n", encoding="utf-8")
    np.save(tmp_path / "X.npy", np.eye(3))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a.txt --output_path r.json", "add `> FILE` to the end"),
        ("report a.txt --output-dir out", "add `> FILE` to the end"),
        ("a.txt --max-count 3", "`head -n 100 FILE | vendiscore -`"),
        ("a.txt --num_samples 3", "`head -n 100 FILE | vendiscore -`"),
        ("a.txt --ngrams 1-3", "Did you mean -o ns=1,2,3 ("),
        ("a.txt --ngram_size 2", "Did you mean -o ns=2 ("),
        ("a.txt --normalize", "Did you mean -o normalize=true?"),
        ("X.npy --sigma 0.5", "Did you mean -k rbf:sigma=0.5?"),
        ("a.txt --metric cosine", "'cosine' is a kernel for vectors, which a.txt does not contain"),
        ("X.npy --metric cosine", "Did you mean --kernel? (how"),
        ("a.txt --similarity jaccard", "Did you mean --kernel word_overlap?"),
        ("m.smi --fp-type ecfp", "Did you mean --kernel morgan?"),
        ("a.txt --model minilm", "Did you mean --kernel? Its value 'minilm' is not accepted"),
        ("b.csv --model model", "Did you mean --by? (column"),
        ("a.txt --alpha inf", "Did you mean --order?"),
        ("a.txt --confidence 0.9", "Did you mean -o ci=0.9?"),
        ("a.txt --confidence-n 500", "Intervals do not use the bootstrap"),
        ("a.txt --batch_size 8", "-k text_embeddings:device=cpu:batch_size=8"),
        ("b.csv -c answer", "Did you mean --column?"),
        ("b.csv -g prompt", "Did you mean --group-by?"),
        ("b.csv -H", "Did you mean --no-header?"),
        ("b.csv -d ;", "The delimiter of csv and tsv files is detected"),
        ("dedup a.txt -t 0.8", "Did you mean --threshold?"),
        ("a.txt -lc", "Texts are compared as they are in the file"),
        ("a.txt -tok char", "-o analyzer=char"),
        ("a.txt -zz", "The short flags are -k, -q, -m, -o, -b, -f, -h"),
        ("a.txt -metrics LC", "there is no option -metrics. Did you mean --measures?"),
        ("a.txt -order 2", "there is no option -order. Did you mean --order?"),
        ("select a.txt -n 2 --strategy greedy", "must be vendi or represent, got 'greedy'"),
        ("a.txt --cosine", "`vendiscore --help` lists all"),
        ("X.npy --cosine", "'cosine' is a kernel; pass -k cosine."),
        ("a.txt --zyxw", "there is no option --zyxw. `vendiscore --help` lists all options."),
    ],
)
def test_unknown_flag_error_suggests_flag_that_accepts_value(line, expected, folder, run):
    code, _, message = run(*shlex.split(line, posix=False))
    assert code == 2
    assert expected in message
    assert not re.search(r"compute\(|df\[|to_frame", message)


def test_find_unknown_flag_returns_value_and_files(folder):
    for arguments, value, files in [
        (["a.txt", "--x", "3"], "3", ["a.txt"]),
        (["--x", "a.txt"], None, ["a.txt"]),
        (["--x", "a.txt", "b.csv"], "a.txt", ["b.csv"]),
        (["a.txt", "--x", "-b"], None, ["a.txt"]),
    ]:
        assert find_unknown_flag("--x", arguments) == ("--x", value, files)
    assert find_unknown_flag("--x=3", ["--x=3"]) == ("--x", "3", [])


SENTENCES = {
    sentence
    for kind in ("flag", "command")
    for sentence in ELSEWHERE[kind].values()
    if "in Python" not in sentence
} | {text for text in ELSEWHERE["keyword"].values() if not _PYTHON_CODE.search(text)}


@pytest.mark.parametrize("sentence", sorted(SENTENCES))
def test_flag_hints_contain_valid_options_and_no_python(sentence):
    shell = build_parser("score").replace_keywords_by_flags(sentence)
    assert not re.search(r"\w\([^ ]|\w\[|=lambda|df\[", shell.replace("sqrt(", "")), shell
    options = {name for kernel in list_kernels() for name in kernel.options}
    options |= {*describe_parameters(compute)}
    for name in re.findall(r"-o (\w+)=", shell):
        assert name in options | {"OPTION"}
    for text in re.findall(r"-k ([a-z][\w:=.]*\w)", shell):
        name, *parts = text.split(":")
        check_kernel_options(parse_kernel_name(name)[0], parse_option_flags(parts))
    for name in re.findall(r"-m (\w+)", shell):
        assert name in ("MEASURE", "novelty") or get_measure(name)
    for line in re.findall(r"`(?:[^`]*\| )?vendiscore ([^`]*)`", shell):
        words = shlex.split(line)
        command = words.pop(0) if words and words[0] in COMMANDS else "score"
        words = ["3" if word == "COUNT" else word for word in words]
        if words != ["--version"]:
            build_parser(command).parse_intermixed_args(words)


def test_single_letters_map_to_flags_or_hints():
    flags = {name for command in COMMANDS for name in build_parser(command).flags}
    for names in LETTERS.values():
        for name in names.split():
            is_sentence = replacement_hint(name, "flag") or replacement_hint(name, "keyword")
            assert name in flags or is_sentence, name


def test_import_error_within_package_is_raised(folder, monkeypatch, run):
    def fail(name, package=None):
        raise ImportError("cannot import name 'x'", name="vendiscore.support.errors")

    monkeypatch.setattr("vendiscore.tools.cli.import_module", fail)
    with pytest.raises(ImportError, match="cannot import name 'x'"):
        run("a.txt")
