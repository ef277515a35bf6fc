"""Record formats of known tools: paths to the answers, the prompt and the model of a record."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from ...support.errors import short_repr
from ...support.types import Options
from .limits import RefusedError
from .names import role_of, split_name

_PATH_STEP = re.compile(r"([^.\[\]]+)|\[(\*|-?\d+)\]")
# Keys that hold a turn's speaker, and its text; the names of those who ask and who answer.
_SPEAKER_KEYS = ("role", "from", "speaker", "sender")
_TEXT_KEYS = ("content", "value", "text", "parts")
_SPEAKERS = {
    "user": ("user", "human", "customer", "client"),
    "assistant": ("assistant", "gpt", "model", "bot", "chatbot", "chatgpt", "ai", "agent"),
}
_ALL_SPEAKERS = ("system", *_SPEAKERS["user"], *_SPEAKERS["assistant"])
# Keys of an answer among several.
_ANSWER_KEYS = ("text", "content", "generated_text", "message", "output_text", "answer")
# Key of a choice among several, with the answers of the turns of a conversation.
_TURNS_KEY = "turns"
_MAX_LABEL_LENGTH = 100  # characters of the name of a group
_MAX_DEPTH = 8  # of nested values in which paths are searched


class RecordFormat(NamedTuple):
    """A record: its name, keys that it has, and paths to its answers, prompt and model.

    A path contains keys and indices: "choices[*].message.content", or "messages.assistant" for the
    last turn of a speaker.
    """

    name: str
    keys: tuple[str, ...]
    answers: str
    prompt: str = ""
    model: str = ""
    first_value_column: str = ""  # a column with another name for each further copy of an answer


#: Records by their keys; the first that fits is taken. A new one is a row here and a file in tests.
RECORD_FORMATS = (
    RecordFormat(
        "an Inspect log",
        ("id", "epoch", "output.choices"),
        "output.choices[*].message.content",
        "input",
        "output.model",
    ),
    RecordFormat(
        "an export of Claude",
        ("uuid", "chat_messages"),
        "chat_messages.assistant",
        "chat_messages.user",
    ),
    RecordFormat(
        "OpenAI batch output",
        ("custom_id", "response.body.choices"),
        "response.body.choices[*].message.content",
        model="response.body.model",
    ),
    RecordFormat(
        "lm-eval samples",
        ("doc_id", "arguments", "resps"),
        "resps",
        "doc_id",
        first_value_column="filter",
    ),
    RecordFormat(
        "HELM requests",
        ("instance.input", "request", "result.completions"),
        "result.completions[*].text",
        "instance.input.text",
        "request.model",
    ),
    RecordFormat(
        "AlpacaEval outputs",
        ("instruction", "output", "generator"),
        "output",
        "instruction",
        "generator",
    ),
    RecordFormat("NoveltyBench", ("prompt", "generations"), "generations", "prompt", "model"),
    RecordFormat(
        "vLLM outputs", ("prompt", "outputs[0].text"), "outputs[*].text", "prompt", "model"
    ),
    RecordFormat(
        "Every Eval Ever",
        ("model_id", "sample_id", "output.raw"),
        "output.raw",
        "sample_id",
        "model_id",
    ),
    RecordFormat(
        "lighteval details",
        ("doc.query", "model_response.text"),
        "model_response.text",
        "doc.query",
    ),
    RecordFormat("lighteval details", ("full_prompt", "predictions"), "predictions", "full_prompt"),
    RecordFormat(
        "promptfoo results",
        ("prompt.raw", "response.output"),
        "response.output",
        "prompt.raw",
        "provider.id",
    ),
)
#: Keys of documents under which such records are.
HOLDERS = ("samples", "request_states", "rows", "data", "results", "outputs")


def detect_record_format(record: Options) -> RecordFormat | None:
    """Return the format of a record, detected from its keys; None if it is unknown."""
    matches = (
        record_format
        for record_format in RECORD_FORMATS
        if all(get_value_at(record, key) is not None for key in record_format.keys)
    )
    return next(matches, None) or _detect_conversation(record)


def _detect_conversation(record: Options) -> RecordFormat | None:
    """Return the format of a record with a single conversation; None for other records.

    If the conversation contains no answer, the answer is the only other field named as an answer.
    """
    turns = {name: value for name, value in record.items() if is_conversation(value)}
    answered = [name for name, value in turns.items() if get_last_turn(value, "assistant")]
    fields = answered if len(answered) == 1 else [*turns]
    other_fields = [name for name, value in record.items() if value and name not in fields]
    named = [name for name in other_fields if role_of(name) == "text"]
    if len(fields) != 1 or get_last_turn(turns[fields[0]], "user") is None:
        return None
    (name,) = fields
    if named:
        is_unanswered = not answered and len(named) == 1
        return RecordFormat("a conversation", (name,), named[0], name) if is_unanswered else None
    return RecordFormat("a conversation", (name,), f"{name}.assistant", f"{name}.user")


class Split(NamedTuple):
    """Rows of records that hold several samples each, and the index of the record of each row."""

    rows: list[dict[str, object]]
    records: list[int]
    group: str = ""  # the column that groups the rows


def split_records(records: Sequence[dict[str, object]], max_values: int) -> Split | None:
    """Return a row for each pair of parallel lists, or for each turn of answers in choices.

    Records whose rows would have more values are not split.
    """
    filled = [record for record in records if record]
    if fields := _find_parallel_fields(filled):
        if sum(len(record) * len(_get_list(record, fields[0])) for record in filled) > max_values:
            return None
        pairs = Split([], [])
        for i, record in enumerate(records):
            for values in zip(*(record.get(name, [None]) for name in fields), strict=True):
                pairs.rows.append(record and {**record, **dict(zip(fields, values, strict=True))})
                pairs.records.append(i)
        return pairs
    for field in filled[0] if filled else ():
        if all(_are_turns(record.get(field)) for record in filled):
            turns = (
                len(record) * len(choice[_TURNS_KEY])
                for record in filled
                for choice in _get_list(record, field)
            )
            return _split_turns(records, field) if sum(turns) <= max_values else None
    return None


def _get_list(record: Mapping[str, Any], field: str) -> list[Any]:
    value: list[Any] = record[field]
    return value


def _find_parallel_fields(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the fields with lists of the same length, if prompts and answers are among them."""
    first: Mapping[str, Any] = records[0] if records else {}
    lists = [name for name, value in first.items() if _is_plain_list(value)]
    prompts = [name for name in lists if role_of(name) == "prompt"]
    if not prompts or not isinstance(first[prompts[0]][0], str):
        return []
    prompt_field = prompts[0]

    def is_parallel(name: str) -> bool:
        return all(
            _is_plain_list(record.get(name)) and len(record[name]) == len(record[prompt_field])
            for record in records
        )

    answers = [name for name in lists if role_of(name) == "text"]
    for name in answers:
        lengths = [
            (len(record[prompt_field]), len(record[name]))
            for record in records
            if _is_plain_list(record.get(prompt_field)) and _is_plain_list(record.get(name))
        ]
        unequal = [pair for pair in lengths if pair[0] != pair[1]]
        if unequal and 2 * len(unequal) < len(lengths):
            raise RefusedError(
                f"most records have one value of {short_repr(name)} for each of "
                f"{short_repr(prompt_field)}, but {len(unequal):,} have not (for example, "
                f"{unequal[0][1]} for {unequal[0][0]}); correct or remove these records"
            )
    parallel = list(filter(is_parallel, lists))
    is_pair = prompt_field in parallel and any(name in parallel for name in answers)
    return parallel if is_pair else []


