"""The diversity of what a model generates in training, as a callback of transformers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..arguments import flag, integer, number
from ..errors import warn
from ..optional import require
from ..scoring.compute import measure
from .prompts import filled, given, read_options

_callbacks: Any = require("transformers.trainer_callback", "trainer", "DiversityCallback")


class DiversityCallback(_callbacks.TrainerCallback):  # type: ignore[misc]
    """Scores what a model generates at each evaluation, and warns when that collapses.

    `eval_VS` is the mean VS over prompts, `eval_VS_se` its standard error, in `state.log_history`
    and in what `evaluate` returns, so that `metric_for_best_model` may name them. Several
    evaluations at one step are one.

    Parameters
    ----------
    prompts : list of str, optional; what the model continues, n times each
    n, max_new_tokens : int
        How many continuations of each, at least 2, and their length. Blank ones count as one text.
    seed : int of the continuations, the same in each evaluation; training draws what it would have
    generate : callable (model, processing_class) → samples, optional
        Instead of `prompts`: gives samples of any kind, or a list of lists of them.
    given_prompt : bool, whether to take `prompts` out of the similarity
    collapse : float of at least 0
        Threshold of a warning. Below 1, a share of VS − 1 at the first evaluation; else a VS.
    patience : int
        How many evaluations in a row at or below that are a collapse. Another can follow once
        VS − 1 was 1.25 times as high for as many.
    log : callable, optional; `trainer.log`, so that numbers reach what the trainer reports to
    **options : `k`, `q` and options of the kernel, as for `vendiscore.compute`

    Raises
    ------
    TypeError, ValueError, MissingPackageError
        For arguments that are refused; by the import of this module, without transformers.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> callback = DiversityCallback(generate=lambda model, tokenizer: ["a cat", "the dog"])
    >>> state = SimpleNamespace(log_history=[], global_step=0, epoch=0, is_world_process_zero=True)
    >>> callback.on_evaluate(None, state, None, metrics=(metrics := {}))  # as the trainer does
    >>> metrics
    {'eval_VS': 2.0}
    """

    def __init__(
        self,
        prompts: Sequence[str] | None = None,
        *,
        n: int = 8,
        max_new_tokens: int = 64,
        seed: int = 0,
        generate: Callable[[Any, Any], Any] | None = None,
        given_prompt: bool = False,
        collapse: float = 0.5,
        patience: int = 2,
        log: Callable[[dict[str, float]], None] | None = None,
        **options: object,
    ) -> None:
        if generate is None and (isinstance(prompts, str) or not prompts):
            raise TypeError(
                f"`prompts` must be a list of str, got {prompts!r:.60}; pass one, or a function "
                f"`generate`"
            )
        n = integer("n", n, 2, remedy="one generation scores 1 whatever it is")
        length, seed = integer("max_new_tokens", max_new_tokens), integer("seed", seed, 0)
        drawn = partial(generations, prompts=prompts, n=n, max_new_tokens=length, seed=seed)
        self.generate = drawn if generate is None else generate
        self.log = log
        self.patience: int = integer("patience", patience)
        self.collapse: float = number(
            "collapse", collapse, "a number of at least 0", lambda c: c >= 0
        )
        self.request = read_options(options)
        if flag("given_prompt", given_prompt):
            if generate is not None:
                raise TypeError("`given_prompt` takes out `prompts`, but `generate` has others")
            self.request = given(self.request, prompts)
        if self.request.several or self.request.measures[0].measure.name != "VS":
            raise ValueError(
                "the first of `measures` must be 'VS' of one order, which shows a collapse; got "
                f"{options!r:.80}"
            )

    def on_evaluate(
        self,
        args: object,
        state: Any,
        control: object,
        model: Any = None,
        processing_class: object = None,
        metrics: dict[str, float] | None = None,
        **others: object,
    ) -> None:
        """Score generations after each evaluation; the trainer calls this."""
        past = [entry for entry in state.log_history if "eval_VS" in entry]
        if past and past[-1]["step"] == state.global_step:  # of another set to evaluate on
            found = {key: past[-1][key] for key in past[-1] if key.startswith("eval_")}
        else:
            samples = filled(self.generate(model, processing_class))
            scores = measure(samples, None, self.request)
            found = {f"eval_{key}": float(value) for key, value in scores.items()}
            if self.log is not None:
                self.log(dict(found))
            else:
                state.log_history.append({**found, "epoch": state.epoch, "step": state.global_step})
            values = [entry["eval_VS"] for entry in past] + [found["eval_VS"]]
            fallen = len(values) - 1 in collapses(values, self.collapse, self.patience)
            if fallen and state.is_world_process_zero:
                warn(
                    f"generations have collapsed: VS is {values[-1]:.3g} at step "
                    f"{state.global_step}, and was {values[0]:.3g} at first"
                )
        if metrics is not None:
            metrics |= found


def generations(
    model: Any, tokenizer: Any, prompts: Any, n: int, max_new_tokens: int, seed: int = 0
) -> list[list[str]]:
    """Draw n continuations of each prompt, unpadded; restore random state and model mode."""
    torch = require("torch", "trainer", "generating")
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
    """Return the places in a series of VS where a warning is due; see `DiversityCallback`.

    >>> collapses([5, 4.5, 2, 1.5, 1.5, 4, 4, 1, 1], collapse=0.5, patience=2)
    [3, 8]
    """
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
