"""Routes of the page: samples in, answers out, both kept for a while by their keys."""

from collections.abc import Callable
from functools import partial
from typing import get_type_hints

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vendiscore import __version__
from vendiscore.report import AskError
from vendiscore.support.errors import short_repr

from ..aliases import Record, Steps, Value
from ..answers import offered_encoders, one_set, sample_readout, several_sets
from ..answers.jobs import Settings
from ..answers.kernel_menu import one_of
from ..inputs import uploads
from ..inputs.declared_sizes import declared_size
from ..inputs.submission import Asked, Given
from ..inputs.visitor_samples import Samples
from ..quotas import MAX_FILES, MAX_NAME, MAX_REQUEST, RefusedError
from .lanes import AWAY, LONG, MIDDLE, SHORT, Lanes, address, lane_of, visitor_of, whole
from .static_files import INDEX, Files
from .store import Kept, size_of
from .wire import GONE, Answer, lines, loaded, response, with_refusals


class Routes:
    """The page's routes, with samples and results of visitors `kept`."""

    def __init__(self, lanes: Lanes, kept: Kept, files: Files) -> None:
        self.lanes = lanes
        self.kept = kept
        self.files = files

    def all(self) -> list[Route]:
        """Return the routes, which are to precede gradio's routes."""
        posts: dict[str, Answer] = {
            "read": self.read,
            "score": self.score,
            "second": self.second,
            "phrases": self.phrases,
            "compare": self.compare,
            "groups": self._step(SHORT, lambda x: self._result(x).groups(x.get("threshold"))),
            "subset": self._step(MIDDLE, lambda x: self._result(x).subset(x.get("size"))),
            "papers": self._step(MIDDLE, lambda x: self._result(x).papers()),
            "drawings": self._step(SHORT, lambda x: one_set.drawings(x.get("smiles"))),
            "report": self.report,
            "download": self.download,
        }
        return [
            Route("/", self.file),
            Route("/page/menu", with_refusals(self.menu)),
            *(Route(f"/page/{k}", with_refusals(v), methods=["POST"]) for k, v in posts.items()),
            Route("/page/{name}", self.file),
            Route("/page/{version}/{name:path}", self.file),
        ]

    async def file(self, request: Request) -> Response:
        return self.files.response(request, **{"name": INDEX, **request.path_params})

    async def menu(self, request: Request) -> Record:
        return one_set.menu() | {"version": __version__}

    async def read(self, request: Request) -> Record:
        limits = {"max_files": MAX_FILES, "max_fields": 8, "max_part_size": MAX_REQUEST}
        async with request.form(**limits) as form:
            how = _asked(loaded(_text(form, "options") or "{}"))
            text = _text(form, "text")
            files = [file for file in form.getlist("files") if isinstance(file, UploadFile)]

            def opened() -> tuple[Given, str]:
                sent = [((file.filename or "")[-MAX_NAME:], file.file.read()) for file in files]
                given = Given(sent, text)
                return given, lane_of(declared_size(given))

            given, lane = await self._taken(request, SHORT, opened)

            def work() -> Record:
                try:
                    samples = uploads.read(given, how)
                except AskError as error:
                    choices = [{"label": name, "options": some} for name, some in error.choices]
                    return {"question": {"text": error.question, "choices": choices}}
                return sample_readout.read_answer(samples) | {"key": self._keep(request, samples)}

            return await self._taken(request, AWAY if how.dataset else lane, work)

    async def score(self, request: Request) -> Response:
        body = loaded(await request.body())
        samples, settings = self._of(Samples, body.get("key")), _settings(body, "key")

        def steps() -> Steps[Record]:
            result = yield from one_set.score(samples, settings)
            return {**result.answer, "id": self._keep(request, result), "key": body["key"]}

        slow = one_set.is_long(samples, settings)
        return self._lines(request, LONG if slow else SHORT, steps())

    async def second(self, request: Request) -> Response:
        result = self._result(loaded(await request.body()))
        return self._lines(request, LONG if result.second_is_long else SHORT, result.second())

    async def phrases(self, request: Request) -> Response:
        result = self._result(loaded(await request.body()))
        return self._lines(request, LONG if result.phrases_take_long else SHORT, result.phrases())

    async def compare(self, request: Request) -> Response:
        body = loaded(await request.body())
        sets = {name: self._of(Samples, key) for name, key in _sets(body)}
        settings = _settings(body, "sets")
        slow = any(one_set.is_long(samples, settings) for samples in sets.values())
        steps = several_sets.compare(sets, settings)
        return self._lines(request, LONG if slow else MIDDLE, steps)

    async def download(self, request: Request) -> Response:
        body = loaded(await request.body())
        steps = offered_encoders.download(body.get("kind"), body.get("kernel"))
        return self._lines(request, AWAY, steps)

    async def report(self, request: Request) -> Response:
        body = loaded(await request.body())
        title = body.get("title")
        short = title[:MAX_NAME] if isinstance(title, str) else ""
        text = await self._taken(request, MIDDLE, lambda: self._result(body).report(short))
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Disposition": 'attachment; filename="vendi-score.html"',
        }
        return await response(text.encode(errors="replace"), headers)

    def _step(self, lane: str, work: Callable[[Record], Record]) -> Answer:
        """Return a route whose answer is found in one step, from the body of the request."""

        async def route(request: Request) -> Record:
            return await self._taken(request, lane, partial(work, loaded(await request.body())))

        return route

    def _keep(self, request: Request, value: object) -> str:
        return self.kept.put(value, size_of(value), owner=address(request))

    def _of(self, kind: type[Value], key: object) -> Value:
        found = self.kept.get(key)
        if not isinstance(found, kind):
            raise HTTPException(GONE)
        return found

    def _result(self, body: Record) -> one_set.Result:
        return self._of(one_set.Result, body.get("id"))

    async def _taken(self, request: Request, lane: str, work: Callable[[], Value]) -> Value:
        return await self.lanes.run(visitor_of(request), lane, whole(work))

    def _lines(self, request: Request, lane: str, steps: Steps[object]) -> Response:
        visitor = visitor_of(request)
        self.lanes.check(visitor, lane)  # while the status can still say so
        return lines(partial(self.lanes.run, visitor, lane, steps))


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    if not isinstance(value, str):
        raise RefusedError(f"`{name}` must be text, not a file.")
    return value


def _asked(options: Record) -> Asked:
    kinds = get_type_hints(Asked)
    for name, value in options.items():
        one_of(name, tuple(kinds), "option")
        if not isinstance(value, kinds[name]):
            raise RefusedError(f"`{name}` has an invalid value: {short_repr(value)}.")
    return Asked(**options)


def _settings(body: Record, *others: str) -> Settings:
    """Return how samples are to be scored, with any values; `others` are names beyond these."""
    given = {name: value for name, value in body.items() if name not in others}
    for name in given:
        one_of(name, tuple(get_type_hints(Settings)), "option")
    if not isinstance(given.get("options", {}), dict):
        raise RefusedError(f"`options` must be an object, got {short_repr(given['options'])}.")
    return Settings(**given)


def _sets(body: Record) -> list[tuple[str, object]]:
    sets = body.get("sets")
    if not isinstance(sets, list) or not all(isinstance(each, dict) for each in sets):
        raise RefusedError("`sets` must be a list of objects with a key and a name.")
    names = [str(each.get("name", ""))[:MAX_NAME].strip() for each in sets]
    if len(set(names)) < len(names) or not all(names):
        raise RefusedError("Give each set a different name.")
    return list(zip(names, (each.get("key") for each in sets), strict=True))
