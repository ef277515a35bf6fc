"""Files as people have them, written here rather than kept, and what is in each."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

TEXTS = ["Yes, it is so.", "No; never again, I think.", "Perhaps we could."]
QUOTED = [f'"{text}"' for text in TEXTS]
CHINESE = ["今天天气很好。", "我喜欢吃苹果。", "他明天去上海。"]
UMLAUTS = ["Schöne Grüße", "Äpfel sind da", "zu früh"]
SMILES = ["CCO", "CC(=O)O", "c1ccccc1"]
X = np.array([[0.5, 1.5, -2e-3], [3.5, 4.5, 5.5], [1.25, 0.0, 7.0], [8.5, 2.5, 3.5]])


class Have(NamedTuple):
    """A file, and what it holds.

    Attributes
    ----------
    name : str
    data : bytes
    kind : str
    values : list or array
    places : list
    said : str
        A part of the notes.
    """

    name: str
    data: bytes
    kind: str
    values: Any
    places: list[Any]
    said: str = ""


class Asks(NamedTuple):
    """A file that can be read in several ways.

    Attributes
    ----------
    name : str
    data : bytes
    question : str
        A part of it.
    answer : dict
        One of the choices.
    values : list or array
        What the file holds if that is chosen.
    """

    name: str
    data: bytes
    question: str
    answer: dict[str, Any]
    values: Any


class Turned(NamedTuple):
    """A file that is refused, and a part of why."""

    name: str
    data: bytes
    said: str


def rows(X: np.ndarray, sep: str = ",", decimal: str = ".", index: Any = None) -> str:
    """Return rows of numbers as a program writes them."""
    lines = [sep.join(str(x).replace(".", decimal) for x in row) for row in X]
    if index is not None:
        lines = [f"{i}{sep}{line}" for i, line in zip(index, lines, strict=True)]
    return "\n".join(lines) + "\n"


def parquet(**columns: Any) -> bytes:
    """Return a parquet file of columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def npy(X: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, X)
    return buffer.getvalue()


def npz(save: Callable[..., None] = np.savez, **arrays: Any) -> bytes:
    buffer = io.BytesIO()
    save(buffer, **arrays)
    return buffer.getvalue()


def zipped(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return buffer.getvalue()


def photo(
    form: str = "JPEG", width: int = 64, height: int = 48, seed: int = 0, **how: Any
) -> bytes:
    """Return a picture with a few large areas, as photos have them."""
    from PIL import Image

    if form in ("HEIF", "AVIF"):
        import pillow_heif

        pillow_heif.register_heif_opener()
    small = np.random.default_rng(seed).integers(0, 255, (6, 8, 3), dtype=np.uint8)
    image = Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)
    buffer = io.BytesIO()
    image.save(buffer, form, **how)
    return buffer.getvalue()


def turned(form: str) -> bytes:
    """Return the same photo as a camera held upright stores it: lying, with a note of how to turn
    it."""
    import pillow_heif
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    if form == "JPEG":
        return photo(form, quality=95, exif=exif)
    flat = Image.open(io.BytesIO(photo("PNG"))).convert("RGB")
    buffer = io.BytesIO()
    lying = pillow_heif.from_bytes("RGB", flat.size, flat.tobytes())
    lying.save(buffer, quality=95, exif=exif.tobytes())
    return buffer.getvalue()


_IDS = "\n".join(f"{i},{text}" for i, text in enumerate(QUOTED, 101))
_COUNTED = "\n".join(f"{i},{text}" for i, text in enumerate(QUOTED))
_TABS = "\n".join(f"{i}\t{text}" for i, text in enumerate(TEXTS, 101))
_RECORDS = [{"id": f"x{i}", "prompt": "So?", "answer": text} for i, text in enumerate(TEXTS)]
_ROWS = [2, 3, 4]


def _texts(name: str, data: str | bytes, places: Any = (2, 3, 4), said: str = "answer") -> Have:
    data = data.encode() if isinstance(data, str) else data
    return Have(name, data, "texts", TEXTS, list(places), said)


