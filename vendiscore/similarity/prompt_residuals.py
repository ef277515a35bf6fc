"""Condition similarities on prompts: compare samples after projecting the prompt out of each."""

import numpy as np

from ..support.namespace import Array, detach, namespace, scale_rows, to_float
from ..support.types import Rows
from . import sparse as sp
from .base import Index, Similarity
from .composite import SumSimilarity
from .duplicate_rows import joint_groups
from .features import FeatureSimilarity, row_dot_products
from .sample_arrays import machine_epsilon

# Minimum residual fraction: squared length of the residual relative to the sample. Below it, the
# direction of the residual is dominated by rounding, because machine epsilon ε causes an error of
# ε / √fraction: 6e-8 / 1e-3 in single and 1e-16 / 1e-5 in double precision.
MIN_RESIDUAL_FLOAT32 = 1e-6
MIN_RESIDUAL_FLOAT64 = 1e-10


def condition_on_prompts(
    joint: Similarity, n: int, prompt_codes: np.ndarray, epsilon: float, in_context: bool = False
) -> Similarity:
    """Compute the cosines of residuals φ(x_i) − c_i φ(u_i), with c_i = k(x_i, u_i) / k(u_i, u_i).

    φ are the features of the kernel k, and u_i is the prompt of sample x_i. With the similarities K
    of all samples and prompts, the result is T K Tᵀ, normalized to a diagonal of 1. Here T = [I,
    −diag(c) P], I is the identity matrix, and the matrix P has a 1 in row i and the column of
    prompt u_i. For a single prompt u, T K Tᵀ is the Schur complement K_xx − k_u k_uᵀ / k(u, u),
    where K_xx are the similarities of the samples and k_u those of the samples with u. Samples that
    repeat their prompt have no residual: their similarity is 1 with each other and 0 with all other
    samples.

    Parameters
    ----------
    joint : Similarity
        The similarity of the n samples (without those in `joint.dropped`), followed by all prompts.
        With `in_context`, these are followed by n texts, each of which is a prompt and its sample.
    n : int
        Number of samples, including dropped ones.
    prompt_codes : ndarray (n,)
        Position of the prompt of each sample among the prompts.
    epsilon : float
        Machine epsilon of the dtype of the samples.
    in_context : bool, default False
        Whether to return the mean of two kernels: the cosine of residuals of the samples alone, and
        that of the texts that consist of a prompt and its sample.
    """
    # Samples and prompts are at these indices of `joint`.
    retained = np.setdiff1d(np.arange(n), list(joint.dropped))
    sample_indices = np.arange(len(retained))
    prompt_indices = len(retained) + prompt_codes[retained]

    # Compute k(x, x) (`sample_norms`), k(u, u) (`prompt_norms`) and k(x, u) (`cross`) of each
    # sample x and its prompt u, and the squared norms of residuals. If the kernel has features F,
    # the residuals themselves are computed, from the features X of the samples and U of their
    # prompts. `epsilon` determines which residuals may be rounding errors of 0.
    residuals: Rows | None = None
    if joint.dim is not None:
        F = joint.features()
        X = F[: len(retained)]
        prompt_rows = prompt_indices
        if not sp.issparse(F) and (prompt_indices == prompt_indices[0]).all():
            prompt_rows = prompt_indices[:1]  # one prompt: its row is broadcast
        U = F[prompt_rows]
        sample_norms = row_dot_products(X, X)
        cross = row_dot_products(X, U)
        prompt_norms = row_dot_products(U, U)
        coefficients = cross / prompt_norms
        residuals = X - scale_rows(U, coefficients)
        residual_norms = row_dot_products(residuals, residuals)
        epsilon = max(epsilon, _feature_epsilon(joint))
    else:
        (sample_norms, cross, prompt_norms), row_epsilon = _prompt_similarities(
            joint, prompt_indices
        )
        coefficients = cross / prompt_norms
        residual_norms = sample_norms - coefficients * cross
        epsilon = max(epsilon, row_epsilon)

    # Samples that repeat their prompt are called echoes.
    is_echo = _find_echoes(
        residual_norms, sample_norms, cross, prompt_norms, retained, epsilon, joint.roundoff
    )
    xp = namespace(sample_norms)
    echo = xp.astype(is_echo, xp.float64)  # 1 for samples that repeat their prompt, else 0

    conditioning = "given"  # the setting `prompts`, which describes the conditioning in results
    notes = list(joint.notes)
    if in_context:
        conditioning = "given, in context"
        if notes:
            after_prompts = n + int(prompt_codes.max()) + 1
            notes.append(
                f"In these notes, samples from index {n} are prompts, and from index "
                f"{after_prompts} answers after their prompts."
            )
        # The samples encoded after their prompts: the last n rows of F, without dropped samples.
        X_after = F[len(F) - n + retained]
        residuals_after = X_after - scale_rows(U, row_dot_products(X_after, U) / prompt_norms)
        residuals = _combine_residuals(
            residuals,
            residual_norms,
            residuals_after,
            is_echo,
            echo,
            retained,
            _min_residual(epsilon),
        )

    result: Similarity
    if residuals is not None:
        result = _similarity_of_residuals(residuals, echo)
    else:
        # Echoes are replaced by the sum with a second kernel, which is 1 between echoes, else 0.
        diagonal = residual_norms * (1 - echo) + echo
        result = _ResidualSimilarity(
            joint, sample_indices, prompt_indices, coefficients, diagonal
        ).normalized()
        if bool(is_echo.any()):
            echo_similarity = FeatureSimilarity(echo[:, None])
            result = SumSimilarity([result.scaled(1 - echo), echo_similarity], [1.0, 1.0])
    return result.noted(
        settings={**joint.settings, "prompts": conditioning},
        fitted=joint.fitted,
        notes=notes,
        roundoff=joint.roundoff,
        vocabulary_columns=joint.vocabulary_columns,
        dropped=joint.dropped,
        echoes=is_echo if bool(is_echo.any()) else None,
    )


