"""Errors for unreadable or unusable files contain file, line or row, and column; exit code 1."""

import io
import json
import shlex

import numpy as np
import pytest

import vendiscore


def to_npy(X: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, X, allow_pickle=True)
    return out.getvalue()


def to_npz(**named: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez(out, **named)
    return out.getvalue()


NUMBERS = "a,b\n1,2\n3,4\n5,6\n"
OBJECTS = np.array([{"a": 1}, None], dtype=object)
# Name of the file: its content, further arguments of the command, and the message.
UNUSABLE_FILES = {
    "empty.txt": (b"", [], "empty.txt: no samples found"),
    "empty.csv": (b"", [], "no samples found"),
    "header.csv": (b"text,label\n", [], "no samples found"),
    "empty.jsonl": (b"\n\n", [], "no samples found"),
    "empty.json": (b"[]", [], "no samples found"),
    "none.npy": (to_npy(np.zeros((0, 3))), [], "no samples found"),
    "blank.txt": (b"\n \n", [], "blank.txt: no samples found"),
    "two.json": (
        b'["a b", "", "c d", ""]',
        [],
        "element 2 has no tokens: ''; remove empty texts (and 1",
    ),
    "nul.txt": (b"a b\nc\0d\n", [], "nul.txt, line 2, column 2: there is a NUL"),
    "latin.txt": ("a\ncafé\n".encode("latin-1"), [], "latin.txt, line 2, column 4: byte 0xe9 is"),
    "latin.csv": ("t\ncafé\n".encode("latin-1"), [], "column 4: byte 0xe9 is not utf-8; save it"),
    "marked.txt": (
        "\ufeffa\ncafé".encode() + b"\xe9",
        [],
        "marked.txt, line 2, column 5: byte 0xe9",
    ),
    "half.txt": ("a b".encode("utf-16")[:-1], [], "is not utf-16"),
    "ascii.txt": ("é".encode(), ["--encoding", "ascii"], "column 1: byte 0xc3 is not ascii"),
    "cut.txt.gz": (b"\x1f\x8b\x08\0", [], "the file is truncated or damaged"),
    "pointer.npy": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
        [],
        "this is a Git LFS pointer instead of the file, which is not read: download the file with "
        "`git lfs pull`",
    ),
    "song.dat": (b"MThd\0\0\0\x06", [], "this is a MIDI, audio or video file"),
    "unknown.bin": (b"\0\1\2\xff", [], "its type is not known, and it is not text"),
    "x.pkl": (b"", [], "Files of type .pkl are not read: unpickling runs what is in it"),
    "x.xlsx": (b"", [], "save the sheet as “CSV UTF-8”"),
    "c.csv": (
        b"text,n\na b,1\nc d,2\n",
        ["--column", "txt"],
        "no column 'txt'. Did you mean 'text'?",
    ),
    "g.csv": (b"text,n\na b,1\nc d,\n", ["--group-by", "n"], "g.csv, row 3, column 'n' is empty"),
    "e.csv": (b"text,n\na b,1\n,2\n", [], "e.csv, row 3, column 'text' has no tokens"),
    "none.jsonl": (b"{}\n", [], "none.jsonl, line 1: it is an empty object"),
    "by.csv": (
        b"g\na b\nc\n",
        ["--group-by", "g"],
        "by.csv: all its columns are selected for other roles, so it has no column of samples",
    ),
    "alone.csv": (b'text\na b\n\n""\nc d\n', [], "alone.csv, row 4, column 'text' has no tokens"),
    "alone.tsv": (b'x\n1.0\n""\n2.5\n', [], "alone.tsv, row 3, column 'x' has an empty cell"),
    "r.csv": (b"text,n\na b,1\nc, d,2\ne f,3\n", [], "r.csv, row 3 has 3 cells, split by commas"),
    "q.csv": (b'text,n\n"a b,1\nc d,2\n', [], "is not valid CSV"),
    "n.csv": (b"a,b\n1,2\n3,x\n5,6\n7,8\n", [], "n.csv, row 3, column 'b' has 'x', which is not a"),
    "i.csv": (b"a,b\n1,2\n3,inf\n5,6\n", [], "i.csv, row 3, column 'b' has inf"),
    "h.csv": (b"a,b\n1,2\n3,\n5,6\n7,8\n", [], "h.csv, row 3, column 'b' has an empty cell"),
    "j.jsonl": (b'"a b"\n{"x": \n', [], "j.jsonl, line 2 is not valid JSON at column 7"),
    "t.jsonl": (b'{"t": "a b"}\n{"t": 3}\n', [], "t.jsonl, line 2, column 't' is int 3, not text"),
    "m.jsonl": (b'{"t": "a b"}\n{"u": "c"}\n', ["--column", "t"], "line 2, column 't' is missing"),
    "o.jsonl": (
        b'{"t": "a b"}\n[1]\n',
        [],
        "o.jsonl, line 2 is list [1], where the first is an object",
    ),
    "v.jsonl": (b"[1, 2]\n[3]\n", [], "v.jsonl, line 2 has 1 numbers, the first 2"),
    "s.jsonl": (
        b'[1, 2]\n"a"\n',
        [],
        "s.jsonl, line 2 is str 'a', where the first is a row of numbers",
    ),
    "deep.json": (
        b"[" * 100_000,
        [],
        "deep.json: This JSON cannot be read: it is nested too",
    ),
    "large.jsonl": (
        b"[1, 2]\n[3, 9007199254740993]\n",
        [],
        "large.jsonl, line 2 has the integer 9007199254740993, which float64 cannot",
    ),
    "huge.json": (b"[[1], [1%s]]" % (b"0" * 400), [], "huge.json, element 2 has the integer 1000"),
    "huge_quality.jsonl": (
        b'{"t": "a", "n": 1%s}\n{"t": "b", "n": 1}\n' % (b"0" * 400),
        ["-k", "rbf", "--column", "n"],
        "line 1, column 'n' has the integer 1000",
    ),
    "j.json": (b'["a",\n "b"\n', [], "j.json, line 3, column 1: Expecting"),
    "d.json": (
        b'{"a": 1}',
        [],
        "of rows of numbers, got an object with a; save the list",
    ),
    "o.npy": (
        to_npy(OBJECTS),
        [],
        "o.npy: The array holds Python objects, which are never",
    ),
    "p.npz": (to_npz(a=OBJECTS), [], "The array holds Python objects, which are never unpickled"),
    "x.npy": (b"\x93NUMPY", [], "This is not a .npy array (its header cannot be read)"),
    "t.npy": (b"a b\n", [], "This is not a .npy array"),
    "l.npy": (
        to_npy(np.zeros(3)),
        [],
        "Expected rows of numbers (n, d) or images (n, H, W), got shape (3,)",
    ),
    "one.npy": (
        to_npy(np.eye(2)),
        ["--column", "a"],
        "one.npy: it is a single array, which has no",
    ),
    "c.npy": (
        to_npy(np.zeros((3, 2), complex)),
        [],
        "Expected an array of real numbers, got complex128 values",
    ),
    "f.npy": (to_npy(np.array([[1.0], [np.nan]])), [], "f.npy, row 2 must be finite, got nan"),
    "y.npz": (
        to_npz(train=np.eye(2)),
        ["--column", "trian"],
        "no array 'trian'. Did you mean 'train'?",
    ),
    "x.parquet": (b"PAR1", [], "This parquet file cannot be read; it may be damaged"),
    "b.txt": (b"a b\n", ["--column", "text"], "read as lines of text, which have no columns"),
    "k.csv": (
        b"text,n\na b,1\n",
        ["--split", "blank"],
        "k.csv: --split is for lines of text, and this is read as csv",
    ),
    "u.txt": (b"a b\nc d\n", ["-k", "rbf"], "no column of numbers"),
    "a.smi": (
        b"CCO\nCCN\nCCC\n",
        ["-k", "tanimoto"],
        "There are no numbers in column 'CCO'. For texts or molecules, choose a kernel",
    ),
}