def _is_plain_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and len(value) > 0 and not is_conversation(value)


def _are_turns(choices: object) -> bool:
    """Return whether a value lists choices, each with the answers of its turns."""
    return (
        isinstance(choices, list)
        and len(choices) > 0
        and all(
            isinstance(choice, Mapping)
            and isinstance(choice.get(_TURNS_KEY), list)
            and all(isinstance(turn, str) for turn in choice[_TURNS_KEY])
            for choice in choices
        )
    )


def _split_turns(records: Sequence[dict[str, Any]], field: str) -> Split:
    """Return a row for each answer of each turn, which are grouped by turn.

    If a model answered a question several times, each turn of the question is a group.
    """
    first = next(filter(None, records))
    prompt_field = next((name for name in first if role_of(name) in ("prompt", "id")), "")
    model = next((name for name in first if role_of(name) == "model"), "")
    labels = [
        (extract_label(record.get(prompt_field)), extract_label(record.get(model)))
        for record in records
    ]
    choices = [record.get(field) or [{_TURNS_KEY: [None]}] for record in records]
    has_several_answers = len({*labels}) < len(labels) or any(
        len(record_choices) > 1 for record_choices in choices
    )
    names: dict[str, str] = {}  # of questions; long ones are truncated and numbered
    for i, (label, _) in enumerate(labels):
        names.setdefault(
            label,
            label if len(label) <= _MAX_LABEL_LENGTH else f"{label[:_MAX_LABEL_LENGTH]}… ({i + 1})",
        )
    split = Split([], [], "turn")
    for i, record in enumerate(records):
        other_values = {
            name: value for name, value in record.items() if name not in (field, prompt_field)
        }
        for choice in choices[i]:
            for turn, answer in enumerate(choice[_TURNS_KEY], 1):
                label = (
                    f"{names[labels[i][0]]}, turn {turn}" if has_several_answers else f"turn {turn}"
                )
                split.rows.append(record and {**other_values, "turn": label, "answer": answer})
                split.records.append(i)
    return split


def get_value_at(value: object, path: str) -> object:
    """Return what is at a path: None if it is not there, a list for "[*]".

    Examples
    --------
    >>> get_value_at({"choices": [{"text": "a"}, {"text": "b"}]}, "choices[*].text")
    ['a', 'b']
    """
    steps = [name or index for name, index in _PATH_STEP.findall(path)]
    return _walk(value, steps)


