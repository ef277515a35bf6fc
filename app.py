"""The Gradio Space: `python app.py`, then open the address that it prints."""

import os

# Set before NumPy is imported: a Space has two cores, and several jobs run at a time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if __name__ != "__mp_main__":  # worker processes import this file, but are no servers
    from vendiscore.support.optional import require

    # Raises an error with a hint for installation before the imports of the web app fail.
    require("gradio", "app", "the page")

    from vendiscore_page.serving.server import build, launch

    demo = build()

if __name__ == "__main__":
    launch(demo)
