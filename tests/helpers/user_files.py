"""Files in the formats that users have, and the samples that they contain."""

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
VECTORS = np.array([[0.5, 1.5, -2e-3], [3.5, 4.5, 5.5], [1.25, 0.0, 7.0], [8.5, 2.5, 3.5]])


class ReadableFile(NamedTuple):
    """A file and its samples.

    Attributes
    ----------
    name : str
    data : bytes
    kind : str
    values : list or array
    locations : list
        Lines, rows or file names of the samples.
    note : str
        A part of the notes.
    """

    name: str
    data: bytes
    kind: str
    values: Any
    locations: list[Any]
    note: str = ""


class AmbiguousFile(NamedTuple):
    """A file that can be read in several ways.

    Attributes
    ----------
    name : str
    data : bytes
    question : str
        A part of the question.
    options : dict
        One of the choices.
    values : list or array
        Samples of the file with these options.
    """

    name: str
    data: bytes
    question: str
    options: dict[str, Any]
    values: Any


class RejectedFile(NamedTuple):
    """An invalid file, and a part of the error message."""

    name: str
    data: bytes
    message: str


def format_rows(X: np.ndarray, sep: str = ",", decimal: str = ".", index: Any = None) -> str:
    """Return rows of numbers as text."""
    lines = [sep.join(str(x).replace(".", decimal) for x in row) for row in X]
    if index is not None:
        lines = [f"{i}{sep}{line}" for i, line in zip(index, lines, strict=True)]
    return "\n".join(lines) + "\n"


