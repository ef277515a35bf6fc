"""The Gradio Space: `python app.py`, then open the address that it prints."""

import os

# Before NumPy is imported: a few jobs at a time share two cores, one thread each.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from vendiscore.support.optional import require

require("gradio", "app", "the page")  # before the imports of the page fail one by one

from vendiscore_page.serving.server import build, launch  # noqa: E402

demo = build()

if __name__ == "__main__":
    launch(demo)
