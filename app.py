"""The Space: `python app.py`, then open the address that it prints."""

import os

# Set before NumPy is imported: a Space has two cores, and several jobs run at a time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if __name__ == "__main__":  # worker processes import this file, too
    from vendiscore.tools.cli.command_page import serve

    serve(has_gradio=True)