def _numbers(name: str, data: str | bytes, said: str = "", first: int = 1, X: Any = X) -> Have:
    data = data.encode() if isinstance(data, str) else data
    return Have(name, data, "vectors", X, list(range(first, first + len(X))), said)


def tables() -> list[Have]:
    """Return tables that are pasted as often as they are sent as files."""
    lines = ["two\nlines, so", 'a "word"', "one"]
    quoted = "\n".join(
        f'"{i}","{text}"' for i, text in enumerate(["two\nlines, so", 'a ""word""', "one"])
    )
    models = "\n".join(f"{text},{'ab'[i % 2]}" for i, text in enumerate(QUOTED))
    return [
        _texts("commas", "id,answer\n" + _IDS, said="names the columns id, answer"),
        _texts(
            "semicolons",
            "id;answer;note\n" + "\n".join(f"7;{text};1,5" for text in QUOTED),
            said="split by semicolons",
        ),
        _texts("tabs", "id\tanswer\n" + _TABS, said="split by tabs"),
        Have(
            "quoted", f"id,answer\n{quoted}".encode(), "texts", lines, [2, 3, 4], "column 'answer'"
        ),
        _texts("models", "answer,model\n" + models, said="2 groups by column 'model'"),
    ]


def texts() -> list[Have]:
    """Return files of texts."""
    chinese = "编号,回答\n" + "\n".join(f"{i},{answer}" for i, answer in enumerate(CHINESE))
    western = "Nr;Antwort\n" + "\n".join(f"{i};{text}" for i, text in enumerate(UMLAUTS))
    return [
        _texts("id first.csv", "id,answer\n" + _IDS),
        _texts("windows.csv", "id,answer\r\n" + _IDS.replace("\n", "\r\n")),
        _texts("last.csv", "answer,mark,id\n" + "\n".join(f"{t},1.5,7" for t in QUOTED)),
        _texts("pandas.csv", ",text\n" + _COUNTED, said="text"),
        _texts("pandas numbers.csv", ",0\n" + _COUNTED, said="'0'"),
        _texts("no header.csv", _IDS, (1, 2, 3), "column 2"),
        _texts("texts only.csv", "\n".join(QUOTED), (1, 2, 3), "no row of names"),
        _texts("tabs.tsv", "id\tanswer\n" + _TABS, said="split by tabs"),
        _texts("tabs.csv", "id\tanswer\n" + _TABS, said="split by tabs"),
        _texts("bars.csv", "id|answer\n" + "\n".join(f"7|{t}" for t in TEXTS), said="bars"),
        _texts(
            "excel.csv",
            "id;Antwort;Note\n" + "\n".join(f"7;{t};1,5" for t in QUOTED),
            said="split by semicolons",
        ),
        _texts(
            "sep.csv",
            "sep=;\r\nid;answer\r\n" + "\r\n".join(f"7;{t}" for t in QUOTED),
            said="semicolons",
        ),
        _texts("bom.csv", b"\xef\xbb\xbf" + f"id,answer\n{_IDS}".encode()),
        _texts("utf-16.csv", f"id\tanswer\n{_TABS}".encode("utf-16")),
        _texts("utf-16.txt", "\n".join(TEXTS).encode("utf-16"), (1, 2, 3), "Read 3 lines"),
        _texts("one column.csv", "answer\n" + "\n".join(TEXTS)),
        _texts("spaces.csv", "id, answer\n" + "\n".join(f"7, {t}" for t in QUOTED)),
        _texts(
            "prompts.csv",
            "prompt,model,answer\n" + "\n".join(f"Is it so?,m,{t}" for t in QUOTED),
        ),
        _texts("old mac.txt", "\r".join(TEXTS), (1, 2, 3), "Read 3 lines"),
        _texts("notes.md", "\n\n".join(TEXTS), (1, 3, 5), "Read 3 lines"),
        _texts("lines.jsonl", "\n".join(map(json.dumps, _RECORDS)), (1, 2, 3)),
        _texts("strings.jsonl", "\n\n".join(map(json.dumps, TEXTS)), (1, 3, 5), "3 lines"),
        _texts("strings.json", json.dumps(TEXTS), (1, 2, 3), "3 elements"),
        _texts("records.json", json.dumps(_RECORDS, indent=1), (1, 2, 3)),
        _texts("wrapped.json", json.dumps({"data": _RECORDS}), (1, 2, 3)),
        _texts("columns.json", json.dumps({"id": [7, 8, 9], "answer": TEXTS}), (1, 2, 3)),
        _texts(
            "pandas.json",
            json.dumps({"id": {"0": 7, "1": 8, "2": 9}, "answer": dict(enumerate(TEXTS))}),
            (1, 2, 3),
        ),
        _texts("table.parquet", parquet(id=[7, 8, 9], answer=TEXTS), (1, 2, 3)),
        _texts("no ending", "\n".join(TEXTS), (1, 2, 3), "Read 3 lines"),
        _texts("one.zip", zipped({"a/b.csv": f"id,answer\n{_IDS}".encode()})),
        _texts(
            "three.zip",
            zipped({f"a/{i}.txt": text.encode() for i, text in enumerate(TEXTS)}),
            ["0.txt", "1.txt", "2.txt"],
            "Read 3 files.",
        ),
        Have("chinese.csv", chinese.encode(), "texts", CHINESE, _ROWS, "回答"),
        Have("chinese.txt", "\n".join(CHINESE).encode(), "texts", CHINESE, [1, 2, 3], "3 lines"),
        Have("chinese 16.csv", chinese.encode("utf-16"), "texts", CHINESE, _ROWS, "回答"),
        Have("western.csv", western.encode("cp1252"), "texts", UMLAUTS, _ROWS, "Windows-1252"),
    ]