def _min_residual(epsilon: float) -> float:
    """Return the minimum residual fraction of samples that do not repeat their prompt."""
    return MIN_RESIDUAL_FLOAT32 if epsilon > np.finfo(float).eps else MIN_RESIDUAL_FLOAT64


def _find_echoes(
    residual_norms: Array,
    sample_norms: Array,
    cross: Array,
    prompt_norms: Array,
    retained: np.ndarray,
    epsilon: float,
    roundoff: float,
) -> Array:
    """Return which samples x repeat their prompt u, as booleans (n,).

    These are the samples without a residual, whose squared norm k(x, x) − k(x, u)² / k(u, u) is 0
    up to rounding. For each sample, `residual_norms` contains this squared norm, `sample_norms`
    k(x, x), `cross` k(x, u), `prompt_norms` k(u, u), and `retained` the index in the input.
    `epsilon` is the machine epsilon of the input. `roundoff` is the relative rounding error of
    features, and is squared because norms are squared. Raises a ValueError if a squared norm is
    negative, because then the similarities are not positive semidefinite.
    """
    residual_fractions = detach(residual_norms) / detach(sample_norms)
    rounding = roundoff**2
    is_valid = residual_fractions >= -max(MIN_RESIDUAL_FLOAT32, rounding)
    if not bool(is_valid.all()):  # False for NaN
        i = is_valid.tolist().index(False)
        prompt_norm = prompt_norms[min(i, len(prompt_norms) - 1)]
        raise _build_similarity_error(retained[i], cross[i], sample_norms[i] * prompt_norm)
    return residual_fractions <= max(_min_residual(epsilon), rounding)


def _combine_residuals(
    residuals: Rows,
    squared_norms: Array,
    residuals_after: Rows,
    is_echo: Array,
    echo: Array,
    retained: np.ndarray,
    min_residual: float,
) -> np.ndarray:
    """Join the residuals of samples encoded alone and of samples encoded after their prompts.

    Both are matrices with one row per sample. Rows are first divided by their lengths, so the
    cosine of joined rows is the mean of both cosines. `squared_norms` are those of `residuals`.
    `echo` is 1 for samples that repeat their prompt, and `is_echo` is True; adding 1 avoids a
    division by 0, and their rows are not used. `retained` are the indices of the samples in the
    input. Squared norms up to `min_residual` raise a ValueError.
    """
    squared_norms_after = row_dot_products(residuals_after, residuals_after)
    is_unusable = (squared_norms_after <= min_residual) & ~is_echo
    if is_unusable.any():
        raise ValueError(
            f"sample {retained[is_unusable][0]} cannot be encoded after its prompt, which may "
            "fill all tokens of the model; pass in_context=False"
        )
    unit_rows = scale_rows(residuals, 1 / np.sqrt(squared_norms + echo))
    unit_rows_after = scale_rows(residuals_after, 1 / np.sqrt(squared_norms_after + echo))
    return np.concatenate([unit_rows, unit_rows_after], axis=1)


