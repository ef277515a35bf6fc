"""Similarity given the prompt: dot products of what the prompt of a sample leaves of it."""

import numpy as np

from ..support.namespace import Array, detach, namespace, scale_rows, to_float
from ..support.types import Rows
from . import sparse as sp
from .base import Index, Similarity
from .composite import SumSimilarity
from .features import FeatureSimilarity, dots
from .identical import joint_groups
from .inputs import precision

# The least share of a sample's squared length, once the prompt is taken out, that has a direction:
# rounding ε puts it off by ε / √share, 6e-8 / 1e-3 in single and 1e-16 / 1e-5 in double precision.
LEAST_SINGLE = 1e-6
LEAST_DOUBLE = 1e-10


def given(
    both: Similarity, n: int, prompt: np.ndarray, spacing: float, in_context: bool = False
) -> Similarity:
    """Return the cosines of φ(x_i) − c_i φ(u_i), c_i = k(x_i, u_i) / k(u_i, u_i), of n samples.

    `both` has the n samples that came in, less those dropped, and after them all prompts, of which
    `prompt` (n,) has the place of each sample's own. K' = T K Tᵀ for T = [I, −diag(c) P] is, for
    one prompt, the Schur complement K − k_u k_uᵀ / k_uu. Samples that repeat their prompts have no
    direction: they are alike to each other, 1, and to no other sample, 0. `spacing` is the relative
    spacing of the numbers in which samples came. With `in_context`, n rows of samples after their
    prompts follow in `both`: the result is the mean of both kernels.
    """
    kept = np.setdiff1d(np.arange(n), list(both.dropped))
    at = np.arange(len(kept))
    of = len(kept) + prompt[kept]
    rows: Rows | None = None
    if both.dim is not None:
        F = both.features()
        X = F[: len(kept)]
        prompt_rows = of
        if not sp.issparse(F) and (of == of[0]).all():
            prompt_rows = of[:1]
        U = F[prompt_rows]
        own = dots(X, X)
        cross = dots(X, U)
        prompts = dots(U, U)
        share = cross / prompts
        rows = X - scale_rows(U, share)
        left = dots(rows, rows)
        spacing = max(spacing, _spacing(both))
    else:
        (own, cross, prompts), of_rows = _pairs(both, of)
        share = cross / prompts
        left = own - share * cross
        spacing = max(spacing, of_rows)
    rest = detach(left) / detach(own)
    rounding = both.roundoff**2
    good = rest >= -max(LEAST_SINGLE, rounding)
    if not bool(good.all()):  # nor where it is NaN
        i = good.tolist().index(False)
        of_prompt = prompts[min(i, len(prompts) - 1)]
        most = to_float(own[i] * of_prompt) ** 0.5
        raise ValueError(
            f"what a prompt explains is not defined: the similarity of sample {kept[i]} with its "
            f"prompt, {to_float(cross[i]):.6g}, must be at most √(k(x, x) k(u, u)) = {most:.6g}; "
            f"pass a positive semidefinite kernel"
        )
    least = LEAST_DOUBLE
    if spacing > np.finfo(float).eps:
        least = LEAST_SINGLE
    echoes = rest <= max(least, rounding)
    any_echo = bool(echoes.any())
    xp = namespace(own)
    echo = xp.astype(echoes, xp.float64)
    some: Similarity
    how = "given"
    notes = list(both.notes)
    if in_context:
        how = "given, in context"
        if notes:
            after_prompts = n + int(prompt.max()) + 1
            notes.append(
                f"There, samples from {n} on are prompts, and from {after_prompts} on answers "
                "after their prompts."
            )
        after = F[len(F) - n + kept]
        after = after - scale_rows(U, dots(after, U) / prompts)
        left_after = dots(after, after)
        unseen = (left_after <= least) & ~echoes
        if unseen.any():
            raise ValueError(
                f"sample {kept[unseen][0]} is not seen after its prompt, which may fill all tokens "
                "that the model takes: pass in_context=False"
            )
        alone = scale_rows(rows, 1 / np.sqrt(left + echo))
        after = scale_rows(after, 1 / np.sqrt(left_after + echo))
        rows = np.concatenate([alone, after], axis=1)
    if rows is not None:
        F = scale_rows(rows, 1 - echo)
        column = echo[:, None]
        if sp.issparse(F):
            F = sp.hstack([F, sp.csr_array(column)], format="csr")
        else:
            F = xp.concat([F, column], axis=1)
        some = FeatureSimilarity(F).normalized()
    else:
        diagonal = left * (1 - echo) + echo
        some = _Residual(both, at, of, share, diagonal).normalized()
        if any_echo:
            alike = FeatureSimilarity(echo[:, None])
            some = SumSimilarity([some.scaled(1 - echo), alike], [1.0, 1.0])
    return some.noted(
        settings={**both.settings, "prompts": how},
        fitted=both.fitted,
        notes=notes,
        roundoff=both.roundoff,
        vocabulary_columns=both.vocabulary_columns,
        dropped=both.dropped,
        echoes=echoes if any_echo else None,
    )


