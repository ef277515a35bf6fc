"""Routes of the page: samples in, answers out, both kept for a while by their keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any, get_type_hints

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ... import __version__
from ...progress import Steps, Value
from ...reading.limits import AskError
from ...reading.samples import Samples
from ..answers import one_set, sample_readout, several_sets
from ..answers.jobs import Settings
from ..answers.kernel_menu import one_of
from ..answers.memory_size import size_of
from ..inputs import uploads
from ..inputs.submission import Asked, Given
from ..quotas import MAX_FILES, MAX_KNOWN, MAX_NAME, MAX_REQUEST, RefusedError
from .lanes import AWAY, LONG, MIDDLE, SHORT, Lanes, address, whole
from .static_files import INDEX, Files
from .store import Kept
from .wire import GoneError, Lines, json_response, loaded, response, told, unless_closed

Answer = Callable[[Request], Coroutine[Any, Any, Any]]
_QUICK = 4_000_000  # bytes that are read in less than about a second


@dataclass(frozen=True)
class _Sent:
    samples: Samples
    example: str  # what they are asked for by; "" if a visitor sent them


class Routes:
    """The page's routes, with samples and results of visitors `kept`, and of examples `known`."""

    def __init__(self, lanes: Lanes, kept: Kept, files: Files) -> None:
        self.lanes, self.kept, self.files = lanes, kept, files
        self.known = Kept(MAX_KNOWN, math.inf)  # the same for everybody

    def all(self) -> list[Route]:
        """Return the routes, to stand before those of gradio."""
        posts: dict[str, Answer] = {
            "read": self.read,
            "score": self.score,
            "compare": self.compare,
            "groups": self._of_result(
                SHORT, lambda result, body: result.groups(body.get("threshold"))
            ),
            "thinning": self._of_result(SHORT, lambda result, body: result.thinning()),
            "papers": self._of_result(MIDDLE, lambda result, body: result.papers()),
            "drawings": self.drawings,
            "report": self.report,
        }
        return [
            Route("/", self.index),
            Route("/page/menu", told(self.menu)),
            *(Route(f"/page/{name}", told(post), methods=["POST"]) for name, post in posts.items()),
            Route("/page/{name}", self.file),
            Route("/page/{version}/{name:path}", self.file),
        ]

    async def index(self, request: Request) -> Response:
        return self.files.response(request, INDEX)

    async def file(self, request: Request) -> Response:
        return self.files.response(request, **request.path_params)

    async def menu(self, request: Request) -> Response:
        return await json_response(request, one_set.menu() | {"version": __version__})

    async def read(self, request: Request) -> Response:
        """Read samples of files, a box, an example or a dataset."""
        async with request.form(
            max_files=MAX_FILES, max_fields=8, max_part_size=MAX_REQUEST
        ) as form:
            how = _asked(_text(form, "options") or "{}")
            files, text = _files(form), _text(form, "text")
            large = sum(file.size or 0 for file in files) + len(text) > _QUICK
            lane = AWAY if how.dataset else MIDDLE if large else SHORT

            def work() -> dict[str, Any]:
                given = Given([(_name(file), file.file.read()) for file in files], text)
                try:
                    samples = uploads.read(given, how)
                except AskError as error:
                    return {"question": _question(error)}
                example = repr(how) if how.example else ""
                sent = _Sent(samples, example)
                key = self.kept.put(sent, size_of(samples), owner=_visitor(request))
                return sample_readout.read_answer(samples) | {"key": key}

            return await json_response(request, await self._taken(request, lane, whole(work)))

    async def score(self, request: Request) -> Any:
        """Score samples, line by line."""
        body = loaded(await request.body())
        sent = self._sent(body.get("key"))
        settings = _settings(body, "key")
        name = _known(settings, sent)
        ready = self.known.get(name)

        def steps() -> Steps[dict[str, Any]]:
            result = ready or (yield from one_set.score(sent.samples, settings))
            if name and not ready:
                self.known.put(result, result.nbytes, name)
            key = self.kept.put(result, 0 if name else result.nbytes, owner=_visitor(request))
            return {**result.answer, "id": key, "key": body["key"]}

        slow = not ready and one_set.is_long(sent.samples, settings)
        return self._lines(request, LONG if slow else SHORT, steps())

    async def compare(self, request: Request) -> Any:
        """Compare sets, line by line."""
        body = loaded(await request.body())
        sets = {each: self._sent(key) for each, key in _sets(body)}
        settings, count = _settings(body, "sets", "permutations"), body.get("permutations", 0)
        name = _known([settings, count, list(sets)], *sets.values())
        ready = self.known.get(name)

        def steps() -> Steps[dict[str, Any]]:
            samples = {each: sent.samples for each, sent in sets.items()}
            answer = ready or (yield from several_sets.compare(samples, settings, count))
            if name and not ready:
                self.known.put(answer, size_of(answer), name)
            return answer

        slow = any(one_set.is_long(sent.samples, settings) for sent in sets.values())
        return self._lines(request, SHORT if ready else LONG if slow else MIDDLE, steps())

    async def drawings(self, request: Request) -> Response:
        """Draw molecules, whatever result they are of."""
        work = partial(one_set.drawings, loaded(await request.body()).get("smiles"))
        return await json_response(request, await self._taken(request, SHORT, whole(work)))

    async def report(self, request: Request) -> Response:
        """Send the report on a result, as a file."""
        body = loaded(await request.body())
        result = self._result(body.get("id"))
        title = body.get("title")
        work = partial(result.report, title[:MAX_NAME] if isinstance(title, str) else "")
        text = await self._taken(request, MIDDLE, whole(work))
        attachment = {"Content-Disposition": 'attachment; filename="vendi-score.html"'}
        kind = "text/html; charset=utf-8"
        return await response(request, text.encode(errors="replace"), kind, more=attachment)

    def _of_result(self, lane: str, what: Callable[[Any, dict[str, Any]], Any]) -> Answer:
        """Make a route that asks more of a result."""

        async def route(request: Request) -> Response:
            body = loaded(await request.body())
            work = whole(partial(what, self._result(body.get("id")), body))
            return await json_response(request, await self._taken(request, lane, work))

        return route

    def _sent(self, key: Any) -> _Sent:
        sent = self.kept.get(key)
        if not isinstance(sent, _Sent):
            raise GoneError
        return sent

    def _result(self, key: Any) -> Any:
        result = self.kept.get(key)
        if result is None or isinstance(result, _Sent):
            raise GoneError
        return result

    async def _taken(self, request: Request, lane: str, steps: Steps[Value]) -> Value:
        work = self.lanes.run(_visitor(request), lane, steps)
        return await unless_closed(request.receive, work)

    def _lines(self, request: Request, lane: str, steps: Steps[Any]) -> Lines:
        visitor = _visitor(request)
        self.lanes.check(visitor, lane)  # while the status can still say so
        return Lines(request, partial(self.lanes.run, visitor, lane, steps))