def _similarity_of_residuals(residuals: Rows, echo: Array) -> Similarity:
    """Return the cosine similarity of residuals, a matrix with one row per sample.

    `echo` is 1 for samples that repeat their prompt. They get a dimension of their own, in which
    they are identical and all other samples are 0.
    """
    F = scale_rows(residuals, 1 - echo)
    column = echo[:, None]
    if sp.issparse(F):
        F = sp.hstack([F, sp.csr_array(column)], format="csr")
    else:
        F = namespace(F).concat([F, column], axis=1)
    return FeatureSimilarity(F).normalized()


def _build_similarity_error(sample_index: int, similarity: Array, bound: Array) -> ValueError:
    """Build the error for a sample x whose similarity k(x, u) with its prompt u is impossible.

    By the Cauchy-Schwarz inequality, k(x, u)² is at most `bound`, which is k(x, x) k(u, u).
    """
    max_similarity = to_float(bound) ** 0.5
    return ValueError(
        f"cannot condition on prompts: the similarity of sample {sample_index} with its prompt, "
        f"{to_float(similarity):.6g}, must be at most √(k(x, x) k(u, u)) = "
        f"{max_similarity:.6g}; pass a positive semidefinite kernel"
    )


def repeated_prompt_notes(K: Similarity) -> list[str]:
    """Return a list with a note about samples that repeat their prompts verbatim, or []."""
    count = 0
    if K.echoes is not None:
        count = int(K.echoes.sum())
    if count:
        return [describe_repeated_prompts(f"{count:,} of {K.n:,} samples")]
    return []


def describe_repeated_prompts(subject: str) -> str:
    """Format the note on how samples that repeat their prompt verbatim are compared.

    `subject` says how many samples these are, such as "2 of 9 samples".
    """
    return (
        f"{subject} repeat their prompt: they count as identical, and have similarity 0 with all "
        "other samples."
    )


def _feature_epsilon(K: Similarity) -> float:
    """Return the machine epsilon of the dtype in which the features of the similarity K are stored.

    For a mixture of kernels, return the largest machine epsilon among the kernels.
    """
    K = getattr(K, "distinct", K)  # of a RepeatedSimilarity
    epsilons_of_parts = map(_feature_epsilon, getattr(K, "parts", ()))
    X = getattr(K, "X", None)
    return max([machine_epsilon(X), *epsilons_of_parts])


def _prompt_similarities(joint: Similarity, prompt_indices: np.ndarray) -> tuple[Array, float]:
    """Compute k(x, x), k(x, u) and k(u, u) of each of n samples x and its prompt u, shape (3, n).

    `joint` is the similarity of the n samples, followed by the prompts. `prompt_indices` (n,) is
    the index in `joint` of the prompt of each sample. Also returns the machine epsilon of the
    dtype in which similarities are stored.
    """
    # Process the samples of each prompt together, which needs one row of K per prompt.
    by_prompt = np.argsort(prompt_indices, kind="stable")
    ends = np.flatnonzero(np.diff(prompt_indices[by_prompt])) + 1
    groups = np.split(by_prompt, ends)
    results = []
    epsilon = 0.0
    for samples in groups:
        indices = np.append(samples, prompt_indices[samples[0]])  # the prompt is last
        subset = joint
        if len(groups) > 1:  # do not compute similarities with the samples of other prompts
            subset = joint.part(indices)
            indices = np.arange(len(indices))
        diagonal = subset.diagonal()[indices]
        prompt_row = subset.rows(indices[-1:])[0][indices]
        epsilon = max(epsilon, machine_epsilon(prompt_row))
        xp = namespace(diagonal)
        sample_norms = diagonal[:-1]
        cross = xp.astype(prompt_row[:-1], xp.float64)
        prompt_norms = diagonal[-1] * xp.ones_like(sample_norms)
        results.append(xp.stack([sample_norms, cross, prompt_norms]))
    xp = namespace(results[0])
    result = xp.concat(results, axis=1)
    original_order = np.argsort(by_prompt)
    return result[:, original_order], epsilon


