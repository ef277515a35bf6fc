"""The Gradio Space: `python app.py`, then open the address that it prints."""

import os
from pathlib import Path
from zipfile import ZipFile

# Before NumPy is imported: a few jobs at a time share two cores, one thread each.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

HERE = Path(__file__).parent
if not (HERE / "vendiscore").is_dir():  # of an uploaded Space, a wheel has the packages
    for wheel in HERE.glob("vendiscore-*.whl"):
        ZipFile(wheel).extractall(HERE)

from vendiscore.support.optional import require  # noqa: E402

require("gradio", "app", "the page")  # before the imports of the page fail one by one

from vendiscore_page.serving.server import build, launch  # noqa: E402

demo = build()

if __name__ == "__main__":
    launch(demo)
