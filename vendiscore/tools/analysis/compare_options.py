"""Validation of the options of `compare`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from ...core.eigenvalues import PSD, check_psd
from ...scoring.score_request import check_confidence_level
from ...scoring.subsampling import MIN_SAMPLES
from ...support.arguments import (
    DEFAULT_ORDER,
    check_bool,
    check_choice,
    check_float,
    check_int,
    check_order,
)
from .pair_inference import min_permutations

Effects: TypeAlias = Literal["random", "fixed"]

_MIN_PERMUTATIONS = 19  # which give p = 0.05
_PERMUTATIONS_HINT = (
    "the default is 999; p-values of at most 1 − level require 1/(1 − level) − 1 permutations"
)


@dataclass(frozen=True)
class CompareOptions:
    """Arguments of `compare` with the same names."""

    q: Any = DEFAULT_ORDER
    level: float = 0.95
    permutations: int = 999
    size: int | None = None
    psd: PSD = "check"
    seed: int = 0
    within: float | None = None
    effects: Effects = "random"
    allow_repeats: bool = True
    pool_repeats: bool = True

    def checked(self) -> CompareOptions:
        """Return the options in canonical form; raise an error for invalid ones."""
        size = self.size
        within = self.within
        if size is not None:
            size = check_int(
                "size", size, MIN_SAMPLES, hint="omit it to use the size of the smallest set"
            )
        level = check_confidence_level("level", self.level)
        min_count = max(_MIN_PERMUTATIONS, min_permutations(level))
        permutations = check_int(
            "permutations", self.permutations, min_count, hint=_PERMUTATIONS_HINT
        )
        if within is not None:
            hint = "pass 0.05 for a margin of 5 %"
            within = check_float(
                "within", within, "a fraction above 0", lambda x: 0 < x < math.inf, hint
            )
        q = check_order(self.q)
        seed = check_int("seed", self.seed, 0)
        effects = check_choice("effects", self.effects, get_args(Effects))
        allow_repeats = check_bool("allow_repeats", self.allow_repeats)
        if not allow_repeats and q == 0:
            raise TypeError(
                "`allow_repeats=False` has no effect at q=0, because intervals are computed from "
                "half samples; remove it"
            )
        pool_repeats = check_bool("pool_repeats", self.pool_repeats)
        if not pool_repeats and q == 0:
            raise TypeError(
                "`pool_repeats=False` has no effect at q=0, because single groups have no "
                "interval; remove it"
            )
        psd = check_psd(self.psd)
        return CompareOptions(
            q, level, permutations, size, psd, seed, within, effects, allow_repeats, pool_repeats
        )
