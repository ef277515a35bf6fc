"""Finds the package `vendiscore` for a metric script that `evaluate` has copied into its cache.

`evaluate.load` copies a script and the single files that it imports, never a package. This file is
copied with the script and looks for the package of the same version, in this order:

1. the package in use, unless the script belongs to a package with other code (an error);
2. the folder of the script that the caller named, or of the Space at the requested revision;
3. the installed package.

If a metric is unpickled in another process, nobody names a script. `evaluate` then knows only the
path that it recorded when it first copied a script with this text. The metric is pickled with the
folder of its package, so that a wrong guess is an error.
"""

import json
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from evaluate.loading import SCRIPTS_VERSION, load

NAME = "vendiscore"


def find_package(file: str, version: str, path: str | None = None) -> ModuleType:
    """Return the package `vendiscore` of a metric script, with its integration of `evaluate`.

    Parameters
    ----------
    file, version : str
        `__file__` and `__version__` of the metric script.
    path : str, optional
        The folder `vendiscore` of the package that a pickled metric was made with.

    Raises
    ------
    ImportError
        If there is no such package, or this process already uses a package with other code.
    """
    call = read_call()
    script = call.get("path", file)
    folder = Path(path).parent if path else None
    if not path and (call or NAME not in sys.modules):
        folder = find_folder(Path(file), call)
    if folder and not (folder / NAME).is_dir():
        folder = None
    if NAME not in sys.modules:
        # Python itself could take a script or a clone in the working directory for the package.
        paths = [str(folder), *sys.path] if folder else sys.path
        paths = [path for path in paths if Path(path, NAME, "__init__.py").is_file()]
        if not paths:
            place = "next to it" if call else "where evaluate recorded an unchanged copy of it"
            raise ImportError(
                f"{script} requires the package {NAME} {version}, which is neither {place} nor "
                "installed: run pip install -e . in a clone of that version"
            )
        add_finder(paths)
    package = import_module(NAME)  # waits for a thread that is importing it
    used = Path(next(iter(package.__path__))).parent
    used_version = getattr(package, "__version__", None)
    if used_version != version or (folder and not have_same_code(folder, used)):
        raise ImportError(
            f"{script} requires {NAME} {version}{f' in {folder}' if folder else ''}, but this "
            f"process uses {NAME} {used_version} in {used}, which has other code: load the script "
            "in a new process, or run pip install -e . in a clone of the version to use"
        )
    import_module(f"{NAME}.integrations.huggingface")
    return package


def read_call() -> dict[str, Any]:
    """Return the arguments of the current call of `evaluate.load`; {} if there is none."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code is load.__code__:
            return dict(frame.f_locals)
        frame = frame.f_back
    return {}


def find_folder(copy: Path, call: dict[str, Any]) -> Path | None:
    """Return the folder of the script that was copied: named by the caller, or recorded."""
    script = Path(read_record(copy.with_suffix(".json")).get("original file path", ""))
    space = copy.parents[1].name.replace("--", "/")
    if "/" in space:
        for revision in iter_revisions(script, call):
            with suppress(OSError):  # no such revision, or no network and not in the cache
                return download_space(space, revision)
        warnings.warn(
            f"cannot download the Space {space}; an installed {NAME} is used", stacklevel=2
        )
        return None
    if call:
        path = Path(call["path"]).absolute()
        return path.parent if path.is_file() else path
    same = script.is_absolute() and script.is_file() and script.read_bytes() == copy.read_bytes()
    return script.parent if same else None


def iter_revisions(script: Path, call: dict[str, Any]) -> Iterator[str]:
    """Iterate over the revisions from which `evaluate` takes the script of a Space."""
    if call:
        revisions = [call["revision"]] if call["revision"] else [SCRIPTS_VERSION, "main"]
    else:
        url = read_record(Path(f"{script}.json")).get("url", "")
        revisions = re.findall("/resolve/(.+)/", url) or ["main"]
    for revision in revisions:
        yield re.sub(r"^(?=\d*\.\d*\.\d*)", "v", revision)  # a tag, as `evaluate` names it


@cache
def download_space(space: str, revision: str) -> Path:
    """Download the package of a Space, or take it from the cache."""
    from huggingface_hub import snapshot_download

    patterns = [f"{NAME}/**", f"{NAME}.py", "kernels/**"]
    return Path(
        snapshot_download(space, repo_type="space", revision=revision, allow_patterns=patterns)
    )


def read_record(path: Path) -> dict[str, str]:
    """Read a file that `evaluate` wrote next to a copy; {} if it cannot be read."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def add_finder(paths: list[str]) -> None:
    """Let Python import the package from the first of these folders that has it.

    The finder stays, because an entry must not be removed while another thread imports.
    """
    finder = SimpleNamespace(
        find_spec=lambda name, *_: PathFinder.find_spec(name, paths) if name == NAME else None
    )
    sys.meta_path.insert(0, finder)


def have_same_code(folder: Path, used: Path) -> bool:
    """Return whether the packages in two folders, and their kernels of equal names, are equal."""
    if folder.resolve() == used.resolve():
        return True
    kernels, used_kernels = read_code(folder / "kernels"), read_code(used / "kernels")
    return (
        read_code(folder / NAME) == read_code(used / NAME)
        and kernels | used_kernels == used_kernels | kernels
    )


def read_code(folder: Path) -> dict[Path, list[bytes]]:
    """Read the lines of the code and data in a folder, by path."""
    files = (path for path in folder.rglob("*") if path.suffix in (".py", ".json"))
    return {path.relative_to(folder): path.read_bytes().splitlines() for path in files}