def molecules() -> list[Have]:
    """Return files of molecules."""
    result = {
        "named.csv": "compound_id,SMILES\n" + "\n".join(f"C{i},{s}" for i, s in enumerate(SMILES)),
        "camel.csv": "CID,IsomericSMILES,name\n" + "\n".join(f"1,{s},CO" for s in SMILES),
        "unnamed.csv": "name;structure\n" + "\n".join(f"so-and-so;{s}" for s in SMILES),
        "tabs.tsv": "name\tsmiles\n" + "\n".join(f"so-and-so\t{s}" for s in SMILES),
    }
    table = [Have(n, d.encode(), "molecules", SMILES, _ROWS) for n, d in result.items()]
    lines = "\n".join(f"{s} so-and-so" for s in SMILES)
    return [
        *table,
        Have("bare.smi", "\n".join(SMILES).encode(), "molecules", SMILES, [1, 2, 3]),
        Have("with names.smi", lines.encode(), "molecules", SMILES, [1, 2, 3]),
        Have("a.parquet", parquet(smiles=SMILES, y=[1, 2, 3]), "molecules", SMILES, [1, 2, 3]),
    ]


def vectors() -> list[Have]:
    """Return files of numbers."""
    records = [{"id": 7 + i, "a": x[0], "b": x[1], "c": x[2]} for i, x in enumerate(X.tolist())]
    quoted = rows(X, '","', ",").strip().replace("\n", '"\n"').join('""')
    return [
        _numbers("bare.csv", rows(X), "no row of names"),
        _numbers("named.csv", "a,b,c\n" + rows(X), "the first row names the columns a, b, c", 2),
        _numbers("counted.csv", "0,1,2\n" + rows(X), "names the columns 0, 1, 2", 2),
        _numbers("pandas.csv", ",0,1,2\n" + rows(X, index=range(4)), "column 1 (it numbers", 2),
        _numbers("unnamed.csv", "Unnamed: 0,a,b,c\n" + rows(X, index=range(4)), "Unnamed: 0", 2),
        _numbers("ids.csv", "id,a,b,c\n" + rows(X, index=[7, 9, 12, 14]), "left out: id", 2),
        _numbers("labels.csv", "what,a,b,c\n" + rows(X, index="uvwx"), "what (no numbers)", 2),
        _numbers("excel.csv", rows(X, ";", ","), "decimal commas"),
        _numbers("excel named.csv", "a;b;c\n" + rows(X, ";", ","), "semicolons; decimal commas", 2),
        _numbers("tabs.tsv", "a\tb\tc\n" + rows(X, "\t", ","), "tabs; decimal commas", 2),
        _numbers("quoted.csv", quoted, "decimal commas"),
        _numbers("spaces.txt", rows(X, " "), "split by spaces"),
        _numbers("windows.csv", rows(X).replace("\n", "\r\n")),
        _numbers("utf-16.csv", rows(X).encode("utf-16")),
        _numbers("a.npy", npy(X), "4 rows of 3 numbers"),
        _numbers("fortran.npy", npy(np.asfortranarray(X))),
        _numbers("one column.npy", npy(X[:, :1]), X=X[:, :1]),
        _numbers("whole.npy", npy(X.astype(np.int8)), X=X.astype(np.int8)),
        _numbers("big-endian.npy", npy(X.astype(">f8"))),
        _numbers("a.npz", npz(X=X), "4 rows of 3 numbers"),
        _numbers("squeezed.npz", npz(np.savez_compressed, embeddings=X)),
        _numbers("rows.json", json.dumps(X.tolist()), "4 elements"),
        _numbers("rows.jsonl", "\n".join(map(json.dumps, X.tolist())), "4 lines"),
        _numbers("records.json", json.dumps(records), "left out: id (it numbers the rows)"),
        _numbers("wide.parquet", parquet(a=X[:, 0], b=X[:, 1], c=X[:, 2])),
        _numbers("rows.parquet", parquet(id=[7, 8, 9, 10], e=X.tolist()), "rows.parquet"),
        _numbers(
            "named.parquet",
            parquet(a=X[:, 0], b=X[:, 1], c=X[:, 2], __index_level_0__=[1, 2, 3, 4]),
            "4 vectors",
        ),
    ]