class _ResidualSimilarity(Similarity):
    """Dot products of the residuals of n samples x_i after projecting out their prompts u_i.

    Used for a kernel k without features. The dot product of residuals i and j is k(x_i, x_j) −
    c_i k(u_i, x_j) − c_j k(x_i, u_j) + c_i c_j k(u_i, u_j), where c_i = k(x_i, u_i) / k(u_i, u_i).

    `joint` is the similarity of all samples and prompts under k. Sample i and its prompt are at
    sample_indices[i] and prompt_indices[i] of `joint`. `coefficients` contains c_i, and `diagonal`
    the dot product of each residual with itself.
    """

    def __init__(
        self,
        joint: Similarity,
        sample_indices: np.ndarray,
        prompt_indices: np.ndarray,
        coefficients: Array,
        diagonal: Array,
    ) -> None:
        # `coefficients` are those of the projections of samples on their prompts, and `diagonal`
        # the squared norms of the residuals.
        self.n = len(sample_indices)
        self.psd = joint.psd
        self.joint = joint
        self.sample_indices = sample_indices
        self.prompt_indices = prompt_indices
        self.coefficients = coefficients
        self.diagonal_entries = diagonal

    def _diagonal(self) -> Array:
        return self.diagonal_entries

    def _rows(self, index: Index) -> Array:
        """Compute the dot products of the residuals of the samples `index` with all residuals."""
        # First project the prompt out of the samples in the rows, then of those in the columns.
        prompts, inverse = np.unique(self.prompt_indices[index], return_inverse=True)
        prompt_rows = self.joint.rows(prompts)[inverse]
        K = self.joint.rows(self.sample_indices[index])
        K = K - prompt_rows * self.coefficients[index][:, None]
        return K[:, self.sample_indices] - K[:, self.prompt_indices] * self.coefficients

    def _take(self, index: np.ndarray) -> Similarity:
        """Return the dot products of the residuals of the samples `index`, computed on demand."""
        sample_indices = self.sample_indices[index]
        prompt_indices = self.prompt_indices[index]
        coefficients = self.coefficients[index]
        return _ResidualSimilarity(
            self.joint, sample_indices, prompt_indices, coefficients, self.diagonal_entries[index]
        )

    def _part(self, index: np.ndarray) -> Similarity:
        """Return the dot products of the residuals of the samples `index`.

        Only these samples and their prompts are compared.
        """
        joint_indices = np.concatenate([self.sample_indices[index], self.prompt_indices[index]])
        used_indices, positions = np.unique(joint_indices, return_inverse=True)
        return _ResidualSimilarity(
            self.joint.part(used_indices),
            sample_indices=positions[: len(index)],
            prompt_indices=positions[len(index) :],
            coefficients=self.coefficients[index],
            diagonal=self.diagonal_entries[index],
        )

    def _stack(self, indices: np.ndarray) -> Array:
        """Compute the dot products of residuals within g sets of m samples, shape (g, m, m).

        `indices` (g, m) contains the indices of the samples of each set.
        """
        sample_indices = self.sample_indices[indices]
        prompt_indices = self.prompt_indices[indices]
        coefficients = self.coefficients[indices]
        m = sample_indices.shape[1]
        if (prompt_indices == prompt_indices[:, :1]).all():
            prompt_indices = prompt_indices[:, :1]  # one prompt per set: its row is broadcast
        # As in `_rows`, with the m samples of each set first, followed by their prompts.
        K = self.joint.stack(np.concatenate([sample_indices, prompt_indices], axis=1))
        sample_rows = K[:, :m]
        prompt_rows = K[:, m:]
        K = sample_rows - prompt_rows * coefficients[:, :, None]
        sample_columns = K[:, :, :m]
        prompt_columns = K[:, :, m:]
        return sample_columns - prompt_columns * coefficients[:, None, :]

    def _groups(self) -> np.ndarray | None:
        """Return one code per sample, equal for identical residuals; None if unknown."""
        # Samples are identical if they and their prompts are.
        codes = self.joint.groups()
        if codes is None:
            return None
        return joint_groups([codes[self.sample_indices], codes[self.prompt_indices]])
