"""Suggestions for unknown flags: flags of the command, options of kernels, and other commands.

A flag or option is suggested only if it accepts the value that was passed.
"""

import argparse
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ...support.suggestions import (
    closest_spelling,
    describe_candidates,
    describe_other_scope,
    name_variants,
    replacement_hint,
    resolve_synonyms,
)
from ...support.synonyms import SYNONYMS, NameKind

# Short flags of other programs, and long names for them; the first that accepts the value is used.
LETTERS = {
    "H": "no-header",
    "c": "column",
    "d": "delimiter",
    "g": "group-by",
    "j": "njobs",
    "lc": "lowercase",
    "n": "limit",
    "o": "output",
    "p": "prompt",
    "r": "references recursive",
    "s": "seed size split",
    "t": "threshold type",
    "tok": "tokenizer",
    "v": "verbose",
    "vv": "verbose",
    "w": "width",
}
# Sample types that a file may contain, by the end of its name; other files contain any except
# images.
_TYPES_BY_ENDING = {
    ".fasta": {"texts"},
    ".npy": {"vectors"},
    ".npz": {"vectors"},
    ".smi": {"molecules"},
}
_TYPES_OF_FOLDERS = {"images", "texts"}
_TYPES_OF_TABLES = {"texts", "molecules", "vectors", "values"}
_EXAMPLE_KERNELS = {
    "texts": "-k ngram_overlap or -k semantic",
    "molecules": "-k morgan",
    "vectors": "-k cosine or -k rbf",
    "images": "-k pixels",
}
# Options whose values are names of a kind.
_NAMED_VALUES: dict[str, NameKind] = {"kernel": "kernel", "measures": "measure"}
# Options whose values are names of columns.
_COLUMN_OPTIONS = ("by", "column", "group_by", "prompts", "quality", "correct")
_RANGE = re.compile(r"(\d+)-(\d+)")
_MAX_RANGE = 10  # maximum number of integers in a range that is written as a list
# Parts of Python code, which must not appear in hints of the command.
_PYTHON_CODE = re.compile(r"\w\(|\w\[|=lambda|\w\.\w+\(|\b[a-z_]+=\w|`metric`| @ ")


class UnknownFlag(NamedTuple):
    """An unknown flag as typed, its value or None, and the files among the arguments."""

    word: str
    value: str | None
    files: Sequence[str]

    @property
    def names(self) -> list[str]:
        """The flag without dashes, in a list; for a short flag, the long names that it may mean."""
        name = self.word.lstrip("-")
        return [name] if not self.is_short else LETTERS.get(name, name).split()

    @property
    def name(self) -> str:
        """The flag without dashes; for a short flag, the long name that it most likely means."""
        return self.names[0]

    @property
    def is_short(self) -> bool:
        """Whether the flag starts with a single dash."""
        return not self.word.startswith("--")


def find_unknown_flag(word: str, arguments: Sequence[str]) -> UnknownFlag:
    """Find the unknown flag `word` and its value in `arguments`, all arguments of a command.

    The value is the text after "=" in `word`, or otherwise the argument after `word`. The flag has
    no value if the argument after it is a flag, or is the only file that the command can read.
    """
    flag, separator, text_after_equals = word.partition("=")
    files = [
        argument
        for argument in arguments
        if not argument.startswith("-") and Path(argument).exists()
    ]
    value: str | None = text_after_equals if separator else None
    if not separator and word in arguments:
        position = list(arguments).index(word) + 1
        # If no argument follows, the candidate is "-", which is not used as a value.
        candidate = arguments[position] if position < len(arguments) else "-"
        # The command needs a file, so the only one cannot be the value of a flag.
        is_only_file = candidate in files and len(files) == 1
        if not candidate.startswith("-") and not is_only_file:
            value = candidate
            files = [file for file in files if file != candidate] or files
    return UnknownFlag(flag, value, files)


