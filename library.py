"""Finds the package `vendiscore` for a metric script that `evaluate` has copied elsewhere.

`evaluate.load` copies a script, and the single files beside it that it imports, into a cache; a
package is never copied. So the script asks here, and gets the package of its own version:

1. the one that this process already uses: one process, one package;
2. the one beside the script that the caller gave to `evaluate.load`, or of that Space;
3. the one that is installed;
4. where nobody called `evaluate.load` (a metric unpickled in another process), the one beside the
   script that the cache recorded: written once for all scripts of one text, so that it is a hint,
   and followed only to a script that still has that text and belongs to whoever runs this.

A process that uses the package of another version, or of a clone with other code, is refused the
second one, with both paths. `evaluate` runs a script once in a process, also for two clones whose
scripts are equal: `check` compares their packages.
"""

import importlib
import importlib.util
import json
import os
import re
import sys
import tempfile
import threading
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import evaluate

_NAME = "vendiscore"


class _Shared(ModuleType):
    """What all copies of this file have in common: `evaluate` makes one for each script."""

    lock = threading.RLock()


# One step, whatever other threads do meanwhile.
_lock = sys.modules.setdefault("_vendiscore_library", _Shared("_vendiscore_library")).lock


def library(module: str, file: str, version: str) -> ModuleType:
    """The package `vendiscore` of this version, with `integrations.huggingface` loaded.

    Parameters
    ----------
    module, file : str
        `__name__` and `__file__` of the metric script.
    version : str
        The version that the script goes with.

    Raises
    ------
    ImportError
        If it is nowhere to be had, or another version is in use; the message says where and what
        to do.
    """
    with _lock:
        package = (
            _imported(str(_given(file) or file), version)
            or _beside(_given(file), version)
            or _from_hub(module, file, version)
            or _installed(version)
            or _beside(_recorded(file), version)
        )
    if package is None:
        raise ImportError(_advice(file, version))
    importlib.import_module(f"{_NAME}.integrations.huggingface")
    return package


def check(package: ModuleType) -> None:
    """Raise an ImportError if `evaluate.load` was given a clone that has other code than `package`.

    Folders of one version and the same code are one package, wherever they are.
    """
    script = _given()
    if script is None or _version(script.parent / _NAME) != package.__version__:
        return
    used = Path(package.__path__[0])
    folders = [(script.parent / _NAME, used), (script.parent / "kernels", used.parent / "kernels")]
    if any(_differ(*pair) for pair in folders):
        raise ImportError(
            f"evaluate.load was given {script}, but this process already uses {_NAME} "
            f"{package.__version__} of {used}, whose code is not the same: load the script in a "
            f"new process"
        )


def _imported(script: str, version: str) -> ModuleType | None:
    """The package in use, which must be of this version."""
    if sys.modules.get(_NAME) is None:
        return None
    package = importlib.import_module(_NAME)  # waits while another thread imports it
    used = getattr(package, "__version__", "of no version")
    if used != version:
        raise ImportError(
            f"{script} goes with {_NAME} {version}, but this process already uses {_NAME} {used} "
            f"of {', '.join(getattr(package, '__path__', ['memory']))}: load the script in a new "
            "process"
        )
    return package


