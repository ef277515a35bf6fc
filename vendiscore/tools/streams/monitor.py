"""`Monitor`: detect a decrease of diversity over prompts, with few false alarms."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np

from ...support.arguments import (
    DEFAULT_ORDER,
    check_float,
    check_int,
    check_no_gradient,
    check_order,
    is_collection,
)
from ...support.call_hints import AttributeHintMixin, HelpfulCallMeta
from ...support.errors import short_repr
from ...support.progress import track
from ...support.signature import to_plain
from ...support.summary import format_repr, format_with_interval
from ...support.types import Axes, Record
from .betting import ChangeTest, ConfidenceSequence

# A score, the score of each prompt, or an earlier run: a monitor, its state, or a file of it.
Baseline: TypeAlias = "float | Mapping[str, object] | Monitor | str | os.PathLike[str] | None"

_LOG_2 = math.log(2)


class Monitor(AttributeHintMixin, metaclass=HelpfulCallMeta):
    """Detect a decrease of diversity while a model trains or a service runs.

    Each `update` adds the answers to one prompt, or their score. `alarm` is True from the first
    update on at which the mean is shown to be below the baseline. The probability of a false alarm
    is at most `alpha`, over all updates together, so the monitor can be inspected after every
    prompt.

    This holds if prompts are exchangeable, which means that their order carries no information:
    shuffle a fixed list of prompts (`run` does), and use each prompt once. If the baseline contains
    a score for each prompt, each prompt is compared with its own score.

    Parameters
    ----------
    baseline : float, mapping, Monitor or path, optional
        The expected diversity. One of:

        - A score, on the scale of the values: the mean for `bounds`, and the geometric mean for
          `size`.
        - A mapping from prompts to scores.
        - An earlier run: another monitor, or the path of a file that `save` wrote. If its prompts
          were recorded, prompts are compared with their own scores. Otherwise, the baseline is the
          lower end of its interval, which allows for its error.

        Without a baseline, there is no alarm, only an interval.
    size : int, optional
        Number of answers to each prompt, at least 2. Values are Vendi Scores from 1 to `size`, and
        their logarithms are averaged.
    bounds : tuple of two floats, optional
        Smallest and largest possible value of another measure, such as (0, 1) for "IntDiv".
        Exactly one of `size` and `bounds` is required, unless the baseline is an earlier run.
    alpha : float, default 0.05
        Maximum probability of a false alarm, and of an interval that ever misses the mean.
    width : float, optional
        `is_precise` is True, and `run` stops, when the interval is at most this wide.
    q : float or "inf", default 1
        Order of the score of answers, 0 <= q <= infinity.
    k : str, callable, dict or list, optional
        The kernel, as for `compute`. Strings are compared by "ngram_overlap" if omitted.
    **options
        Options of the kernel, as for `compute`.

    Attributes
    ----------
    n : int
        Number of updates.
    values : list of float
        The score of each prompt.
    alarm_at : int or None
        Number of updates at the alarm; None before.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or does not agree with the earlier run.

    See Also
    --------
    vendiscore.compare : Compare sets whose size is fixed in advance.

    Notes
    -----
    The test bets that values are below the baseline, by fractions of the growth-optimal bet
    (Waudby-Smith & Ramdas, arXiv 2010.09686). Half of the initial wealth is reserved for changes
    that happen later. An update takes less than a millisecond, in addition to the score.

    Examples
    --------
    >>> monitor = Monitor(baseline=2.5, size=3)
    >>> for _ in range(12):
    ...     alarm = monitor.update(["a cat", "a cat", "a dog"])
    >>> monitor.alarm, monitor.alarm_at
    (True, 7)
    """

    def __init__(
        self,
        baseline: Baseline = None,
        *,
        size: int | None = None,
        bounds: Sequence[float] | None = None,
        alpha: float = 0.05,
        width: float | None = None,
        q: float | str = DEFAULT_ORDER,
        k: object = None,
        **options: object,
    ) -> None:
        self.alpha: float = check_float(
            "alpha", alpha, "a probability between 0 and 0.5", lambda x: 0 < x < 0.5
        )
        self.width: float | None = None
        if width is not None:
            self.width = check_float("width", width, "a positive number", lambda x: x > 0)
        if isinstance(baseline, str | os.PathLike):
            baseline = Monitor.load(baseline)
        if isinstance(baseline, Monitor) and size is None and bounds is None:
            size, bounds = baseline.size, baseline.bounds
        if (size is None) == (bounds is None):
            raise TypeError(
                "pass either `size`, the number of answers to each prompt, or `bounds`, the "
                "smallest and the largest possible value"
            )
        self.size: int | None = None if size is None else check_int("size", size, 2)
        self.bounds: tuple[float, float] | None = None if bounds is None else _check_bounds(bounds)
        self._score_options: Record = {"q": q, "k": k, **options}
        check_order(q)
        if k is not None or options or q != DEFAULT_ORDER:
            if self.size is None:
                raise TypeError("`k`, `q` and options of the kernel require `size`")
            from ...resolve.similarity_spec import similarity_spec_from_keywords

            similarity_spec_from_keywords({"k": k, **options})  # raises if it is invalid
        self.values: list[float] = []
        self.prompts: list[str] = []
        self.alarm_at: int | None = None
        self._used_prompts: set[str] = set()
        self._evidence_by_update: list[float] = []
        self._scaled: list[float] = []  # values, or differences from the baseline, in [0, 1]
        self._set_baseline(baseline)
        self._sequence = ConfidenceSequence(1 - self.alpha)
        self._test: ChangeTest | None = None
        if baseline is not None:
            self._test = ChangeTest()

    def _set_baseline(self, baseline: object) -> None:
        """Set the null mean of the test, in [0, 1], or that of each prompt."""
        self._paired: dict[str, float] | None = None
        self._null_mean: float | None = None
        self._log_penalty = 0.0  # of an estimated baseline
        self._baseline_value: float | None = None
        if baseline is None:
            return
        if isinstance(baseline, Monitor):
            baseline._check_agrees(self)
            if not baseline.n:
                raise ValueError("the baseline is a run without values; add prompts to it")
            if baseline.prompts:
                baseline = dict(zip(baseline.prompts, baseline.values, strict=True))
            else:
                # The lower end misses the mean with probability alpha/2, and the test has the
                # other half of alpha.
                sequence = ConfidenceSequence(1 - self.alpha)
                for value in baseline.values:
                    sequence.update(self._normalize(value))
                self._null_mean = sequence.low
                self._log_penalty = _LOG_2
                self._baseline_value = self._denormalize(sequence.low)
                return
        if isinstance(baseline, Mapping):
            if not baseline:
                raise ValueError("`baseline` has no prompts; add the score of at least one prompt")
            self._paired = {
                prompt: self._normalize(self._check_value(value, f"baseline of {prompt!r}"))
                for prompt, value in baseline.items()
            }
            return
        self._baseline_value = self._check_value(baseline, "`baseline`")
        self._null_mean = self._normalize(self._baseline_value)

    def update(self, answers: object, prompt: str | None = None) -> bool:
        """Add the answers to one prompt, or their score.

        Parameters
        ----------
        answers : list of samples or float
            The answers, as many as `size`; or their score.
        prompt : str, optional
            The prompt. Required if prompts are compared with their own baseline scores. Recorded,
            so that a later run can be compared with this one.

        Returns
        -------
        bool
            Whether there is, or was, an alarm.

        Raises
        ------
        TypeError, ValueError
            If the number of answers or the score is invalid, or the prompt was used before or is
            not in the baseline.
        """
        if self.values and (prompt is None) != (not self.prompts):
            raise TypeError("pass `prompt` in all updates or in none")
        if prompt is not None and prompt in self._used_prompts:
            raise ValueError(
                f"prompt {short_repr(prompt)} was added before; use each prompt once, because "
                f"repeated prompts are not exchangeable"
            )
        paired_value = None
        if self._paired is not None:
            if prompt is None:
                raise TypeError("the baseline has a score for each prompt; pass `prompt`")
            if prompt not in self._paired:
                raise ValueError(f"prompt {short_repr(prompt)} is not in the baseline; omit it")
            paired_value = self._paired[prompt]
        value = self._compute_value(answers)
        x = self._normalize(value)
        if paired_value is not None:
            # A difference in [−1, 1], scaled to [0, 1]. A test of x against the baseline of its
            # prompt would not be valid: bets that depend on this baseline win if the baseline is
            # high by chance.
            x = (x - paired_value + 1) / 2
        self._sequence.update(x)
        self.values.append(value)
        self._scaled.append(x)
        if prompt is not None:
            self.prompts.append(prompt)
            self._used_prompts.add(prompt)
        if self._test is not None:
            self._test.update(x, 0.5 if self._null_mean is None else self._null_mean)
            self._evidence_by_update.append(self.evidence)
            if self.alarm_at is None and self._log_evidence() >= -math.log(self.alpha):
                self.alarm_at = self.n
        return self.alarm

    def run(
        self, prompts: Sequence[str], generate: Callable[[str], object], *, seed: int = 0
    ) -> Self:
        """Add the answers to a list of prompts in random order, until there is an alarm.

        Also stops if `is_precise`, so that an evaluation costs no more than necessary.

        Parameters
        ----------
        prompts : sequence of str
            Distinct prompts. Prompts that were added before are omitted.
        generate : callable
            Function of a prompt that returns its answers, or their score.
        seed : int, default 0
            Seed of the random order.

        Returns
        -------
        Monitor
            This monitor.
        """
        if isinstance(prompts, str):
            raise TypeError("`prompts` must be a list of prompts, got a string")
        remaining = [
            prompt for prompt in dict.fromkeys(prompts) if prompt not in self._used_prompts
        ]
        order = np.random.default_rng(seed).permutation(len(remaining)).tolist()
        for i in track(order, None, "monitoring prompts"):
            if self.alarm or self.is_precise:
                break
            self.update(generate(remaining[i]), remaining[i])
        return self

    @property
    def n(self) -> int:
        """Number of updates."""
        return len(self.values)

    @property
    def alarm(self) -> bool:
        """Whether the mean was shown to be below the baseline."""
        return self.alarm_at is not None

    @property
    def since(self) -> int | None:
        """Estimate of the first update after the decrease, from 1; None without an alarm.

        The evidence was smallest before this update.
        """
        if self.alarm_at is None:
            return None
        # The evidence is 1 before the first update.
        return 1 + int(np.argmin([1.0, *self._evidence_by_update[: self.alarm_at]]))

    @property
    def remaining_prompts(self) -> list[str] | None:
        """The prompts of the baseline that were not added yet; None if it has no prompts."""
        if self._paired is None:
            return None
        return [prompt for prompt in self._paired if prompt not in self._used_prompts]

    @property
    def score_options(self) -> Record:
        """The order and the kernel options that score answers, as keywords of `compute`."""
        return {key: value for key, value in self._score_options.items() if value is not None}

    @property
    def evidence(self) -> float:
        """Evidence that the mean is below the baseline: 1 at the start, 1 / alpha at an alarm.

        It is an e-value: if the mean is at least the baseline, its expected value is at most 1.
        """
        if self._test is None:
            return math.nan
        return math.exp(min(self._log_evidence(), 700.0))  # no overflow

    @property
    def mean(self) -> float:
        """Mean of the values; see `interval` for its scale. NaN before the first update."""
        return self._mean_of(self._scaled)

    def _mean_of(self, scaled: Sequence[float]) -> float:
        return self._to_scale(math.fsum(scaled) / len(scaled)) if scaled else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Interval for the mean that covers it after every update, with probability 1 - alpha.

        It assumes that the mean is constant, so it has no meaning after a change.

        With `size`, the mean is the geometric mean of scores, or of the ratio of scores to those of
        the baseline. With `bounds`, it is the mean of values, or of differences from the baseline.
        """
        return self._to_scale(self._sequence.low), self._to_scale(self._sequence.high)

    @property
    def is_precise(self) -> bool:
        """Whether the interval is at most as wide as `width`; False without `width`."""
        low, high = self.interval
        return self.width is not None and high - low <= self.width

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        if not self.n:
            return "No prompts were added."
        quantity = "mean effective number of answers" if self.size else "mean value"
        if self._paired is not None:
            quantity = "mean ratio to the baseline" if self.size else "mean difference"
        baseline = ""
        if self._baseline_value is not None:
            baseline = f"; the baseline is {self._baseline_value:.4g}"
        if self.since is not None:
            before, after = self._scaled[: self.since - 1], self._scaled[self.since - 1 :]
            earlier = f" and was {self._mean_of(before):.3g} before" if before else ""
            return (
                f"Diversity decreased, from about prompt {self.since:,} on (alarm at prompt "
                f"{self.alarm_at:,}): the {quantity} is {self._mean_of(after):.3g}{earlier}"
                f"{baseline}."
            )
        mean = f"the {quantity} is {format_with_interval(self.mean, *self.interval)}"
        mean += f" ({100 * (1 - self.alpha):g} % interval, valid at every prompt)"
        text = f"After {self.n:,} prompt{'s' * (self.n > 1)}, {mean}{baseline}."
        if self._test is None:
            return text
        return (
            f"No decrease of diversity was detected. {text} The evidence is {self.evidence:.2g}, "
            f"and an alarm requires {1 / self.alpha:.3g}."
        )

    def plot(self, ax: Axes | None = None, *, window: int = 10) -> Axes:
        """Plot means of consecutive prompts with the baseline, and the evidence with the alarm.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        window : int, default 10
            Number of prompts of each mean.

        Returns
        -------
        matplotlib Axes
            The axes with the means; the evidence is on a second axis on the right.

        Raises
        ------
        ValueError
            If there were no updates.
        """
        from ..plots import monitor as plot_monitor

        if not self.n:
            raise ValueError("a plot requires at least one update")
        window = check_int("window", window, 1)
        starts = range(0, self.n, window)
        baseline = self._baseline_value
        if self._paired is not None:
            baseline = self._to_scale(0.5)  # no difference
        return plot_monitor(
            [min(start + window, self.n) for start in starts],
            [self._mean_of(self._scaled[start : start + window]) for start in starts],
            self._evidence_by_update,
            baseline=baseline,
            threshold=None if self._test is None else 1 / self.alpha,
            alarm_at=self.alarm_at,
            ax=ax,
        )

    def state_dict(self) -> Record:
        """Return settings, values and prompts, from which `from_state` continues.

        Returns
        -------
        dict
            JSON values.
        """
        return {
            "settings": self._settings(),
            "baseline": self._baseline_record(),
            "alpha": self.alpha,
            "width": self.width,
            "values": list(self.values),
            "prompts": list(self.prompts),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return a monitor that continues from a state.

        Parameters
        ----------
        state : mapping
            A result of `state_dict`.

        Returns
        -------
        Monitor
            A monitor with the same values, prompts and evidence.

        Raises
        ------
        ValueError
            If `state` is not the state of a monitor.
        """
        try:
            settings = dict(state["settings"])
            values, prompts = state["values"], state["prompts"]
            baseline = state["baseline"]
            monitor = cls(None, alpha=state["alpha"], width=state["width"], **settings)
            monitor._restore_baseline(baseline)
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is not the state of a Monitor ({error})") from None
        for i, value in enumerate(values):
            monitor.update(value, prompts[i] if prompts else None)
        return monitor

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a JSON file, for `load` or as the baseline of another monitor.

        Parameters
        ----------
        path : str or path
            The file, which is overwritten.
        """
        Path(path).write_text(json.dumps(self.state_dict()), encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a monitor from a file that `save` wrote.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        Monitor
            A monitor that continues from the state in the file.

        Raises
        ------
        ValueError
            If the file does not contain the state of a monitor.
        """
        try:
            return cls.from_state(json.loads(Path(path).read_text(encoding="utf-8")))
        except ValueError as error:
            raise ValueError(f"{path} was not written by Monitor.save: {error}") from None

    def __repr__(self) -> str:
        attributes: Record = {"n": self.n, "mean": self.mean}
        if self._test is not None:
            attributes |= {"evidence": self.evidence, "alarm": self.alarm}
        return format_repr("Monitor", attributes)

    def __str__(self) -> str:
        return self.sentence

    def _log_evidence(self) -> float:
        assert self._test is not None
        return float(self._test.log_wealth) - self._log_penalty

    def _settings(self) -> Record:
        bounds = None if self.bounds is None else list(self.bounds)
        settings = {"size": self.size, "bounds": bounds}
        if self.size is not None:
            settings |= {key: to_plain(value) for key, value in self._score_options.items()}
        return settings

    def _check_agrees(self, other: Monitor) -> None:
        """Raise unless another monitor has the same settings as this baseline."""
        settings, other_settings = self._settings(), other._settings()
        for name in {**settings, **other_settings}:
            if settings.get(name) != other_settings.get(name):
                raise ValueError(
                    f"the baseline has {name}={settings.get(name)!r}, but this monitor has "
                    f"{name}={other_settings.get(name)!r}; pass the same value"
                )

    def _baseline_record(self) -> Record:
        return {
            "paired": self._paired,
            "null_mean": self._null_mean,
            "value": self._baseline_value,
            "log_penalty": self._log_penalty,
        }

    def _restore_baseline(self, record: Record) -> None:
        """Restore the baseline from a record of `_baseline_record`."""
        self._paired = record["paired"]
        self._null_mean = record["null_mean"]
        self._baseline_value = record["value"]
        self._log_penalty = record["log_penalty"]
        if self._null_mean is not None or self._paired is not None:
            self._test = ChangeTest()

    def _compute_value(self, answers: object) -> float:
        """Return the score of answers, or check a score that was passed."""
        is_answers = hasattr(answers, "n") or is_collection(answers)
        if not is_answers or getattr(answers, "ndim", 1) == 0:
            return self._check_value(answers, "the score")
        if self.size is None:
            raise TypeError("answers require `size`, the number of answers; pass Monitor(size=5)")
        check_no_gradient("Monitor.update", answers=answers)
        from ...scoring.scores import score

        n_answers = getattr(answers, "n", None) or len(answers)  # type: ignore[arg-type]
        if n_answers != self.size:
            raise ValueError(
                f"each prompt must have {self.size} answers, as many as `size`, got {n_answers}; "
                f"scores of different sizes are not comparable"
            )
        return min(max(float(score(answers, **self._score_options)), 1.0), float(self.size))  # type: ignore[arg-type]

    def _check_value(self, value: object, name: str) -> float:
        """Return a score limited to its bounds; raise if it exceeds them beyond rounding errors."""
        low, high = self.bounds or (1.0, float(self.size or 1))
        tolerance = 1e-9 * (high - low)
        number = check_float(
            name.strip("`"),
            value,
            f"a number from {low:g} to {high:g}",
            lambda x: low - tolerance <= x <= high + tolerance,
        )
        return min(max(number, low), high)

    def _normalize(self, value: float) -> float:
        """Map a value to [0, 1]: linear for `bounds`, logarithmic for `size`."""
        if self.bounds is None:
            return math.log(value) / math.log(self.size or 2)
        low, high = self.bounds
        return (value - low) / (high - low)

    def _denormalize(self, x: float) -> float:
        if self.bounds is None:
            return math.exp(x * math.log(self.size or 2))
        low, high = self.bounds
        return low + x * (high - low)

    def _to_scale(self, x: float) -> float:
        """Map a number in [0, 1] to a score, or for paired prompts to a ratio or difference."""
        if self._paired is None:
            return self._denormalize(x)
        if self.bounds is None:
            return math.exp((2 * x - 1) * math.log(self.size or 2))
        return (2 * x - 1) * (self.bounds[1] - self.bounds[0])


def _check_bounds(bounds: Sequence[float]) -> tuple[float, float]:
    """Return bounds as floats; raise unless they are two finite numbers, the smaller one first."""
    if not is_collection(bounds) or len(bounds) != 2:
        raise TypeError(f"`bounds` must be two numbers, such as (0, 1), got {short_repr(bounds)}")
    low, high = (check_float("bounds", bound, "two finite numbers") for bound in bounds)
    if low >= high:
        raise ValueError(f"`bounds` must be (smallest, largest) value, got {short_repr(bounds)}")
    return low, high
