"""`vendiscore check`: test whether answers are less diverse than a baseline."""

import math
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from ...resolve.similarity_builder import as_similarity
from ...result import key_at
from ...scoring.compute import compute
from ...similarity.base import Similarity
from ...similarity.concatenation import concatenate_samples
from ...support.errors import SampleError
from ...support.summary import format_with_interval
from ...support.types import Record
from ..reading.names import format_dropped_count
from ..reading.samples import Samples
from ..streams.monitor import Monitor
from . import output
from .command_options import (
    CommandOptions,
    as_usage_error,
    parse_command_options,
    prompt_keywords,
    read_files,
    report_file_locations,
)
from .exit_codes import ALARM, UsageError
from .files import STDIN, report_unusable_in_files

_MIN_ANSWERS = 2
IndicesByPrompt = Mapping[str, Sequence[int]]  # indices of the answers to each prompt


def run_check(args: Namespace) -> str:
    """Return the output of `vendiscore check`; an alarm sets the exit code."""
    command_options = parse_command_options(args, ("psd",))
    if len(args.files) != 1:
        raise UsageError(f"vendiscore check requires exactly one FILE, got {len(args.files)}")
    if args.baseline is None:
        raise UsageError(
            "vendiscore check requires a baseline; pass --baseline FILE or --baseline NUMBER"
        )
    with as_usage_error():
        Monitor(size=_MIN_ANSWERS, alpha=args.alpha)  # before files are read, which can take long
    baseline_score = _parse_baseline_score(args.baseline)
    paths = [*args.files, *([args.baseline] if baseline_score is None else [])]
    files = read_files(paths, command_options)
    for file in files:
        _check_prompts(file, args)
    scores, size = _score_prompts(files, command_options)
    rng = np.random.default_rng(args.seed)
    if baseline_score is not None:
        with as_usage_error():
            monitor = Monitor(baseline_score, size=size, alpha=args.alpha)
        _add_scores(monitor, scores[0], rng)
        result = _summarize(monitor, baseline=baseline_score)
    elif shared := scores[0].keys() & scores[1].keys():
        n_unpaired = len(scores[0].keys() ^ scores[1].keys())
        if n_unpaired:
            args.notes.add_note(
                f"{n_unpaired:,} prompt{'s' * (n_unpaired > 1)} without answers in the other file "
                f"{'are' if n_unpaired > 1 else 'is'} not compared"
            )
        monitor = Monitor(
            {prompt: scores[1][prompt] for prompt in shared}, size=size, alpha=args.alpha
        )
        _add_scores(
            monitor, {prompt: score for prompt, score in scores[0].items() if prompt in shared}, rng
        )
        result = _summarize(monitor, paired=True)
    else:
        args.notes.add_note(
            "no prompt is in both files, so the mean scores are compared; with the same prompts in "
            "both files, smaller differences are detected"
        )
        earlier = Monitor(size=size, alpha=args.alpha)
        # Without prompts, the monitor is compared with the mean of this run.
        for score in rng.permutation([*scores[1].values()]).tolist():
            earlier.update(score)
        monitor = Monitor(earlier, alpha=args.alpha)
        _add_scores(monitor, scores[0], rng)
        result = _summarize(monitor, baseline=earlier.mean)
    args.exit_code = ALARM if monitor.alarm else 0
    if args.format == "json":
        return output.as_json(result)
    return f"{result['sentence']}\n"


def _parse_baseline_score(text: str) -> float | None:
    """Return the value of --baseline as a number; None if it is a file."""
    if text != STDIN and not Path(text).exists():
        with suppress(ValueError):
            return float(text)
    return None


def _check_prompts(file: Samples, args: Namespace) -> None:
    """Raise a UsageError unless a file contains answers of one model to several prompts."""
    if len({*file.sets}) > 1:
        column = file.grouping.get("sets", "")
        raise UsageError(
            f"{file.name}: expected answers of one model, but column {column!r} contains "
            f"{len({*file.sets})}; pass a file with the rows of one model, or pass --pool and "
            f"--prompt COLUMN to use all rows"
        )
    if not _prompts_of(file):
        raise UsageError(
            f"{file.name}: vendiscore check requires several answers to each prompt, but there is "
            f"no column of prompts; pass --prompt COLUMN"
        )


def _prompts_of(file: Samples) -> Sequence[object]:
    """Return the prompt of each sample. Detected prompts of one set are groups."""
    return file.prompts or file.groups


def _score_prompts(
    files: Sequence[Samples], command_options: CommandOptions
) -> tuple[list[dict[str, float]], int]:
    """Return the score of each prompt in each file, and the common number of answers.

    Of prompts with more answers, a random subset is scored.
    """
    args = command_options.args
    similarity, retained = _build_similarity(files, command_options)
    indices_by_file = _group_by_prompt(files, retained)
    size, indices_by_file = _select_prompts(args, files, indices_by_file)
    rng = np.random.default_rng(args.seed)
    indices: list[int] = []
    labels: list[int] = []
    for indices_by_prompt in indices_by_file:
        for answers in indices_by_prompt.values():
            labels += [len(indices)] * size  # distinct for each prompt of each file
            indices += rng.permutation(answers)[:size].tolist()
    keywords: Record = {
        name: value for name, value in command_options.keywords.items() if name == "psd"
    }
    with report_file_locations({file.name: file for file in files}):
        result = compute(
            similarity.part(np.array(indices)),
            groups=labels,
            q=command_options.order,
            details=True,
            **keywords,
        )
    key = key_at(command_options.order)
    rows = result["details"].get("groups") or [result]
    values = [float(row[key]) for row in rows]
    scores = []
    for indices_by_prompt in indices_by_file:
        n_prompts = len(indices_by_prompt)
        scores.append(dict(zip(indices_by_prompt, values[:n_prompts], strict=True)))
        values = values[n_prompts:]
    return scores, size