def get_path_start(path: str) -> str:
    """Return the first name of a path."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def _walk(value: object, steps: Sequence[str]) -> object:
    for i, step in enumerate(steps):
        if step == "*":
            items = value if isinstance(value, list) else []
            return [_walk(item, steps[i + 1 :]) for item in items]
        if is_conversation(value) and step in _SPEAKERS:
            value = get_last_turn(value, step)
        elif isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and re.fullmatch(r"-?\d+", step):
            value = value[int(step)] if -len(value) <= int(step) < len(value) else None
        else:
            return None
    return value


def is_conversation(value: object) -> TypeGuard[list[Options]]:
    """Return whether a value is a list of turns that name speakers, such as a user or a model."""
    if not isinstance(value, list) or not all(isinstance(turn, Mapping) for turn in value):
        return False
    speakers = [_get_first(turn, _SPEAKER_KEYS) for turn in value]
    return all(speakers) and any(speaker in _ALL_SPEAKERS for speaker in speakers)


def detect_speaker(name: str) -> str:
    """Return "user" or "assistant" if a word of a speaker's name says so, otherwise "".

    >>> detect_speaker("PyBot"), detect_speaker("You"), detect_speaker("ABHA")
    ('assistant', 'user', '')
    """
    words = {*split_name(name)}
    if words & {*_SPEAKERS["assistant"]}:
        return "assistant"
    return "user" if words & {*_SPEAKERS["user"], "you", "me"} else ""


def has_speakers(value: object) -> bool:
    """Return whether a value is a list of records that name several speakers."""
    if not isinstance(value, list):
        return False
    speakers = {str(_get_first(turn, _SPEAKER_KEYS)) for turn in value if isinstance(turn, Mapping)}
    return len(speakers) > 1


def get_last_turn(turns: Sequence[Options], speaker: str) -> str | None:
    """Return the last text of those who ask, or of those who answer."""
    texts = [
        text
        for turn in turns
        if _get_first(turn, _SPEAKER_KEYS) in _SPEAKERS[speaker]
        if (text := _extract_text(_get_first(turn, _TEXT_KEYS)))
    ]
    return texts[-1] if texts else None


def _extract_text(content: object) -> str:
    """Return the text of a turn, whose content may come in parts."""
    if isinstance(content, Mapping):
        return _extract_text(_get_first(content, _ANSWER_KEYS))
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _get_first(value: Options, keys: Collection[str]) -> object:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def extract_answers(cell: object) -> object:
    """Return the answers in a cell: a list for several, a text for one; None for none.

    Examples
    --------
    >>> extract_answers([["a", "b"], ["c"]])
    ['a', 'b', 'c']
    >>> extract_answers([{"role": "assistant", "content": "a"}])
    'a'
    """
    if is_conversation(cell):
        return get_last_turn(cell, "assistant")
    if isinstance(cell, Mapping):
        return extract_answers(_get_first(cell, _ANSWER_KEYS))
    if not isinstance(cell, list):
        return cell
    if any(isinstance(item, Mapping) and "type" in item for item in cell):
        return _extract_text(cell) or None
    answers: list[object] = []
    for item in map(extract_answers, cell):
        answers += item if isinstance(item, list) else [item]
    return answers[0] if len(answers) == 1 else answers


def is_image(cell: object) -> TypeGuard[Mapping[str, object]]:
    """Return whether a cell of a dataset holds an image."""
    return isinstance(cell, Mapping) and {*cell} == {"bytes", "path"}


def extract_image(cell: object) -> object:
    """Return the image in a cell of a dataset: its bytes, or else its path."""
    return (cell["bytes"] or cell["path"]) if is_image(cell) else cell


def extract_label(cell: object) -> str:
    """Return a prompt, a model or another label as text: of a conversation, what was asked last."""
    if isinstance(cell, str):
        return cell.strip()
    if is_conversation(cell):
        return get_last_turn(cell, "user") or ""
    if cell is None or cell != cell:  # NaN ≠ NaN
        return ""
    if isinstance(cell, (Mapping, list)):
        return json.dumps(cell, ensure_ascii=False, sort_keys=True, default=repr)
    return str(cell).strip()


def is_nested(cell: object) -> bool:
    """Return whether a cell holds values that only a path can name."""
    if not isinstance(cell, list) or is_conversation(cell):
        return isinstance(cell, Mapping)
    return any(isinstance(item, (Mapping, list)) for item in cell)


def iter_paths(value: object, prefix: str = "", depth: int = _MAX_DEPTH) -> Iterator[str]:
    """Yield the paths to the texts of a nested value."""
    if isinstance(value, str) and prefix:
        yield prefix
    elif depth and isinstance(value, Mapping):
        for key, inner in value.items():
            yield from iter_paths(inner, f"{prefix}.{key}" if prefix else key, depth - 1)
    elif depth and isinstance(value, list) and value:
        if all(isinstance(item, str) for item in value):
            yield prefix
        else:
            yield from iter_paths(value[0], f"{prefix}[*]", depth - 1)
