"""Responses of the page's routes: JSON, lines of JSON while work is under way, and refusals."""

import asyncio
import gzip
import json
import logging
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from itertools import chain
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from vendiscore import MissingPackageError

from ..aliases import Record
from ..answers.sample_readout import UnusableError
from ..quotas import MAX_DIGITS, MAX_JSON_DEPTH, MAX_JSON_LISTS, MAX_JSON_VALUES, RefusedError
from .static_files import HEADERS

Answer = Callable[[Request], Coroutine[object, object, object]]
Run = Callable[[Callable[[str], object]], Awaitable[object]]
_GZIP = 31  # window bits that make zlib write gzip
_MAX_SILENCE = 15.0  # seconds after which a proxy might take a connection for dead
GONE = 410  # the status of samples and results that are not kept any more
INVALID = 422  # the status of invalid input
# Errors about the input, of the page and of the library: their messages are for the visitor.
EXPECTED = (ValueError, TypeError, MemoryError, MissingPackageError)
SERVER_ERROR_MESSAGE = (
    "An error occurred on the server, not because of your input; try again later."
)
_AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_log = logging.getLogger(__name__)


def stream_lines(run: Run) -> StreamingResponse:
    """Return a response of one JSON object a line: progress, then the result or a problem."""
    headers = {**HEADERS, "Content-Type": "application/x-ndjson", "Cache-Control": "no-store"}
    headers |= {"X-Accel-Buffering": "no"}  # a proxy is to pass each line on
    headers |= {"Content-Encoding": "gzip"}  # as all browsers take it
    return StreamingResponse(_compress_parts(_iter_lines(run)), headers=headers)


async def _iter_lines(run: Run) -> AsyncIterator[bytes]:
    messages: asyncio.Queue[str | None] = asyncio.Queue()
    task = asyncio.ensure_future(run(messages.put_nowait))
    task.add_done_callback(lambda _: messages.put_nowait(None))
    message: str | None = ""
    try:
        while message is not None:
            try:
                message = await asyncio.wait_for(messages.get(), _MAX_SILENCE)
            except TimeoutError:
                yield b"\n"
            else:
                line = (
                    await _encode_outcome(task) if message is None else to_json({"said": message})
                )
                yield line + b"\n"
    finally:
        task.cancel()


async def _compress_parts(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    pack = zlib.compressobj(6, wbits=_GZIP)
    async for part in parts:
        yield await run_in_threadpool(pack.compress, part) + pack.flush(zlib.Z_SYNC_FLUSH)
    yield pack.flush()


async def _encode_outcome(task: asyncio.Future[object]) -> bytes:
    try:
        return await run_in_threadpool(to_json, {"result": task.result()})
    except Exception as error:
        return to_json(_describe_refusal(error)[0])


def get_message(error: Exception) -> tuple[str, int]:
    """Return an error's message for the visitor, and its status; the log gets unexpected errors."""
    if isinstance(error, HTTPException):
        return error.detail, error.status_code
    if isinstance(error, UnicodeEncodeError):
        character = error.object[error.start]
        return f"The input contains {character!a}, which is not valid Unicode; remove it.", INVALID
    if isinstance(error, EXPECTED):
        return str(error), INVALID
    _log.error("a request failed", exc_info=error)
    return SERVER_ERROR_MESSAGE, 500


def _describe_refusal(error: Exception) -> tuple[Record, int]:
    text, status = get_message(error)
    problem: Record = {"text": text}
    if isinstance(error, UnusableError):
        problem = {"text": error.summary, **error.to_dict()}
    return {"gone": True} if status == GONE else {"problem": problem}, status


def as_json_route(route: Answer) -> Answer:
    """Return the route with values and errors as JSON responses."""

    async def handle(request: Request) -> Any:
        try:
            value = await route(request)
            return value if callable(value) else await _respond_json(value)
        except ClientDisconnect:
            return Response()  # the client has disconnected
        except Exception as error:
            return await _respond_json(*_describe_refusal(error))

    return handle


async def _respond_json(value: object, status: int = 200) -> Response:
    body = await run_in_threadpool(to_json, value)
    return await respond(body, {"Content-Type": "application/json"}, status)


async def respond(body: bytes, headers: Mapping[str, str], status: int = 200) -> Response:
    """Return a response that must not be cached."""
    headers = {**HEADERS, "Cache-Control": "no-store", **headers, "Content-Encoding": "gzip"}
    return Response(await run_in_threadpool(gzip.compress, body, 6), status, headers)


def to_json(value: object) -> bytes:
    """Return JSON; raise a RuntimeError, an error of the server, for an unsupported value."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode(errors="replace")  # half a surrogate pair is a visitor's
    except (TypeError, ValueError) as error:
        raise RuntimeError(f"an answer is not JSON: {error}") from error


def parse_json(text: str | bytes) -> Record:
    try:
        value = parse_json_value(text)
    except RefusedError:
        raise
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise RefusedError("Expected a JSON object.")
    return value


def parse_json_value(
    text: str | bytes, object_hook: Callable[[dict[str, Any]], object] | None = None
) -> object:
    """Parse JSON, which stops the whole server, unless it exceeds a limit of its size.

    Raises a RefusedError beyond a limit, and a ValueError or a RecursionError for invalid JSON.
    """
    data = text.encode(errors="replace") if isinstance(text, str) else text
    n_lists = data.count(b"]") + data.count(b"}")
    if n_lists > MAX_JSON_LISTS:
        raise RefusedError(
            f"The JSON has more than {MAX_JSON_LISTS:,} lists and objects; send fewer samples."
        )
    if n_lists + data.count(b",") > MAX_JSON_VALUES:
        raise RefusedError(
            f"The JSON has more than {MAX_JSON_VALUES:,} values; send fewer samples, or samples "
            f"with fewer numbers."
        )
    # Strings may have as many digits, so that the integers themselves are checked.
    has_many_digits = b"0" * MAX_DIGITS in data.translate(_AS_ZEROS)
    parse_int = _parse_integer if has_many_digits else None
    value = json.loads(text, object_hook=object_hook, parse_int=parse_int)
    if _is_deeper(value, MAX_JSON_DEPTH):
        raise RefusedError(
            f"The JSON has more than {MAX_JSON_DEPTH} levels of lists and objects; send a list of "
            f"samples, or a list of such lists."
        )
    return value


def _parse_integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise RefusedError(f"An integer has {len(digits):,} digits; the limit is {MAX_DIGITS}.")
    return int(digits)


def _is_deeper(value: object, max_depth: int) -> bool:
    """Return whether lists and objects are nested deeper than a limit, without recursion."""
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(max_depth):
        items = chain.from_iterable(x.values() if isinstance(x, dict) else x for x in level)
        level = [item for item in items if isinstance(item, (list, dict))]
    return bool(level)
