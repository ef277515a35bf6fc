"""Routes of the web app: they store samples and results for a while, by random keys."""

import math
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
from ..answers.kernel_menu import check_choice
from ..inputs import hub
from ..inputs.declared_sizes import read_declared_size
from ..inputs.submission import InputSettings, UserInput
from ..inputs.visitor_samples import Samples
from ..quotas import (
    MAX_FILES,
    MAX_NAME,
    MAX_PAGE_REQUEST,
    MAX_REQUEST,
    TINY_CHARACTERS,
    RefusedError,
)
from .lanes import AWAY, LONG, MIDDLE, SHORT, TINY, Lanes, choose_lane, get_address, get_visitor
from .store import Store, measure_size
from .wire import GONE, Answer, as_json_route, parse_json, respond, stream_lines
from .workers import Run, run_here

_FORM_TYPE = "multipart/form-data"
_INVALID_FORM = "Invalid multipart data."  # the message of starlette


class Routes:
    """The routes of the web app; `store` contains samples and results of users.

    `run` runs a job in its lane, and yields its messages.
    """

    def __init__(self, lanes: Lanes, store: Store, run: Run = run_here) -> None:
        self.lanes = lanes
        self.run = run
        self.store = store

    def build_routes(self) -> list[Route]:
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
            Route("/page/menu", as_json_route(self.menu)),
            *(Route(f"/page/{k}", as_json_route(v), methods=["POST"]) for k, v in posts.items()),
        ]

    async def menu(self, request: Request) -> Record:
        return one_set.build_menu() | {"version": __version__}

    async def read(self, request: Request) -> Record:
        limits = {"max_files": MAX_FILES, "max_fields": 8, "max_part_size": MAX_REQUEST}
        form_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if form_type != _FORM_TYPE:  # other forms take long to decode
            raise RefusedError(f"Samples must be sent as {_FORM_TYPE}; programs can call the API.")
        try:
            await request.form(**limits)
        except HTTPException as error:
            message = _describe_form_error(error.detail)
            raise HTTPException(error.status_code, message) from None
        async with request.form() as form:
            options = _get_text(form, "options") or "{}"
            if len(options) > MAX_PAGE_REQUEST:
                raise RefusedError(f"`options` has {len(options):,} characters; remove some.")
            settings = _parse_input_settings(parse_json(options))
            text = _get_text(form, "text")
            files = [file for file in form.getlist("files") if isinstance(file, UploadFile)]

            def read_files() -> UserInput:
                sent = [((file.filename or "")[-MAX_NAME:], file.file.read()) for file in files]
                return UserInput(sent, text)

            user_input = await self._run_job(request, TINY, read_files)
            if settings.dataset:
                try:
                    dataset = await self._run_job(request, AWAY, hub.fetch, settings)
                except AskError as error:
                    return sample_readout.format_question(error)
                user_input = replace(user_input, dataset=dataset)
            lane = TINY
            if user_input.files or user_input.dataset or len(user_input.text) > TINY_CHARACTERS:
                lane = choose_lane(
                    await self._run_job(request, SHORT, read_declared_size, user_input)
                )
            answer, samples = await self._run_job(
                request, lane, sample_readout.read, user_input, settings
            )
            return answer if samples is None else answer | {"key": self._store(request, samples)}

    async def score(self, request: Request) -> Response:
        body = parse_json(await request.body())
        samples, settings = (
            self._get_stored(Samples, body.get("key")),
            _parse_score_settings(body, "key"),
        )

        def steps() -> Steps[Record]:
            result = yield from self.run(lane, one_set.score, samples, settings)
            return {**result.answer, "id": self._store(request, result), "key": body["key"]}

        lane = LONG if one_set.is_long(samples, settings) else SHORT
        lane = TINY if one_set.is_tiny(samples, settings) else lane
        return self._stream_job(request, lane, steps())

    async def second(self, request: Request) -> Response:
        result = self._get_result(parse_json(await request.body()))
        lane = LONG if result.second_is_long else SHORT

        def steps() -> Steps[Record]:
            if not result.second_answer:
                result.second_answer = yield from self.run(lane, one_set.Result.second, result)
            return result.second_answer

        return self._stream_job(request, lane, steps())

    async def phrases(self, request: Request) -> Response:
        result = self._get_result(parse_json(await request.body()))
        lane = LONG if result.phrases_take_long else SHORT

        def steps() -> Steps[Record]:
            if not result.phrases_answer:
                result.phrases_answer = yield from self.run(lane, one_set.Result.phrases, result)
            return result.phrases_answer

        return self._stream_job(request, lane, steps())

    async def compare(self, request: Request) -> Response:
        body = parse_json(await request.body())
        sets = {name: self._get_stored(Samples, key) for name, key in _parse_sets(body)}
        settings = _parse_score_settings(body, "sets")
        slow = any(one_set.is_long(samples, settings) for samples in sets.values())
        lane = LONG if slow else MIDDLE
        return self._stream_job(request, lane, self.run(lane, several_sets.compare, sets, settings))

    async def arguments(self, request: Request) -> Record:
        body = parse_json(await request.body())
        kind, text = body.get("kind"), body.get("arguments")
        lane = TINY if len(str(text)) <= TINY_CHARACTERS else SHORT
        return await self._run_job(request, lane, edited_call.read_call, kind, text)

    async def compute(self, request: Request) -> Response:
        body = parse_json(await request.body())
        text = body.get("arguments")
        if "sets" in body:
            sets = {name: self._get_stored(Samples, key) for name, key in _parse_sets(body)}
            kinds = {samples.kind for samples in sets.values()}
            job: tuple[Any, ...] = (edited_call.compute_sets, sets, text)
        else:
            samples = self._get_stored(Samples, body.get("key"))
            kinds = {samples.kind}
            job = (edited_call.compute_samples, samples, text)
        lane = LONG if "images" in kinds or names_encoder(text) else MIDDLE
        return self._stream_job(request, lane, self.run(lane, *job))

    async def download(self, request: Request) -> Response:
        body = parse_json(await request.body())

        def steps() -> Steps[Record]:
            answer = yield from offered_encoders.download(body.get("kind"), body.get("kernel"))
            yield from self.run(LONG, offered_encoders.prepare)
            return answer

        return self._stream_job(request, AWAY, steps())

    async def report(self, request: Request) -> Response:
        body = parse_json(await request.body())
        title = body.get("title")
        short = title[:MAX_NAME] if isinstance(title, str) else ""
        result = self._get_result(body)
        text = await self._run_job(request, MIDDLE, one_set.Result.report, result, short)
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Disposition": 'attachment; filename="vendi-score.html"',
        }
        return await respond(text.encode(errors="replace"), headers)

    async def groups(self, request: Request) -> Record:
        body = parse_json(await request.body())
        result = self._get_result(body)
        lane = TINY if result.is_tiny else SHORT
        method = one_set.Result.groups
        return await self._run_job(request, lane, method, result, body.get("threshold"))

    async def subset(self, request: Request) -> Record:
        body = parse_json(await request.body())
        result = self._get_result(body)
        method = one_set.Result.subset
        return await self._run_job(request, MIDDLE, method, result, body.get("size"))

    async def papers(self, request: Request) -> Record:
        result = self._get_result(parse_json(await request.body()))
        return await self._run_job(request, MIDDLE, one_set.Result.papers, result)

    async def drawings(self, request: Request) -> Record:
        body = parse_json(await request.body())
        return await self._run_job(request, SHORT, one_set.draw_molecules, body.get("smiles"))

    def _store(self, request: Request, value: object) -> str:
        return self.store.put(value, measure_size(value), owner=get_address(request))

    def _get_stored(self, value_type: type[Value], key: object) -> Value:
        value = self.store.get(key)
        if not isinstance(value, value_type):
            raise HTTPException(GONE)
        return value

    def _get_result(self, body: Record) -> one_set.Result:
        return self._get_stored(one_set.Result, body.get("id"))

    async def _run_job(
        self, request: Request, lane: str, function: Callable[..., Value], *arguments: object
    ) -> Value:
        """Return the result of a job; stop the job if the user disconnects."""
        return await self.lanes.run_for(request, lane, self.run(lane, function, *arguments))

    def _stream_job(self, request: Request, lane: str, steps: Steps[object]) -> Response:
        visitor = get_visitor(request)
        self.lanes.check(visitor, lane)  # while the status can still say so
        return stream_lines(partial(self.lanes.run, visitor, lane, steps))


