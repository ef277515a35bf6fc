"""Select diverse rows of a folder of Parquet files, on the workers of Dask.

    python examples/recipes/greedi.py FOLDER COLUMN NUMBER_OF_ROWS

`select_batches` accepts the data of every engine in engines.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

from vendiscore import BatchSelection, select_batches


def select_rows(folder: Path, column: str, size: int) -> BatchSelection:
    import dask.dataframe

    return select_batches(dask.dataframe.read_parquet(folder), column, size, k="cosine")


if __name__ == "__main__":
    result = select_rows(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    print(result)
    print(*result.places)
