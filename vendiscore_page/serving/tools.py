"""Tools for clients of the Model Context Protocol: functions of the API, as docstrings say."""

import json
import re
from typing import Any

import gradio as gr
from gradio.context import LocalContext
from gradio.utils import get_function_description

from vendiscore import __version__

from ..aliases import Record
from ..answers import api

NAME = "vendiscore"
INSTRUCTIONS = (
    "Compute the Vendi Score, the effective number of samples: 1 if all are identical, n if no two "
    "of the n samples are similar. Call one of the four vendi_score tools for one set: texts, "
    "images as base64, molecules as SMILES, or vectors. Call vendi_compare to test which of two to "
    "eight sets or models is more diverse; if models answered the same prompts, pass it rows "
    "with model, prompt and text. Call compute for everything else, such as magnitude, other "
    "measures, kernels, weights and references, with arguments of the Python library as text. "
    "Report VS with n, the kernel and VS_low to VS_high (with "
    "q = 2, these fields are VS_q2, VS_q2_low and VS_q2_high); scores of different n, q or kernels "
    "cannot be compared. Send the samples, not their addresses."
)
_FIELD = re.compile(r"(\w+) \(([\w ]+)\): (.*)")


def describe(found: Any) -> None:
    """Name gradio's server of tools, and let its tools have output schemas and plain results."""
    server, types = found.mcp_server, found.types
    server.name, server.version, server.instructions = NAME, __version__, INSTRUCTIONS
    paths = found.tool_to_endpoint.items()
    functions = {name: found.get_block_fn_from_endpoint_name(path).fn for name, path in paths}

    @server.list_tools()  # type: ignore[untyped-decorator]
    async def listed() -> list[object]:
        tools = []
        for name, function in functions.items():
            text, arguments, returned = get_function_description(function)
            taken, _ = found.get_input_schema(name, arguments)
            schemas = {"inputSchema": taken, "outputSchema": output_schema(returned)}
            tools.append(types.Tool(name=name, description=text, **schemas))
        return tools

    # Schemas would repeat a large input in their errors; ours are for people.
    @server.call_tool(validate_input=False)  # type: ignore[untyped-decorator]
    async def called(name: str, arguments: Record) -> object:
        if name not in functions:
            raise ValueError(f"Unknown tool; there are {', '.join(functions)}.")
        LocalContext.request.set(server.request_context.request)
        try:
            answer = await functions[name](**arguments)
        except gr.Error as error:
            raise ValueError(error.message) from None
        content = [types.TextContent(type="text", text=json.dumps(answer))]
        return types.CallToolResult(content=content, structuredContent=answer)


def output_schema(returned: list[str]) -> Record:
    """Return the schema of an answer from lines "name (types): meaning" of a docstring.

    A docstring without such lines refers to `vendi_score_texts`.
    """
    fields = [match.groups() for line in returned if (match := _FIELD.match(line))]
    if not fields:
        return output_schema(get_function_description(api.vendi_score_texts)[2])
    properties = {
        name: {"type": kinds.split(" or "), "description": text} for name, kinds, text in fields
    }
    # Scores at other orders than 1 have the order in their names: VS_q2, VS_q2_se.
    of_orders = {
        f"^VS_q[^_]+{name.removeprefix('VS')}$": about
        for name, about in properties.items()
        if name.startswith("VS")
    }
    return {"type": "object", "properties": properties, "patternProperties": of_orders}
