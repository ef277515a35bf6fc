"""What the re-runs of papers share: results as JSON with the versions they come from."""

import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
import scipy

import vendiscore


def write(path: Path | None, rows: list[dict[str, Any]], **facts: Any) -> None:
    """Write rows and where they come from, if a path was asked for."""
    if path is None:
        return
    environment = {
        "python": platform.python_version(),
        "vendiscore": vendiscore.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"environment": environment, **facts, "rows": rows}, indent=1)
    path.write_text(text + "\n")