def _call() -> Mapping[str, Any]:
    """The arguments of the call of `evaluate.load` that this is part of; empty if there is none.

    Only its frame has them: `evaluate` hands no path to a script, and records for a copy the
    first path of all scripts that have the same text.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "load" and frame.f_globals.get("__name__") == "evaluate.loading":
            return frame.f_locals
        frame = frame.f_back
    return {}


def _given(file: str = "") -> Path | None:
    """Return the script that the caller of `evaluate.load` named; `file` if it is not a copy."""
    path = _call().get("path")
    if isinstance(path, str):  # as `evaluate` reads it: a script, or a folder with one of its name
        for script in (Path(path), Path(path, Path(path).name + ".py")):
            if script.suffix == ".py" and script.is_file():
                return script.absolute()
    return Path(file).absolute() if file and not _cached(file).exists() else None


def _cached(file: str) -> Path:
    """Return the file in which `evaluate` records what the script is a copy of."""
    return Path(file).with_suffix(".json")


def _recorded(file: str) -> Path | None:
    """The script that the cache recorded, if that may be followed and nobody named another."""
    script = Path(_read(_cached(file)).get("original file path", ""))
    if _call() or not script.is_absolute():
        return None
    try:
        unchanged = script.read_bytes() == Path(file).read_bytes()
        init = script.parent / _NAME / "__init__.py"
        owners = {script.stat().st_uid, init.stat().st_uid}
    except OSError:  # moved or deleted
        return None
    return script if unchanged and owners == {getattr(os, "geteuid", int)()} else None


def _beside(script: Path | None, version: str) -> ModuleType | None:
    return None if script is None else _load(script.parent / _NAME, version)


def _installed(version: str) -> ModuleType | None:
    spec = importlib.util.find_spec(_NAME)
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        return None  # nothing, a folder without code, or this very script
    return importlib.import_module(_NAME) if _version(Path(spec.origin).parent) == version else None


def _from_hub(module: str, file: str, version: str) -> ModuleType | None:
    """The package of the Space that the script was loaded from, at its revision."""
    space = re.search(r"\.([^.]+?)--([^.]+)\.[0-9a-f]{64}\.", module)
    if space is None:
        return None
    from huggingface_hub import snapshot_download

    name = "/".join(space.groups())
    try:
        folder = snapshot_download(
            name,
            repo_type="space",
            revision=_revision(file),
            allow_patterns=[f"{_NAME}/**", f"{_NAME}-*.whl", f"{_NAME}.py", "kernels/**"],
        )
    except OSError as error:  # nobody answers, and it is not in the cache
        package = _installed(version)
        if package is None:
            raise
        importlib.import_module(f"{_NAME}.support.errors").warn(
            f"the package of the Space {name} cannot be had ({error}); the installed {_NAME} "
            f"{version} of {package.__path__[0]} is used"
        )
        return package
    return _load(_unpacked(Path(folder), version), version)


def _unpacked(folder: Path, version: str) -> Path:
    """The package in the files of a Space, which may have it in a wheel."""
    package = folder / _NAME
    for wheel in folder.glob(f"{_NAME}-{version}-*.whl"):
        if not package.is_dir():
            with tempfile.TemporaryDirectory(dir=folder) as whole:
                zipfile.ZipFile(wheel).extractall(whole)
                with suppress(OSError):  # another process was first
                    os.replace(Path(whole) / _NAME, package)
    return package


def _revision(file: str) -> str | None:
    """The revision of the Space that `evaluate` took the script from; None for the main branch."""
    asked = _call().get("revision")
    if asked is not None:
        return _tag(asked)
    script = _read(_cached(file)).get("original file path", "")
    url = re.search(r"/resolve/([^/]+)/", _read(Path(f"{script}.json")).get("url", ""))
    # Unasked, `evaluate` takes the tag of its own version, or main. The record may be of another
    # call, which asked for a revision with a script of the same text.
    own = _tag(os.getenv("HF_SCRIPTS_VERSION", evaluate.SCRIPTS_VERSION))
    return url.group(1) if url and (url.group(1) == own or not _call()) else None


def _tag(revision: object) -> str:
    return re.sub(r"^(?=\d*\.\d*\.\d*)", "v", str(revision))  # as `evaluate` does


def _load(folder: Path, version: str) -> ModuleType | None:
    """Import the package in `folder` if it is of this version."""
    if _version(folder) != version:
        return None
    finder = _Finder(folder)
    sys.meta_path.insert(0, finder)
    try:
        # Python's own import: whoever imports the package meanwhile waits until it is complete.
        return importlib.import_module(_NAME)
    finally:
        sys.meta_path.remove(finder)


class _Finder:
    """Finds the package in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: Any = None, target: object = None) -> ModuleSpec | None:
        if name != _NAME:
            return None
        return importlib.util.spec_from_file_location(
            name, self.folder / "__init__.py", submodule_search_locations=[str(self.folder)]
        )


def _version(folder: Path) -> str | None:
    try:
        text = (folder / "__init__.py").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    return found.group(1) if found else None


def _differ(given: Path, used: Path) -> bool:
    """Return whether the two folders have files of one name with different code."""
    pairs = ((file, used / file.relative_to(given)) for file in given.rglob("*.py"))
    return given.resolve() != used.resolve() and any(
        other.is_file() and file.read_text("utf-8") != other.read_text("utf-8")
        for file, other in pairs
    )


def _read(path: Path) -> dict[str, str]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    texts = record.items() if isinstance(record, dict) else ()
    return {key: text for key, text in texts if isinstance(text, str)}


def _advice(file: str, version: str) -> str:
    script, record = _given(file), _cached(file)
    beside = _version(script.parent / _NAME) if script else None
    said = (
        f"the metric needs the package {_NAME} {version}, which is neither beside the script "
        f"{script or ''}{f' (that is {beside})' if beside else ''} nor installed: "
        "run pip install -e . in a clone of that version"
    )
    if _call() or not record.exists():
        return said
    recorded = _read(record).get("original file path")
    return (
        f"{said} The cache recorded {recorded!r} as its place, which is followed only if it is "
        f"absolute, unchanged and your own: delete {record} if it is out of date, or give "
        f"evaluate.load the path of a script that has its package beside it"
    )
