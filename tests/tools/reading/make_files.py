"""Write the binary files of tests/tools/reading/files; run it as a script after a change.

The other files of the folder are texts, kept as they are. The binary ones are generated here to
document their content: images and vectors as Hugging Face's datasets write them,
details of lighteval, an Inspect log, and a table in UTF-16 as Excel saves "Unicode text".
"""

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

FILES = Path(__file__).parent / "files"
MORNING = (2026, 2, 7, 11, 26, 56)


def png_chunk(kind: bytes, data: bytes) -> bytes:
    """Return one chunk of a PNG: length, kind, data, checksum."""
    checksum = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + checksum


def png(rows: list[list[int]]) -> bytes:
    """Return a grey PNG, stored and not compressed, so that its bytes follow from the rows."""
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    lines = b"".join(b"\0" + bytes(row) for row in rows)
    chunks = [
        png_chunk(b"IHDR", header),
        png_chunk(b"IDAT", zlib.compress(lines, 0)),
        png_chunk(b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def feature_metadata(**kinds: dict[str, Any]) -> dict[str, str]:
    """Return the metadata in which datasets keeps the features of a parquet file."""
    return {"huggingface": json.dumps({"info": {"features": kinds}})}


def parquet(table: pa.Table) -> bytes:
    """Return the bytes of a table as parquet."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, use_dictionary=False, write_statistics=False)
    return buffer.getvalue()


def images() -> bytes:
    """Return three images and their labels: bytes and path in one struct, as `Image()` is kept."""
    stripes = [[255, 255, 0, 0], [255, 255, 0, 0], [0, 0, 255, 255], [0, 0, 255, 255]]
    ramp = [[40, 80, 120, 160], [60, 100, 140, 180], [80, 120, 160, 200], [100, 140, 180, 220]]
    pixels = [stripes, ramp, stripes]
    image_cells = [{"bytes": png(rows), "path": f"tile_{i}.png"} for i, rows in enumerate(pixels)]
    schema = pa.schema(
        [
            ("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
            ("label", pa.int64()),
        ],
        metadata=feature_metadata(
            image={"_type": "Image"}, label={"names": ["tile", "ramp"], "_type": "ClassLabel"}
        ),
    )
    return parquet(pa.table({"image": image_cells, "label": [0, 1, 0]}, schema=schema))


def embeddings() -> bytes:
    """Return four vectors of length one at right angles, each with an id."""
    rows = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    schema = pa.schema([("id", pa.string()), ("embedding", pa.list_(pa.float32(), 4))])
    ids = ["doc-17", "doc-18", "doc-19", "doc-20"]
    return parquet(pa.table({"id": ids, "embedding": rows}, schema=schema))


def build_detail(question_id: int, query: str, texts: list[str]) -> dict[str, Any]:
    """Return one row of lighteval's details: the document, its answers, its metric."""
    return {
        "doc": {
            "query": query,
            "choices": ["sun"],
            "gold_index": 0,
            "id": str(question_id),
            "task_name": "riddles",
            "num_samples": len(texts),
        },
        "model_response": {
            "input": f"Question: {query}\nAnswer:",
            "text": texts,
            "input_tokens": [3, 4],
            "output_tokens": [[5], [6]],
        },
        "metric": {"em": 0.0},
    }


def build_details() -> bytes:
    """Return lighteval's details of three questions, answered twice each."""
    rows = [
        build_detail(0, "Does it rain on the moon?", ["never", "never"]),
        build_detail(1, "Who wakes the baker?", ["hunger", "alarm clocks"]),
        build_detail(2, "What is brighter than gold?", ["honesty", "honesty"]),
    ]
    return parquet(pa.Table.from_pylist(rows))


def build_log_sample(name: str, epoch: int, question: str, text: str | None) -> dict[str, Any]:
    """Return one sample of an Inspect log; without a text, the model failed."""
    turn = {"content": text, "source": "generate", "role": "assistant", "model": "big-9"}
    choices = [] if text is None else [{"message": turn, "stop_reason": "stop"}]
    sample: dict[str, Any] = {
        "id": name,
        "epoch": epoch,
        "input": [{"content": question, "source": "input", "role": "user"}],
        "target": "a cloud",
        "messages": [choice["message"] for choice in choices],
        "output": {"model": "big-9", "choices": choices, "completion": text or ""},
        "scores": {},
        "metadata": {},
    }
    if text is None:
        sample["error"] = {"message": "ReadTimeout()", "traceback": "", "traceback_ansi": ""}
    return sample


def build_log() -> bytes:
    """Return an Inspect log as .eval: a zip with a header, summaries and a file a sample."""
    flies, burns = "What flies without wings?", "What burns without fire?"
    samples = [
        build_log_sample("s1", 1, flies, "time"),
        build_log_sample("s1", 2, flies, "time"),
        build_log_sample("s1", 3, flies, "time"),
        build_log_sample("s2", 1, burns, "nettles"),
        build_log_sample("s2", 2, burns, "jealousy"),
        build_log_sample("s2", 3, burns, None),
    ]
    task = {"task": "riddles", "model": "lab/big-9", "config": {"epochs": 3}}
    task["dataset"] = {"name": "riddles", "samples": 2, "sample_ids": ["s1", "s2"]}
    summaries = [{"id": sample["id"], "epoch": sample["epoch"]} for sample in samples]
    files: dict[str, Any] = {
        "_journal/start.json": {"version": 2, "eval": task},
        "_journal/summaries/1.json": summaries,
    }
    for sample in samples:
        files[f"samples/{sample['id']}_epoch_{sample['epoch']}.json"] = sample
    files["summaries.json"] = summaries
    files["reductions.json"] = []
    files["header.json"] = {"version": 2, "status": "success", "eval": task}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name, MORNING)
            archive.writestr(member, json.dumps(content), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def table() -> bytes:
    """Return a table in UTF-16 with a byte order mark, cells parted by tabs, lines by CRLF."""
    cells = [
        ("Nr", "Antwort"),
        ("1", "Grüße aus Köln"),
        ("2", "Łódź leży daleko"),
        ("3", "Grüße aus Köln"),
        ("4", "雨 が 降る"),
    ]
    text = "".join("\t".join(row) + "\r\n" for row in cells)
    return b"\xff\xfe" + text.encode("utf-16-le")


GENERATED = {
    "image_tiles.parquet": images,
    "embeddings_fixed.parquet": embeddings,
    "details_riddles.parquet": build_details,
    "inspect_log.eval": build_log,
    "unicode_text.csv": table,
}


def main() -> None:
    """Write every file of `GENERATED`."""
    for name, make in GENERATED.items():
        (FILES / name).write_bytes(make())


if __name__ == "__main__":
    main()
