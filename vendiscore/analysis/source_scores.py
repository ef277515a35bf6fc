"""Compare answers prompt by prompt, in threads, and find how many sources differ, and how sure."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import scipy

from ..core.shares import PSD, check_psd
from ..progress import track
from ..resolve.kernel_request import How
from ..resolve.sets import is_fitted, resolve_sets
from ..scoring.jackknife import delete_one_error
from ..scoring.request import confidence
from ..scoring.subsampling import logit_interval, student_reach
from ..similarity import memory
from ..similarity.base import Similarity
from ..similarity.inputs import choose
from ..similarity.matrix import MatrixSimilarity
from ..similarity.members import members_by_size, members_of, submatrices
from ..similarity.set_means import cosines, mean_similarities, set_sums, without_own
from ..similarity.threads import in_order
from ..spectral.rank_one import leave_one_out
from ..spectral.stacks import Spectra
from ..spectral.vendi_scores import spectrum_of
from ..support.arguments import flag, read_order, refuse_gradient
from ..support.errors import NotPSDError, SampleError, quoted, warn
from ..support.namespace import row_blocks, scalar, to_host
from ..support.types import Record
from .answer_table import Answers, check_defined, check_shared
from .between_sources import Score, SourceRow, Sources
from .layout import clustered_order, layout

# Answers drawn at random to fit a bandwidth; more would hardly change it.
_FITTED_TO = 1_000
# Random blocks of whole sets, each left out once.
_BLOCKS = 20
_ROUNDING = 1e-9
_REPAIRED = (
    "Similarities of sources have negative eigenvalues, which are set to zero: each two sources "
    "are compared over the prompts that both have answers to."
)
# With fewer prompts coverage may be below the level: 87 to 92 % in the worst case of
# benchmarks/sources.py (five sources that share 10 to 90 % of their answers, q = 1).
_FEW = 8
# Similarities summed between sources, and within the first of each two, (..., sources, sources).
Sums: TypeAlias = tuple[np.ndarray, np.ndarray]
# The Similarity of usable answers, their places, and what is wrong with each of the others.
Usable: TypeAlias = tuple[Similarity | None, np.ndarray, dict[int, str]]


@dataclass(frozen=True)
class Plan:
    """The arguments of `sources` by the same names, checked."""

    q: float
    level: float | None
    psd: PSD
    given_prompt: bool


@dataclass
class _Means:
    """Sums over all units (prompts, or blocks of whole sets), and without each of some units."""

    units: int
    sums: Sums
    without: Callable[[slice], Sums]

    @property
    def similarity(self) -> np.ndarray:
        """Cosines of sources, NaN where the answers of a source share nothing to divide by."""
        between, within = self.sums
        within = np.where(within > 1e-12, within, np.nan)
        return cosines(between, within)

    def scores_without(self, q: float) -> np.ndarray:
        """Return the effective number of sources without each unit."""

        def scored(units: slice) -> np.ndarray:
            all_between, all_within = self.sums
            between, within = self.without(units)
            lost = within <= 0  # two sources that share this prompt only
            between = np.where(lost, all_between, between)
            within = np.where(lost, all_within, within)
            return _scores(cosines(between, within), q)

        numbers = self.sums[0].size
        blocks = row_blocks(self.units, 8 * numbers, least=1)
        return np.concatenate(list(in_order(scored, blocks)))


@dataclass
class _Counted:
    """Sources compared; `corrected` means are without differences within a source."""

    plain: _Means
    corrected: _Means
    within: np.ndarray  # by source, the mean similarity of two of its answers
    shared: np.ndarray  # the number of units that both of two sources are in
    settings: Record
    dropped: dict[int, str]
    per_prompt: tuple[float, ...] = ()


def read_plan(
    q: object,
    level: object,
    psd: object,
    given_prompt: object,
) -> Plan:
    """Check arguments of `sources`, and return them as a Plan."""
    if level is not None:
        level = confidence("level", level)
    order = read_order(q, zero=False)
    return Plan(order, level, check_psd(psd), flag("given_prompt", given_prompt))


def found(answers: Answers, how: How, plan: Plan) -> Sources:
    """Return the result of `sources`."""
    refuse_gradient("sources", **how.options, samples=answers.samples)
    names = answers.names
    prompts = answers.prompts
    compare = _by_prompt if prompts else _as_sets
    counted = compare(answers, how, plan)
    check_shared(names, counted.shared)
    dropped = counted.dropped
    units = counted.plain.units
    if dropped and not isinstance(how.k, tuple):  # whose kernels say so
        i, why = min(dropped.items())
        warn(
            f"sources left out {len(dropped)} of {len(answers.source)} samples, as asked, first of "
            f"all: {answers.called(i)} {why}"
        )
    S = counted.plain.similarity
    check_defined(names, S)
    K = MatrixSimilarity(S)
    psd = plan.psd
    notes = []
    if (counted.shared < units).any():
        try:
            spectrum_of(K, psd=psd)
        except NotPSDError:
            psd = "clip"
            notes.append(_REPAIRED)
    spectrum = spectrum_of(K, psd=psd, vectors=True)
    value = scalar(spectrum.effective_number(plan.q))
    score = _score(counted.plain, plan, value)
    corrected = None
    T = counted.corrected.similarity
    if np.isfinite(T).all():
        values = _scores(T[None], plan.q)
        corrected = _score(counted.corrected, plan, float(values[0]), corrected=True)
    if score.se is not None and prompts and units < _FEW:
        notes.append(f"With {units} prompts, intervals may hold less often than their level says.")
    left = np.exp(leave_one_out(spectrum, plan.q))
    adds = score.value - left
    adds = np.where(abs(adds) < _ROUNDING, 0.0, adds)
    used = np.delete(answers.source, list(dropped))
    sizes = np.bincount(used)
    others = S.copy()
    np.fill_diagonal(others, -np.inf)
    rows = []
    for i, nearest in enumerate(others.argmax(axis=1).tolist()):
        within = float(counted.within[i])
        row = SourceRow(
            names[i],
            int(sizes[i]),
            float(adds[i]),
            names[nearest],
            float(S[i, nearest]),
            None if np.isnan(within) else within,
        )
        rows.append(row)
    return Sources(
        tuple(rows),
        score,
        corrected,
        plan.q,
        plan.level,
        S,
        prompts,
        counted.per_prompt,
        clustered_order(K),
        layout(spectrum),
        counted.settings,
        tuple(notes),
        {answers.place(i): why for i, why in sorted(dropped.items())},
    )


def _by_prompt(answers: Answers, how: How, plan: Plan) -> _Counted:
    """Compare the answers to each prompt, all under options that were fitted once."""
    places = members_of(answers.prompt, len(answers.prompts))
    n = len(answers.names)
    prompts = len(places)
    others = [prompt for prompt in answers.prompts if not isinstance(prompt, str)]
    if plan.given_prompt and others:
        raise TypeError(f"`given_prompt` needs prompts that are texts, got {quoted(others[0])}")
    memory.require(
        8 * n**2 * prompts,
        f"similarities of {n} sources for each of {prompts} prompts",
        "compare fewer sources, or a part of the prompts",
    )
    every = np.arange(len(answers.source))
    # Models are loaded, and mixtures fitted, once for all answers.
    together = isinstance(how.k, tuple) or "model" in getattr(how.k, "options", ())
    if is_fitted(how) and not together:
        together = len(every) <= _FITTED_TO
        if not together:
            drawn = np.random.default_rng(0).permutation(every)[:_FITTED_TO]
            part, _, _ = _usable(answers, how, np.sort(drawn), plan.given_prompt)
            if part is not None:
                how = replace(how, options={**how.options, **part.fitted})
    means = np.zeros((prompts, n, n))
    counts = np.zeros((prompts, n))

    def compared(places: np.ndarray) -> Usable:
        """Fill in the means of answers to one prompt, or to all; return what could be used."""
        usable = _usable(answers, how, places, plan.given_prompt)
        similarity, kept, _ = usable
        if similarity is not None:
            asked, inverse = np.unique(answers.prompt[kept], return_inverse=True)
            for prompt, members in zip(asked, members_of(inverse), strict=True):
                codes = answers.source[kept[members]]
                counts[prompt] = np.bincount(codes, minlength=n)
                part = similarity if len(asked) == 1 else similarity.take(members)
                sums = set_sums(part, codes, n)
                means[prompt] = mean_similarities(sums, counts[prompt])
        return usable

    settings = {}
    dropped: dict[int, str] = {}
    parts = [every] if together else places
    for similarity, _, problems in track(
        in_order(compared, parts), len(parts), "comparing answers"
    ):
        dropped |= problems
        if similarity is not None:
            settings = dict(similarity.settings)
    empty = np.flatnonzero(counts.sum(axis=0) == 0)
    if len(empty):
        name = answers.names[empty[0]]
        raise ValueError(f"{name!r} has no answer that can be used; leave it out")
    has = counts > 0
    units = has.sum(axis=1) > 1  # a prompt that one source answered compares nothing
    if not units.any():
        raise ValueError("no prompt has answers of two sources; give all sources the same prompts")
    own = means.diagonal(axis1=1, axis2=2)
    different = without_own(own, counts)
    per_prompt = np.where(units, 0.0, np.nan)
    # Answers that cancel out have no direction.
    rows, columns = np.nonzero((own > 0) & units[:, None])
    for at, members in members_by_size(rows):
        stack = submatrices(means[at], columns[members])
        per_prompt[at] = _scores(stack, plan.q)
    several = np.count_nonzero(counts > 1, axis=0)
    with np.errstate(invalid="ignore"):
        within = np.nansum(different, axis=0) / several
    has = has[units]
    means = means[units]
    known = np.where(has, different[units], 0.0)
    return _Counted(
        _prompt_means(means, own[units], has),
        _prompt_means(means, known, has),
        within,
        has.T.astype(float) @ has,
        settings,
        dropped,
        tuple(per_prompt.tolist()),
    )


def _prompt_means(means: np.ndarray, own: np.ndarray, has: np.ndarray) -> _Means:
    """Sum means over prompts (prompts, n, n), and means within the sources that answer."""
    between = means.sum(axis=0)
    within = own.T @ has

    def without(units: slice) -> Sums:
        of_units = own[units, :, None] * has[units, None, :]
        return between - means[units], within - of_units

    return _Means(len(means), (between, within), without)


def _as_sets(answers: Answers, how: How, plan: Plan) -> _Counted:
    """Compare sources as whole sets, each in random blocks."""
    if plan.given_prompt:
        raise TypeError(
            "`given_prompt` is for answers to prompts; pass the prompts, or leave it out"
        )
    similarity, kept, dropped = _usable(answers, how, np.arange(len(answers.source)))
    codes = answers.source[kept]
    n = len(answers.names)
    sizes = np.bincount(codes, minlength=n)
    if similarity is None or not sizes.all():
        name = answers.names[int(sizes.argmin())]
        raise ValueError(f"{name!r} has no sample; leave it out")
    blocks = int(min(_BLOCKS, sizes.min()))
    rng = np.random.default_rng(0)
    block = np.empty(len(codes), dtype=int)
    for members in members_of(codes):
        block[members] = rng.permutation(len(members)) % blocks
    both = codes * blocks + block
    counts = np.bincount(both, minlength=n * blocks)
    counts = counts.reshape(n, blocks)
    sums = set_sums(similarity, both, n * blocks)
    sums = sums.reshape(n, blocks, n, blocks)
    plain = _block_means(sums, counts, corrected=False)
    corrected = _block_means(sums, counts, corrected=True)
    within = without_own(plain.sums[0].diagonal(), sizes)
    shared = np.full((n, n), blocks)
    return _Counted(plain, corrected, within, shared, dict(similarity.settings), dropped)


def _block_means(sums: np.ndarray, counts: np.ndarray, corrected: bool) -> _Means:
    """Return means of sets from sums between blocks of them, of `counts` (sources, blocks)."""

    total = sums.sum(axis=(1, 3))
    sizes = counts.sum(axis=1)

    def means_of(sums: np.ndarray, counts: np.ndarray) -> Sums:
        means = mean_similarities(sums, counts)
        own = means.diagonal(axis1=-2, axis2=-1)
        if corrected:
            own = without_own(own, counts)
        return means, np.broadcast_to(own[..., None], means.shape)

    def without(units: slice) -> Sums:
        across = sums[:, units].sum(axis=3).swapaxes(0, 1)
        inside = sums.diagonal(axis1=1, axis2=3)[..., units]
        rest = total - across - across.swapaxes(1, 2) + np.moveaxis(inside, -1, 0)
        return means_of(rest, sizes - counts[:, units].T)

    return _Means(counts.shape[1], means_of(total, sizes), without)


def _usable(answers: Answers, how: How, places: np.ndarray, given_prompt: bool = False) -> Usable:
    """Return the Similarity of the answers that can be used, their places, and the others."""
    if isinstance(answers.samples, Similarity):
        return answers.samples.take(places), places, {}
    one_by_one = replace(how, skip=False)
    dropped: dict[int, str] = {}
    while len(places):
        samples = choose(answers.samples, places)
        if given_prompt:
            asked = [answers.prompts[i] for i in answers.prompt[places]]
            one_by_one = one_by_one.with_prompts(asked, True)
        try:
            part = resolve_sets([samples], one_by_one, ["samples"])[0]
        except SampleError as error:
            problems = error.at(places).problems
            if not how.skip:
                every = {answers.place(i): why for i, why in problems.items()}
                i, why = min(problems.items())
                located = SampleError(answers.place(i), f"({answers.called(i)}) {why}", every)
                located.problems = every
                raise located from error.__cause__
            dropped |= problems
            places = np.setdiff1d(places, list(problems))
            continue
        dropped |= {int(places[i]): why for i, why in part.dropped.items()}
        return part, np.delete(places, list(part.dropped)), dropped
    return None, places, dropped


def _scores(stack: np.ndarray, q: float) -> np.ndarray:
    """Return the Vendi Score of each of some matrices (g, m, m), negative eigenvalues as zero."""
    spectra = Spectra(stack, None, [q], "clip")
    return to_host(spectra.values[0])


def _score(
    means: _Means,
    plan: Plan,
    value: float,
    corrected: bool = False,
) -> Score:
    """Return the effective number of sources, with its error and its interval.

    The number lies between 1 and the number of sources, and near both its distribution is skewed:
    the interval is Student's, of its logit. A corrected number can be 1 for many samples, where
    the logit has no error, and keeps its own scale.
    """
    if plan.level is None or means.units < 2:
        return Score(value)
    sources = float(len(means.sums[0]))
    left = means.scores_without(plan.q)
    error = float(delete_one_error(left))
    if error < _ROUNDING:
        return Score(value, 0.0, *_ends_without_spread(means, plan.level, plan.q, value))
    if corrected:
        reach = student_reach(plan.level, len(left)) * error
        return Score(value, error, max(1.0, value - reach), min(sources, value + reach))
    return Score(value, error, *logit_interval(value, left, plan.level, 1.0, sources))


def _ends_without_spread(
    means: _Means, level: float, q: float, value: float
) -> tuple[float, float]:
    """Return both ends of the interval of a score that no prompt (or block) changes.

    Units that were not seen may be a proportion of all, by Jeffreys' interval for none of the
    units seen (Brown, Cai & DasGupta 2001). At the lower end all sources agree in these, at the
    upper end none have anything in common.
    """
    unseen = 1 - scipy.special.betaincinv(means.units + 0.5, 0.5, (1 - level) / 2)
    S = means.similarity
    alike = np.ones_like(S)
    apart = np.eye(len(S))
    ends = np.stack([S + unseen * (alike - S), S + unseen * (apart - S)])
    low, high = _scores(ends, q).tolist()
    return min(low, value), max(high, value)
