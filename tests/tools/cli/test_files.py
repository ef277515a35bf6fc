"""Files as people have them, read by the command; what is wrong with others, with its place."""

import csv
import gzip
import io
import json

import numpy as np
import pytest

import vendiscore

TEXTS = ["See Spot run.", "See, Spot.", "Look, Jane.", "Jane saw a naïve Spot run."]
BOX = "\n".join(TEXTS) + "\n"
X = np.random.default_rng(0).standard_normal((7, 3))


def rows(delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(["id", "answer", "model"])
    writer.writerows([i, text, "ab"[i % 2]] for i, text in enumerate(TEXTS))
    return out.getvalue()


def records() -> list[dict[str, object]]:
    return [{"id": i, "answer": text, "model": "ab"[i % 2]} for i, text in enumerate(TEXTS)]


def brief(samples: object, **how: object) -> str:
    """Return what -b prints."""
    return f"{vendiscore.compute(samples, **how)['VS']!r}\n"


def parquet(columns: dict[str, list[object]]) -> bytes:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def columns(of: list[dict[str, object]]) -> dict[str, list[object]]:
    return {name: [row[name] for row in of] for name in of[0]}


OF_TEXTS = {
    "x.txt": BOX.encode(),
    "windows.txt": BOX.replace("\n", "\r\n").encode(),
    "no_ending": BOX.strip().encode(),
    "marked.txt": BOX.encode("utf-8-sig"),
    "utf16.txt": BOX.encode("utf-16"),
    "packed.txt.gz": gzip.compress(BOX.encode()),
    "x.csv": rows(",").encode(),
    "semicolons.csv": rows(";").encode(),
    "x.tsv": rows("\t").encode(),
    "packed.csv.gz": gzip.compress(rows(",").encode("utf-16")),
    "x.jsonl": "".join(f"{json.dumps(row)}\n" for row in records()).encode(),
    "strings.ndjson": "".join(f"{json.dumps(text)}\n\n" for text in TEXTS).encode(),
    "x.json": json.dumps(records()).encode(),
    "strings.json": json.dumps(TEXTS, ensure_ascii=False).encode(),
}


@pytest.mark.parametrize("name", OF_TEXTS)
def test_texts_are_equal_from_every_file_type(run, save, name):
    code, said, _ = run(save(name, OF_TEXTS[name]), "-b", "--pool")
    assert (code, said) == (0, brief(TEXTS))


def test_texts_are_read_from_parquet(run, save):
    path = save("x.parquet", parquet(columns(records())))
    assert run(path, "-b", "--quiet", "--pool") == (0, brief(TEXTS), "")
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
    expected = brief(X, k="cosine")
    for name, data in files.items():
        assert run(save(name, data), "-b")[:2] == (0, expected), name
    path = save("x.npz", packed.getvalue())
    assert run(path, "--column", "embeddings", "-b")[:2] == (0, expected)
    spaced = save("x.txt", "\n".join(lines).replace(",", " "))
    assert run(spaced, "-b")[:2] == (0, expected)
    assert run(spaced, "-k", "cosine", "-b", "--quiet") == (0, expected, "")


def test_vectors_are_read_from_parquet(run, save):
    expected = brief(X, k="cosine")
    flat = save("x.parquet", parquet({name: X[:, j].tolist() for j, name in enumerate("abc")}))
    assert run(flat, "-b")[:2] == (0, expected)
    nested = save("e.parquet", parquet({"id": list("tuvwxyz"), "e": X.tolist()}))
    assert run(nested, "-b", "--column", "e")[:2] == (0, expected)
    assert run(nested, "-b", "-k", "cosine")[:2] == (0, expected)


def test_precision_of_parquet_is_kept(run, tmp_path):
    """Try numbers as columns, and as rows in one column, of one length or any."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    for kind in (pa.float16(), pa.float32(), pa.float64()):
        said = "float64" if kind == pa.float64() else "float32"
        numbers = pa.array(X.astype(kind.to_pandas_dtype()).ravel())
        tables = [
            {name: numbers[j :: len(X[0])] for j, name in enumerate("abc")},
            {"e": pa.FixedSizeListArray.from_arrays(numbers, 3)},
            {"e": pa.FixedSizeListArray.from_arrays(numbers, 3).cast(pa.list_(kind))},
        ]
        for columns in tables:
            pq.write_table(pa.table(columns), path := tmp_path / "x.parquet")
            assert f"|dtype={said}|" in run(path, "--quiet", "--signature")[1]
    mixed = {"a": pa.array(X[:, 0].astype(np.float32)), "b": pa.array(X[:, 1])}
    pq.write_table(pa.table(mixed), path)
    assert "|dtype=float64|" in run(path, "--signature")[1]


def test_column_selects_numeric_columns(run, save):
    path = save("x.csv", "a,b,c\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist()))
    expected = brief(X[:, [0, 2]], k="cosine")
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
    assert "Does oak, ash count the individuals of a species at each site?" in err
    assert err.splitlines()[1:] == [f"  vendiscore {path} {x}" for x in ("--counts", "-k cosine")]
    for cell in ("2.5", "-1"):
        path = save("bad.csv", SITES.replace("2,2", f"2,{cell}"))
        code, out, err = run(path, "--counts")
        assert (code, out) == (1, "")
        said = f"row 3, column 'ash': is {cell}, where a count is a whole number of at least 0"
        assert said in err


def test_split_sets_separator_between_texts(run, save):
    expected = brief(["one\ntwo", "three four", "five"])
    blank = save("b.txt", "one\ntwo\n\nthree four\n\n\nfive\n\n")
    sign = save("s.txt", "one\ntwo\n---\nthree four\n---\nfive\n---\n")
    assert run(blank, "--split", "blank", "-b", "--quiet") == (0, expected, "")
    assert run(sign, "--split=---", "-b", "--quiet") == (0, expected, "")
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
    code, _, said = run(save("bad.smi", "CCO\nC1CC broken\n"))
    assert code == 1
    assert "bad.smi, line 2 " in said


def test_labels_accept_values_of_any_type(run, save):
    path = save("l.jsonl", '{"y": 1}\n{"y": "a"}\n{"y": 1}\n')
    assert run(path, "-k", "labels", "-b")[1] == brief([1, "a", 1], k="labels")
    tags = save("t.jsonl", '{"y": ["a", "b"]}\n{"y": ["b"]}\n')
    assert run(tags, "-k", "tags", "-b")[1] == brief([["a", "b"], ["b"]], k="tags")


@pytest.fixture
def pictures(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for name in ("cats/2.png", "cats/10.png", "dogs/1.png", "dogs/3.png"):
        path = tmp_path / "pictures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)).save(path)
    return tmp_path / "pictures"


def test_image_folder_is_compared_by_pixels(run, pictures):
    cats = sorted((pictures / "cats").iterdir())
    expected = vendiscore.compute(cats, k="pixels")["VS"]
    said = f"vendiscore: {pictures / 'cats'}: "
    notes = f"{said}2 images\n{said}images are compared by pixels (-k pixels)\n"
    assert run(pictures / "cats", "-b") == (0, f"{expected!r}\n", notes)
    assert run(pictures / "cats", "-b", "-k", "pixels") == (
        0,
        f"{expected!r}\n",
        f"{said}2 images\n",
    )
    (pictures / "cats" / "notes.md").write_text("x")
    assert "left out, as no images: 'notes.md'" in run(pictures / "cats")[2]


def test_subfolders_are_groups_or_pooled(run, pictures):
    every = sorted(pictures.rglob("*.png"))
    expected = vendiscore.compute(every, k="pixels", groups=[p.parent.name for p in every])["VS"]
    assert run(pictures, "--group-by", "folder", "-b", "--quiet") == (0, f"{expected!r}\n", "")
    code, _, said = run(pictures)
    assert code == 2
    assert "and the folder itself contains none. Are they one set? Type one of:" in said
    pooled = vendiscore.compute(every, k="pixels")["VS"]
    assert run(pictures, "--pool", "-b", "--quiet") == (0, f"{pooled!r}\n", "")


def test_system_files_and_hidden_folders_are_ignored(run, pictures):
    expected = run(pictures, "--group-by", "folder", "--quiet")
    hidden = pictures / ".ipynb_checkpoints" / "deep" / "1-checkpoint.png"
    hidden.parent.mkdir(parents=True)
    hidden.write_bytes((pictures / "dogs" / "1.png").read_bytes())
    for name in ("Thumbs.db", "cats/desktop.ini", "dogs/.DS_Store", "dogs/._1.png"):
        (pictures / name).write_bytes(b"x")
    assert run(pictures, "--group-by", "folder", "--quiet") == expected


def test_text_folder_gives_text_per_file(run, tmp_path):
    for i, text in enumerate(TEXTS):
        (tmp_path / f"{i}.txt").write_text(f"{text}\n", encoding=["utf-8", "utf-16"][i % 2])
    assert run(tmp_path, "-b") == (0, brief(TEXTS), f"vendiscore: {tmp_path}: 4 texts\n")


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
    assert run(save("i.npy", out.getvalue()), "-b")[1] == brief(images, k="pixels")


def test_type_option_sets_type_of_unknown_file(run, save):
    path = save("answers.dat", rows(","))
    code, out, err = run(path, "--pool", "-b")
    assert (code, out) == (2, "")
    assert "answers.dat: Of which type is it? It begins with b'id,answer,model" in err
    assert f"\n  vendiscore {path} --pool -b --type csv\n" in err
    assert run(path, "--pool", "-b", "--type", "csv", "--quiet") == (0, brief(TEXTS), "")


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "marked"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("sign", [",", ";", "\t"])
@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_quoted_header_can_contain_line_breaks(run, save, mark, end, sign, first):
    """And signs that separate cells elsewhere, as the first column and as the last."""
    name = f'"the, best{end}answer"'
    rows = [[name, "model"], ["a b", "x"], ["c d", "y"], ['"a; b"', "x"]]
    lines = (sign.join(row if first else row[::-1]) for row in rows)
    path = save("a.csv", (mark + end.join(lines) + end).encode())
    named = ("--column", f"the, best{end}answer", "--pool")
    code, out, err = run(path, *named, "-b", "--quiet")
    assert (code, err) == (0, "")
    assert float(out) == vendiscore.compute(["a b", "c d", "a; b"])["VS"]


def test_unclosed_quote_is_rejected(run, save):
    code, _, err = run(save("a.csv", 'id,"the\nanswer\n1,a b\n2,c d\n'))
    assert code == 1
    assert "is not valid CSV" in err
