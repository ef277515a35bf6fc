"""The command reads common file types, and reports the location of invalid content."""

import csv
import gzip
import io
import json

import numpy as np
import pytest

import vendiscore

TEXTS = ["See Spot run.", "See, Spot.", "Look, Jane.", "Jane saw a naïve Spot run."]
LINES = "\n".join(TEXTS) + "\n"
X = np.random.default_rng(0).standard_normal((7, 3))


def rows(delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(["id", "answer", "model"])
    writer.writerows([i, text, "ab"[i % 2]] for i, text in enumerate(TEXTS))
    return out.getvalue()


def build_records() -> list[dict[str, object]]:
    return [{"id": i, "answer": text, "model": "ab"[i % 2]} for i, text in enumerate(TEXTS)]


def brief_output(samples: object, **options: object) -> str:
    """Return the output of the command with -b."""
    return f"{vendiscore.compute(samples, **options)['VS']!r}\n"


def to_parquet(columns: dict[str, list[object]]) -> bytes:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def to_columns(table_rows: list[dict[str, object]]) -> dict[str, list[object]]:
    return {name: [row[name] for row in table_rows] for name in table_rows[0]}


TEXT_FILES = {
    "x.txt": LINES.encode(),
    "windows.txt": LINES.replace("\n", "\r\n").encode(),
    "no_ending": LINES.strip().encode(),
    "marked.txt": LINES.encode("utf-8-sig"),
    "utf16.txt": LINES.encode("utf-16"),
    "packed.txt.gz": gzip.compress(LINES.encode()),
    "x.csv": rows(",").encode(),
    "semicolons.csv": rows(";").encode(),
    "x.tsv": rows("\t").encode(),
    "packed.csv.gz": gzip.compress(rows(",").encode("utf-16")),
    "x.jsonl": "".join(f"{json.dumps(row)}\n" for row in build_records()).encode(),
    "strings.ndjson": "".join(f"{json.dumps(text)}\n\n" for text in TEXTS).encode(),
    "x.json": json.dumps(build_records()).encode(),
    "strings.json": json.dumps(TEXTS, ensure_ascii=False).encode(),
}


@pytest.mark.parametrize("name", TEXT_FILES)
def test_texts_are_equal_from_every_file_type(run, save, name):
    code, printed, _ = run(save(name, TEXT_FILES[name]), "-b", "--pool")
    assert (code, printed) == (0, brief_output(TEXTS))


def test_texts_are_read_from_parquet(run, save):
    path = save("x.parquet", to_parquet(to_columns(build_records())))
    assert run(path, "-b", "--quiet", "--pool") == (0, brief_output(TEXTS), "")
    result = vendiscore.compute(TEXTS, groups=["a", "b", "a", "b"])["VS"]
    assert run(path, "-b", "--group-by", "model", "--quiet")[1] == f"{result!r}\n"


def test_vectors_are_equal_from_every_file_type(run, save):
    lines = [",".join(map(repr, row)) for row in X.tolist()]
    out, packed = io.BytesIO(), io.BytesIO()
    np.save(out, X)
    np.savez(packed, embeddings=X, labels=np.arange(7))
    files = {
        "x.npy": out.getvalue(),
        "x.npy.gz": gzip.compress(out.getvalue()),
        "x.csv": "a,b,c\n" + "\n".join(lines),
        "index.csv": ",a,b,c\n" + "\n".join(f"{i},{line}" for i, line in enumerate(lines)),
        "x.tsv": "a\tb\tc\n" + "\n".join(lines).replace(",", "\t"),
        "x.jsonl": "\n".join(f"[{line}]" for line in lines),
        "column.jsonl": "\n".join(f'{{"id": 1, "embedding": [{line}]}}' for line in lines),
    }
    expected = brief_output(X, k="cosine")
    for name, data in files.items():
        assert run(save(name, data), "-b")[:2] == (0, expected), name
    path = save("x.npz", packed.getvalue())
    assert run(path, "--column", "embeddings", "-b")[:2] == (0, expected)
    spaced = save("x.txt", "\n".join(lines).replace(",", " "))
    assert run(spaced, "-b")[:2] == (0, expected)
    assert run(spaced, "-k", "cosine", "-b", "--quiet") == (0, expected, "")


def test_vectors_are_read_from_parquet(run, save):
    expected = brief_output(X, k="cosine")
    flat = save("x.parquet", to_parquet({name: X[:, j].tolist() for j, name in enumerate("abc")}))
    assert run(flat, "-b")[:2] == (0, expected)
    nested = save("e.parquet", to_parquet({"id": list("tuvwxyz"), "e": X.tolist()}))
    assert run(nested, "-b", "--column", "e")[:2] == (0, expected)
    assert run(nested, "-b", "-k", "cosine")[:2] == (0, expected)


def test_precision_of_parquet_is_kept(run, tmp_path):
    """Test numbers as columns, and as lists of fixed or variable length in one column."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    for arrow_type in (pa.float16(), pa.float32(), pa.float64()):
        precision = "float64" if arrow_type == pa.float64() else "float32"
        numbers = pa.array(X.astype(arrow_type.to_pandas_dtype()).ravel())
        tables = [
            {name: numbers[j :: len(X[0])] for j, name in enumerate("abc")},
            {"e": pa.FixedSizeListArray.from_arrays(numbers, 3)},
            {"e": pa.FixedSizeListArray.from_arrays(numbers, 3).cast(pa.list_(arrow_type))},
        ]
        for columns in tables:
            pq.write_table(pa.table(columns), path := tmp_path / "x.parquet")
            assert f"|dtype={precision}|" in run(path, "--quiet", "--signature")[1]
    mixed = {"a": pa.array(X[:, 0].astype(np.float32)), "b": pa.array(X[:, 1])}
    pq.write_table(pa.table(mixed), path)
    assert "|dtype=float64|" in run(path, "--signature")[1]


def test_column_selects_numeric_columns(run, save):
    path = save("x.csv", "a,b,c\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist()))
    expected = brief_output(X[:, [0, 2]], k="cosine")
    assert run(path, "--column", "a,c", "-b")[1] == expected
    code, _, notes = run(save("y.csv", "id,a,b\n1,2,3\n2,3,3\n"), "-b")
    assert code == 0
    assert "2 vectors; left out: id (it numbers the rows)" in notes


SITES = "site,oak,ash\nhill,3,1\ndale,2,2\n"


@pytest.mark.parametrize(
    ("data", "options"),
    [
        ("species,hill,dale\noak,3,2\nash,1,2\n", ()),
        (SITES, ("--counts",)),
        (SITES.replace("hill", "1").replace("dale", "2"), ("--counts",)),
        (SITES.replace("site,", "").replace("hill,", "").replace("dale,", ""), ("--counts",)),
    ],
    ids=["species", "sites", "numbered sites", "no names"],
)
def test_counts_expand_to_labels_grouped_by_site(run, save, data, options):
    labels, sites = ["oak"] * 3 + ["ash"] + ["oak"] * 2 + ["ash"] * 2, [1] * 4 + [2] * 4
    expected = vendiscore.compute(labels, groups=sites, k="labels")["VS"]
    code, out, err = run(save("s.csv", data), *options, "-b")
    assert (code, out) == (0, f"{expected!r}\n")
    assert "s.csv: 8 labels (2 species at 2 sites), in 2 groups" in err


def test_site_table_is_ambiguous_and_counts_must_be_integers(run, save):
    code, out, err = run(path := save("s.csv", SITES))
    assert (code, out) == (2, "")
    assert "Do oak, ash count the individuals of a species at each site?" in err
    assert err.splitlines()[1:] == [f"  vendiscore {path} {x}" for x in ("--counts", "-k cosine")]
    for cell in ("2.5", "-1"):
        path = save("bad.csv", SITES.replace("2,2", f"2,{cell}"))
        code, out, err = run(path, "--counts")
        assert (code, out) == (1, "")
        message = f"row 3, column 'ash': must be a whole number of at least 0, got {cell}"
        assert message in err


def test_split_option_sets_separator_between_texts(run, save):
    expected = brief_output(["one\ntwo", "three four", "five"])
    blank_line_file = save("b.txt", "one\ntwo\n\nthree four\n\n\nfive\n\n")
    dashed_file = save("s.txt", "one\ntwo\n---\nthree four\n---\nfive\n---\n")
    assert run(blank_line_file, "--split", "blank", "-b", "--quiet") == (0, expected, "")
    assert run(dashed_file, "--split=---", "-b", "--quiet") == (0, expected, "")
    empty = run(save("e.txt", "---\none\n"), "--split=---")
    assert empty[0] == 1
    assert "line 1 has no tokens" in empty[2]


def test_molecules_use_morgan_kernel_by_default(run, save):
    pytest.importorskip("rdkit")
    path = save("m.smi", "CCO ethanol\nc1ccccc1\tbenzene ring\nCC(=O)O\n")
    expected = vendiscore.compute(["CCO", "c1ccccc1", "CC(=O)O"], k="morgan")["VS"]
    note = "molecules are compared by Morgan fingerprints (-k morgan)"
    notes = f"vendiscore: {path}: 3 molecules\nvendiscore: {path}: {note}\n"
    assert run(path, "-b") == (0, f"{expected!r}\n", notes)
    assert run(path, "-b", "--quiet") == (0, f"{expected!r}\n", "")
    table = save("m.csv", "name,smiles\nethanol,CCO\nbenzene,c1ccccc1\nacid,CC(=O)O\n")
    assert run(table, "-k", "morgan", "-b", "--quiet") == (0, f"{expected!r}\n", "")
    code, _, message = run(save("bad.smi", "CCO\nC1CC broken\n"))
    assert code == 1
    assert "bad.smi, line 2 " in message


def test_labels_accept_values_of_any_type(run, save):
    path = save("l.jsonl", '{"y": 1}\n{"y": "a"}\n{"y": 1}\n')
    assert run(path, "-k", "labels", "-b")[1] == brief_output([1, "a", 1], k="labels")
    tags = save("t.jsonl", '{"y": ["a", "b"]}\n{"y": ["b"]}\n')
    assert run(tags, "-k", "tags", "-b")[1] == brief_output([["a", "b"], ["b"]], k="tags")


@pytest.fixture
def image_folder(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for name in ("cats/2.png", "cats/10.png", "dogs/1.png", "dogs/3.png"):
        path = tmp_path / "pictures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)).save(path)
    return tmp_path / "pictures"


def test_image_folder_is_compared_by_pixels(run, image_folder):
    cats = sorted((image_folder / "cats").iterdir())
    expected = vendiscore.compute(cats, k="pixels")["VS"]
    prefix = f"vendiscore: {image_folder / 'cats'}: "
    notes = f"{prefix}2 images\n{prefix}images are compared by pixels (-k pixels)\n"
    assert run(image_folder / "cats", "-b") == (0, f"{expected!r}\n", notes)
    assert run(image_folder / "cats", "-b", "-k", "pixels") == (
        0,
        f"{expected!r}\n",
        f"{prefix}2 images\n",
    )
    (image_folder / "cats" / "notes.md").write_text("x")
    assert "left out, as no images: 'notes.md'" in run(image_folder / "cats")[2]


def test_subfolders_are_groups_or_pooled(run, image_folder):
    paths = sorted(image_folder.rglob("*.png"))
    expected = vendiscore.compute(paths, k="pixels", groups=[p.parent.name for p in paths])["VS"]
    assert run(image_folder, "--group-by", "folder", "-b", "--quiet") == (0, f"{expected!r}\n", "")
    code, _, message = run(image_folder)
    assert code == 2
    assert "and the folder itself contains none. Are they one set? Type one of:" in message
    pooled = vendiscore.compute(paths, k="pixels")["VS"]
    assert run(image_folder, "--pool", "-b", "--quiet") == (0, f"{pooled!r}\n", "")


def test_system_files_and_hidden_folders_are_ignored(run, image_folder):
    expected = run(image_folder, "--group-by", "folder", "--quiet")
    hidden = image_folder / ".ipynb_checkpoints" / "deep" / "1-checkpoint.png"
    hidden.parent.mkdir(parents=True)
    hidden.write_bytes((image_folder / "dogs" / "1.png").read_bytes())
    for name in ("Thumbs.db", "cats/desktop.ini", "dogs/.DS_Store", "dogs/._1.png"):
        (image_folder / name).write_bytes(b"x")
    assert run(image_folder, "--group-by", "folder", "--quiet") == expected


def test_text_folder_gives_text_per_file(run, tmp_path):
    for i, text in enumerate(TEXTS):
        (tmp_path / f"{i}.txt").write_text(f"{text}\n", encoding=["utf-8", "utf-16"][i % 2])
    assert run(tmp_path, "-b") == (0, brief_output(TEXTS), f"vendiscore: {tmp_path}: 4 texts\n")


def test_matrix_ignores_names_of_rows_and_columns(run, save):
    K = [[1.0, 0.5], [0.5, 1.0]]
    expected = (0, f"{vendiscore.compute(K, score_K=True)['VS']!r}\n", "")
    for name, text in {
        "K.csv": ",red,blue\nred,1,0.5\nblue,0.5,1\n",
        "K.txt": "1.0 0.5\n0.5 1.0\n",
        "K.jsonl": '{"name": "red", "row": [1, 0.5]}\n{"name": "blue", "row": [0.5, 1]}\n',
    }.items():
        assert run(save(name, text), "-b", "--quiet", "--matrix") == expected


def test_image_array_is_compared_by_pixels(run, save):
    pytest.importorskip("PIL")
    images = np.random.default_rng(0).integers(0, 255, (5, 8, 8), dtype=np.uint8)
    out = io.BytesIO()
    np.save(out, images)
    assert run(save("i.npy", out.getvalue()), "-b")[1] == brief_output(images, k="pixels")


def test_type_option_sets_type_of_unknown_file(run, save):
    path = save("answers.dat", rows(","))
    code, out, err = run(path, "--pool", "-b")
    assert (code, out) == (2, "")
    assert "answers.dat: Of which type is it? It begins with b'id,answer,model" in err
    assert f"\n  vendiscore {path} --pool -b --type csv\n" in err
    assert run(path, "--pool", "-b", "--type", "csv", "--quiet") == (0, brief_output(TEXTS), "")


@pytest.mark.parametrize("byte_order_mark", ["", "\ufeff"], ids=["plain", "marked"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("answer_first", [True, False], ids=["first", "last"])
def test_quoted_header_can_contain_line_breaks(
    run, save, byte_order_mark, newline, delimiter, answer_first
):
    """Also delimiters of other formats, in the first and in the last column."""
    name = f'"the, best{newline}answer"'
    rows = [[name, "model"], ["a b", "x"], ["c d", "y"], ['"a; b"', "x"]]
    lines = (delimiter.join(row if answer_first else row[::-1]) for row in rows)
    path = save("a.csv", (byte_order_mark + newline.join(lines) + newline).encode())
    options = ("--column", f"the, best{newline}answer", "--pool")
    code, out, err = run(path, *options, "-b", "--quiet")
    assert (code, err) == (0, "")
    assert float(out) == vendiscore.compute(["a b", "c d", "a; b"])["VS"]


def test_unclosed_quote_is_rejected(run, save):
    code, _, err = run(save("a.csv", 'id,"the\nanswer\n1,a b\n2,c d\n'))
    assert code == 1
    assert "is not valid CSV" in err
