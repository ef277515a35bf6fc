"""How fast are columns and streams of Arrow? `python benchmarks/record_batches.py`.

`State.update` takes a column in chunks, or its array. `score_batches` reads two million rows of 20
parquet files; pyarrow reads them alone, and `State.update` takes its arrays. Within 250,000 prompts
of eight rows, `compute` scores all rows at once. Numbers must agree to 1e-12 before a time is
taken; the memory of the stream is measured, too.
"""

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pairs import agree, arguments, compare, environment, peak, write

from vendiscore import State, compute, score_batches

PROMPTS, EACH, WIDTH, FILES = 250_000, 8, 64, 20
ROWS = PROMPTS * EACH


def rows_of(n: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, WIDTH), dtype=np.float32)


def column(X: np.ndarray) -> pa.FixedSizeListArray:
    return pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), WIDTH)


def written(folder: Path, n: int) -> Path:
    """Write rows with their prompts in files whose borders cut prompts."""
    X = rows_of(n)
    prompts = np.repeat(np.arange(n // EACH), EACH)
    ends = np.linspace(0, n, FILES + 1).astype(int)
    ends[1:-1] += np.arange(FILES - 1) % EACH
    for i, (start, end) in enumerate(pairwise(ends.tolist())):
        labels = [f"prompt {label}" for label in prompts[start:end].tolist()]
        table = pa.table({"x": column(X[start:end]), "prompt": labels})
        pq.write_table(table, folder / f"{i:02}.parquet")
    return folder


def added(folder: Path) -> float:
    return float(score_batches(ds.dataset(folder), "x", k="cosine")["VS"])


def streamed(folder: str) -> tuple:
    """Prepare a call of little and the one whose memory counts, in a process of its own."""
    path = Path(folder)
    first = next(iter(ds.dataset(path).to_batches()))
    return lambda: score_batches([first], "x", k="cosine"), lambda: added(path)


def main() -> None:
    given = arguments(__doc__)
    X = rows_of(100_000)
    chunks = pa.chunked_array([column(X[i : i + 5000]) for i in range(0, len(X), 5000)])
    results = []

    def state_of(samples: object) -> float:
        return float(State(k="cosine").update(samples).compute()["VS"])

    agree(state_of(chunks), state_of(X), 1e-12)
    name = "State.update, 100,000 × 64 in 20 chunks next to the array"
    results.append(compare(name, lambda: state_of(chunks), lambda: state_of(X), given.repeats))
    with tempfile.TemporaryDirectory() as made:
        folder = written(Path(made), ROWS)
        dataset = ds.dataset(folder)

        def apart() -> float:
            state = State(k="cosine")
            for batch in dataset.to_batches(columns=["x"]):
                values = batch["x"].flatten().to_numpy().reshape(-1, WIDTH)
                state.update(values)
            return float(state.compute()["VS"])

        def together() -> float:
            table = dataset.to_table()
            values = np.concatenate([c.flatten().to_numpy() for c in table["x"].chunks])
            labels = table["prompt"].to_pylist()
            return float(compute(values.reshape(-1, WIDTH), groups=labels, k="cosine")["VS"])

        def within() -> float:
            return float(score_batches(dataset, "x", groups="prompt", k="cosine")["VS"])

        agree(added(folder), apart(), 1e-12)
        few = max(3, given.repeats // 2)
        name = f"{ROWS:,} × {WIDTH} of {FILES} files next to pyarrow and State.update"
        row = compare(name, lambda: added(folder), apart, few)
        row["peak_mb"] = peak(streamed, str(folder))
        results.append(row)
        agree(within(), together(), 1e-12)
        name = f"{PROMPTS:,} prompts × {EACH} × {WIDTH} next to all rows at once"
        results.append(compare(name, within, together, few))
    print(f"at most {results[1]['peak_mb']:.0f} MB above a process that scored one batch")
    write(given.json, results, environment("pyarrow"))


if __name__ == "__main__":
    main()
