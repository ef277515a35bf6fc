"""Finds the package `vendiscore` for a metric script that `evaluate` has copied elsewhere.

`evaluate.load` copies a script, and the single files beside it that it imports, into a cache; a
package is never copied. So the script asks here, and gets the package of its own version from
the first of: this process, the folder that the script was loaded from, the Python environment,
or the Space on the Hub that the script came from. Versions are never mixed: a package of another
version is passed over with a warning, and one found elsewhere then goes under a name of its own.
"""

import importlib
import importlib.util
import json
import re
import sys
import threading
import warnings
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

_NAME = "vendiscore"


class _Shared(ModuleType):
    """What all copies of this file have in common: `evaluate` makes one for each script."""

    lock = threading.RLock()


# One step, whatever other threads do meanwhile.
_lock = sys.modules.setdefault("_vendiscore_library", _Shared("_vendiscore_library")).lock


def library(module: str, file: str, version: str) -> ModuleType:
    """The package `vendiscore` of this version, with its modules `metric` and `scoring` loaded.

    Parameters
    ----------
    module, file : str
        `__name__` and `__file__` of the metric script.
    version : str
        The version that the script goes with.

    Raises
    ------
    ImportError
        If it is nowhere to be had; the message says what to type.
    """
    with _lock:
        package = (
            _imported(_alias(version), version)
            or _imported(_NAME, version)
            or _beside(file, version)
            or _installed(version)
            or _from_hub(module, file, version)
        )
    if package is None:
        raise ImportError(
            f"the metric needs the package {_NAME} {version}, which is neither beside the script "
            f"nor installed: pip install '{_NAME}=={version}', or in a clone: pip install ."
        )
    for name in ("metric", "scoring"):
        importlib.import_module(f"{package.__name__}.{name}")
    return package


def _alias(version: str) -> str:
    return f"{_NAME}_{re.sub(r'[^0-9a-zA-Z]', '_', version)}"


def _imported(name: str, version: str) -> ModuleType | None:
    if sys.modules.get(name) is None:
        return None
    package = importlib.import_module(name)  # waits while another thread imports it
    return package if getattr(package, "__version__", None) == version else None


def _beside(file: str, version: str) -> ModuleType | None:
    """The package beside the original of the script, if `evaluate` recorded where that is."""
    # The record is a hint: perhaps relative to another folder, perhaps of a clone since deleted.
    origin = _record(Path(file).with_suffix(".json")).get("original file path", file)
    return _load(Path(origin).absolute().parent / _NAME, version)


def _installed(version: str) -> ModuleType | None:
    spec = importlib.util.find_spec(_NAME)
    if spec is None or spec.submodule_search_locations is None:
        return None
    found = _version(Path(next(iter(spec.submodule_search_locations))))
    if found == version:
        return importlib.import_module(_NAME)
    warnings.warn(
        f"{_NAME} {found} is installed but the metric script goes with {version}, which is used "
        f"instead; pip install '{_NAME}=={version}' to have one version",
        stacklevel=4,
    )
    return None


def _from_hub(module: str, file: str, version: str) -> ModuleType | None:
    """The package folder of the Space, at the revision that the script was loaded from."""
    space = re.search(r"\.([^.]+?)--([^.]+)\.[0-9a-f]{64}\.", module)
    if space is None:
        return None
    script = _record(Path(file).with_suffix(".json")).get("original file path", "")
    url = _record(Path(f"{script}.json")).get("url", "")
    revision = re.search(r"/resolve/([^/]+)/", url)
    from huggingface_hub import snapshot_download

    folder = snapshot_download(
        "/".join(space.groups()),
        repo_type="space",
        revision=revision.group(1) if revision else None,
        allow_patterns=f"{_NAME}/**",
    )
    return _load(Path(folder) / _NAME, version)


def _load(folder: Path, version: str) -> ModuleType | None:
    """Import the package in `folder` if it is of this version."""
    if _version(folder) != version:
        return None
    finder = _Finder(_NAME if _is_free(folder) else _alias(version), folder)
    sys.meta_path.insert(0, finder)
    try:
        # Python's own import: whoever imports the package meanwhile waits until it is complete.
        return importlib.import_module(finder.name)
    finally:
        sys.meta_path.remove(finder)


class _Finder:
    """Finds the package in `folder` under `name`."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(
            name, self.folder / "__init__.py", submodule_search_locations=[str(self.folder)]
        )


def _is_free(folder: Path) -> bool:
    """Whether `import vendiscore` would find nothing else than the package in `folder`."""
    if _NAME in sys.modules:
        return False
    spec = importlib.util.find_spec(_NAME)
    return (
        spec is None
        or spec.submodule_search_locations is None
        or folder.resolve() in [Path(path).resolve() for path in spec.submodule_search_locations]
    )


def _version(folder: Path) -> str | None:
    try:
        text = (folder / "__init__.py").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    return found.group(1) if found else None


def _record(path: Path) -> dict[str, str]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