def _visitor(request: Request) -> str:
    return address(request.headers, request.client.host if request.client else "")


def _known(how: Any, *sent: _Sent) -> str:
    """Return the key of a result computed from examples only; "" if any samples were sent."""
    if not all(each.example for each in sent):
        return ""
    return repr((how, [each.example for each in sent]))


def _name(file: UploadFile) -> str:
    """Return the name of a file without its folders."""
    return PurePosixPath((file.filename or "").replace("\\", "/")).name[-MAX_NAME:] or "file"


def _files(form: FormData) -> list[UploadFile]:
    files = form.getlist("files")
    if not all(isinstance(file, UploadFile) for file in files):
        raise RefusedError("Each of `files` must be a file with a name.")
    return files


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    if not isinstance(value, str):
        raise RefusedError(f"`{name}` must be text, not a file.")
    return value


def _asked(options: str) -> Asked:
    found = loaded(options)
    kinds = get_type_hints(Asked)
    for name, value in found.items():
        one_of(name, tuple(kinds), "option")
        if not isinstance(value, kinds[name]):
            kind = getattr(kinds[name], "__name__", str(kinds[name]))
            raise RefusedError(f"`{name}` must be {kind}, got {value!r:.40}.")
    return Asked(**found)


def _question(error: AskError) -> dict[str, Any]:
    choices = [{"label": label, "options": options} for label, options in error.choices]
    return {"text": error.question, "choices": choices}


def _settings(body: dict[str, Any], *others: str) -> Settings:
    """Return how samples are to be scored, with any values; `others` are names beyond these."""
    names = (*others, *get_type_hints(Settings))
    for name in body:
        one_of(name, names, "option")
    options = body.get("options") or {}
    if not isinstance(options, dict):
        raise RefusedError(f"`options` must be an object, got {options!r:.40}.")
    given = {name: body[name] for name in ("kernel", "q", "threshold") if name in body}
    return Settings(options=options, leave_out=body.get("leave_out") is True, **given)


def _sets(body: dict[str, Any]) -> list[tuple[str, Any]]:
    sets = body.get("sets")
    if not isinstance(sets, list) or not all(isinstance(each, dict) for each in sets):
        raise RefusedError("`sets` must be a list of objects with a key and a name.")
    names = [str(each.get("name", ""))[:MAX_NAME].strip() for each in sets]
    if len(set(names)) < len(names) or not all(names):
        raise RefusedError("Give each set a name of its own.")
    return list(zip(names, (each.get("key") for each in sets), strict=True))
