"""A callback of transformers' Trainer that scores what a model generates, to copy and adapt.

pip install -e . accelerate torch transformers     # in a clone of vendiscore
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
import transformers

from vendiscore import compute


class DiversityCallback(transformers.TrainerCallback):
    """Scores what a model generates at each evaluation, and warns when that collapses.

    `eval_VS` is the mean VS over prompts, `eval_VS_se` its standard error (with q=2, `eval_VS_q2`
    and `eval_VS_q2_se`), in `state.log_history` and in what `evaluate` returns, so that
    `metric_for_best_model` may name them. Several evaluations at one step are one.

    Parameters
    ----------
    prompts : list of str, optional; what the model continues, n times each
    n, max_new_tokens, seed : int
        How many continuations of each, at least 2, their length, and the seed that draws the same
        in each evaluation; training draws what it would have. Blank ones count as one text.
    generate : callable (model, processing_class) → samples, optional
        Instead of `prompts`: gives samples of any kind, or a list of lists of them.
    given_prompt : bool, whether to take `prompts` out of the similarity
    collapse : float
        Threshold of a warning. Below 1, a share of VS − 1 at the first evaluation; else a VS.
    patience : int
        How many evaluations in a row at or below that are a collapse. Another can follow once
        VS − 1 was 1.25 times as high for as many.
    log : callable, optional; `trainer.log`, so that numbers reach what the trainer reports to
    **options : `k`, one `q` and options of the kernel, as for `vendiscore.compute`
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
        # As `compute` names the score: "VS", or with q=2 "VS_q2".
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
        """Score generations after each evaluation; the trainer calls this."""
        past = [entry for entry in state.log_history if self.key in entry]
        if past and past[-1]["step"] == state.global_step:  # of another set to evaluate on
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
                    f"generations have collapsed: VS is {values[-1]:.3g} at step "
                    f"{state.global_step}, and was {values[0]:.3g} at first",
                    stacklevel=2,
                )
        if metrics is not None:
            metrics |= scores


def filled(samples: Any) -> Any:
    """Return samples, or lists of them, with one and the same text for each blank one."""
    if isinstance(samples, (list, tuple)):
        return [filled(sample) for sample in samples]
    return "∅" if isinstance(samples, str) and not samples.strip() else samples


def generations(
    model: Any, tokenizer: Any, prompts: Sequence[str], n: int, max_new_tokens: int, seed: int = 0
) -> list[list[str]]:
    """Draw n continuations of each prompt, unpadded; restore random state and model mode."""
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
    """Return the places in a series of VS where a warning is due; see `DiversityCallback`."""
    line = collapse * (values[0] - 1) if collapse < 1 else collapse - 1
    below = above = 0
    fallen, due = False, []
    for place, value in enumerate(values):
        below = below + 1 if value - 1 <= line else 0
        above = above + 1 if value - 1 > 1.25 * line else 0
        if not fallen and below >= patience:
            fallen = True
            due.append(place)
        elif above >= patience:
            fallen = False
    return due
