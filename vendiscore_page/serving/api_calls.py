"""Calls of the functions of the API: their arguments, their lanes and their errors."""

import inspect
from collections.abc import Callable

from ..aliases import Record, Steps
from ..answers import api, offered_encoders
from ..answers.call_arguments import describe_error, names_encoder
from ..answers.kernel_menu import check_choice
from ..quotas import TINY_CHARACTERS, TINY_SAMPLES, TINY_VALUES, RefusedError
from .lanes import LONG, MIDDLE, SHORT, TINY
from .wire import INVALID, get_message
from .workers import Run

API = (
    api.vendi_score_texts,
    api.vendi_score_images,
    api.vendi_score_molecules,
    api.vendi_score_vectors,
    api.vendi_compare,
    api.compute,
)
# Characters of samples in Python that are scored in less than about a second.
_MAX_SHORT_CHARACTERS, _MAX_SHORT_ROW_CHARACTERS = 20_000, 1_000_000
# Characters of samples and of arguments of `compute`, whose time depends on both.
_MAX_SHORT_CALL_SAMPLES, _MAX_SHORT_CALL_ARGUMENTS = 5_000, 300
_NUMBER_LENGTH = 10  # characters of a number
# By name of the samples: characters of arguments that the server processes itself (a number has
# about ten), and characters of which Python writes one or two for each sample.
_TINY = {"texts": (TINY_CHARACTERS, "'\""), "rows": (10 * TINY_VALUES, "]")}


class ApiCalls:
    """Functions of the API by name; `run_job` runs one in its lane, and yields its messages."""

    def __init__(self, run_job: Run) -> None:
        self.functions: dict[str, Callable[..., Record]] = {
            function.__name__: function for function in API
        }
        self._run_job = run_job

    def prepare(self, name: str, arguments: Record) -> tuple[str, Steps[Record]]:
        """Return the lane of a call and its steps."""
        check_choice(name, tuple(self.functions), "function")
        function = self.functions[name]
        signature = inspect.signature(function)
        for argument in arguments:
            check_choice(argument, tuple(signature.parameters), "argument")
        for parameter in signature.parameters.values():
            if parameter.default is parameter.empty and parameter.name not in arguments:
                raise RefusedError(f"{name} requires the argument `{parameter.name}`.")
        bound = signature.bind(**arguments)
        bound.apply_defaults()
        lane = _choose_lane(bound.arguments)
        return lane, self._run_job(lane, function, *bound.args)

    def describe_error(self, error: Exception, name: str) -> tuple[str, int]:
        """Return the message of an error, which suggests arguments of the API, and its status."""
        text, status = get_message(error)
        if status == INVALID and name in self.functions and not isinstance(error, RefusedError):
            names = tuple(inspect.signature(self.functions[name]).parameters)
            return describe_error(error, names), status
        return text, status


def _choose_lane(arguments: Record) -> str:
    kernel = arguments.get("kernel")
    encoders = (kernel == name for kind in offered_encoders.ALLOWED.values() for name in kind)
    # A few bytes of an image can stand for megapixels.
    if any(encoders) or "images" in arguments or arguments.get("kind") == "images":
        return LONG
    if isinstance(text := arguments.get("arguments"), str):
        if names_encoder(text) or "pixels" in text:
            return LONG
        is_short = len(text) <= _MAX_SHORT_CALL_ARGUMENTS and not _is_long(
            arguments["samples"], _MAX_SHORT_CALL_SAMPLES
        )
        return SHORT if is_short else MIDDLE
    values = list(arguments.values())
    max_characters, marks = _TINY.get(next(iter(arguments)), (0, ""))
    if not _is_long(values, max_characters):
        text = repr(values)
        if len(text) <= max_characters and sum(map(text.count, marks)) <= 2 * TINY_SAMPLES:
            return TINY
    max_short = _MAX_SHORT_ROW_CHARACTERS if "rows" in arguments else _MAX_SHORT_CHARACTERS
    return MIDDLE if "sets" in arguments or _is_long(values, max_short) else SHORT


def _is_long(value: object, limit: int) -> bool:
    """Return whether Python writes a value with more characters than a limit, approximately.

    `repr` would stop the whole server while it writes a large value.
    """
    queue, length = [value], 0
    while queue and length <= limit:
        item = queue.pop()
        length += len(item) + 2 if isinstance(item, str) else _NUMBER_LENGTH
        if isinstance(item, list | dict) and len(item) > limit:
            return True
        if isinstance(item, dict):
            queue += [*item, *item.values()]
        elif isinstance(item, list):
            queue += item
    return length > limit
