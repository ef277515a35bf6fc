"""A callback for transformers' Trainer that scores generated texts, to copy and adapt.

pip install -e . accelerate torch transformers     # in a clone of vendiscore
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
import transformers

from vendiscore import compute


class DiversityCallback(transformers.TrainerCallback):
    """Score generated texts at each evaluation, and warn if their diversity collapses.

    `eval_VS` is the mean VS over prompts, and `eval_VS_se` its standard error (with q=2,
    `eval_VS_q2` and `eval_VS_q2_se`). Both are in `state.log_history` and in the result of
    `evaluate`, so they can be used as `metric_for_best_model`. Several evaluations at the same step
    are scored once.

    Parameters
    ----------
    prompts : list of str, optional
        Prompts that the model continues n times each.
    n : int, default 8
        Number of continuations of each prompt, at least 2. Blank ones count as identical.
    max_new_tokens : int, default 64
        Maximum length of a continuation.
    seed : int, default 0
        Seed of the continuations. The random state of the training is not changed.
    generate : callable (model, processing_class) → samples, optional
        Returns samples of any type, or a list of lists of them. Used instead of `prompts`.
    given_prompt : bool, default False
        Whether to condition the similarity on `prompts`.
    collapse : float, default 0.5
        Threshold of the warning. Below 1, it is a fraction of VS − 1 at the first evaluation;
        otherwise it is a value of VS.
    patience : int, default 2
        Number of consecutive evaluations at or below the threshold before a warning. The next
        warning is possible after VS − 1 exceeded 1.25 times the threshold as many times in a row.
    log : callable, optional
        `trainer.log`, to send scores to the loggers of the trainer.
    **options
        `k`, a single `q`, and options of the kernel, as for `vendiscore.compute`.
    """

    def __init__(
        self,
        prompts: Sequence[str] = (),
        *,
        n: int = 8,
        max_new_tokens: int = 64,
        seed: int = 0,
        generate: Callable[[Any, Any], Any] | None = None,
        given_prompt: bool = False,
        collapse: float = 0.5,
        patience: int = 2,
        log: Callable[[dict[str, float]], None] | None = None,
        **options: Any,
    ) -> None:
        if generate is None and (isinstance(prompts, str) or not prompts):
            raise TypeError(
                f"`prompts` must be a list of str, got {prompts!r:.60}; pass one, or a function "
                f"`generate`"
            )
        self.generate = generate
        self.drawing = {"prompts": prompts, "n": n, "max_new_tokens": max_new_tokens, "seed": seed}
        self.collapse, self.patience, self.log = collapse, patience, log
        self.options = options
        if given_prompt:
            self.options = {**options, "prompts": prompts, "given_prompt": True}
        # The key of the score in `compute`: "VS", or with q=2 "VS_q2".
        self.key = f"eval_{next(iter(compute(['any'], k='labels', q=options.get('q', 1))))}"

    def on_evaluate(
        self,
        args: object,
        state: transformers.TrainerState,
        control: object,
        model: Any = None,
        processing_class: Any = None,
        metrics: dict[str, float] | None = None,
        **others: object,
    ) -> None:
        """Score generated texts after each evaluation (called by the trainer)."""
        past = [entry for entry in state.log_history if self.key in entry]
        if past and past[-1]["step"] == state.global_step:  # same step, another set
            scores = {key: past[-1][key] for key in past[-1] if key.startswith("eval_")}
        else:
            if self.generate is None:
                samples = generations(model, processing_class, **self.drawing)
            else:
                samples = self.generate(model, processing_class)
            scores = compute(filled(samples), **self.options)
            scores = {f"eval_{key}": float(value) for key, value in scores.items()}
            if self.log is not None:
                self.log(dict(scores))
            else:
                entry = {**scores, "epoch": state.epoch, "step": state.global_step}
                state.log_history.append(entry)
            values = [entry[self.key] for entry in past] + [scores[self.key]]
            fallen = len(values) - 1 in collapses(values, self.collapse, self.patience)
            if fallen and state.is_world_process_zero:
                warnings.warn(
                    f"generated texts have collapsed: VS is {values[-1]:.3g} at step "
                    f"{state.global_step}, and was {values[0]:.3g} at the first evaluation",
                    stacklevel=2,
                )
        if metrics is not None:
            metrics |= scores


def filled(samples: Any) -> Any:
    """Return samples, or lists of samples, with blank texts replaced by the same symbol."""
    if isinstance(samples, (list, tuple)):
        return [filled(sample) for sample in samples]
    return "∅" if isinstance(samples, str) and not samples.strip() else samples


def generations(
    model: Any, tokenizer: Any, prompts: Sequence[str], n: int, max_new_tokens: int, seed: int = 0
) -> list[list[str]]:
    """Generate n continuations of each prompt; restore the random state and the model's mode."""
    device, training = model.device, model.training
    pad = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    texts = []
    model.eval()
    with torch.no_grad(), torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
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
            texts.append(tokenizer.batch_decode(ids[:, start:], skip_special_tokens=True))
    model.train(training)
    return texts


def collapses(values: Sequence[float], collapse: float, patience: int) -> list[int]:
    """Return the indices of VS values at which to warn; see `DiversityCallback`."""
    threshold = collapse * (values[0] - 1) if collapse < 1 else collapse - 1
    below = above = 0
    fallen, due = False, []
    for i, value in enumerate(values):
        below = below + 1 if value - 1 <= threshold else 0
        above = above + 1 if value - 1 > 1.25 * threshold else 0
        if not fallen and below >= patience:
            fallen = True
            due.append(i)
        elif above >= patience:
            fallen = False
    return due
