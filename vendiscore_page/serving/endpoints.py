"""Routes of the page: samples in, answers out, both kept for a while by their keys."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, get_type_hints

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vendiscore import __version__
from vendiscore.report import AskError
from vendiscore.support.errors import short_repr

from ..aliases import Record, Steps, Value
from ..answers import edited_call, offered_encoders, one_set, sample_readout, several_sets
from ..answers.call_arguments import names_encoder
from ..answers.jobs import Settings
from ..answers.kernel_menu import one_of
from ..inputs import hub
from ..inputs.declared_sizes import declared_size
from ..inputs.submission import Asked, Given
from ..inputs.visitor_samples import Samples
from ..quotas import MAX_FILES, MAX_NAME, MAX_REQUEST, TINY_CHARACTERS, RefusedError
from .lanes import AWAY, LONG, MIDDLE, SHORT, TINY, Lanes, address, lane_of, visitor_of
from .store import Kept, size_of
from .wire import GONE, Answer, lines, loaded, response, with_refusals
from .workers import Run, run_here


class Routes:
    """The page's routes, with samples and results of visitors `kept`.

    `run` runs a job in its lane, and yields its messages.
    """

    def __init__(self, lanes: Lanes, kept: Kept, run: Run = run_here) -> None:
        self.lanes = lanes
        self.run = run
        self.kept = kept

    def all(self) -> list[Route]:
        posts: dict[str, Answer] = {
            "read": self.read,
            "score": self.score,
            "second": self.second,
            "phrases": self.phrases,
            "compare": self.compare,
            "groups": self.groups,
            "subset": self.subset,
            "papers": self.papers,
            "drawings": self.drawings,
            "report": self.report,
            "download": self.download,
            "arguments": self.arguments,
            "compute": self.compute,
        }
        return [
            Route("/page/menu", with_refusals(self.menu)),
            *(Route(f"/page/{k}", with_refusals(v), methods=["POST"]) for k, v in posts.items()),
        ]

    async def menu(self, request: Request) -> Record:
        return one_set.menu() | {"version": __version__}

    async def read(self, request: Request) -> Record:
        limits = {"max_files": MAX_FILES, "max_fields": 8, "max_part_size": MAX_REQUEST}
        async with request.form(**limits) as form:
            how = _asked(loaded(_text(form, "options") or "{}"))
            text = _text(form, "text")
            files = [file for file in form.getlist("files") if isinstance(file, UploadFile)]

            def opened() -> Given:
                sent = [((file.filename or "")[-MAX_NAME:], file.file.read()) for file in files]
                return Given(sent, text)

            given = await self._taken(request, TINY, opened)
            if how.dataset:
                try:
                    dataset = await self._taken(request, AWAY, hub.fetch, how)
                except AskError as error:
                    return sample_readout.question(error)
                given = replace(given, dataset=dataset)
            lane = TINY
            if given.files or given.dataset or len(given.text) > TINY_CHARACTERS:
                lane = lane_of(await self._taken(request, SHORT, declared_size, given))
            answer, samples = await self._taken(request, lane, sample_readout.read, given, how)
            return answer if samples is None else answer | {"key": self._keep(request, samples)}

    async def score(self, request: Request) -> Response:
        body = loaded(await request.body())
        samples, settings = self._of(Samples, body.get("key")), _settings(body, "key")

        def steps() -> Steps[Record]:
            result = yield from self.run(lane, one_set.score, samples, settings)
            return {**result.answer, "id": self._keep(request, result), "key": body["key"]}

        lane = LONG if one_set.is_long(samples, settings) else SHORT
        lane = TINY if one_set.is_tiny(samples, settings) else lane
        return self._lines(request, lane, steps())

    async def second(self, request: Request) -> Response:
        result = self._result(loaded(await request.body()))
        lane = LONG if result.second_is_long else SHORT

        def steps() -> Steps[Record]:
            if not result.second_answer:
                result.second_answer = yield from self.run(lane, one_set.Result.second, result)
            return result.second_answer

        return self._lines(request, lane, steps())

    async def phrases(self, request: Request) -> Response:
        result = self._result(loaded(await request.body()))
        lane = LONG if result.phrases_take_long else SHORT

        def steps() -> Steps[Record]:
            if not result.phrases_answer:
                result.phrases_answer = yield from self.run(lane, one_set.Result.phrases, result)
            return result.phrases_answer

        return self._lines(request, lane, steps())

    async def compare(self, request: Request) -> Response:
        body = loaded(await request.body())
        sets = {name: self._of(Samples, key) for name, key in _sets(body)}
        settings = _settings(body, "sets")
        slow = any(one_set.is_long(samples, settings) for samples in sets.values())
        lane = LONG if slow else MIDDLE
        return self._lines(request, lane, self.run(lane, several_sets.compare, sets, settings))

    async def arguments(self, request: Request) -> Record:
        body = loaded(await request.body())
        kind, text = body.get("kind"), body.get("arguments")
        lane = TINY if len(str(text)) <= TINY_CHARACTERS else SHORT
        return await self._taken(request, lane, edited_call.read_call, kind, text)

    async def compute(self, request: Request) -> Response:
        body = loaded(await request.body())
        text = body.get("arguments")
        if "sets" in body:
            sets = {name: self._of(Samples, key) for name, key in _sets(body)}
            kinds = {samples.kind for samples in sets.values()}
            job: tuple[Any, ...] = (edited_call.compute_sets, sets, text)
        else:
            samples = self._of(Samples, body.get("key"))
            kinds = {samples.kind}
            job = (edited_call.compute_samples, samples, text)
        lane = LONG if "images" in kinds or names_encoder(text) else MIDDLE
        return self._lines(request, lane, self.run(lane, *job))

    async def download(self, request: Request) -> Response:
        body = loaded(await request.body())

        def steps() -> Steps[Record]:
            answer = yield from offered_encoders.download(body.get("kind"), body.get("kernel"))
            yield from self.run(LONG, offered_encoders.prepare)
            return answer

        return self._lines(request, AWAY, steps())

    async def report(self, request: Request) -> Response:
        body = loaded(await request.body())
        title = body.get("title")
        short = title[:MAX_NAME] if isinstance(title, str) else ""
        result = self._result(body)
        text = await self._taken(request, MIDDLE, one_set.Result.report, result, short)
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Disposition": 'attachment; filename="vendi-score.html"',
        }
        return await response(text.encode(errors="replace"), headers)

    async def groups(self, request: Request) -> Record:
        body = loaded(await request.body())
        result = self._result(body)
        lane = TINY if result.is_tiny else SHORT
        method = one_set.Result.groups
        return await self._taken(request, lane, method, result, body.get("threshold"))

    async def subset(self, request: Request) -> Record:
        body = loaded(await request.body())
        result = self._result(body)
        method = one_set.Result.subset
        return await self._taken(request, MIDDLE, method, result, body.get("size"))

    async def papers(self, request: Request) -> Record:
        result = self._result(loaded(await request.body()))
        return await self._taken(request, MIDDLE, one_set.Result.papers, result)

    async def drawings(self, request: Request) -> Record:
        body = loaded(await request.body())
        return await self._taken(request, SHORT, one_set.drawings, body.get("smiles"))

    def _keep(self, request: Request, value: object) -> str:
        return self.kept.put(value, size_of(value), owner=address(request))

    def _of(self, kind: type[Value], key: object) -> Value:
        found = self.kept.get(key)
        if not isinstance(found, kind):
            raise HTTPException(GONE)
        return found

    def _result(self, body: Record) -> one_set.Result:
        return self._of(one_set.Result, body.get("id"))

    async def _taken(
        self, request: Request, lane: str, function: Callable[..., Value], *arguments: object
    ) -> Value:
        """Return the result of a job of a single step; stop it if the visitor leaves."""
        return await self.lanes.run_for(request, lane, self.run(lane, function, *arguments))

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