@pytest.mark.parametrize("name", UNUSABLE_FILES)
def test_unusable_files_are_rejected(run, save, name):
    data, options, message = UNUSABLE_FILES[name]
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    code, out, err = run(save(name, data), *options, "--quiet")
    assert (code, out) == (1, "")
    assert message in err
    assert name in err
    assert err.startswith("vendiscore: error: ")
    assert err.count("\n") == 1


MATRIX = b"1,0.5\n0.5,1\n"
LABELLED = b"answer,style\na b,old\nc d,new\ne f,old\ng h,new\n"
# Name of the file: its content, the question, and the options that resolve the ambiguity.
AMBIGUOUS_FILES = {
    "w.csv": (
        b"a b,c d e\nf g,h i j\n",
        "Which column holds the samples? Columns a b, c d e could be meant.",
        ["--column 'a b'", "--column 'c d e'"],
    ),
    "z.npz": (
        to_npz(a=np.eye(2), b=np.eye(2)),
        "a, b",
        ["--column a", "--column b"],
    ),
    "K.csv": (MATRIX, "is it a matrix of similarities", ["--matrix", "-k cosine"]),
    "styles.csv": (
        LABELLED,
        "Is each value of column 'style' a set of its own (old, new)?",
        ["--by style", "--group-by style", "--pool"],
    ),
    "index.csv": (
        b"0,1.5,0.5\n1,0.5,1\n2,3,4\n",
        "does it number the rows?",
        ["--index", "--no-index"],
    ),
    "commas.csv": (
        b"Well, yes.\nno\nI think, maybe, so.\n",
        "Put cells that hold such signs in quotes",
        ["--type txt"],
    ),
    "ids.jsonl": (
        b'{"id": "a b", "meta": {"note": "c d"}}\n{"id": "e f", "meta": {"note": "g h"}}\n',
        "Which column holds the samples? No column is clearly meant.",
        ["--column meta.note", "--column id"],
    ),
}