def echo_notes(K: Similarity) -> list[str]:
    """Say how many samples repeat their prompts, if any do."""
    count = 0
    if K.echoes is not None:
        count = int(K.echoes.sum())
    if count:
        return [echo_note(f"{count:,} of {K.n:,} samples")]
    return []


def echo_note(which: str) -> str:
    """Say how samples that repeat their prompts are compared."""
    return f"{which} repeat their prompt: they count as one kind, unlike all other samples."


def _spacing(K: Similarity) -> float:
    """Return the relative spacing of the numbers that features are kept in, the coarsest."""
    K = getattr(K, "distinct", K)
    parts = map(_spacing, getattr(K, "parts", ()))
    rows = getattr(K, "X", None)
    return max([precision(rows), *parts])


def _pairs(both: Similarity, of: np.ndarray) -> tuple[Array, float]:
    """Return k(x, x), k(x, u), k(u, u) for prompts at the places `of`, and their spacing."""
    order = np.argsort(of, kind="stable")
    ends = np.flatnonzero(np.diff(of[order])) + 1
    groups = np.split(order, ends)
    of_groups = []
    spacing = 0.0
    for samples in groups:
        places = np.append(samples, of[samples[0]])
        part = both
        if len(groups) > 1:
            part = both.part(places)
            places = np.arange(len(places))
        diagonal = part.diagonal()[places]
        row = part.rows(places[-1:])[0][places]
        spacing = max(spacing, precision(row))
        xp = namespace(diagonal)
        own = diagonal[:-1]
        cross = xp.astype(row[:-1], xp.float64)
        prompts = diagonal[-1] * xp.ones_like(own)
        of_groups.append(xp.stack([own, cross, prompts]))
    xp = namespace(of_groups[0])
    together = xp.concat(of_groups, axis=1)
    as_before = np.argsort(order)
    return together[:, as_before], spacing


class _Residual(Similarity):
    """T K Tᵀ of a Similarity without features: of samples `at` less `share` of prompts `of`."""

    def __init__(
        self, both: Similarity, at: np.ndarray, of: np.ndarray, share: Array, left: Array
    ) -> None:
        self.n = len(at)
        self.psd = both.psd
        self.both = both
        self.at = at
        self.of = of
        self.share = share
        self.left = left

    def _diagonal(self) -> Array:
        return self.left

    def _rows(self, index: Index) -> Array:
        prompts, place = np.unique(self.of[index], return_inverse=True)
        of_prompts = self.both.rows(prompts)[place]
        K = self.both.rows(self.at[index])
        K = K - of_prompts * self.share[index][:, None]
        return K[:, self.at] - K[:, self.of] * self.share

    def _take(self, index: np.ndarray) -> Similarity:
        at = self.at[index]
        of = self.of[index]
        share = self.share[index]
        return _Residual(self.both, at, of, share, self.left[index])

    def _part(self, index: np.ndarray) -> Similarity:
        needed = np.concatenate([self.at[index], self.of[index]])
        places, new = np.unique(needed, return_inverse=True)
        at = new[: len(index)]
        of = new[len(index) :]
        part = self.both.part(places)
        return _Residual(part, at, of, self.share[index], self.left[index])

    def _stack(self, places: np.ndarray) -> Array:
        at = self.at[places]
        of = self.of[places]
        c = self.share[places]
        m = at.shape[1]
        if (of == of[:, :1]).all():
            of = of[:, :1]
        K = self.both.stack(np.concatenate([at, of], axis=1))
        samples = K[:, :m]
        prompts = K[:, m:]
        K = samples - prompts * c[:, :, None]
        of_prompts = K[:, :, m:] * c[:, None, :]
        return K[:, :, :m] - of_prompts

    def _groups(self) -> np.ndarray | None:
        same = self.both.groups()
        if same is None:
            return None
        return joint_groups([same[self.at], same[self.of]])
