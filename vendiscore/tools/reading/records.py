"""Records as tools write them: paths to the answers, the prompt and the model of each."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from ...support.types import Options

_STEP = re.compile(r"([^.\[\]]+)|\[(\*|-?\d+)\]")
# Keys that hold a turn's speaker, and its text; the names of those who ask and who answer.
_SPEAKER, _TEXT = ("role", "from"), ("content", "value", "text")
_SPEAKERS = {
    "user": ("user", "human"),
    "assistant": ("assistant", "gpt", "model", "bot", "chatgpt"),
}
# Keys of an answer among several.
_ANSWER = ("text", "content", "generated_text", "message", "output_text", "answer")
_DEPTH = 8  # of what is looked into for paths


class Known(NamedTuple):
    """A record: its name, keys that it has, and paths to its answers, prompt and model.

    A path names keys and places: "choices[*].message.content", "messages.assistant" for the last
    turn of a speaker.
    """

    name: str
    keys: tuple[str, ...]
    answers: str
    prompt: str = ""
    model: str = ""
    once: str = ""  # a column with another name for each further copy of an answer


#: Records by their keys; the first that fits is taken. A new one is a row here and a file in tests.
KNOWN = (
    Known(
        "an Inspect log",
        ("id", "epoch", "output.choices"),
        "output.choices[*].message.content",
        "input",
        "output.model",
    ),
    Known("chat messages", ("messages",), "messages.assistant", "messages.user"),
    Known("a conversation", ("conversations",), "conversations.assistant", "conversations.user"),
    Known(
        "OpenAI batch output",
        ("custom_id", "response.body.choices"),
        "response.body.choices[*].message.content",
        model="response.body.model",
    ),
    Known("lm-eval samples", ("doc_id", "arguments", "resps"), "resps", "doc_id", once="filter"),
    Known(
        "HELM requests",
        ("instance.input", "request", "result.completions"),
        "result.completions[*].text",
        "instance.input.text",
        "request.model",
    ),
    Known(
        "AlpacaEval outputs",
        ("instruction", "output", "generator"),
        "output",
        "instruction",
        "generator",
    ),
    Known("NoveltyBench", ("prompt", "generations"), "generations", "prompt", "model"),
    Known("vLLM outputs", ("prompt", "outputs[0].text"), "outputs[*].text", "prompt", "model"),
    Known(
        "Every Eval Ever",
        ("model_id", "sample_id", "output.raw"),
        "output.raw",
        "sample_id",
        "model_id",
    ),
    Known(
        "lighteval details",
        ("doc.query", "model_response.text"),
        "model_response.text",
        "doc.query",
    ),
    Known("lighteval details", ("full_prompt", "predictions"), "predictions", "full_prompt"),
)
#: Keys of documents under which such records are.
HOLDERS = ("samples", "request_states", "rows", "data", "results", "outputs")


def known_record(record: Options) -> Known | None:
    """Return the record that has these keys, if it is known."""
    fits = (each for each in KNOWN if all(value_at(record, key) is not None for key in each.keys))
    return next(fits, None)


def value_at(value: object, path: str) -> object:
    """Return what is at a path: None if it is not there, a list for "[*]".

    Examples
    --------
    >>> value_at({"choices": [{"text": "a"}, {"text": "b"}]}, "choices[*].text")
    ['a', 'b']
    """
    steps = [name or place for name, place in _STEP.findall(path)]
    return _walk(value, steps)


def start_of(path: str) -> str:
    """Return the first name of a path."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def _walk(value: object, steps: Sequence[str]) -> object:
    for i, step in enumerate(steps):
        if step == "*":
            each = value if isinstance(value, list) else []
            return [_walk(one, steps[i + 1 :]) for one in each]
        if is_conversation(value) and step in _SPEAKERS:
            value = last_turn(value, step)
        elif isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and re.fullmatch(r"-?\d+", step):
            value = value[int(step)] if -len(value) <= int(step) < len(value) else None
        else:
            return None
    return value


def is_conversation(value: object) -> TypeGuard[list[Options]]:
    """Return whether a value is a list of turns that name their speakers."""
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(turn, Mapping) and _first(turn, _SPEAKER) for turn in value)
    )


def last_turn(turns: Sequence[Options], speaker: str) -> str | None:
    """Return the last text of those who ask, or of those who answer."""
    texts = [
        text
        for turn in turns
        if _first(turn, _SPEAKER) in _SPEAKERS[speaker]
        if (text := _content(_first(turn, _TEXT)))
    ]
    return texts[-1] if texts else None


def _content(content: object) -> str:
    """Return the text of a turn, whose content may come in parts."""
    if isinstance(content, Mapping):
        return _content(_first(content, _ANSWER))
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _first(value: Options, keys: Collection[str]) -> object:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def answers_in(cell: object) -> object:
    """Return the answers in a cell: a list for several, a text for one; None for none.

    Examples
    --------
    >>> answers_in([["a", "b"], ["c"]]), answers_in([{"role": "assistant", "content": "a"}])
    (['a', 'b', 'c'], 'a')
    """
    if is_conversation(cell):
        return last_turn(cell, "assistant")
    if isinstance(cell, Mapping):
        return answers_in(_first(cell, _ANSWER))
    if not isinstance(cell, list):
        return cell
    if any(isinstance(one, Mapping) and "type" in one for one in cell):
        return _content(cell) or None
    each: list[object] = []
    for one in map(answers_in, cell):
        each += one if isinstance(one, list) else [one]
    return each[0] if len(each) == 1 else each


def is_image(cell: object) -> TypeGuard[Mapping[str, object]]:
    """Return whether a cell of a dataset holds an image."""
    return isinstance(cell, Mapping) and {*cell} == {"bytes", "path"}


def image_in(cell: object) -> object:
    """Return the image in a cell of a dataset: its bytes, or else its path."""
    return (cell["bytes"] or cell["path"]) if is_image(cell) else cell


def label_in(cell: object) -> str:
    """Return a prompt, a model or another label as text: of a conversation, what was asked last."""
    if isinstance(cell, str):
        return cell.strip()
    if is_conversation(cell):
        return last_turn(cell, "user") or ""
    if cell is None or cell != cell:  # NaN ≠ NaN
        return ""
    if isinstance(cell, (Mapping, list)):
        return json.dumps(cell, ensure_ascii=False, sort_keys=True, default=repr)
    return str(cell).strip()


def is_nested(cell: object) -> bool:
    """Return whether a cell holds values that only a path can name."""
    if not isinstance(cell, list) or is_conversation(cell):
        return isinstance(cell, Mapping)
    return any(isinstance(one, (Mapping, list)) for one in cell)


def paths(value: object, above: str = "", depth: int = _DEPTH) -> Iterator[str]:
    """Yield the paths to the texts of a nested value."""
    if isinstance(value, str) and above:
        yield above
    elif depth and isinstance(value, Mapping):
        for key, inner in value.items():
            yield from paths(inner, f"{above}.{key}" if above else key, depth - 1)
    elif depth and isinstance(value, list) and value:
        if all(isinstance(one, str) for one in value):
            yield above
        else:
            yield from paths(value[0], f"{above}[*]", depth - 1)
