"""A callback of transformers' Trainer that detects a decrease of diversity during training."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...result import key_at
from ...scoring.compute import compute
from ...support.arguments import DEFAULT_ORDER, check_bool, check_int
from ...support.errors import short_repr, warn
from ...support.optional import require
from ...support.text_detection import fill_blanks
from ...support.types import Record
from ..streams.monitor import Monitor

_TrainerCallback = require("transformers", "train", "DiversityCallback").TrainerCallback
_torch = require("torch", "train", "DiversityCallback")

DEFAULT_ANSWERS = 8
_STATE_KEY = "vendiscore.DiversityCallback"  # in the state of the trainer, and so in checkpoints


class DiversityCallback(_TrainerCallback):  # type: ignore[misc, valid-type]
    """Score generated answers at each evaluation, and warn if their diversity decreases.

    `prompts` is a pool of prompts. Before the training, the callback generates `n` answers to every
    prompt of the pool; their scores are the baseline. Each evaluation generates answers to the next
    `prompts_per_evaluation` prompts, in random order, and a `Monitor` compares the score of each
    prompt with its own baseline. If diversity does not decrease, the probability that there is ever
    a warning is at most `alpha`, however many evaluations there are.

    After each evaluation, the log contains "eval_VS", the mean score over prompts; "eval_VS_se",
    its standard error; and "eval_evidence", the evidence of the monitor for a decrease. With q=2,
    the first two are called "eval_VS_q2" and "eval_VS_q2_se". They are also in the result of
    `evaluate`, so they can be used as `metric_for_best_model`.

    Parameters
    ----------
    prompts : list of str, optional
        The pool: distinct prompts, each of which is used in one evaluation. Required unless
        `generate` is passed. After all prompts were used, a warning is emitted, and answers are
        scored without a test.
    n : int, optional
        Number of answers to each prompt, at least 2; by default 8, or the size of `monitor`. Blank
        answers count as identical.
    prompts_per_evaluation : int, default 8
        Number of prompts per evaluation, after the baseline.
    alpha : float, default 0.05
        Maximum probability of a false alarm.
    stop_on_alarm : bool, default False
        Whether to stop the training at an alarm.
    monitor : Monitor, optional
        A monitor with a `size` and a baseline of your own: an earlier run, or a score. Replaces the
        baseline that is generated before the training, `alpha`, and the options of the score.
    generate : callable, optional
        Generates the answers, for example with a chat template. With `prompts`, a function of the
        model, the processing class and a list of prompts; it returns a list of `n` answers to each.
        Without `prompts`, a function of the model and the processing class; it returns samples of
        any type, or a list of lists of them.
    max_new_tokens : int, default 64
        Maximum length of an answer, without `generate`.
    seed : int, default 0
        Seed of the answers and of the order of prompts. The random state of the training is not
        changed.
    given_prompt : bool, default False
        Whether to condition similarities on the prompts.
    log : callable, optional
        ``trainer.log``, to send scores to the loggers of the trainer.
    **options
        `k`, a single `q`, and options of the kernel, as for `vendiscore.compute`.

    Attributes
    ----------
    monitor : Monitor or None
        The monitor; None before the baseline, or without a test.

    Raises
    ------
    MissingPackageError
        If transformers or torch is not installed; raised by the import of this module.
    TypeError, ValueError
        If an argument is invalid.

    See Also
    --------
    vendiscore.Monitor : The same for any training loop.
    vendiscore.integrations.trl.VendiReward : A reward for diversity.

    Notes
    -----
    The baseline of each prompt is the score of a few answers, so it has noise. Each prompt is
    therefore compared only once. If the model has not changed, the score and the baseline of a
    prompt that was not used before have the same distribution, so their difference has mean 0,
    whatever the earlier evaluations were. The noise of the baseline then only adds to the variance
    of the differences, which the test takes into account. If the same prompts were used in
    each evaluation, all evaluations would share the noise of the baseline: a baseline that is high
    by chance would look like a decrease in every evaluation, and the evidence would grow until
    there is an alarm.

    Without `prompts`, the callback cannot know which samples belong together. There is a test only
    if a monitor with a known baseline is passed. Each evaluation is then one of its updates, with
    the geometric mean of the scores of all groups.

    The progress is part of the state of the trainer, so training that is resumed from a checkpoint
    continues with the same baseline, evidence and unused prompts. Several evaluations at the same
    step are scored once. In distributed training, each process generates answers, because a model
    may be divided among processes. Only the answers of the main process are scored; their scores
    are sent to the other processes, so all processes stop at the same step.

    Examples
    --------
    >>> prompts = [f"Write a title for story {i}." for i in range(100)]
    >>> callback = DiversityCallback(prompts, max_new_tokens=16)
    >>> trainer.add_callback(callback)  # doctest: +SKIP
    """

    def __init__(
        self,
        prompts: Sequence[str] = (),
        *,
        n: int | None = None,
        prompts_per_evaluation: int = 8,
        alpha: float = 0.05,
        stop_on_alarm: bool = False,
        monitor: Monitor | None = None,
        generate: Callable[..., Any] | None = None,
        max_new_tokens: int = 64,
        seed: int = 0,
        given_prompt: bool = False,
        log: Callable[[dict[str, float]], None] | None = None,
        **options: Any,
    ) -> None:
        self.monitor: Monitor | None = monitor
        self._has_own_monitor = monitor is None
        if monitor is not None:
            n, options = _check_monitor(monitor, n, alpha, options)
        self.n: int = DEFAULT_ANSWERS if n is None else check_int("n", n, 2)
        self.prompts: list[str] = _check_prompts(prompts, generate)
        self.prompts_per_evaluation: int = check_int(
            "prompts_per_evaluation", prompts_per_evaluation, 1
        )
        self.stop_on_alarm: bool = check_bool("stop_on_alarm", stop_on_alarm)
        self.generate: Callable[..., Any] | None = generate
        self.log: Callable[[dict[str, float]], None] | None = log
        self.max_new_tokens: int = check_int("max_new_tokens", max_new_tokens, 1)
        self.seed: int = check_int("seed", seed, 0)
        self.given_prompt: bool = check_bool("given_prompt", given_prompt)
        if self.given_prompt and not self.prompts:
            raise TypeError("`given_prompt` requires `prompts`")
        self.alpha: float = Monitor({"": 1.0}, size=self.n, alpha=alpha).alpha
        Monitor(size=self.n, **options)  # raises if they are invalid
        self.options = options
        if monitor is not None and monitor.remaining_prompts is not None:
            _check_pool(self.prompts, monitor.remaining_prompts)
        order = np.random.default_rng(self.seed).permutation(len(self.prompts))
        self._shuffled = [self.prompts[i] for i in order]
        self._n_evaluations = 0
        self._is_exhausted = False  # whether the warning about used prompts was emitted
        self._last_step: int | None = None
        self._last_scores: dict[str, float] = {}

    def on_train_begin(
        self,
        args: Any,
        state: Any,
        control: Any,
        model: Any = None,
        processing_class: Any = None,
        **arguments: object,
    ) -> None:
        """Restore the progress from a checkpoint, or generate the baseline; called by the trainer.

        With `eval_on_start`, the first evaluation generates the baseline.

        Parameters
        ----------
        args : TrainingArguments
            The arguments of the trainer.
        state : TrainerState
            The state of the trainer.
        control : TrainerControl
            Not used.
        model : PreTrainedModel
            The model.
        processing_class : PreTrainedTokenizer
            The tokenizer.
        **arguments
            Not used.
        """
        if state.global_step == 0:
            self._last_step = None
        elif self._n_evaluations == 0 and _STATE_KEY in state.stateful_callbacks:
            self._restore(state.stateful_callbacks[_STATE_KEY])
        if self.prompts and self.monitor is None and not args.eval_on_start:
            self._evaluate(state, model, processing_class)

    def on_evaluate(
        self,
        args: Any,
        state: Any,
        control: Any,
        model: Any = None,
        processing_class: Any = None,
        metrics: dict[str, float] | None = None,
        **arguments: object,
    ) -> None:
        """Score generated answers after an evaluation; called by the trainer.

        Parameters
        ----------
        args : TrainingArguments
            Not used.
        state : TrainerState
            The state of the trainer.
        control : TrainerControl
            Its `should_training_stop` is set to stop the training.
        model : PreTrainedModel
            The model.
        processing_class : PreTrainedTokenizer
            The tokenizer.
        metrics : dict, optional
            The metrics of the evaluation, to which the scores are added.
        **arguments
            Not used.
        """
        if state.global_step != self._last_step:
            self._evaluate(state, model, processing_class)
        if metrics is not None:
            metrics |= self._last_scores
        if self.stop_on_alarm and self.monitor is not None and self.monitor.alarm:
            control.should_training_stop = True

    def _evaluate(self, state: Any, model: Any, processing_class: Any) -> None:
        """Generate and score answers, update the monitor, and log the scores."""
        was_alarm = self.monitor is not None and self.monitor.alarm
        if self.prompts:
            scores = self._evaluate_prompts(state, model, processing_class)
        else:
            assert self.generate is not None  # required without prompts
            samples = self.generate(model, processing_class)
            values, scores = self._score(samples)
            if self.monitor is not None:
                self._check_sizes(samples)
                self.monitor.update(math.exp(math.fsum(map(math.log, values)) / len(values)))
        scores = {f"eval_{key}": float(value) for key, value in scores.items()}
        is_tested = not self._is_exhausted and self.monitor is not None
        if is_tested and self.monitor is not None and not math.isnan(self.monitor.evidence):
            scores["eval_evidence"] = self.monitor.evidence
        if self.log is not None:
            self.log(dict(scores))
        else:
            entry = {**scores, "epoch": state.epoch, "step": state.global_step}
            state.log_history.append(entry)
        self._n_evaluations += 1
        self._last_step, self._last_scores = state.global_step, scores
        state.stateful_callbacks[_STATE_KEY] = self._progress()
        is_new_alarm = self.monitor is not None and self.monitor.alarm and not was_alarm
        if is_new_alarm and state.is_world_process_zero:
            warn(
                f"generated answers have become less diverse by step {state.global_step}. "
                f"{self.monitor}"
            )

    def _evaluate_prompts(self, state: Any, model: Any, processing_class: Any) -> Record:
        """Score answers to the next prompts, or to all prompts for the baseline."""
        if self.monitor is None:
            values, scores = self._score_prompts(self.prompts, model, processing_class)
            baseline = dict(zip(self.prompts, values, strict=True))
            self.monitor = Monitor(baseline, size=self.n, alpha=self.alpha)
            return scores
        used_prompts = {*self.monitor.prompts}
        unused_prompts = [prompt for prompt in self._shuffled if prompt not in used_prompts]
        # The last evaluations contain used prompts too, to have the same number of prompts.
        prompts = list(dict.fromkeys([*unused_prompts, *self._shuffled]))
        prompts = prompts[: self.prompts_per_evaluation]
        values, scores = self._score_prompts(prompts, model, processing_class)
        for prompt, value in zip(prompts, values, strict=True):
            if prompt not in used_prompts:
                self.monitor.update(value, prompt)
        if not unused_prompts and not self._is_exhausted:
            self._is_exhausted = True
            if state.is_world_process_zero:
                warn(
                    f"all {len(self.prompts)} prompts were used, so diversity is no longer tested "
                    f"from step {state.global_step} on; pass more prompts, or set a smaller "
                    f"`prompts_per_evaluation`"
                )
        return scores

    def _score_prompts(
        self, prompts: Sequence[str], model: Any, processing_class: Any
    ) -> tuple[list[float], Record]:
        """Return the score of the answers to each prompt, and the mean with its error."""
        # Different answers in each evaluation, so that their noise is independent.
        seed = int(np.random.SeedSequence([self.seed, self._n_evaluations]).generate_state(1)[0])
        if self.generate is None:
            answers = generate_answers(
                model, processing_class, prompts, self.n, self.max_new_tokens, seed
            )
        else:
            answers = self.generate(model, processing_class, list(prompts))
            if len(answers) != len(prompts):
                raise ValueError(
                    f"`generate` must return a list of answers to each of {len(prompts)} prompts, "
                    f"got {len(answers)} lists"
                )
            self._check_sizes(answers)
        conditions = {}
        if self.given_prompt:
            conditions = {"prompts": fill_blanks(list(prompts)), "given_prompt": True}
        return self._score(answers, **conditions)

    def _score(self, samples: object, **conditions: Any) -> tuple[list[float], Record]:
        """Return the score of each group of samples, and the mean with its error.

        In distributed training, these are the scores of the samples of the main process.
        """
        return _compute_on_main_process(lambda: self._compute_scores(samples, **conditions))

    def _compute_scores(self, samples: object, **conditions: Any) -> tuple[list[float], Record]:
        result = compute(fill_blanks(samples), **self.options, **conditions, details=True)
        details = result.pop("details")
        key = key_at(self.options.get("q", DEFAULT_ORDER))
        rows = details.get("groups") or [result]
        # Rounding can lead to scores slightly outside of the bounds.
        return [max(float(row[key]), 1.0) for row in rows], result

    def _check_sizes(self, samples: Any) -> None:
        """Raise unless samples from `generate`, or each list of them, have the size `n`."""
        groups = samples if isinstance(samples[0], list | tuple) else [samples]
        size = next((len(group) for group in groups if len(group) != self.n), self.n)
        if size != self.n:
            raise ValueError(
                f"`generate` must return {self.n} answers to each prompt, got {size}; scores of "
                f"different sizes are not comparable"
            )

    def _progress(self) -> Record:
        """Return the monitor and the progress of evaluations, which checkpoints store as JSON."""
        return {
            "monitor": None if self.monitor is None else self.monitor.state_dict(),
            "n_evaluations": self._n_evaluations,
            "is_exhausted": self._is_exhausted,
            "last_step": self._last_step,
            "last_scores": self._last_scores,
        }

    def _restore(self, progress: Mapping[str, Any]) -> None:
        """Continue from the progress of a checkpoint."""
        state = progress["monitor"]
        if state is not None and self._has_own_monitor:
            if {*state["baseline"]["paired"]} != {*self.prompts}:
                raise ValueError(
                    "the checkpoint has the baseline of other prompts; pass the same `prompts`, or "
                    "start a new training"
                )
            self.monitor = Monitor.from_state(state)
        elif state is not None and self.monitor is not None and not self.monitor.n:
            prompts = state["prompts"] or [None] * len(state["values"])
            for value, prompt in zip(state["values"], prompts, strict=True):
                self.monitor.update(value, prompt)
        self._n_evaluations = progress["n_evaluations"]
        self._is_exhausted = progress["is_exhausted"]
        self._last_step = progress["last_step"]
        self._last_scores = progress["last_scores"]


def _compute_on_main_process(compute_result: Callable[[], Any]) -> Any:
    """Return a result that only the main process computes; all other processes receive it.

    All processes must call this function. An error of the main process is raised in all processes,
    because the other processes would otherwise wait for a result.
    """
    distributed = _torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return compute_result()
    message: list[Any] = [None, None]  # the result and an exception
    if distributed.get_rank() == 0:
        try:
            message[0] = compute_result()
        except Exception as error:
            message[1] = error
    distributed.broadcast_object_list(message, src=0)
    result, exception = message
    if exception is not None:
        raise exception
    return result


def generate_answers(
    model: Any, tokenizer: Any, prompts: Sequence[str], n: int, max_new_tokens: int, seed: int = 0
) -> list[list[str]]:
    """Generate n answers to each prompt; restore the random state and the mode of the model."""
    device, is_training = model.device, model.training
    pad = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    answers = []
    model.eval()
    with _torch.no_grad(), _torch.random.fork_rng([device] if device.type == "cuda" else []):
        _torch.manual_seed(seed)
        for prompt in prompts:
            inputs = tokenizer(prompt, return_tensors="pt").to(device)
            ids = model.generate(
                inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                do_sample=True,
                num_return_sequences=n,
                max_new_tokens=max_new_tokens,
                pad_token_id=pad,
            )
            start = 0 if model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
            answers.append(tokenizer.batch_decode(ids[:, start:], skip_special_tokens=True))
    model.train(is_training)
    return answers


def _check_prompts(prompts: Sequence[str], generate: object) -> list[str]:
    """Return the prompts as a list; raise unless they are distinct, or `generate` is passed."""
    if isinstance(prompts, str) or (generate is None and not len(prompts)):
        raise TypeError(
            f"`prompts` must be a list of str, got {short_repr(prompts)}; pass a list, or a "
            f"function `generate`"
        )
    prompts = list(prompts)
    if len({*prompts}) < len(prompts):
        repeated = next(prompt for i, prompt in enumerate(prompts) if prompt in prompts[:i])
        raise ValueError(f"`prompts` must be distinct, got {short_repr(repeated)} twice; remove it")
    return prompts


def _check_monitor(
    monitor: object, n: int | None, alpha: float, options: Record
) -> tuple[int, Record]:
    """Return the number of answers and the options of the score that a monitor requires."""
    if not isinstance(monitor, Monitor):
        raise TypeError(f"`monitor` must be a Monitor, got {short_repr(monitor)}")
    if monitor.size is None:
        raise ValueError("`monitor` must have a `size`, the number of answers to each prompt")
    if n not in (None, monitor.size):
        raise ValueError(f"`n` is {n}, but the monitor has size={monitor.size}; remove `n`")
    if options or alpha != 0.05:
        raise TypeError("pass `alpha`, `k`, `q` and options of the kernel to the Monitor instead")
    return monitor.size, monitor.score_options


def _check_pool(prompts: Sequence[str], remaining_prompts: Sequence[str]) -> None:
    """Raise if a prompt has no baseline."""
    if not prompts:
        raise TypeError("the baseline of `monitor` has a score for each prompt; pass `prompts`")
    missing = {*prompts}.difference(remaining_prompts)
    if missing:
        prompt = next(prompt for prompt in prompts if prompt in missing)
        raise ValueError(
            f"{len(missing)} of {len(prompts)} prompts are not in the baseline of `monitor`, or "
            f"were added before, such as {short_repr(prompt)}; remove them"
        )