def _build_similarity(
    files: Sequence[Samples], command_options: CommandOptions
) -> tuple[Similarity, list[int]]:
    """Return the similarity of the samples of all files, and the indices of usable samples."""
    keywords = command_options.keywords_for(files[0])
    keywords.pop("psd", None)
    if command_options.args.given_prompt:
        prompts = [prompt for file in files for prompt in prompt_keywords([file], True)["prompts"]]
        keywords |= {"prompts": prompts, "given_prompt": True}
    values = concatenate_samples([file.values for file in files])
    try:
        with report_file_locations({file.name: file for file in files}):
            similarity = as_similarity(values, **keywords)
    except SampleError as error:
        report_unusable_in_files(files, error.problems, skip=False)
        raise
    report_unusable_in_files(files, similarity.dropped, skip=True)
    n_samples = sum(map(len, files))
    return similarity, [i for i in range(n_samples) if i not in similarity.dropped]


def _group_by_prompt(files: Sequence[Samples], retained: Sequence[int]) -> list[IndicesByPrompt]:
    """Return, for each file, the indices of usable samples by prompt.

    `retained` are the indices of usable samples among the samples of all files. The result contains
    indices into `retained`.
    """
    prompts = [(i, str(prompt)) for i, file in enumerate(files) for prompt in _prompts_of(file)]
    indices_by_file: list[dict[str, list[int]]] = [{} for _ in files]
    for index, i in enumerate(retained):
        file_index, prompt = prompts[i]
        indices_by_file[file_index].setdefault(prompt, []).append(index)
    return list(indices_by_file)


def _select_prompts(
    args: Namespace, files: Sequence[Samples], indices_by_file: Sequence[IndicesByPrompt]
) -> tuple[int, list[IndicesByPrompt]]:
    """Return the common number of answers, and the prompts that have as many.

    It is the value of --size, or the smallest number of answers of at least two.
    """
    numbers = [len(answers) for indices in indices_by_file for answers in indices.values()]
    size = args.size
    if size is None:
        size = min((n for n in numbers if n >= _MIN_ANSWERS), default=_MIN_ANSWERS)
        if size < max(numbers):
            args.notes.add_note(
                f"each prompt is scored with {size} answers, the smallest number of a prompt; to "
                f"use more, and omit prompts with fewer, pass --size"
            )
    if size < _MIN_ANSWERS:
        raise UsageError(f"--size must be at least {_MIN_ANSWERS}, got {size}")
    selected: list[IndicesByPrompt] = []
    for file, indices_by_prompt in zip(files, indices_by_file, strict=True):
        with_answers = {
            prompt: answers for prompt, answers in indices_by_prompt.items() if len(answers) >= size
        }
        if not with_answers:
            hint = "add answers"
            if args.size is not None and size > _MIN_ANSWERS:
                hint = "pass a smaller --size, or add answers"
            raise UsageError(
                f"{file.name}: vendiscore check requires prompts with at least {size} "
                f"answers, and there are none; {hint}"
            )
        n_dropped = len(indices_by_prompt) - len(with_answers)
        if n_dropped:
            args.notes.add_note(
                f"{format_dropped_count(n_dropped, 'prompt')} with fewer than {size} answers",
                file.name,
            )
        selected.append(with_answers)
    return size, selected


def _add_scores(monitor: Monitor, scores: Mapping[str, float], rng: np.random.Generator) -> None:
    """Add the scores of prompts in random order."""
    prompts = sorted(scores)  # the result depends on the seed, but not on the order of the file
    for i in rng.permutation(len(prompts)):
        monitor.update(scores[prompts[i]], prompts[i])


def _summarize(monitor: Monitor, baseline: float | None = None, *, paired: bool = False) -> Record:
    """Return the result as a dict, with a sentence. `baseline` is a mean score, unless `paired`."""
    low, high = monitor.interval
    numbers = (
        f"{monitor.n:,} prompt{'s' * (monitor.n > 1)} with {monitor.size} answers each; evidence "
        f"{monitor.evidence:.3g}, alarm at {1 / monitor.alpha:.3g}"
    )
    level = f"{100 * (1 - monitor.alpha):g} % interval"
    mean = f"{format_with_interval(monitor.mean, low, high)}, {level}"
    if paired:
        description = f"the mean ratio of scores to the baseline is {mean}"
    else:
        description = (
            f"the mean effective number of answers is {mean}; the baseline is {baseline:.4g}"
        )
    if monitor.alarm:
        sentence = f"Diversity is lower than the baseline: {description} ({numbers})."
    else:
        sentence = f"No decrease of diversity was detected: {description} ({numbers})."
    return {
        "alarm": monitor.alarm,
        "sentence": sentence,
        "evidence": monitor.evidence,
        "alpha": monitor.alpha,
        "n_prompts": monitor.n,
        "size": monitor.size,
        "paired": paired,
        "baseline": None if baseline is None or math.isnan(baseline) else baseline,
        "mean": monitor.mean,
        "low": low,
        "high": high,
    }
