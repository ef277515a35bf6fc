"""Import of the package `vendiscore` for a metric script in the cache of Hugging Face `evaluate`.

`evaluate.load` copies a script, and single files that it imports, into its cache, but no packages.
This file is copied with the script. It imports the package `vendiscore` of the same version, from
the first of these sources:

1. the package that this process has already imported; if its code differs from that of the package
   that belongs to the script, an ImportError is raised;
2. the folder of the script passed to `evaluate.load`, or the files of the Space at the requested
   revision;
3. the installed package.

If a metric is unpickled in another process, no script is passed to `evaluate.load`. `evaluate` then
only has the path that it recorded when it first copied a script with the same text, which may
belong to another clone of the repository. The metric is therefore pickled with the folder of its
package. If the process that unpickles it uses a package whose code differs, an ImportError is
raised.
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
    """Import the package `vendiscore` for a metric script, with its metrics for `evaluate`.

    Parameters
    ----------
    file : str
        `__file__` of the metric script.
    version : str
        `__version__` of the metric script.
    path : str, optional
        If a metric is unpickled, the folder of the package `vendiscore` that it belongs to.

    Returns
    -------
    module
        The package.

    Raises
    ------
    ImportError
        If no package of this version is found, or if this process already uses a package whose
        code differs.
    """
    load_arguments = get_load_arguments()
    script = load_arguments.get("path", file)
    # The folder that contains the package of the script; None if it is unknown.
    folder = Path(path).parent if path else None
    # Without arguments of `evaluate.load`, a metric is being unpickled, and only the path that
    # `evaluate` recorded is known. A package that is already imported is then preferred.
    if not path and (load_arguments or NAME not in sys.modules):
        folder = find_script_folder(Path(file), load_arguments)
    if folder and not (folder / NAME).is_dir():
        folder = None
    if NAME not in sys.modules:
        # Python's own search could find the script vendiscore.py, or another clone in the working
        # directory, instead of the package.
        paths = [str(folder), *sys.path] if folder else sys.path
        paths = [path for path in paths if Path(path, NAME, "__init__.py").is_file()]
        if not paths:
            location = (
                "next to it"
                if load_arguments
                else "where evaluate recorded an unchanged copy of it"
            )
            raise ImportError(
                f"{script} requires the package {NAME} {version}, which is neither {location} nor "
                "installed: run pip install -e . in a clone of that version"
            )
        add_package_finder(paths)
    package = import_module(NAME)  # waits for a thread that is importing it
    used_folder = Path(next(iter(package.__path__))).parent
    used_version = getattr(package, "__version__", None)
    if used_version != version or (folder and not have_same_code(folder, used_folder)):
        raise ImportError(
            f"{script} requires {NAME} {version}{f' in {folder}' if folder else ''}, but this "
            f"process uses {NAME} {used_version} in {used_folder}, whose code differs; load the "
            "script in a new process, or run pip install -e . in a clone of the version to use"
        )
    import_module(f"{NAME}.integrations.huggingface")
    return package


def get_load_arguments() -> dict[str, Any]:
    """Return the arguments of the call of `evaluate.load` that runs the script.

    They are the local variables of the frame of `evaluate.load` on the call stack. Returns {} if
    there is no such frame, because a metric is being unpickled.
    """
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code is load.__code__:
            return dict(frame.f_locals)
        frame = frame.f_back
    return {}


def find_script_folder(copy: Path, load_arguments: dict[str, Any]) -> Path | None:
    """Return the folder from which `evaluate` copied the script, or None if it is unknown.

    `copy` is the path of the copied script. `load_arguments` are the arguments of `evaluate.load`,
    or {} if a metric is unpickled. If the script belongs to a Space of the Hugging Face Hub, the
    files of the Space are downloaded.
    """
    script = Path(read_evaluate_record(copy.with_suffix(".json")).get("original file path", ""))
    # `evaluate` copies the script of a Space into a folder OWNER--NAME of its cache.
    space = copy.parents[1].name.replace("--", "/")
    if "/" in space:
        for revision in iter_revisions(script, load_arguments):
            with suppress(OSError):  # no such revision, or no network and not in the cache
                return download_space(space, revision)
        warnings.warn(
            f"cannot download the Space {space}; the installed package {NAME} is used instead",
            stacklevel=2,
        )
        return None
    if load_arguments:
        path = Path(load_arguments["path"]).absolute()  # the script, or its folder
        return path.parent if path.is_file() else path
    # The recorded path is used only if the script there is unchanged.
    is_unchanged = (
        script.is_absolute() and script.is_file() and script.read_bytes() == copy.read_bytes()
    )
    return script.parent if is_unchanged else None


def iter_revisions(script: Path, load_arguments: dict[str, Any]) -> Iterator[str]:
    """Iterate over the revisions of a Space from which `evaluate` may have loaded the script.

    `script` is the path of the downloaded script, and `load_arguments` are the arguments of
    `evaluate.load`. If these are empty, the revision is taken from the URL that `evaluate` recorded
    next to `script`.
    """
    if load_arguments:
        revision = load_arguments["revision"]
        # By default, `evaluate` tries the tag of its own version, and then the main branch.
        revisions = [revision] if revision else [SCRIPTS_VERSION, "main"]
    else:
        url = read_evaluate_record(Path(f"{script}.json")).get("url", "")
        revisions = re.findall("/resolve/(.+)/", url) or ["main"]
    for revision in revisions:
        # `evaluate` adds a "v" to a version such as 0.5.0, to get the name of a tag.
        yield re.sub(r"^(?=\d*\.\d*\.\d*)", "v", revision)


@cache
def download_space(space: str, revision: str) -> Path:
    """Download the package in a Space, unless it is cached; return the folder that contains it.

    `space` is the id OWNER/NAME of the Space, and `revision` a branch, tag or commit.
    """
    from huggingface_hub import snapshot_download

    patterns = [f"{NAME}/**", f"{NAME}.py", "kernels/**"]
    return Path(
        snapshot_download(space, repo_type="space", revision=revision, allow_patterns=patterns)
    )


def read_evaluate_record(path: Path) -> dict[str, str]:
    """Read a JSON file in which `evaluate` recorded the origin of a copied or downloaded script.

    Returns {} if it cannot be read.
    """
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def add_package_finder(paths: list[str]) -> None:
    """Make Python import the package `vendiscore` from the first of `paths` that contains it.

    The finder remains in `sys.meta_path`, because another thread may be importing the package.
    """
    finder = SimpleNamespace(
        find_spec=lambda name, *_: PathFinder.find_spec(name, paths) if name == NAME else None
    )
    sys.meta_path.insert(0, finder)


def have_same_code(folder: Path, used_folder: Path) -> bool:
    """Return whether two folders contain the same code of the package `vendiscore`.

    The folders may also contain kernels of users in a subfolder "kernels". Files in this subfolder
    must be equal if both folders have a file of that name. `used_folder` contains the package that
    the current process uses.
    """
    if folder.resolve() == used_folder.resolve():
        return True
    kernels = read_code(folder / "kernels")
    used_kernels = read_code(used_folder / "kernels")
    # The merged dicts are equal if and only if common files are equal.
    return (
        read_code(folder / NAME) == read_code(used_folder / NAME)
        and kernels | used_kernels == used_kernels | kernels
    )


def read_code(folder: Path) -> dict[Path, list[bytes]]:
    """Read the lines of each .py and .json file in a folder, by path relative to the folder."""
    files = (path for path in folder.rglob("*") if path.suffix in (".py", ".json"))
    return {path.relative_to(folder): path.read_bytes().splitlines() for path in files}