def questions() -> list[Asks]:
    """Return files that only whoever has them can tell how to read."""
    two = "a,b\nhello you there,good bye now\nhello me now,good day then\n"
    unquoted = "Well, yes.\nno\nI think, maybe, so.\n"
    return [
        Asks("two.csv", two.encode(), "Columns a, b could be meant", {"column": "b"},
             ["good bye now", "good day then"]),
        Asks("unquoted.csv", unquoted.encode(), "row 1 has 2 cells but row 3 has 3",
             {"separator": "line"}, unquoted.splitlines()),
        Asks("commas.csv", b"id,answer\n1,yes, so\n2,no, never\n", "row 2 has 3, row 3 has 3",
             {"separator": "line"}, ["id,answer", "1,yes, so", "2,no, never"]),
        Asks("header.csv", b"0,1,2\n5,6,7\n8,9,1\n", "Row 1 is 0, 1, 2", {"header": True},
             [[5, 6, 7], [8, 9, 1]]),
        Asks("sample.csv", b"0,1,2\n5,6,7\n8,9,1\n", "the names of the columns, or a sample?",
             {"header": False}, [[0, 1, 2], [5, 6, 7], [8, 9, 1]]),
        Asks("index.csv", b"0,5\n1,7\n2,9\n3,4\n", "does it number the rows?", {"index": True},
             [[5], [7], [9], [4]]),
        Asks("number.csv", b"0,5\n1,7\n2,9\n3,4\n", "The first column is 0, 1, 2",
             {"index": False}, [[0, 5], [1, 7], [2, 9], [3, 4]]),
        Asks("two.npz", npz(X=X, y=np.arange(4)), "Which array holds the rows?", {"column": "X"},
             X),
        Asks("smiles.csv", b"smiles,canonical_smiles\nCC(=O)O,OC(C)=O\n",
             "smiles, canonical_smiles could be meant", {"column": "canonical_smiles"},
             ["OC(C)=O"]),
        Asks("nested.parquet", parquet(a=[{"b": "so it is"}, {"b": "no it is"}]),
             "Which column holds the samples?", {"column": "a.b"}, ["so it is", "no it is"]),
        Asks("text.csv", b"text,smiles\nan acid it is,CC(=O)O\na ring it is,c1ccccc1\n",
             "text, smiles could be meant", {"column": "text"}, ["an acid it is", "a ring it is"]),
        Asks("a.yaml", b"one two\nthree four\n", "Of which type is it?", {"type": "txt"},
             ["one two", "three four"]),
        Asks("languages.csv", b"language,review\nen,so it is\nde,ja so ist es\nen,no\nde,nie\n",
             "Is each value of column 'language' a set of its own (en, de)?", {"pool": True},
             ["so it is", "ja so ist es", "no", "nie"]),
        Asks("K.csv", b"1,0.5\n0.5,1\n", "is it a matrix of similarities", {"matrix": True},
             [[1, 0.5], [0.5, 1]]),
        Asks("sites.csv", b"site,a,b\nhere,1,2\nthere,3,1\n", "count the individuals",
             {"kind": "counts"}, [[1, 0]] + [[0, 1]] * 2 + [[1, 0]] * 3 + [[0, 1]]),
        Asks("mass.csv", b"name,mass\nethanol,46.1\npropane,44.1\n", "No column is clearly meant",
             {"column": "name"}, ["ethanol", "propane"]),
        Asks("two.parquet", parquet(a=X.tolist(), b=(2 * X).tolist()), "a, b", {"column": "b"},
             2 * X),
        Asks("two.json", json.dumps([{"a": [1, 2], "b": [3, 4]}]).encode(), "a, b",
             {"column": "b"}, [[3, 4]]),
    ]  # fmt: skip