def _describe_form_error(problem: str) -> str:
    """Return what to do about an error of the parser of forms, which names no file."""
    if problem != _INVALID_FORM:
        return problem
    return (
        f"The upload cannot be read as {_FORM_TYPE}; remove line breaks and control characters "
        f"from the names of the files, and upload them again."
    )


def _get_text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    if not isinstance(value, str):
        raise RefusedError(f"`{name}` must be text, not a file.")
    return value


def _parse_input_settings(options: Record) -> InputSettings:
    types = get_type_hints(InputSettings)
    for name, value in options.items():
        check_choice(name, tuple(types), "option")
        is_finite = not isinstance(value, float) or math.isfinite(value)
        if not isinstance(value, types[name]) or not is_finite:
            raise RefusedError(f"`{name}` has an invalid value: {short_repr(value)}.")
    return InputSettings(**options)


def _parse_score_settings(body: Record, *other_names: str) -> Settings:
    """Return the settings of a score, whose values are not checked, without `other_names`."""
    settings = {name: value for name, value in body.items() if name not in other_names}
    for name in settings:
        check_choice(name, tuple(get_type_hints(Settings)), "option")
    if not isinstance(settings.get("options", {}), dict):
        raise RefusedError(f"`options` must be an object, got {short_repr(settings['options'])}.")
    return Settings(**settings)


def _parse_sets(body: Record) -> list[tuple[str, object]]:
    sets = body.get("sets")
    if not isinstance(sets, list) or not all(isinstance(entry, dict) for entry in sets):
        raise RefusedError("`sets` must be a list of objects with a key and a name.")
    names = [str(entry.get("name", ""))[:MAX_NAME].strip() for entry in sets]
    if len(set(names)) < len(names) or not all(names):
        raise RefusedError("Give each set a different name.")
    return list(zip(names, (entry.get("key") for entry in sets), strict=True))