@pytest.mark.parametrize("name", AMBIGUOUS_FILES)
def test_ambiguous_files_raise_error_with_runnable_commands(run, save, name):
    data, question, answers = AMBIGUOUS_FILES[name]
    path = save(name, data)
    code, out, err = run(path, "-b")
    assert (code, out) == (2, "")
    message, *lines = err.splitlines()
    assert message.startswith(f"vendiscore: error: {path}: ")
    assert question in message
    assert message.endswith(" Type one of:")
    assert lines == [f"  vendiscore {path} -b {answer}" for answer in answers]
    for line in lines:
        assert run(*shlex.split(line)[1:])[0] == 0, line


@pytest.mark.parametrize(
    ("command", "answers"),
    [
        (["compare"], ["--by style"]),
        (["sources"], ["--by style"]),
        (["explain"], ["--pool"]),
        (["select", "-n", "1"], ["--pool"]),
    ],
    ids=lambda value: value[0],
)
def test_suggested_options_belong_to_command(run, save, command, answers):
    path = save("styles.csv", LABELLED)
    arguments = ["vendiscore", *command, path]
    code, out, err = run(*arguments[1:])
    assert (code, out) == (2, "")
    assert err.splitlines()[1:] == [f"  {' '.join([*arguments, answer])}" for answer in answers]


def test_compare_of_ambiguous_files_suggests_pool(run, save):
    paths = [save(name, LABELLED) for name in ("a.csv", "b.csv")]
    err = run("compare", *paths)[2]
    assert err.splitlines()[1:] == [f"  vendiscore compare {' '.join(paths)} --pool"]
    assert run("compare", *paths, "--pool", "--permutations", "99")[0] == 0


def test_missing_file_error_suggests_similar_name(run, save):
    path = save("answers.txt", "a b\n")
    code, _, err = run(path.replace("answers", "anwsers"))
    assert code == 1
    assert "no such file. Did you mean 'answers.txt'?" in err


def test_folder_without_images_is_rejected(run, tmp_path):
    (tmp_path / "notes.md").write_text("x")
    code, _, err = run(tmp_path)
    assert code == 1
    assert "has no images" in err


UNREADABLE_TEXTS = {
    "split": (b"a b", ["--split", "blank"], "is one sample; remove --split and --type"),
    "type": (b"a b", ["--type", "csv"], "is one sample; remove --split and --type"),
    "NUL": (b"a\0b", [], "file a.txt is not text: line 1, column 2: there is a NUL"),
    "Latin-1": (
        "a é".encode("latin-1"),
        [],
        "line 1, column 3: byte 0xe9 is not utf-8; save it",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE_TEXTS)
def test_unreadable_texts_in_folder_are_rejected(run, tmp_path, name):
    data, options, message = UNREADABLE_TEXTS[name]
    (tmp_path / "a.txt").write_bytes(data)
    (tmp_path / "b.txt").write_bytes(b"c d")
    code, out, err = run(tmp_path, *options)
    assert (code, out) == (1, "")
    assert message in err


def test_duplicate_parquet_column_names_are_rejected(run, save):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([pa.array(["a b"])] * 2, names=["t", "t"]), out)
    code, _, err = run(save("x.parquet", out.getvalue()))
    assert code == 1
    assert "x.parquet: More than one column is called 't'; rename them" in err


