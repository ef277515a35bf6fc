"""Python processes with only the base dependencies: without torch and without `vendiscore`."""

import importlib.util
import os
import shutil
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(importlib.util.find_spec("numpy").origin).parents[1]

# Importing `evaluate` spends three quarters of its time on the ones of these that it finds.
_EXTRAS = ("torch", "transformers", "sklearn", "gradio", "matplotlib", "rdkit", "tensorflow", "jax")
_OURS = ("vendiscore", "__editable__", "_vendiscore")


@cache
def link_base_packages(*kept_packages: str) -> Path:
    """Return a folder of links to installed packages, with only `kept_packages` of the extras."""
    # The tests remove the folder HF_HOME at the end.
    folder = Path(mkdtemp(prefix="base-", dir=os.environ["HF_HOME"]))
    for entry in SITE.iterdir():
        if entry.name.partition("-")[0] in kept_packages or not entry.name.startswith(
            _EXTRAS + _OURS
        ):
            (folder / entry.name).symlink_to(entry)
    return folder


class PythonProcess:
    """A process that runs `code` in `folder`, with the Hub cache `folder/hf`."""

    def __init__(self, code: str, folder: Path, *path: Path, **env: str) -> None:
        """Start the process with the import paths `path` and the environment variables `env`."""
        offline = {} if "HF_ENDPOINT" in env else {"HF_HUB_OFFLINE": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-c", textwrap.dedent(code)],
            cwd=folder,
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith("HF_")},
                "PYTHONPATH": os.pathsep.join(map(str, (*path, link_base_packages()))),
                "HF_HOME": str(folder / "hf"),
                "HF_UPDATE_DOWNLOAD_COUNTS": "0",
                **offline,
                **env,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def lines(self) -> list[str]:
        """Return the printed lines; fail if the process failed."""
        out, err = self.process.communicate(timeout=180)
        assert self.process.returncode == 0, err
        return out.splitlines()


def clone_repository(folder: Path, score: float | None = None) -> Path:
    """Copy this repository to a folder; with `score`, its metric always returns that score."""
    copy_package(folder)
    shutil.copytree(ROOT / "kernels", folder / "kernels")
    for name in ("vendiscore.py", "magnitude.py", "library.py"):
        shutil.copy(ROOT / name, folder)
    if score is not None:
        with (folder / "vendiscore" / "scoring" / "compute.py").open("a", encoding="utf-8") as file:
            file.write(
                f"\ndef evaluate_request(*samples_and_request):\n    return {{'VS': {score}}}\n"
            )
    return folder


def copy_package(folder: Path) -> Path:
    """Copy the package to a folder, as a wheel contains it."""
    # Compiled files are copied along, which saves compiling them anew.
    shutil.copytree(ROOT / "vendiscore", folder / "vendiscore")
    return folder
