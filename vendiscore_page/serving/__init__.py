"""The server: its routes, who works when, what is kept, and what never gets in."""

import os

# Read when gradio is imported: it reports to nobody.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "100")  # kept in memory, and read by nobody
