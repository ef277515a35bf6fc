"""The options of a command about samples and kernels, as keywords of the library."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from ..errors import SampleError
from ..reading.limits import Wanted
from ..reading.samples import Samples
from ..registry.kernel import check_options, get_kernel
from ..resolve import kernel_request as resolve
from ..scoring.request import Request, check_orders, read_request
from . import keywords
from .exit_codes import DataError, UsageError, tell
from .files import check, read

# By kind of sample: the kernel that is usual, and what it compares.
_USUAL = {
    "vectors": ("cosine", "their cosine"),
    "molecules": ("morgan", "their Morgan fingerprints"),
    "images": ("pixels", "their pixels"),
}
_OF_NUMBERS = ("score_K", "score_X", "score_dual")


@dataclass(frozen=True)
class How:
    """The options of a command, the kind of samples they want ("" for any), keywords, and q."""

    args: Namespace
    kind: str
    keywords: Mapping[str, Any]
    order: float  # of commands that take one

    def of(self, source: Samples, needed: bool = True) -> dict[str, Any]:
        """Return the keywords of `compute` for the samples of a file, with their usual kernel.

        The library knows that of texts; vectors have none where no measure needs it (`needed`).
        """
        found, idle = dict(self.keywords), source.kind == "vectors" and not needed
        named = any(found.get(name) for name in ("k", "metric", *_OF_NUMBERS))
        if source.kind not in _USUAL or named or idle:
            return found
        kernel, what = _USUAL[source.kind]
        self.note(f"{source.name}: {source.kind} are compared by {what} (-k {kernel})")
        return {"k": kernel, **found}

    def note(self, message: str) -> None:
        """Print a decision that was not asked for, unless --quiet."""
        if not self.args.quiet:
            tell(message)


def read_how(args: Namespace, also: Collection[str] | None = None) -> How:
    """Read the options about the kernel; where only `also` are allowed beyond, one order too."""
    kind, found, order = "", {}, 1.0
    with usage():
        if args.kernel is not None:
            found["k"], kind, own = keywords.kernel(args.kernel)
            check_options(get_kernel(found["k"]), own)
            found |= own
        found |= keywords.options(args.option)
        if also is not None:
            rest = {name: value for name, value in found.items() if name not in also}
            resolve.how_of(rest, also)
            order, *more = check_orders(keywords.orders(args.order))
            if more:
                raise ValueError(f"-q takes one order here, got {args.order!r}")
    if not kind and any(found.get(name) for name in _OF_NUMBERS):
        kind = "vectors"
    found |= {"on_error": "skip"} if args.on_error == "skip" else {}
    return How(args, kind, found, order)


def read_measuring(args: Namespace, how: How) -> tuple[dict[str, Any], Request]:
    """Read the keywords of `score` beyond those of the kernel, and the request of all."""
    found: dict[str, Any] = {"q": keywords.orders(args.orders)}
    if args.measures:
        found["measures"] = keywords.measures(args.measures)
    if args.ci and "ci" not in how.keywords:
        found["ci"] = 0.95
    with usage():
        request = read_request({**how.keywords, **found})
    names = ", ".join(each.measure.name for each in request.measures)
    if request.pairs and args.references is None:
        raise UsageError(f"{names} compares with a second set: name it with --references FILE")
    if args.references is not None and not request.pairs:
        raise UsageError(f"--references is for measures of two sets; {names} looks at one")
    if request.of_groups and not args.group_by:
        raise UsageError(f"{', '.join(request.of_groups)} looks at groups: name their --group-by")
    return found, request


@contextmanager
def usage() -> Iterator[None]:
    """Raise a UsageError for keywords that are refused."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None


@contextmanager
def placing(sources: Mapping[str, Samples]) -> Iterator[None]:
    """Name the file, line and column in errors about samples; `sources` by names in the library."""
    try:
        yield
    except SampleError as error:
        named = [name for name in sources if error.problem.startswith(f"of `{name}` ")]
        called = [*named, *sources][0]
        check(sources[called], _placed(sources[called], error.problems, called), skip=False)
    except (TypeError, ValueError, MemoryError) as error:
        files = {source.name for source in sources.values()}
        if isinstance(error, DataError) or len(files) > 1:
            raise
        raise DataError(f"{files.pop()}: {error}") from error


def left_out(source: Samples, dropped: Mapping[int, str]) -> Samples:
    """Return the samples that a kernel could use; name the others in a note."""
    if not dropped:
        return source
    check(source, _placed(source, dropped, "samples"), skip=True)
    return source.subset([i for i in range(len(source)) if i not in dropped])


def _placed(source: Samples, problems: Mapping[int, str], called: str) -> dict[str, str]:
    """Return problems by their places in a file, without its name in the library."""
    return {source.place(i): why.removeprefix(f"of `{called}` ") for i, why in problems.items()}


def read_all(paths: Sequence[str], how: How) -> list[Samples]:
    """Read the samples of several files, which must be of one kind."""
    if paths.count("-") > 1:
        raise UsageError("standard input, -, can be read once")
    names = {each.name for each in fields(Wanted)}
    asked = {name: value for name, value in vars(how.args).items() if name in names}
    asked |= {"kind": how.kind, "skip": how.args.on_error == "skip"}
    found = [read(path, Wanted(**asked)) for path in paths]
    for source in found:
        for note in source.notes:
            how.note(f"{source.name}: {note}")
    for source in found[1:]:
        if source.kind != found[0].kind:
            both = f"{source.name} has {source.kind}, {found[0].name} {found[0].kind}"
            raise DataError(f"{both}; take one kind at a time")
    return found