def test_parquet_integers_not_exact_in_float64_are_rejected(run, save):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    out = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2**53 + 1, None], "b": [1, 2, 3]}), out)
    code, _, err = run(save("x.parquet", out.getvalue()), "--quiet")
    assert code == 1
    assert "row 2, column 'a' has the integer 9007199254740993, which float64 cannot" in err


def test_quality_outside_float64_range_is_rejected(run, save):
    path = save("x.jsonl", f'{{"t": "a b", "q": 1{"0" * 400}}}\n{{"t": "c d", "q": 1}}\n')
    code, _, err = run("select", path, "-n", "1", "--column", "t", "--quality", "q")
    assert code == 1
    assert "x.jsonl, line 1, column 'q' is '1000" in err


def test_unreadable_image_error_names_file(run, tmp_path):
    pytest.importorskip("PIL")
    (tmp_path / "a.png").write_bytes(b"no image")
    code, _, err = run(tmp_path)
    assert code == 1
    assert f"{tmp_path}, file a.png " in err


def test_unusable_reference_error_names_reference_file(run, save):
    sample_file, reference_file = save("a.csv", NUMBERS), save("b.csv", "a,b\n1,2\n0,0\n")
    code, _, err = run(sample_file, "--references", reference_file, "-m", "MagDiff", "-k", "cosine")
    assert code == 1
    assert "b.csv, row 3 " in err


def test_files_of_different_sample_types_are_rejected(run, save):
    code, _, err = run(save("a.csv", NUMBERS), save("b.txt", "a b\n"))
    assert code == 1
    assert "b.txt contains texts" in err


def test_very_long_lines_are_scored(run, save):
    texts = ["word " * 100_000, "another word"]
    assert run(save("x.txt", "\n".join(texts)), "-b")[1] == f"{vendiscore.compute(texts)['VS']!r}\n"
    assert run(save("x.csv", "text\n" + "\n".join(texts)), "-b")[0] == 0


FILES_WITH_BAD_SAMPLES = {
    "x.json": (b'["a b", "", "c d"]', "1 sample is left out: element 2 has no tokens"),
    "x.jsonl": (
        b'{"t": "a b"}\n{"t": \n{"t": 3}\n{"t": "c d"}\n{"t": ""}\n',
        "2 samples are left out: "
        "line 2 is not valid JSON at column 7: Expecting value; line 3, column 't' is int 3",
    ),
    "x.csv": (b"t,u\na b,1\nc, d,2\nc d,3\n,4\n", "1 sample is left out: row 3 has 3 cells"),
}


@pytest.mark.parametrize("name", FILES_WITH_BAD_SAMPLES)
def test_on_error_skip_reports_dropped_samples_and_scores_remaining(run, save, name):
    data, message = FILES_WITH_BAD_SAMPLES[name]
    code, out, err = run(save(name, data), "--on-error", "skip", "-b", "--quiet")
    assert (code, out) == (0, f"{vendiscore.compute(['a b', 'c d'])['VS']!r}\n")
    assert message in err


def test_on_error_skip_keeps_groups_aligned_with_samples(run, save):
    path = save("x.csv", "t,g\na b,x\n,x\na c,y\nd e,y\n")
    out = run(path, "--on-error", "skip", "--group-by", "g", "--column", "t", "-b")[1]
    assert out == f"{vendiscore.compute(['a b', 'a c', 'd e'], groups=list('xyy'))['VS']!r}\n"


def test_on_error_skip_rejects_file_without_usable_samples(run, save):
    code, _, err = run(save("x.jsonl", "1\n2 3\n"), "--on-error", "skip", "-k", "ngram_overlap")
    assert code == 1
    assert "no samples found" in err


def test_all_kernels_declare_their_content():
    kernels = [
        kernel
        for kernel in vendiscore.list_kernels()
        if kernel.build.__module__.startswith("vendiscore")
    ]
    content = {"texts", "sequences", "molecules", "images", "vectors", "values"}
    assert all({*kernel.content} <= content and kernel.content for kernel in kernels)


def test_indefinite_matrix_error_states_reason(run, save):
    K = [[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]]
    code, _, err = run(save("K.jsonl", "\n".join(map(json.dumps, K))), "--matrix")
    assert code == 1
    assert "K.jsonl: " in err
    assert "positive semidefinite" in err
