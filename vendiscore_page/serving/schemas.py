"""JSON schemas of the functions of the API, from their signatures and docstrings."""

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from vendiscore import __version__

from ..aliases import Record
from ..answers import api

# Samples of an example call, by the name of the argument.
EXAMPLES: Record = {
    "texts": ["a cat sat", "a dog ran"],
    "images": [
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
    ],
    "smiles": ["CCO", "CCN"],
    "rows": [[1, 0], [0, 1]],
    "samples": ["a cat sat", "a dog ran"],
    "sets": [["a cat sat", "a dog ran", "a cow ate", "a pig hid"], ["one", "two", "one", "two"]],
}
_ARGUMENT = re.compile(r"(\w+): (.*)")
_FIELD = re.compile(r"(\w+) \(([\w ]+)\): (.*)")
_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


class Documentation(NamedTuple):
    """Parts of a docstring."""

    summary: str
    description: str  # with the summary
    arguments: dict[str, str]
    returned: list[str]


def parse_docstring(function: Callable[..., Any]) -> Documentation:
    """Split a docstring, in which each argument and each returned field is described in a line."""
    text, _, returned = (inspect.getdoc(function) or "").partition("\n\nReturns:\n")
    text, _, arguments = text.partition("\n\nArgs:\n")
    return Documentation(
        text.partition("\n")[0],
        " ".join(text.split()),
        {match[1]: match[2] for match in map(_ARGUMENT.match, _split_lines(arguments)) if match},
        _split_lines(returned),
    )


def make_input_schema(function: Callable[..., Any]) -> Record:
    """Return the schema of the arguments of a function."""
    descriptions = parse_docstring(function).arguments
    properties, required = {}, []
    for name, parameter in inspect.signature(function).parameters.items():
        schema = TypeAdapter(parameter.annotation).json_schema()
        schema["description"] = descriptions.get(name, "")
        if parameter.default is parameter.empty:
            required.append(name)
        else:
            schema["default"] = parameter.default
        if name in EXAMPLES:
            schema["examples"] = [EXAMPLES[name]]
        properties[name] = schema
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def make_output_schema(function: Callable[..., Any]) -> Record:
    """Return the schema of a result from lines "name (types): meaning" of a docstring.

    A docstring without such lines refers to `vendi_score_texts`.
    """
    returned = parse_docstring(function).returned
    fields = [match.groups() for line in returned if (match := _FIELD.match(line))]
    if not fields:
        return make_output_schema(api.vendi_score_texts)
    properties = {
        name: {"type": types.split(" or "), "description": text} for name, types, text in fields
    }
    # Scores at other orders than 1 have the order in their names: VS_q2, VS_q2_se.
    patterns = {
        f"^VS_q[^_]+{name.removeprefix('VS')}$": schema
        for name, schema in properties.items()
        if name.startswith("VS")
    }
    return {"type": "object", "properties": properties, "patternProperties": patterns}


def make_openapi(functions: Iterable[Callable[..., Any]]) -> Record:
    """Return the OpenAPI document of the HTTP API."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Vendi Score", "version": __version__},
        "paths": {
            f"/api/{function.__name__}": {"post": _make_operation(function)}
            for function in functions
        },
    }


def _make_operation(function: Callable[..., Any]) -> Record:
    documentation = parse_docstring(function)

    def describe(description: str, schema: Record) -> Record:
        return {"description": description, "content": {"application/json": {"schema": schema}}}

    return {
        "operationId": function.__name__,
        "summary": documentation.summary,
        "description": documentation.description,
        "requestBody": describe("Arguments by name.", make_input_schema(function))
        | {"required": True},
        "responses": {
            "200": describe("The result.", make_output_schema(function)),
            "413": describe("The request is too large.", _ERROR),
            "422": describe("An argument is invalid; the message says what to change.", _ERROR),
            "429": describe("Too many requests of this client are running.", _ERROR),
            "503": describe("Too many requests are waiting.", _ERROR),
        },
    }


def _split_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]
