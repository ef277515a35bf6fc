"""Requests that try to occupy the web app: inputs that take much time or memory to process.

`ATTACKS` has functions that send the requests of an attack to a server. They return the last
answer as text, which is a result or a message.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import hostile_files
import httpx
import numpy as np
import page_client
from user_files import encode_zip

Attack = Callable[[httpx.Client], str]

PREPARATION_SECONDS = 60  # maximum time to make the inputs of an attack
_HALF_SURROGATES = ["a \ud800", "\udc00 b", "\ud800", "c d"]
_RANDOM = np.random.default_rng(0)
_WORDS = [f"word{i}" for i in range(3_000)]


def read(
    http: httpx.Client, text: str = "", files: Sequence[tuple[str, Any]] = (), **options: Any
) -> str:
    """Upload pasted text or files; functions are called to make the contents of files."""
    files = [(name, data() if callable(data) else data) for name, data in files]
    return _describe(lambda: page_client.upload_samples(http, text, files, **options))


def score(
    http: httpx.Client,
    kernel: str,
    text: Callable[[], str] | str = "",
    files: Sequence[tuple[str, Any]] = (),
    then: str = "",
    settings: dict[str, Any] | None = None,
    follow: dict[str, Any] | None = None,
    **options: Any,
) -> str:
    """Upload and score samples, and call another route, `then`, with the result."""
    files = [(name, data() if callable(data) else data) for name, data in files]
    text = text() if callable(text) else text

    def send() -> Any:
        result = page_client.upload_and_score(http, kernel, text, files, settings or {}, **options)
        if not then:
            return result
        return http.post(f"/page/{then}", json={"id": result["id"], **(follow or {})}).text

    return _describe(send)


def compare(http: httpx.Client, kernel: str, sets: Callable[[], list[str]], **settings: Any) -> str:
    def send() -> Any:
        keys = {
            f"set {i}": page_client.upload_samples(http, text)["key"]
            for i, text in enumerate(sets())
        }
        return page_client.compare_uploads(http, keys, kernel, **settings)

    return _describe(send)


def call(function: str, http: httpx.Client, **arguments: Any) -> str:
    """Call the API; functions are called to make arguments."""
    arguments = {name: x() if callable(x) else x for name, x in arguments.items()}
    return _describe(lambda: page_client.call_api(http, function, **arguments))


def call_tool(function: str, http: httpx.Client, **arguments: Any) -> str:
    """Call a tool of MCP; functions are called to make arguments."""
    arguments = {name: x() if callable(x) else x for name, x in arguments.items()}
    return json.dumps(page_client.call_mcp_tool(http, function, **arguments))


def post(path: str, http: httpx.Client, content: Callable[[], Any], headers: dict[str, str]) -> str:
    """Send a body as it is; a function makes it, or its chunks."""
    try:
        return http.post(path, content=content(), headers=headers).text
    except httpx.TransportError as error:  # the server need not receive the whole body
        return repr(error)


def _describe(send: Callable[[], Any]) -> str:
    try:
        return json.dumps(send())
    except (page_client.RejectedRequestError, page_client.CallError) as error:
        return str(error)


def make_texts(count: int, words: int, distinct_words: int = 3_000) -> str:
    return "\n".join(
        " ".join(_WORDS[j] for j in _RANDOM.integers(0, distinct_words, words))
        for _ in range(count)
    )


def make_rows(n: int, d: int) -> str:
    return "\n".join(",".join(map(str, row)) for row in _RANDOM.normal(size=(n, d)).round(3))


def make_npy(n: int, d: int, symmetric: bool = False) -> bytes:
    X = _RANDOM.normal(size=(n, d))
    if symmetric:
        X = (X + X.T) / (4 * n)
        np.fill_diagonal(X, 1)
    buffer = io.BytesIO()
    np.save(buffer, X)
    return buffer.getvalue()


def make_noise_images(count: int, side: int) -> list[tuple[str, bytes]]:
    from PIL import Image

    files = []
    for i in range(count):
        buffer = io.BytesIO()
        pixels = _RANDOM.integers(0, 255, (side, side, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(buffer, "JPEG", quality=20)
        files.append((f"{i}.jpg", buffer.getvalue()))
    return files


def make_cage(size: int) -> str:
    """Return a SMILES of 8 × `size` characters with as many rings as `size`."""
    return "".join(f"C%{i}" for i in range(10, 10 + size)) * 2


def nest_zip(levels: int) -> bytes:
    data = encode_zip({f"{i}.txt": b"0" * 10**6 for i in range(10)})
    for _ in range(levels):
        data = encode_zip({f"{i}.zip": data for i in range(10)})
    return data


def _repeat(text: str, characters: int) -> str:
    return text * (characters // len(text))


# Pasted text: what is repeated, how many characters.
_PASTED: dict[str, tuple[str, int]] = {
    "rules": ("---\n", 80_000),
    "800 kB of rules": ("---\n", 800_000),
    "rules of stars": ("***\n", 800_000),
    "rules of equals signs": ("===\n", 800_000),
    "rules and texts": ("a b\n---\n", 800_000),
    "blank lines": ("\n", 900_000),
    "carriage returns": ("\r", 900_000),
    "old and new line ends": ("a\r\n", 2_000_000),
    "short lines": ("a\n", 1_900_000),
    "one long line": ("a", 24_000_000),
    "one line of words": ("a b ", 24_000_000),
    "spaces": (" ", 24_000_000),
    "spaces and line ends": (" \n", 1_900_000),
    "tabs": ("\t", 1_000_000),
    "commas": (",", 1_000_000),
    "semicolons": (";", 1_000_000),
    "colons": (":", 1_000_000),
    "pipes": ("|", 1_000_000),
    "rows of a Markdown table": ("|---|---|\n", 1_000_000),
    "quotation marks": ('"', 1_000_001),
    "open quotation marks": ('"a\n', 1_000_000),
    "quoted commas": ('",",', 1_000_000),
    "open brackets": ("[", 1_000_000),
    "pairs of brackets": ("[],", 1_000_000),
    "open braces": ('{"a":', 1_000_000),
    "open parentheses": ("(", 1_000_000),
    "backslashes": ("\\", 1_000_001),
    "backquotes": ("`", 1_000_000),
    "dashes": ("-", 1_000_000),
    "digits": ("7", 1_000_000),
    "numbers": ("1 ", 2_000_000),
    "lines of numbers": ("1,2\n", 3_000_000),
    "rows of other lengths": ("1,2\n1\n1,2,3\n", 3_000_000),
    "exponents": ("1e9999 ", 1_000_000),
    "not a number": ("nan,inf\n", 2_000_000),
    "dates": ("2024-01-01,", 1_000_000),
    "percentages": ("5%\n", 1_000_000),
    "null characters": ("\0", 1_000_000),
    "combining marks": ("a\u0301", 1_000_000),
    "line separators": ("\u2028", 1_000_000),
    "Chinese": ("中", 3_000_000),
    "Thai lines": ("ภาษาไทย\n", 3_000_000),
    "emoji": ("👩‍👩‍👧‍👦", 1_000_000),
    "addresses": ("http://a.b/", 1_000_000),
    "list items": ("1. a\n", 3_000_000),
    "turns of a chat": ("User: a\nAssistant: b\n", 3_000_000),
    "FASTA": (">a\nACGT\n", 3_000_000),
    "atoms": ("C", 1_000_000),
    "lines of atoms": ("CCO\n", 3_000_000),
    "rings": ("C1", 1_000_000),
    "branches": ("C(", 1_000_000),
    "records": ('{"text": "a"}\n', 3_000_000),
    "records of other keys": ('{"a": 1}\n{"b": 2}\n', 3_000_000),
    "escaped half surrogates": ("\\ud800", 1_000_000),
}


def _with_keys() -> str:
    return "\n".join(json.dumps({f"key {i}": "a b"}) for i in range(20_000))


_FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "equal column names": (
        "a.csv",
        lambda: b",".join([b"x"] * 4_000) + b"\n" + b",".join([b"a b"] * 4_000),
    ),
    "columns without a name": ("a.csv", lambda: b"," * 3_999 + b"\n" + b"a b," * 3_999),
    "a million columns": ("a.csv", lambda: b"a" + b",a" * 10**6),
    "36 MB of short lines": ("a.txt", lambda: b"a\n" * 18_000_000),
    "36 MB of SMILES": ("a.smi", lambda: b"C\n" * 18_000_000),
    "36 MB of sequences": ("a.fasta", lambda: b"A\n" * 18_000_000),
    "36 MB of vectors": ("a.vec", lambda: b"a\n" * 18_000_000),
    "60 MB of strings": ("a.json", lambda: b'["ab"' + b',"ab"' * 12_000_000 + b"]"),
    "60 MB of a table": ("a.csv", lambda: b"id,answer\n" + b"1,a b c\n" * 7_000_000),
    "40 MB of numbers": ("a.csv", lambda: b"1.25,2.5\n" * 4_400_000),
    "keys of JSON lines": ("a.jsonl", lambda: _with_keys().encode()),
    "deep JSON": ("a.json", lambda: b"[" * 200_000),
    "a text of 200 MB": ("a.parquet", hostile_files.parquet_with_long_text),
    "texts in a cell": ("a.parquet", lambda: hostile_files.parquet_with_long_list("x" * 100)),
    "numbers in a cell": ("a.parquet", hostile_files.parquet_with_nested_list),
    "a gigabyte of bytes": ("a.parquet", hostile_files.parquet_with_long_bytes),
    "a page of 512 MB": ("a.parquet", hostile_files.parquet_with_large_page),
    "a .npy of 40 GB": ("a.npy", hostile_files.npy_claiming_forty_gigabytes),
    "a pickle": ("a.npy", hostile_files.npy_with_objects),
    "a gzip bomb": ("a.csv.gz", lambda: gzip.compress(b"0" * 500_000_000, 9)),
    "a bz2 bomb": ("a.csv.bz2", lambda: bz2.compress(b"0" * 200_000_000)),
    "an xz bomb": ("a.csv.xz", lambda: lzma.compress(b"0" * 200_000_000, preset=0)),
    "a gzip of gzips": (
        "a.csv.gz",
        lambda: gzip.compress(gzip.compress(gzip.compress(b"0" * 50_000_000))),
    ),
    "a zip bomb": ("a.zip", lambda: encode_zip({f"{i}.png": b"\0" * 10**7 for i in range(20)})),
    "nested zips": ("a.zip", lambda: nest_zip(2)),
    "20,000 entries": ("a.zip", lambda: encode_zip({f"{i}.txt": b"a b" for i in range(20_000)})),
    "zipped texts": (
        "a.zip",
        lambda: encode_zip({f"{i}.txt": b"a\n" * 10**6 for i in range(20)}),
    ),
    "WebP of 49 megapixels": ("a.webp", lambda: hostile_files.encode_webp(7_000)),
    "WebP of 15 megapixels": ("a.webp", lambda: hostile_files.encode_webp(3_870)),
    "PNG of 100 megapixels": ("a.png", lambda: hostile_files.encode_grey_png(10_000, 10_000)),
    "PNG of 55 megapixels": ("a.png", lambda: hostile_files.encode_grey_png(7_400, 7_400)),
    "a long PNG": ("a.png", lambda: hostile_files.encode_grey_png(1, 50_000)),
    "PNG with alpha": ("a.png", lambda: hostile_files.encode_image("PNG", 7_000, "RGBA")),
    "GIF of 49 megapixels": ("a.gif", lambda: hostile_files.encode_image("GIF", 7_000, "P")),
    "progressive JPEG": (
        "a.jpg",
        lambda: hostile_files.encode_image("JPEG", 7_000, progressive=True, subsampling=0),
    ),
    "20 large WebP": (
        "a.zip",
        lambda: encode_zip({f"{i}.webp": hostile_files.encode_webp(3_870) for i in range(20)}),
    ),
    "half a JPEG": ("a.jpg", hostile_files.truncated_jpeg),
    "half surrogates in JSON": ("a.json", lambda: json.dumps(_HALF_SURROGATES).encode()),
    "half surrogates in JSON lines": (
        "a.jsonl",
        lambda: "\n".join(json.dumps({"text": text}) for text in _HALF_SURROGATES).encode(),
    ),
    "half surrogates in a name": (
        "a.json",
        lambda: json.dumps([{"\ud800": text} for text in _HALF_SURROGATES]).encode(),
    ),
    "encoded half surrogates": ("a.txt", lambda: b"\xed\xa0\x80 a\nb \xed\xb0\x80\n" * 50),
}

_LONG_TEXTS = partial(make_texts, 900, 60)
_SCORES: dict[str, Attack] = {
    "long texts": partial(score, kernel="ngram_overlap", text=_LONG_TEXTS),
    "long texts, order 2.5": partial(
        score, kernel="ngram_overlap", text=_LONG_TEXTS, settings={"q": 2.5}
    ),
    "n-grams of characters": partial(
        score,
        kernel="ngram_overlap",
        text=_LONG_TEXTS,
        settings={"options": {"unit": "char", "ns": [1, 2, 3, 4, 5, 6]}},
    ),
    "many n": partial(
        score,
        kernel="ngram_overlap",
        text=_LONG_TEXTS,
        settings={"options": {"ns": list(range(1, 60))}},
    ),
    "one word": partial(score, kernel="ngram_overlap", text="a " * 9_000 + "\nb c"),
    "phrases of long texts": partial(
        score, kernel="ngram_overlap", text=_LONG_TEXTS, then="phrases"
    ),
    "phrases of repeated words": partial(
        score,
        kernel="ngram_overlap",
        text="\n".join("a b " * i for i in range(1, 480)),
        then="phrases",
    ),
    "report": partial(score, kernel="ngram_overlap", text=_LONG_TEXTS, then="report"),
    "figures": partial(score, kernel="ngram_overlap", text=_LONG_TEXTS, then="papers"),
    "subset": partial(
        score, kernel="ngram_overlap", text=_LONG_TEXTS, then="subset", follow={"size": 200}
    ),
    "all are near-duplicates": partial(
        score, kernel="ngram_overlap", text=_LONG_TEXTS, then="groups", follow={"threshold": 0.3}
    ),
    "prompt": partial(
        score, kernel="ngram_overlap", text=_LONG_TEXTS, settings={"prompts": "a word1 b"}
    ),
    "a wide matrix": partial(
        score, kernel="cosine", files=[("a.npy", lambda: make_npy(1_500, 4_000))]
    ),
    "a long matrix": partial(
        score, kernel="cosine", files=[("a.npy", lambda: make_npy(20_000, 300))]
    ),
    "a matrix, order 2.5": partial(
        score,
        kernel="cosine",
        files=[("a.npy", lambda: make_npy(4_000, 900))],
        settings={"q": 2.5},
    ),
    "pairs of rows": partial(score, kernel="rbf", files=[("a.npy", lambda: make_npy(2_000, 900))]),
    "sums of differences": partial(
        score, kernel="laplacian", files=[("a.npy", lambda: make_npy(1_000, 4_000))]
    ),
    "similarities": partial(
        score, kernel="K", files=[("a.npy", lambda: make_npy(1_000, 1_000, True))], matrix=True
    ),
    "similarities, clipped": partial(
        score,
        kernel="K, clipped",
        files=[("a.npy", lambda: make_npy(1_000, 1_000, True))],
        matrix=True,
    ),
    "cages": partial(
        score,
        kernel="rdkit",
        text=lambda: "\n".join([make_cage(37)] * 900),
        kind="molecules",
    ),
    "long molecules": partial(
        score,
        kernel="atom_pair",
        text=lambda: "\n".join("C" * (100 + i % 200) + "O" * (i // 200) for i in range(900)),
        kind="molecules",
    ),
    "branched molecules": partial(
        score, kernel="rdkit", text="\n".join(["C(C)(C)" * 42] * 100), kind="molecules"
    ),
    "100 photos": lambda http: score(http, "pixels", files=make_noise_images(100, 900)),
}


def _sets(count: int, n: int, words: int) -> list[str]:
    return [make_texts(n, words) for _ in range(count)]


_COMPARISONS: dict[str, Attack] = {
    "eight sets": partial(compare, kernel="ngram_overlap", sets=lambda: _sets(8, 900, 20)),
    "eight sets, order 2.5": partial(
        compare, kernel="ngram_overlap", sets=lambda: _sets(8, 500, 20), q=2.5
    ),
    "two large sets": partial(compare, kernel="ngram_overlap", sets=lambda: _sets(2, 1_000, 60)),
}
_CALLS: dict[str, Attack] = {
    "deep lists": partial(call, "vendi_score_texts", texts=json.loads("[" * 400 + "]" * 400)),
    "long texts": partial(
        call, "vendi_score_texts", texts=lambda: make_texts(900, 60).split("\n"), q=0.5
    ),
    "10,000 n": partial(
        call, "vendi_score_texts", texts=["a b c " * 100] * 50, ns=list(range(1, 10_000))
    ),
    "a large n": partial(call, "vendi_score_texts", texts=["a b", "c d"], ns=[10**18]),
    "prompts": partial(
        call,
        "vendi_score_texts",
        texts=lambda: make_texts(500, 20).split("\n"),
        prompts=lambda: make_texts(500, 20).split("\n"),
    ),
    "rows of a table": partial(
        call, "vendi_score_vectors", rows=lambda: _RANDOM.normal(size=(1_000, 900)).tolist()
    ),
    "pairs of rows": partial(
        call,
        "vendi_score_vectors",
        rows=lambda: _RANDOM.normal(size=(1_000, 300)).tolist(),
        kernel="laplacian",
        q=2.5,
    ),
    "large numbers": partial(call, "vendi_score_vectors", rows=[[1e308, -1e308], [1e-308, 0]]),
    "a huge integer": partial(call, "vendi_score_vectors", rows=[[10**300, 1], [1, 2]]),
    "an indefinite matrix": partial(
        call, "vendi_score_vectors", rows=[[1, 2], [2, 1]], kernel="K, clipped"
    ),
    "vectors": partial(
        call,
        "vendi_compare",
        sets=lambda: [_RANDOM.normal(size=(400, 100)).tolist() for _ in range(8)],
        kind="vectors",
    ),
    "models and prompts": partial(
        call,
        "vendi_compare",
        sets=lambda: [
            {"model": f"m{i % 4}", "prompt": f"p{i % 100}", "text": text}
            for i, text in enumerate(make_texts(1_200, 20).split("\n"))
        ],
    ),
}


def _rows(n: int, d: int) -> Callable[[], list[list[float]]]:
    return lambda: _RANDOM.normal(size=(n, d)).tolist()


def _texts(n: int, words: int) -> Callable[[], list[str]]:
    return lambda: make_texts(n, words).split("\n")


_GROUPS = f"groups={[i % 2 for i in range(1_000)]}"
_TWO_ROWS = [[1.0, 0.0], [0.0, 1.0]]
# Samples and arguments of `compute`.
_COMPUTE: dict[str, tuple[Any, str | Callable[[], str]]] = {
    "10^9 permutations": (_rows(100, 5), 'k="cosine", measures="BetweenVS", permutations=10**9'),
    "1,000,000,000 permutations": (
        _rows(100, 5),
        'k="cosine", measures="BetweenVS", permutations=1_000_000_000',
    ),
    "9,999 permutations": (
        _rows(1_000, 5),
        f'k="rbf", measures="BetweenVS", permutations=9_999, {_GROUPS}',
    ),
    "many scales": (_rows(1_000, 5), f'measures={{"Magnitude": {{"t": {[*range(1, 501)]}}}}}'),
    "areas": (_rows(1_000, 50), 'measures={"MagArea": {"n_scales": 1000}}'),
    "magnitude of 20,000 rows": (_rows(20_000, 3), 'measures="Magnitude"'),
    "magnitude of 1,000 rows": (_rows(1_000, 3), 'measures=["Magnitude", "MagArea", "t_conv"]'),
    "all measures": (_rows(900, 20), 'k="rbf", measures=["IntDiv", "MagArea", "Spread", "VS"]'),
    "100 orders with intervals": (
        _rows(900, 20),
        f'k="rbf", ci=0.95, q={[i / 10 for i in range(1, 101)]}',
    ),
    "estimate": (_rows(1_000, 300), 'k="rbf", method="estimate", rtol=0.001'),
    "exact estimate": (_rows(1_000, 300), 'k="rbf", method="estimate", rtol=1e-300'),
    "SelfBLEU": (_texts(900, 60), 'measures="SelfBLEU"'),
    "long n-grams": (_texts(900, 60), f"ns={[*range(1, 21)]}"),
    "a large n": (_texts(50, 20), f"ns=[{10**18}]"),
    "a power": (_TWO_ROWS, 'k="cosine", q=9**9**9'),
    "a product": (_TWO_ROWS, 'k="cosine", q=[1]*10**9'),
    "a shift": (_TWO_ROWS, 'k="cosine", q=1<<10**9'),
    "a huge integer": (_TWO_ROWS, f'k="cosine", q={"9" * 90_000}'),
    "a huge hexadecimal integer": (_TWO_ROWS, f'k="cosine", q=0x{"f" * 90_000}'),
    "an infinite order": (_TWO_ROWS, 'k="cosine", q=[1e999, -1e999]'),
    "a tiny bandwidth": (_TWO_ROWS, 'k="rbf", sigma=1e-320'),
    "complex numbers": (_TWO_ROWS, 'k="cosine", q=1e308j'),
    "deep lists": (_TWO_ROWS, f"q={'[' * 40_000}{']' * 40_000}"),
    "deep dicts": (_TWO_ROWS, f"options={'{1:' * 20_000}1{'}' * 20_000}"),
    "deep tuples": (_TWO_ROWS, f"q={'(' * 150}{',)' * 150}"),
    "signs": (_TWO_ROWS, f"q={'-' * 90_000}1"),
    "sums": (_TWO_ROWS, f"q={'1+' * 45_000}1j"),
    "calls": (_TWO_ROWS, f"q={'f(' * 90}{')' * 90}"),
    "equal arguments": (_TWO_ROWS, ", ".join(["q=1"] * 15_000)),
    "other arguments": (_TWO_ROWS, ", ".join(f"a{i}=1" for i in range(10_000))),
    "a long name": (_TWO_ROWS, f"{'a' * 90_000}=1"),
    "spaces": (_TWO_ROWS, f"q=1{' ' * 99_000}"),
    "open strings": (_TWO_ROWS, 'k="' * 30_000),
    "code": (_TWO_ROWS, "k=__import__('os').system('sleep 60')"),
    "a format": (_TWO_ROWS, "k=f'{9**9**9}'"),
    "half surrogates": (_HALF_SURROGATES, 'k="ngram_overlap"'),
    "a kernel of half surrogates": (_TWO_ROWS, 'k="\ud800"'),
    "not a number": ([[float("nan"), 1], [1, float("inf")]], 'k="rbf"'),
    "weights that are not a number": (_TWO_ROWS, 'k="rbf", p=[1e999, -1e999]'),
    "a path of images": ("/etc", 'k="pixels"'),
    "paths": (["/etc/passwd", "/etc/hosts"], 'k="pixels"'),
    "a path of references": (_TWO_ROWS, 'k="rbf", measures="Recall", references="/etc/passwd"'),
    "a path of weights": (_TWO_ROWS, 'k="rbf", p="/etc/passwd"'),
    "a path of a cache": (["a b", "c d"], 'cache="/tmp/cache"'),
    "a model": (["a b", "c d"], 'k="text_embeddings", model_path="../../etc"'),
    "a file of statistics": (_rows(50, 5), 'measures={"FID": {"same": "/etc/passwd"}}'),
    "cages": (lambda: [make_cage(37)] * 900, 'k="rdkit", max_path=7'),
    "bits": (lambda: ["C" * (50 + i % 200) for i in range(900)], 'k="morgan", n_bits=10**9'),
    "a large radius": (
        lambda: ["C" * (50 + i % 200) for i in range(900)],
        'k="morgan", radius=10, n_bits=16384',
    ),
    "a mixture": (
        _texts(900, 30),
        'k={"ngram_overlap": 0.5, "bleu": 0.5}',
    ),
    "deep samples": (json.loads("[" * 400 + "]" * 400), 'k="rbf"'),
    "samples of other lengths": ([[1.0] * i for i in range(1_000)], 'k="rbf"'),
    "a million samples": (lambda: [0] * 10**6, 'k="labels"'),
    "a large integer as sample": ([[10**300, 1], [1, 2]], 'k="rbf"'),
    "prompts": (
        _texts(900, 10),
        lambda: f"given_prompt=True, prompts={make_texts(900, 10).split(chr(10))}",
    ),
    "counts": ([], lambda: f"counts={[[1] * 900] * 30}"),
    "large counts": ([], f"counts={[10**17] * 1_000}, q=[0, 1, 2]"),
}
_TOOL_CASES = ("9,999 permutations", "areas", "a power", "deep lists", "half surrogates", "paths")
_SURROGATE_CALLS: dict[str, Attack] = {
    "texts of half surrogates": partial(call, "vendi_score_texts", texts=_HALF_SURROGATES),
    "characters of half surrogates": partial(
        call, "vendi_score_texts", texts=_HALF_SURROGATES, unit="char"
    ),
    "prompts of half surrogates": partial(
        call, "vendi_score_texts", texts=["a b", "c d"], prompts=["\ud800", "\udc00"]
    ),
    "a kernel of half surrogates": partial(
        call, "vendi_score_texts", texts=["a b", "c d"], kernel="\ud800"
    ),
    "molecules of half surrogates": partial(call, "vendi_score_molecules", smiles=_HALF_SURROGATES),
    "images of half surrogates": partial(call, "vendi_score_images", images=_HALF_SURROGATES),
    "sets of half surrogates": partial(
        call, "vendi_compare", sets={"\ud800": _HALF_SURROGATES, "b": _HALF_SURROGATES}
    ),
}


_URLENCODED = {"content-type": "application/x-www-form-urlencoded"}
_MULTIPART = {"content-type": "multipart/form-data; boundary=b"}
_JSON_BODIES: dict[str, Callable[[], bytes]] = {
    "empty lists": lambda: b'{"texts":[' + b"[]," * 3_000_000 + b"1]}",
    "objects": lambda: b'{"texts":[' + b'{"a":1},' * 1_500_000 + b"1]}",
    "digits": lambda: b'{"rows":[[' + b",".join([b"7" * 4_000] * 5_900) + b"]]}",
    "12,000,000 numbers": lambda: b'{"rows":[[' + b"1," * 12_000_000 + b"1]]}",
    "deep lists": lambda: b'{"samples":' + b"[" * 800 + b"1" + b"]" * 800 + b"}",
}


def _make_part(name: str, content: bytes) -> bytes:
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
    return head.encode() + content + b"\r\n--b--\r\n"


_BODIES: dict[str, Attack] = {
    **{
        f"{name} for {path}": partial(
            post, path, content=content, headers=page_client.JSON_HEADERS | page_client.MCP_HEADERS
        )
        for name, content in _JSON_BODIES.items()
        for path in ("/api/vendi_score_texts", "/api/compute", "/gradio_api/mcp/")
    },
    "escapes of a form": partial(
        post, "/page/read", content=lambda: b"text=" + b"%41" * 4_000_000, headers=_URLENCODED
    ),
    "beginnings of boundaries": partial(
        post,
        "/page/read",
        content=lambda: _make_part("text", b"\r\n--" * 6_000_000),
        headers=_MULTIPART,
    ),
    "large options": partial(
        post,
        "/page/read",
        content=lambda: _make_part("options", b'{"kind":[' + b"1," * 12_000_000 + b"1]}"),
        headers=_MULTIPART,
    ),
    "short chunks": partial(
        post,
        "/api/compute",
        content=lambda: (b" " for _ in range(100_000)),
        headers=page_client.JSON_HEADERS,
    ),
}


def _named(prefix: str, attacks: dict[str, Attack]) -> dict[str, Attack]:
    return {f"{prefix}: {name}": attack for name, attack in attacks.items()}


def _paste(text: str, characters: int, http: httpx.Client) -> str:
    return read(http, _repeat(text, characters))


def _upload(name: str, data: Callable[[], bytes], http: httpx.Client) -> str:
    return read(http, files=[(name, data)])


ATTACKS: dict[str, Attack] = {
    **_named("pasted", {name: partial(_paste, *x) for name, x in _PASTED.items()}),
    **_named("file", {name: partial(_upload, *x) for name, x in _FILES.items()}),
    **_named("score", _SCORES),
    **_named("comparison", _COMPARISONS),
    **_named("call", _CALLS | _SURROGATE_CALLS),
    **_named("body", _BODIES),
    **_named(
        "compute",
        {
            name: partial(call, "compute", samples=samples, arguments=arguments)
            for name, (samples, arguments) in _COMPUTE.items()
        },
    ),
    **_named(
        "tool",
        {
            name: partial(
                call_tool, "compute", samples=_COMPUTE[name][0], arguments=_COMPUTE[name][1]
            )
            for name in _TOOL_CASES
        },
    ),
}
