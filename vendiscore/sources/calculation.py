"""Compare answers prompt by prompt, in threads, and find how many sources differ, and how sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..analysis.layout import clustered_order, layout
from ..arrays import memory
from ..arrays.inputs import choose
from ..arrays.members import members_by_size
from ..arrays.threads import in_order
from ..core.arguments import flag, read_order, refuse_gradient
from ..core.errors import NotPSDError, SampleError, warn
from ..core.namespace import to_host
from ..core.shares import PSD, check_psd
from ..core.types import Record
from ..progress import track
from ..resolve.kernel_request import How, with_prompts
from ..resolve.sets import is_fitted, part_of, resolve_sets
from ..scoring.request import confidence
from ..similarity.base import Similarity
from ..similarity.matrix import MatrixSimilarity
from ..similarity.set_means import mean_similarities, set_sums, without_own
from ..spectral.rank_one import leave_one_out
from ..spectral.stacks import Spectra
from ..spectral.vendi import spectrum_of, vendi
from ..uncertainty.jackknife import delete_one_error
from ..uncertainty.subsampling import student_reach
from .answer_table import Answers, check_defined, check_shared
from .between_sources import Score, SourceRow, Sources
from .replicates import OfBlocks, OfPrompts, Replicates

# Answers drawn at random to fit a bandwidth; more would hardly change it.
_FITTED_TO = 1_000
# Random blocks of whole sets, each left out once.
_BLOCKS = 20
_ROUNDING = 1e-9
_REPAIRED = (
    "Similarities of sources have negative eigenvalues, which are set to zero: each two sources "
    "are compared over the prompts that both have answers to."
)
_FEW = 30  # prompts; with fewer, intervals hold less often


@dataclass(frozen=True)
class Plan:
    """The arguments of `sources` by the same names, checked."""

    q: float
    level: float | None
    psd: PSD
    given_prompt: bool


def read_plan(q: object, level: object, psd: object, given_prompt: object) -> Plan:
    """Check arguments of `sources`, and return them as a Plan."""
    if level is not None:
        level = confidence("level", level)
    order = read_order(q, zero=False)
    return Plan(order, level, check_psd(psd), flag("given_prompt", given_prompt))


def found(answers: Answers, how: How, plan: Plan) -> Sources:
    """Return the result of `sources`."""
    if answers.prompts:
        replicates, within, each, settings, dropped = _of_prompts(answers, how, plan)
        check_shared(answers.names, replicates.shared)
    else:
        replicates, within, settings, dropped = _of_sets(answers, how, plan)
        each = ()
    own, spread = within
    notes: list[str] = []
    if dropped and not isinstance(how.k, tuple):  # whose kernels say so
        i, why = min(dropped.items())
        warn(
            f"sources left out {len(dropped)} of {len(answers.source)} samples, as asked, first of "
            f"all: {answers.called(i)} {why}"
        )
    S = replicates.whole()
    check_defined(answers.names, S)
    K, psd = MatrixSimilarity(S), plan.psd
    if answers.prompts and (replicates.shared < replicates.units).any():
        try:
            spectrum_of(K, psd=psd)
        except NotPSDError:
            psd = "clip"
            notes.append(_REPAIRED)
    score = _score(replicates, plan, S, psd)
    corrected = None
    if not np.isnan(own).any():
        T = replicates.whole(corrected=True)
        if np.isfinite(T).all():
            corrected = _score(replicates, plan, T, "clip", corrected=True)
    if score.se is not None and answers.prompts and replicates.units < _FEW:
        notes.append(
            f"With {replicates.units} prompts, intervals hold less often than their level says."
        )
    spectrum = spectrum_of(K, psd=psd, vectors=True)
    adds = score.value - np.exp(leave_one_out(spectrum, plan.q))
    used = np.bincount(np.delete(answers.source, list(dropped)))
    return Sources(
        _rows(answers.names, S, used, np.where(abs(adds) < _ROUNDING, 0.0, adds), own, spread),
        score,
        corrected,
        plan.q,
        plan.level,
        S,
        answers.prompts,
        tuple(each),
        clustered_order(K),
        layout(spectrum),
        settings,
        tuple(notes),
        {answers.place(i): why for i, why in sorted(dropped.items())},
    )


def _rows(
    names: Sequence[str], S: np.ndarray, used: np.ndarray, *columns: np.ndarray
) -> tuple[SourceRow, ...]:
    """Return one row for each source, by its similarities, its answers, and further columns."""
    nearest = np.where(np.eye(len(S), dtype=bool), -np.inf, S).argmax(axis=1).tolist()
    mean = (S.sum(axis=1) - 1) / (len(S) - 1)
    known = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(
        SourceRow(
            name=name,
            n=int(used[i]),
            adds=adds,
            nearest=names[nearest[i]],
            similarity=float(S[i, nearest[i]]),
            mean_similarity=float(mean[i]),
            within=None if np.isnan(own) else own,
            own_score=None if np.isnan(spread) else spread,
        )
        for i, (name, (adds, own, spread)) in enumerate(zip(names, known, strict=True))
    )


def _of_prompts(answers: Answers, how: How, plan: Plan) -> Any:
    """Return means by prompt and by source, scores by prompt, settings and samples left out."""
    names, places = answers.names, answers.places()
    n, prompts = len(names), len(answers.prompts)
    if plan.given_prompt and (other := [p for p in answers.prompts if not isinstance(p, str)]):
        raise TypeError(f"`given_prompt` needs prompts that are texts, got {other[0]!r:.60}")
    memory.require(
        8 * n**2 * prompts,
        f"similarities of {n} sources for each of {prompts} prompts",
        "compare fewer sources, or a part of the prompts",
    )
    means, counts = np.zeros((prompts, n, n)), np.zeros((prompts, n), dtype=int)
    scores, own, spread = np.ones(prompts), np.zeros((2, n)), np.zeros((2, n))
    compared = _Compared(answers, how, plan)

    def look(place: int) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
        similarity, kept = compared(place, places[place])
        if similarity is None:  # nobody answered
            return np.zeros((n, n)), np.zeros(n, dtype=int), np.nan, np.full(n, np.nan)
        codes = answers.source[kept]
        here = np.bincount(codes, minlength=n)
        K = mean_similarities(set_sums(similarity, codes, n), here)
        has = K.diagonal() > 0  # answers that cancel out have no direction
        score = _effective(K, has, plan.q) if (here > 0).sum() > 1 else np.nan
        return K, here, score, _own(similarity, codes, n, plan.q)

    done = in_order(look, range(prompts))
    for p, (K, here, score, own_scores) in enumerate(track(done, prompts, "comparing answers")):
        means[p], counts[p], scores[p] = K, here, score
        found = ~np.isnan(own_scores)
        spread += np.where(found, [np.nan_to_num(own_scores), found], 0)
    if empty := [name for name, n in zip(names, counts.sum(axis=0), strict=True) if not n]:
        raise ValueError(f"{empty[0]!r} has no answer that can be used; leave it out")
    units = (counts > 0).sum(axis=1) > 1  # a prompt that one source answered compares nothing
    if not units.any():
        raise ValueError("no prompt has answers of two sources; give all sources the same prompts")
    several = counts > 1
    own = OfPrompts(means, counts).own[1]
    own = np.array([np.where(several, own, 0).sum(axis=0), several.sum(axis=0)])
    with np.errstate(invalid="ignore"):
        within, mean_scores = own[0] / own[1], spread[0] / spread[1]
    result = OfPrompts(means[units], counts[units])
    return result, (within, mean_scores), scores.tolist(), compared.settings, compared.dropped


def _of_sets(answers: Answers, how: How, plan: Plan) -> Any:
    """Return means by block of whole sets and by set, and the settings."""
    if plan.given_prompt:
        raise TypeError(
            "`given_prompt` is for answers to prompts; pass the prompts, or leave it out"
        )
    similarity, kept, dropped = _usable(answers, how, np.arange(len(answers.source)))
    codes, n = answers.source[kept], len(answers.names)
    sizes = np.bincount(codes, minlength=n)
    if similarity is None or not sizes.all():
        raise ValueError(f"{answers.names[int(sizes.argmin())]!r} has no sample; leave it out")
    blocks = int(min(_BLOCKS, sizes.min()))
    rng = np.random.default_rng(0)
    block = np.empty(len(codes), dtype=int)
    for i, m in enumerate(sizes):
        block[codes == i] = rng.permutation(m) % blocks
    both = codes * blocks + block
    counts = np.bincount(both, minlength=n * blocks).reshape(n, blocks)
    result = OfBlocks(set_sums(similarity, both, n * blocks), counts)
    within = without_own(mean_similarities(result.total, sizes).diagonal(), sizes)
    spread = [
        float(to_host(vendi(part_of(similarity, np.flatnonzero(codes == i)), [plan.q]).values[0]))
        for i in range(n)
    ]
    return result, (within, np.array(spread)), similarity.settings, dropped


class _Compared:
    """The Similarity of the answers to one prompt, under options fitted to all."""

    def __init__(self, answers: Answers, how: How, plan: Plan) -> None:
        self.answers, self.how, self.plan = answers, how, plan
        self.pool: Similarity | None = None
        self.settings: Record = {}
        self.dropped: dict[int, str] = {}
        every = np.arange(len(answers.source))
        # Models are loaded, and mixtures fitted, once for all answers.
        if isinstance(how.k, tuple) or "model" in getattr(how.k, "options", ()):
            if plan.given_prompt:
                how = with_prompts(how, [answers.prompts[i] for i in answers.prompt])
            self.pool, self.kept, self.dropped = _usable(answers, how, every)
        elif is_fitted(how):
            some = np.sort(np.random.default_rng(0).permutation(len(every))[:_FITTED_TO])
            part, _, _ = _usable(answers, how, some)
            self.how = replace(how, options={**how.options, **(part.fitted if part else {})})

    def __call__(self, prompt: int, places: np.ndarray) -> tuple[Similarity | None, np.ndarray]:
        """Return the Similarity of the answers at some places, and the usable places."""
        if self.pool is not None:
            kept = np.intersect1d(places, self.kept)
            part = self.pool.take(np.searchsorted(self.kept, kept)) if len(kept) else None
        else:
            how = self.how
            if self.plan.given_prompt:
                how = with_prompts(how, self.answers.prompts[prompt])
            part, kept, dropped = _usable(self.answers, how, places)
            self.dropped |= dropped
        self.settings = dict(part.settings) if part else self.settings
        return part, kept


def _usable(
    answers: Answers, how: How, places: np.ndarray
) -> tuple[Similarity | None, np.ndarray, dict[int, str]]:
    """Return the Similarity of the answers that can be used, their places, and the others."""
    if isinstance(answers.samples, Similarity):
        return answers.samples.take(places), places, {}
    one_by_one, dropped = replace(how, skip=False), dict[int, str]()
    while len(places):
        try:
            part = resolve_sets([choose(answers.samples, places)], one_by_one, ["samples"])[0]
        except SampleError as error:
            problems = error.at(places).problems
            if not how.skip:
                raise _located(answers, problems) from error.__cause__
            dropped |= problems
            places = np.setdiff1d(places, list(problems))
            continue
        refuse_gradient("sources", **how.options, samples=part)
        dropped |= {int(places[i]): why for i, why in part.dropped.items()}
        return part, np.delete(places, list(part.dropped)), dropped
    return None, places, dropped


def _located(answers: Answers, problems: Mapping[int, str]) -> SampleError:
    """Return an error that names the source and the prompt of the first of some answers."""
    every = {answers.place(i): why for i, why in problems.items()}
    i, problem = min(problems.items())
    error = SampleError(answers.place(i), f"({answers.called(i)}) {problem}", every)
    error.problems = every
    return error


def _effective(K: np.ndarray, has: np.ndarray, q: float) -> float:
    """Return the effective number of sources at one prompt, from their mean similarities."""
    if not has.any():
        return 0.0
    part = K[np.ix_(has, has)]
    return float(_scores(part[None], q)[0])


def _own(similarity: Similarity, codes: np.ndarray, n: int, q: float) -> np.ndarray:
    """Return the Vendi Score of the answers of each source, NaN for fewer than two."""
    scores = np.full(n, np.nan)
    for names, members in members_by_size(codes):
        if members.shape[1] > 1:
            scores[names] = _scores(to_host(similarity.stack(members)), q)
    return scores


def _scores(stack: np.ndarray, q: float) -> np.ndarray:
    """Return the Vendi Score of each of some matrices (g, m, m), negative eigenvalues as zero."""
    return np.asarray(to_host(Spectra(stack, None, [q], "clip").values[0]))


def _score(
    replicates: Replicates, plan: Plan, S: np.ndarray, psd: PSD, corrected: bool = False
) -> Score:
    """Return the effective number of sources, with its error and its interval."""
    value = float(vendi(MatrixSimilarity(S), [plan.q], psd=psd).values[0])
    if plan.level is None or replicates.units < 2:
        return Score(value)
    stacks = replicates.without(corrected)
    left = np.concatenate(list(in_order(partial(_scores, q=plan.q), stacks)))
    error, reach = delete_one_error(left), student_reach(plan.level, len(left))
    error = 0.0 if error < _ROUNDING else error
    low, high = value - reach * error, value + reach * error
    if not corrected and value - 1 > _ROUNDING:  # with few prompts the logarithm is less skewed
        factor = np.exp(reach * delete_one_error(np.log(np.maximum(left - 1, _ROUNDING))))
        low, high = 1 + (value - 1) / factor, 1 + (value - 1) * factor
    return Score(value, error, max(1.0, float(low)), min(float(len(S)), float(high)))