def suggest_flag(
    parser: argparse.ArgumentParser,
    command: str,
    unknown: UnknownFlag,
    describe_other_flags: Callable[[Iterable[str]], Mapping[str, str]],
) -> str:
    """Return a hint for an unknown flag of a command; "" if nothing is similar.

    `describe_other_flags` is called with the flags of the command. It returns the flags of other
    commands as a dict, whose values describe where each is accepted.
    """
    actions = _actions_by_flag(parser)
    if _is_format(parser, unknown.name):
        return f"Did you mean -f {unknown.name}?"
    # A letter without a long name in LETTERS has no known meaning.
    if unknown.is_short and len(unknown.name) == 1:
        if hint := replacement_hint(unknown.name, "flag"):
            return hint
        return _list_short_flags(parser)
    options = _describe_options(parser, command, unknown)
    names = [variant for name in unknown.names for variant in name_variants(name)]
    for name in names:
        if hint := _suggest_own(name, actions, options, unknown):
            return hint
    other_flags = describe_other_flags(actions)
    for name in names:
        if hint := _suggest_other(name, other_flags):
            return hint
    close = closest_spelling(unknown.name, [*actions, *options], "flag")
    # Short names resemble many flags by chance.
    if close in actions and not (unknown.is_short and len(unknown.name) < 4):
        action = actions[close]
        if not _check_value(action, unknown):
            return f"Did you mean {close}? ({_describe_action(action)})"
    elif close in options:
        return f"Did you mean {options[close]}?"
    if unknown.is_short:
        return _list_short_flags(parser)
    # A kernel or a measure typed as a flag, such as --cosine, has no value.
    if unknown.value is None and (hint := _suggest_kernel_or_measure(unknown)):
        return hint
    descriptions = {flag: _describe_action(action) for flag, action in actions.items()}
    return describe_candidates(unknown.name, descriptions, "flag", quote="")


def _suggest_own(
    name: str,
    actions: Mapping[str, argparse.Action],
    options: Mapping[str, str],
    unknown: UnknownFlag,
) -> str:
    """Return a hint for the unknown flag from the flags and options of the command, or "".

    `name` is the name of the flag without dashes, or a variant of it. `actions` maps flags to the
    actions of argparse. `options` maps names of kernel and measure options, which are not flags, to
    the text to write on the command line, such as "-o exponent=3". The hint can also be a sentence
    that says what to use instead of this flag.
    """
    targets = resolve_synonyms(name, actions, "flag")
    if hint := _format_flags({target: actions[target] for target in targets}, unknown):
        return hint
    if hint := replacement_hint(name, "flag"):
        return hint
    for target in resolve_synonyms(name, options, "keyword"):
        return f"Did you mean {options[target]}?"
    return ""


def _suggest_other(name: str, other_flags: Mapping[str, str]) -> str:
    """Return a hint for the unknown flag `name`, from other commands and from Python; or "".

    `other_flags` maps the flags of other commands, and the names of all commands, to descriptions.
    If `name` means none of them, the hint says what to use instead of a flag, a command or a Python
    keyword of this name.
    """
    kinds: tuple[NameKind, ...] = ("flag", "command")
    for kind in kinds:
        for target in resolve_synonyms(name, other_flags, kind):
            return describe_other_scope(name, target, other_flags[target])
        if hint := replacement_hint(name, kind):
            return hint
    hint = replacement_hint(name, "keyword")
    # A hint about a keyword of the library may contain Python code.
    return "" if _PYTHON_CODE.search(hint) else hint