def turned_down() -> list[Turned]:
    """Return files that are not read, each with what to do instead."""
    return [
        Turned("a.xlsx", b"PK\x03\x04....", "save the sheet as “CSV UTF-8”"),
        Turned("a.csv", zipped({"[Content_Types].xml": b"", "xl/workbook.xml": b""}), "the sheet"),
        Turned("a.pdf", b"%PDF-1.7", "copy its text"),
        Turned("a.pkl", b"\x80\x04\x95", "unpickling runs what is in it"),
        Turned("a.pt", b"PK\x03\x04", "save numbers with np.save"),
        Turned("a.jsonl.gz", b"\x1f\x8b", "unpack it"),
        Turned("a.tiff", b"II*\0", "save the picture as PNG or JPEG"),
        Turned("a.csv", "编号,回答\n1,今天天气很好".encode("gbk"), "save it as UTF-8"),
        Turned("a.txt", "one\ntwo\n".encode("utf-16-le"), "Line 1, column 2: there is a NUL"),
        Turned("a.txt", b"", "no texts yet"),
        Turned("a.txt", b" \n \n", "no texts yet"),
        Turned("a.csv", b'a,b\n"x,y\n', "Line 2 is not valid CSV"),
        Turned("a.json", b'{"a": 1, "b": 2}', "got an object with a, b"),
        Turned("a.json", b'["a",\n"b"', "Line 2, column 4"),
        Turned("a.json", b"3", "got int"),
        Turned("a.jsonl", b"{", "not valid JSON"),
        Turned("a.parquet", parquet(a=[{"b": 1}]), "There is no column of samples; it has a."),
        Turned("a.zip", zipped({"a.pdf": b"%PDF"}), "a.zip has no images, no .txt files"),
        Turned(
            "sparse.npz",
            npz(data=X[0], indices=X[0], indptr=X[0], shape=X[0], format=np.array(b"csr")),
            "X.toarray()",
        ),
    ]
