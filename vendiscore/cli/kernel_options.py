"""How samples are to be compared: from options to keywords, and what is usual without them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..errors import SampleError
from ..registry.kernel import check_options, get_kernel
from ..resolve import kernel_request as resolve
from ..resolve.kernel_request import with_the_rest
from ..scoring.request import Request, check_orders, read_request
from . import keywords
from .exit_codes import DataError, UsageError, tell
from .sources import Source, Wanted, check

# By kind of sample: the kernel that is usual, and what it compares.
_USUAL = {
    "vectors": ("cosine", "their cosine"),
    "molecules": ("morgan", "their Morgan fingerprints"),
    "images": ("pixels", "their pixels"),
}
_OF_NUMBERS = ("score_K", "score_X", "score_dual")
_ALREADY = (*_OF_NUMBERS, "metric")


@dataclass(frozen=True)
class How:
    """How samples are compared.

    Attributes
    ----------
    kind : str
        What samples the kernel or a matrix wants, "" where neither is named.
    keywords : mapping
        Of `vendiscore.compute`.
    skip, quiet : bool
    """

    kind: str
    keywords: Mapping[str, Any]
    skip: bool
    quiet: bool

    def wanted(self, args: Namespace) -> Wanted:
        """How files are read for it."""
        return Wanted(
            kind=self.kind,
            column=args.column,
            by=getattr(args, "by", None),
            group_by=getattr(args, "group_by", None),
            quality=getattr(args, "quality", None),
            split=args.split,
            type=args.type,
            encoding=args.encoding,
            skip=self.skip,
        )

    def of(self, source: Source, needed: bool = True) -> dict[str, Any]:
        """The keywords for the samples of a file; `needed` says whether a measure is of a kernel.

        The kernel of a kind of sample stands where none is named, but for texts, whose kernel the
        library knows, and for vectors that are looked at by distances or columns alone.
        """
        found = dict(self.keywords)
        usual = _USUAL.get(source.kind)
        if "k" in found or usual is None or any(found.get(name) for name in _ALREADY):
            return found
        if not needed and source.kind == "vectors":
            return found
        kernel, what = usual
        self.note(f"{source.name}: {source.kind} are compared by {what} (-k {kernel})")
        return {"k": kernel, **found}

    def note(self, message: str) -> None:
        """Say what was decided without having been asked for."""
        if not self.quiet:
            tell(message)


def read_how(args: Namespace, also: Collection[str] | None = None) -> How:
    """The options of a command about the kernel."""
    kind, found = "", {}
    with usage():
        if args.kernel is not None:
            found["k"], kind, own = keywords.kernel(args.kernel)
            check_options(get_kernel(found["k"]), own)
            found |= own
        found |= keywords.options(args.option)
        if also is not None:
            rest = {name: value for name, value in found.items() if name not in also}
            with_the_rest(resolve.read_how(rest), rest, also)
    if not kind and any(found.get(name) for name in _OF_NUMBERS):
        kind = "vectors"
    skip = args.on_error == "skip"
    if skip:
        found["on_error"] = "skip"
    return How(kind, found, skip, args.quiet)


def read_measuring(args: Namespace, how: How) -> tuple[dict[str, Any], Request]:
    """The keywords of `score`, but for the kernel, and what they ask for."""
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


def read_order(args: Namespace) -> float:
    """The one order of a command."""
    with usage():
        found = check_orders(keywords.orders(args.order))
        if len(found) > 1:
            raise ValueError(f"-q takes one order here, got {args.order!r}")
    return found[0]


@contextmanager
def usage() -> Iterator[None]:
    """What keywords are refused for is the fault of the command."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None


@contextmanager
def placing(sources: Mapping[str, Source]) -> Iterator[None]:
    """Errors about samples name file, line and column, others of one file that file.

    `sources` are by what the library calls them.
    """
    try:
        yield
    except SampleError as error:
        said = next(iter(error.problems.values()))
        called = next((name for name in sources if said.startswith(f"of `{name}` ")), None)
        source = next(iter(sources.values())) if called is None else sources[called]
        prefix = f"of `{called}` "
        check(
            source,
            {source.where(i): why.removeprefix(prefix) for i, why in error.problems.items()},
            skip=False,
        )
    except (TypeError, ValueError, MemoryError) as error:
        files = list(dict.fromkeys(source.name for source in sources.values()))
        if isinstance(error, DataError) or len(files) > 1:
            raise
        raise DataError(f"{files[0]}: {error}") from error


def left_out(source: Source, dropped: Mapping[int, str], name: str = "samples") -> Source:
    """What is left of the samples, those that a kernel could not use named in a note."""
    if not dropped:
        return source
    found = {source.where(i): why.removeprefix(f"of `{name}` ") for i, why in dropped.items()}
    check(source, found, skip=True)
    return source.take([i for i in range(len(source)) if i not in dropped])


def read_all(
    read: Callable[[str, Wanted], Source], paths: Sequence[str], wanted: Wanted, how: How
) -> list[Source]:
    """The samples of several files, which are of one kind."""
    if paths.count("-") > 1:
        raise UsageError("standard input, -, can be read once")
    found = [read(path, wanted) for path in paths]
    for source in found:
        for note in source.notes:
            how.note(f"{source.name}: {note}")
    for source in found[1:]:
        if source.kind != found[0].kind:
            raise DataError(
                f"{source.name} has {source.kind}, {found[0].name} {found[0].kind}; "
                f"take one kind at a time"
            )
    return found