def _actions_by_flag(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """Return the action of argparse for each long flag that the help shows."""
    return {
        flag: action
        for action in parser._actions
        if action.help is not argparse.SUPPRESS
        for flag in action.option_strings
        if flag.startswith("--")
    }


def _is_format(parser: argparse.ArgumentParser, name: str) -> bool:
    """Return whether `name` is an output format of the command (a value of -f) other than text."""
    action = parser._option_string_actions.get("-f")
    return name != "text" and name in ((action.choices or ()) if action else ())


def _list_short_flags(parser: argparse.ArgumentParser) -> str:
    """Return a sentence that lists the short flags of the command, such as -k."""
    short_flags = [flag for flag in parser._option_string_actions if len(flag) == 2]
    return f"The short flags are {', '.join(short_flags)}; `{parser.prog} --help` describes them."


def _describe_action(action: argparse.Action) -> str:
    """Return the help of a flag up to the first semicolon."""
    return (action.help or "").partition(";")[0].replace("%%", "%")


def _format_flags(targets: Mapping[str, argparse.Action], unknown: UnknownFlag) -> str:
    """Return "Did you mean …?" with those flags that accept the value of the unknown flag.

    `targets` maps the flags to the actions of argparse. If none of them accepts the value, the hint
    shows the first flag of the right type, and why it rejects the value; or it is "".
    """
    for flag, action in targets.items():
        # The value may be a synonym of a kernel or measure: suggest the flag with the registered
        # name.
        kind = _NAMED_VALUES.get(action.dest)
        for name in resolve_synonyms(unknown.value or "", SYNONYMS[kind], kind) if kind else ():
            if name != unknown.value and not _check_value(action, unknown._replace(value=name)):
                return f"Did you mean {flag} {name}?"
    errors = {flag: _check_value(action, unknown) for flag, action in targets.items()}
    fitting = [flag for flag, error in errors.items() if not error]
    if len(fitting) == 1:
        (flag,) = fitting
        # --ci has no value; -o ci=LEVEL sets the confidence level.
        if flag == "--ci" and unknown.value is not None:
            return f"Did you mean -o ci={unknown.value}?"
        return f"Did you mean {flag}? ({_describe_action(targets[flag])})"
    if fitting:
        lines = [f"  {flag}: {_describe_action(targets[flag])}" for flag in fitting]
        return "\n".join(["Did you mean one of these?", *lines])
    for flag, error in errors.items():
        if error.startswith("its value") and not unknown.is_short:  # only the value is wrong
            return f"Did you mean {flag}? {error[0].upper()}{error[1:]}"
    return ""


def _check_value(action: argparse.Action, unknown: UnknownFlag) -> str:
    """Return why a flag does not accept the value of the unknown flag; "" if it does.

    `action` is the action of argparse for the flag. The reason starts with "its value" if the flag
    takes values of this type, but not this one.
    """
    from .command_options import as_usage_error, parse_measure_flags, parse_value

    value = unknown.value
    if value is None:
        return ""
    # A flag without a value. A number is probably meant for another flag, except a level for --ci.
    if action.nargs == 0:
        number = parse_value(value)
        if "--ci" in action.option_strings:
            return "" if isinstance(number, float) and 0.5 <= number < 1 else "no level"
        return "no value" if isinstance(number, int | float) else ""
    if callable(action.type):
        try:
            action.type(value)
        except (argparse.ArgumentTypeError, ValueError) as error:
            return str(error)
    if action.choices and value not in action.choices:
        return f"its value must be one of {', '.join(action.choices)}; got {value!r}"
    if action.dest in _COLUMN_OPTIONS and value != "folder":
        return next(filter(None, (_check_column(value, file) for file in unknown.files)), "")
    try:
        with as_usage_error():
            if action.dest == "kernel":
                return _check_kernel(value, unknown.files)
            if action.dest == "measures":
                from ...scoring.score_request import parse_request

                # Raises an error for an unknown measure or option; any kernel suffices for this
                # check, also if the measure does not use it.
                keywords = {"measures": parse_measure_flags([value]), "k": "labels"}
                parse_request(keywords, allow_unused=frozenset({"k"}))
            if action.dest == "order":
                from ...support.arguments import check_order

                orders = parse_value(value)
                for order in orders if isinstance(orders, list) else [orders]:
                    check_order(order, "-q")
            if action.dest == "objective":
                from ..selection.select_samples import OBJECTIVES

                if value not in OBJECTIVES:
                    return f"its value must be {' or '.join(OBJECTIVES)}, got {value!r}"
    except ValueError as error:
        message = str(error).replace("\n", " ")
        return f"its value {value!r} is not accepted: {message}"
    return ""


def _check_kernel(text: str, files: Sequence[str]) -> str:
    """Return why a kernel cannot compare the samples of files; "" if it can.

    `text` is a value of -k: the name of the kernel, with options after colons.
    """
    from ...resolve.kernel import check_kernel_options, parse_kernel_name
    from .command_options import parse_option_flags

    name, *parts = text.split(":")
    kernel, _ = parse_kernel_name(name)
    check_kernel_options(kernel, parse_option_flags(parts))
    sample_type = next(iter(kernel.content), "")
    for file in files:
        possible = _sample_types(file)
        # Kernels of labels ("values") accept any file.
        if sample_type and sample_type not in possible and sample_type != "values":
            examples = [text for kind, text in _EXAMPLE_KERNELS.items() if kind in possible]
            return (
                f"its value {text!r} is a kernel for {kernel.samples}, which {file} does not "
                f"contain; pass {' or '.join(examples)}."
            )
    return ""


def _check_column(name: str, file: str) -> str:
    """Return why a file has no column with this name; "" if it may have one.

    Only the ending and the first line of the file are examined.
    """
    path = Path(file)
    if path.suffix.lower() in ("", ".txt", ".smi", ".fasta", ".npy"):
        return f"its value {name!r} is not a column: {file} has no named columns"
    # A number may be the position of a column. Names are only searched in the line, not parsed.
    if path.suffix.lower() in (".csv", ".tsv", ".jsonl") and not name.isdigit():
        line = _read_first_line(path)
        return "" if name in line else f"its value {name!r} is not a column of {file}"
    return ""


def _read_first_line(path: Path) -> str:
    """Return the first line of a text file; "" if it cannot be read."""
    with suppress(OSError), path.open(encoding="utf-8", errors="replace") as lines:
        return next(iter(lines), "")
    return ""


def _sample_types(file: str) -> set[str]:
    """Return the types of samples that a file may contain, from its name and first line."""
    path = Path(file)
    if path.is_dir():
        return _TYPES_OF_FOLDERS
    ending = path.suffix.lower()
    if ending in ("", ".txt"):
        # Text files may contain numbers, single words (labels or SMILES) or texts.
        words = re.split(r"[\s,;]+", _read_first_line(path).strip())
        numeric = all(re.fullmatch(r"[-+.\deE]+", word) for word in words)
        if numeric:
            return _TYPES_OF_TABLES
        return {"texts", "values", "molecules"} if len(words) == 1 else {"texts", "values"}
    return _TYPES_BY_ENDING.get(ending, _TYPES_OF_TABLES)


def _describe_options(
    parser: argparse.ArgumentParser, command: str, unknown: UnknownFlag
) -> dict[str, str]:
    """Return options without a flag of their own, and how each is typed, as a dict.

    These are options of kernels for the files and keywords of `compute`, as in "-o sigma=2". An
    option is omitted if it does not accept the value of the unknown flag.
    """
    from ...resolve.kernel import list_kernels
    from ...resolve.kernel_builder import TEXT_KERNEL
    from ..reading.default_kernels import DEFAULT_KERNELS

    if "-o" not in parser._option_string_actions:
        return {}
    # Types that all files may contain.
    possible = set.intersection(*map(_sample_types, unknown.files)) if unknown.files else {"texts"}
    possible = possible or {"texts"}
    defaults = {TEXT_KERNEL} | {
        kernel for kind, (kernel, _) in DEFAULT_KERNELS.items() if kind in possible
    }
    described = _describe_compute_options(unknown) if command in ("score", "report") else {}
    # The first kernel with an option is the example; "rbf" is preferred.
    for kernel in sorted(list_kernels(), key=lambda kernel: kernel.name != "rbf"):
        if not possible.intersection(kernel.content[:1]):
            continue
        for name, default in kernel.options.items():
            text = _format_option_value(default, unknown.value)
            if name == "on_error" or not text:
                continue
            # The default kernel of these files need not be named.
            if kernel.name in defaults:
                described[name] = f"-o {name}={text} (an option of kernel {kernel.name!r})"
            else:
                described.setdefault(name, f"-k {kernel.name}:{name}={text}")
    return described


def _describe_compute_options(unknown: UnknownFlag) -> dict[str, str]:
    """Return keywords of `compute` without a flag of their own, and how each is typed, as a dict.

    They are typed as in "-o psd=clip". A keyword is omitted if it does not accept the value of the
    unknown flag.
    """
    from ...scoring.compute import compute
    from .command_options import _OWN_FLAGS, _PYTHON_ONLY_OPTIONS

    described = {}
    for parameter in inspect.signature(compute).parameters.values():
        name = parameter.name
        if parameter.kind is not parameter.KEYWORD_ONLY or name in (
            *_OWN_FLAGS,
            *_PYTHON_ONLY_OPTIONS,
            "ci",
            "prompts",
            "given_prompt",
            "allow_repeats",
            "pool_repeats",
        ):
            continue
        if text := _format_option_value(parameter.default, unknown.value):
            described[name] = f"-o {name}={text}"
    return described


def _format_option_value(default: object, value: str | None) -> str:
    """Return the value of an unknown flag as it is typed after -o; "" if it has the wrong type.

    The right type is that of `default`, the default of the option. A flag without a value becomes
    "true" or the placeholder "VALUE".
    """
    from .command_options import parse_value

    if value is None:
        return "true" if isinstance(default, bool) else "VALUE"
    # A range such as 1-3 for an option with several numbers becomes 1,2,3.
    bounds = _RANGE.fullmatch(value)
    if bounds and isinstance(default, list | tuple):
        numbers = range(int(bounds[1]), int(bounds[2]) + 1)
        return ",".join(map(str, numbers)) if 0 < len(numbers) <= _MAX_RANGE else ""
    parsed = parse_value(value)
    is_number = isinstance(parsed, int | float | list)
    if isinstance(default, bool):
        return value if isinstance(parsed, bool) else ""
    if isinstance(default, int | float | list | tuple):
        return value if is_number else ""
    if isinstance(default, str):
        return "" if is_number else value
    return value


def _suggest_kernel_or_measure(unknown: UnknownFlag) -> str:
    """Return a hint for a flag such as --cosine or --SelfBLEU, or ""."""
    for kernel in resolve_synonyms(unknown.name, SYNONYMS["kernel"], "kernel"):
        if not _check_kernel(kernel, unknown.files):
            return f"{kernel!r} is a kernel; pass -k {kernel}."
    for measure in resolve_synonyms(unknown.name, SYNONYMS["measure"], "measure"):
        return f"{measure!r} is a measure; pass -m {measure}."
    return ""


def find_long_flag_with_one_dash(
    parser: argparse.ArgumentParser, arguments: Iterable[str]
) -> str | None:
    """Return the first long flag that is typed with a single dash, such as -order, or None.

    Argparse would read it as the short flag -o with the value "rder".
    """
    actions = _actions_by_flag(parser)
    for argument in arguments:
        # Arguments after -- are files.
        if argument == "--":
            return None
        name = argument[1:].partition("=")[0]
        # A short flag with a value, such as -qinf, is valid, so only known names are reported.
        if re.fullmatch(r"-[A-Za-z][\w-]+", argument.partition("=")[0]) and (
            resolve_synonyms(name, actions, "flag")
            or replacement_hint(name, "flag")
            or name in LETTERS
        ):
            return argument
    return None