def encode_parquet(**columns: Any) -> bytes:
    """Return a parquet file of columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def encode_npy(X: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, X)
    return buffer.getvalue()


def encode_npz(save: Callable[..., None] = np.savez, **arrays: Any) -> bytes:
    buffer = io.BytesIO()
    save(buffer, **arrays)
    return buffer.getvalue()


def encode_zip(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return buffer.getvalue()


def encode_photo(
    image_format: str = "JPEG", width: int = 64, height: int = 48, seed: int = 0, **options: Any
) -> bytes:
    """Return a photo-like image with a few large areas."""
    from PIL import Image

    if image_format in ("HEIF", "AVIF"):
        import pillow_heif

        pillow_heif.register_heif_opener()
    small = np.random.default_rng(seed).integers(0, 255, (6, 8, 3), dtype=np.uint8)
    image = Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)
    buffer = io.BytesIO()
    image.save(buffer, image_format, **options)
    return buffer.getvalue()


def encode_rotated_photo(image_format: str) -> bytes:
    """Return the same photo stored rotated, with an EXIF orientation."""
    import pillow_heif
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    if image_format == "JPEG":
        return encode_photo(image_format, quality=95, exif=exif)
    flat = Image.open(io.BytesIO(encode_photo("PNG"))).convert("RGB")
    buffer = io.BytesIO()
    lying = pillow_heif.from_bytes("RGB", flat.size, flat.tobytes())
    lying.save(buffer, quality=95, exif=exif.tobytes())
    return buffer.getvalue()


_ID_ROWS = "\n".join(f"{i},{text}" for i, text in enumerate(QUOTED, 101))
_NUMBERED_ROWS = "\n".join(f"{i},{text}" for i, text in enumerate(QUOTED))
_TAB_ROWS = "\n".join(f"{i}\t{text}" for i, text in enumerate(TEXTS, 101))
_RECORDS = [{"id": f"x{i}", "prompt": "So?", "answer": text} for i, text in enumerate(TEXTS)]
_ROW_NUMBERS = [2, 3, 4]


def _text_file(
    name: str, data: str | bytes, locations: Any = (2, 3, 4), note: str = "answer"
) -> ReadableFile:
    data = data.encode() if isinstance(data, str) else data
    return ReadableFile(name, data, "texts", TEXTS, list(locations), note)


def _vector_file(
    name: str, data: str | bytes, note: str = "", first_row: int = 1, X: Any = VECTORS
) -> ReadableFile:
    data = data.encode() if isinstance(data, str) else data
    return ReadableFile(name, data, "vectors", X, list(range(first_row, first_row + len(X))), note)


def pasted_tables() -> list[ReadableFile]:
    """Return tables that may be pasted or uploaded."""
    lines = ["two\nlines, so", 'a "word"', "one"]
    quoted = "\n".join(
        f'"{i}","{text}"' for i, text in enumerate(["two\nlines, so", 'a ""word""', "one"])
    )
    models = "\n".join(f"{text},{'ab'[i % 2]}" for i, text in enumerate(QUOTED))
    return [
        _text_file("commas", "id,answer\n" + _ID_ROWS, note="contains the column names id, answer"),
        _text_file(
            "semicolons",
            "id;answer;note\n" + "\n".join(f"7;{text};1,5" for text in QUOTED),
            note="split by semicolons",
        ),
        _text_file("tabs", "id\tanswer\n" + _TAB_ROWS, note="split by tabs"),
        ReadableFile(
            "quoted", f"id,answer\n{quoted}".encode(), "texts", lines, [2, 3, 4], "column 'answer'"
        ),
        _text_file("models", "answer,model\n" + models, note="2 groups by column 'model'"),
    ]


def text_files() -> list[ReadableFile]:
    """Return files of texts."""
    chinese = "编号,回答\n" + "\n".join(f"{i},{answer}" for i, answer in enumerate(CHINESE))
    western = "Nr;Antwort\n" + "\n".join(f"{i};{text}" for i, text in enumerate(UMLAUTS))
    return [
        _text_file("id first.csv", "id,answer\n" + _ID_ROWS),
        _text_file("windows.csv", "id,answer\r\n" + _ID_ROWS.replace("\n", "\r\n")),
        _text_file("last.csv", "answer,mark,id\n" + "\n".join(f"{t},1.5,7" for t in QUOTED)),
        _text_file("pandas.csv", ",text\n" + _NUMBERED_ROWS, note="text"),
        _text_file("pandas numbers.csv", ",0\n" + _NUMBERED_ROWS, note="'0'"),
        _text_file("no header.csv", _ID_ROWS, (1, 2, 3), "column 2"),
        _text_file("texts only.csv", "\n".join(QUOTED), (1, 2, 3), "no header row"),
        _text_file("tabs.tsv", "id\tanswer\n" + _TAB_ROWS, note="split by tabs"),
        _text_file("tabs.csv", "id\tanswer\n" + _TAB_ROWS, note="split by tabs"),
        _text_file("bars.csv", "id|answer\n" + "\n".join(f"7|{t}" for t in TEXTS), note="bars"),
        _text_file(
            "excel.csv",
            "id;Antwort;Note\n" + "\n".join(f"7;{t};1,5" for t in QUOTED),
            note="split by semicolons",
        ),
        _text_file(
            "sep.csv",
            "sep=;\r\nid;answer\r\n" + "\r\n".join(f"7;{t}" for t in QUOTED),
            note="semicolons",
        ),
        _text_file("bom.csv", b"\xef\xbb\xbf" + f"id,answer\n{_ID_ROWS}".encode()),
        _text_file("utf-16.csv", f"id\tanswer\n{_TAB_ROWS}".encode("utf-16")),
        _text_file("utf-16.txt", "\n".join(TEXTS).encode("utf-16"), (1, 2, 3), "Read 3 lines"),
        _text_file("one column.csv", "answer\n" + "\n".join(TEXTS)),
        _text_file("spaces.csv", "id, answer\n" + "\n".join(f"7, {t}" for t in QUOTED)),
        _text_file(
            "prompts.csv",
            "prompt,model,answer\n" + "\n".join(f"Is it so?,m,{t}" for t in QUOTED),
        ),
        _text_file("old mac.txt", "\r".join(TEXTS), (1, 2, 3), "Read 3 lines"),
        _text_file("notes.md", "\n\n".join(TEXTS), (1, 3, 5), "Read 3 lines"),
        _text_file("lines.jsonl", "\n".join(map(json.dumps, _RECORDS)), (1, 2, 3)),
        _text_file("strings.jsonl", "\n\n".join(map(json.dumps, TEXTS)), (1, 3, 5), "3 lines"),
        _text_file("strings.json", json.dumps(TEXTS), (1, 2, 3), "3 elements"),
        _text_file("records.json", json.dumps(_RECORDS, indent=1), (1, 2, 3)),
        _text_file("wrapped.json", json.dumps({"data": _RECORDS}), (1, 2, 3)),
        _text_file("columns.json", json.dumps({"id": [7, 8, 9], "answer": TEXTS}), (1, 2, 3)),
        _text_file(
            "pandas.json",
            json.dumps({"id": {"0": 7, "1": 8, "2": 9}, "answer": dict(enumerate(TEXTS))}),
            (1, 2, 3),
        ),
        _text_file("table.parquet", encode_parquet(id=[7, 8, 9], answer=TEXTS), (1, 2, 3)),
        _text_file("no ending", "\n".join(TEXTS), (1, 2, 3), "Read 3 lines"),
        _text_file("one.zip", encode_zip({"a/b.csv": f"id,answer\n{_ID_ROWS}".encode()})),
        _text_file(
            "three.zip",
            encode_zip({f"a/{i}.txt": text.encode() for i, text in enumerate(TEXTS)}),
            ["0.txt", "1.txt", "2.txt"],
            "Read 3 files.",
        ),
        ReadableFile("chinese.csv", chinese.encode(), "texts", CHINESE, _ROW_NUMBERS, "回答"),
        ReadableFile(
            "chinese.txt", "\n".join(CHINESE).encode(), "texts", CHINESE, [1, 2, 3], "3 lines"
        ),
        ReadableFile(
            "chinese 16.csv", chinese.encode("utf-16"), "texts", CHINESE, _ROW_NUMBERS, "回答"
        ),
        ReadableFile(
            "western.csv", western.encode("cp1252"), "texts", UMLAUTS, _ROW_NUMBERS, "Windows-1252"
        ),
    ]


def molecule_files() -> list[ReadableFile]:
    """Return files of molecules."""
    result = {
        "named.csv": "compound_id,SMILES\n" + "\n".join(f"C{i},{s}" for i, s in enumerate(SMILES)),
        "camel.csv": "CID,IsomericSMILES,name\n" + "\n".join(f"1,{s},CO" for s in SMILES),
        "unnamed.csv": "name;structure\n" + "\n".join(f"so-and-so;{s}" for s in SMILES),
        "tabs.tsv": "name\tsmiles\n" + "\n".join(f"so-and-so\t{s}" for s in SMILES),
    }
    table = [
        ReadableFile(n, d.encode(), "molecules", SMILES, _ROW_NUMBERS) for n, d in result.items()
    ]
    lines = "\n".join(f"{s} so-and-so" for s in SMILES)
    return [
        *table,
        ReadableFile("bare.smi", "\n".join(SMILES).encode(), "molecules", SMILES, [1, 2, 3]),
        ReadableFile("with names.smi", lines.encode(), "molecules", SMILES, [1, 2, 3]),
        ReadableFile(
            "a.parquet", encode_parquet(smiles=SMILES, y=[1, 2, 3]), "molecules", SMILES, [1, 2, 3]
        ),
    ]


def vector_files() -> list[ReadableFile]:
    """Return files of numbers."""
    records = [
        {"id": 7 + i, "a": x[0], "b": x[1], "c": x[2]} for i, x in enumerate(VECTORS.tolist())
    ]
    quoted = format_rows(VECTORS, '","', ",").strip().replace("\n", '"\n"').join('""')
    return [
        _vector_file("bare.csv", format_rows(VECTORS), "no header row"),
        _vector_file(
            "named.csv",
            "a,b,c\n" + format_rows(VECTORS),
            "the first row contains the column names a, b, c",
            2,
        ),
        _vector_file(
            "counted.csv", "0,1,2\n" + format_rows(VECTORS), "contains the column names 0, 1, 2", 2
        ),
        _vector_file(
            "pandas.csv",
            ",0,1,2\n" + format_rows(VECTORS, index=range(4)),
            "column 1 (it numbers",
            2,
        ),
        _vector_file(
            "unnamed.csv",
            "Unnamed: 0,a,b,c\n" + format_rows(VECTORS, index=range(4)),
            "Unnamed: 0",
            2,
        ),
        _vector_file(
            "ids.csv", "id,a,b,c\n" + format_rows(VECTORS, index=[7, 9, 12, 14]), "left out: id", 2
        ),
        _vector_file(
            "labels.csv",
            "what,a,b,c\n" + format_rows(VECTORS, index="uvwx"),
            "what (no numbers)",
            2,
        ),
        _vector_file("excel.csv", format_rows(VECTORS, ";", ","), "decimal commas"),
        _vector_file(
            "excel named.csv",
            "a;b;c\n" + format_rows(VECTORS, ";", ","),
            "semicolons; decimal commas",
            2,
        ),
        _vector_file(
            "tabs.tsv", "a\tb\tc\n" + format_rows(VECTORS, "\t", ","), "tabs; decimal commas", 2
        ),
        _vector_file("quoted.csv", quoted, "decimal commas"),
        _vector_file("spaces.txt", format_rows(VECTORS, " "), "split by spaces"),
        _vector_file("windows.csv", format_rows(VECTORS).replace("\n", "\r\n")),
        _vector_file("utf-16.csv", format_rows(VECTORS).encode("utf-16")),
        _vector_file("a.npy", encode_npy(VECTORS), "4 rows of 3 numbers"),
        _vector_file("fortran.npy", encode_npy(np.asfortranarray(VECTORS))),
        _vector_file("one column.npy", encode_npy(VECTORS[:, :1]), X=VECTORS[:, :1]),
        _vector_file("whole.npy", encode_npy(VECTORS.astype(np.int8)), X=VECTORS.astype(np.int8)),
        _vector_file("big-endian.npy", encode_npy(VECTORS.astype(">f8"))),
        _vector_file("a.npz", encode_npz(X=VECTORS), "4 rows of 3 numbers"),
        _vector_file("squeezed.npz", encode_npz(np.savez_compressed, embeddings=VECTORS)),
        _vector_file("rows.json", json.dumps(VECTORS.tolist()), "4 elements"),
        _vector_file("rows.jsonl", "\n".join(map(json.dumps, VECTORS.tolist())), "4 lines"),
        _vector_file("records.json", json.dumps(records), "left out: id (it numbers the rows)"),
        _vector_file(
            "wide.parquet", encode_parquet(a=VECTORS[:, 0], b=VECTORS[:, 1], c=VECTORS[:, 2])
        ),
        _vector_file(
            "rows.parquet", encode_parquet(id=[7, 8, 9, 10], e=VECTORS.tolist()), "rows.parquet"
        ),
        _vector_file(
            "named.parquet",
            encode_parquet(
                a=VECTORS[:, 0], b=VECTORS[:, 1], c=VECTORS[:, 2], __index_level_0__=[1, 2, 3, 4]
            ),
            "4 vectors",
        ),
    ]


def ambiguous_files() -> list[AmbiguousFile]:
    """Return files that have several readings."""
    two = "a,b\nhello you there,good bye now\nhello me now,good day then\n"
    unquoted = "Well, yes.\nno\nI think, maybe, so.\n"
    return [
        AmbiguousFile(
            "two.csv",
            two.encode(),
            "Columns a, b could be meant",
            {"column": "b"},
            ["good bye now", "good day then"],
        ),
        AmbiguousFile(
            "unquoted.csv",
            unquoted.encode(),
            "row 1 has 2 cells but row 3 has 3",
            {"separator": "line"},
            unquoted.splitlines(),
        ),
        AmbiguousFile(
            "commas.csv",
            b"id,answer\n1,yes, so\n2,no, never\n",
            "row 2 has 3, row 3 has 3",
            {"separator": "line"},
            ["id,answer", "1,yes, so", "2,no, never"],
        ),
        AmbiguousFile(
            "header.csv",
            b"0,1,2\n5,6,7\n8,9,1\n",
            "Row 1 is 0, 1, 2",
            {"header": True},
            [[5, 6, 7], [8, 9, 1]],
        ),
        AmbiguousFile(
            "sample.csv",
            b"0,1,2\n5,6,7\n8,9,1\n",
            "the names of the columns, or a sample?",
            {"header": False},
            [[0, 1, 2], [5, 6, 7], [8, 9, 1]],
        ),
        AmbiguousFile(
            "index.csv",
            b"0,5\n1,7\n2,9\n3,4\n",
            "does it number the rows?",
            {"index": True},
            [[5], [7], [9], [4]],
        ),
        AmbiguousFile(
            "number.csv",
            b"0,5\n1,7\n2,9\n3,4\n",
            "The first column is 0, 1, 2",
            {"index": False},
            [[0, 5], [1, 7], [2, 9], [3, 4]],
        ),
        AmbiguousFile(
            "two.npz",
            encode_npz(X=VECTORS, Y=2 * VECTORS),
            "Which array holds the samples?",
            {"column": "X"},
            VECTORS,
        ),
        AmbiguousFile(
            "smiles.csv",
            b"smiles,canonical_smiles\nCC(=O)O,OC(C)=O\n",
            "smiles, canonical_smiles could be meant",
            {"column": "canonical_smiles"},
            ["OC(C)=O"],
        ),
        AmbiguousFile(
            "nested.parquet",
            encode_parquet(a=[{"b": "so it is"}, {"b": "no it is"}]),
            "Which column holds the samples?",
            {"column": "a.b"},
            ["so it is", "no it is"],
        ),
        AmbiguousFile(
            "text.csv",
            b"text,smiles\nan acid it is,CC(=O)O\na ring it is,c1ccccc1\n",
            "text, smiles could be meant",
            {"column": "text"},
            ["an acid it is", "a ring it is"],
        ),
        AmbiguousFile(
            "a.conf",
            b"one two\nthree four\n",
            "Of which type is it?",
            {"type": "txt"},
            ["one two", "three four"],
        ),
        AmbiguousFile(
            "languages.csv",
            b"language,review\nen,so it is\nde,ja so ist es\nen,no\nde,nie\n",
            "Is each value of column 'language' a set of its own (en, de)?",
            {"pool": True},
            ["so it is", "ja so ist es", "no", "nie"],
        ),
        AmbiguousFile(
            "K.csv",
            b"1,0.5\n0.5,1\n",
            "is it a matrix of similarities",
            {"matrix": True},
            [[1, 0.5], [0.5, 1]],
        ),
        AmbiguousFile(
            "sites.csv",
            b"site,a,b\nhere,1,2\nthere,3,1\n",
            "count the individuals",
            {"kind": "counts"},
            [[1, 0]] + [[0, 1]] * 2 + [[1, 0]] * 3 + [[0, 1]],
        ),
        AmbiguousFile(
            "mass.csv",
            b"name,mass\nethanol,46.1\npropane,44.1\n",
            "No column is clearly meant",
            {"column": "name"},
            ["ethanol", "propane"],
        ),
        AmbiguousFile(
            "two.parquet",
            encode_parquet(a=VECTORS.tolist(), b=(2 * VECTORS).tolist()),
            "a, b",
            {"column": "b"},
            2 * VECTORS,
        ),
        AmbiguousFile(
            "two.json",
            json.dumps([{"a": [1, 2], "b": [3, 4]}]).encode(),
            "a, b",
            {"column": "b"},
            [[3, 4]],
        ),
    ]


def rejected_files() -> list[RejectedFile]:
    """Return files that cannot be read, with a part of the hint in the error."""
    return [
        RejectedFile("a.xlsx", b"PK\x03\x04....", "save the sheet as “CSV UTF-8”"),
        RejectedFile(
            "a.csv", encode_zip({"[Content_Types].xml": b"", "xl/workbook.xml": b""}), "the sheet"
        ),
        RejectedFile("a.pdf", b"%PDF-1.7", "copy its text"),
        RejectedFile("a.pkl", b"\x80\x04\x95", "unpickling runs what is in it"),
        RejectedFile("a.pt", b"PK\x03\x04", "save numbers with np.save"),
        RejectedFile("a.jsonl.gz", b"\x1f\x8b", "truncated or damaged"),
        RejectedFile("a.npy", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        RejectedFile("a.tiff", b"II*\0", "save the picture as PNG or JPEG"),
        RejectedFile("a.csv", "编号,回答\n1,今天天气很好".encode("gbk"), "save it as UTF-8"),
        RejectedFile("a.txt", "one\ntwo\n".encode("utf-16-le"), "Line 1, column 2: there is a NUL"),
        RejectedFile("a.txt", b"", "no texts yet"),
        RejectedFile("a.txt", b" \n \n", "no texts yet"),
        RejectedFile("a.csv", b'a,b\n"x,y\n', "Line 2 is not valid CSV"),
        RejectedFile("a.json", b'{"a": 1, "b": 2}', "got an object with a, b"),
        RejectedFile("a.json", b'["a",\n"b"', "Line 2, column 4"),
        RejectedFile("a.json", b"3", "got int"),
        RejectedFile("a.jsonl", b"{", "not valid JSON"),
        RejectedFile(
            "a.parquet", encode_parquet(a=[{"b": 1}]), "There is no column of samples; it has a."
        ),
        RejectedFile(
            "a.zip", encode_zip({"a.pdf": b"%PDF"}), "a.zip must contain images, .txt files"
        ),
        RejectedFile(
            "sparse.npz",
            encode_npz(
                data=VECTORS[0],
                indices=VECTORS[0],
                indptr=VECTORS[0],
                shape=VECTORS[0],
                format=np.array(b"csr"),
            ),
            "X.toarray()",
        ),
    ]
