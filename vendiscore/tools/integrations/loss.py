"""A loss against collapse: −log VS of a batch, as a module of torch."""

from __future__ import annotations

from ...core.eigenvalues import PSD, check_psd
from ...resolve.similarity_builder import build_set_similarities
from ...resolve.similarity_spec import KernelArgument, similarity_spec_from_keywords
from ...similarity.sample_arrays import as_samples
from ...similarity.weights import check_weights
from ...spectral.vendi_scores import compute_vendi_scores
from ...support.arguments import DEFAULT_ORDER, check_float, check_order
from ...support.namespace import disable_autocast, is_torch
from ...support.optional import require
from ...support.types import Samples, Tensor, Weights

torch = require("torch", "torch", "VendiLoss")


class VendiLoss(torch.nn.Module):  # type: ignore[misc, name-defined]  # torch is not read by mypy
    """−w · log VS_q of a batch: 0 for samples that are all alike, −w · log n for n unlike ones.

    `loss = fit(x) + diversity(z)` keeps a generator, an encoder or prototypes from collapse. With λ
    the eigenvalues of K / n, log VS_q = log (Σ λ_i^q) / (1 − q), and −Σ λ_i log λ_i at q = 1.

    Parameters
    ----------
    k : str, callable or dict, optional
        How samples are compared: by "cosine" unless given, or "rbf", "laplacian".
        Cosines do not see lengths of vectors, nor does an "rbf" without `sigma`, which follows each
        batch: give it, to keep vectors from shrinking to a point.
    q : float in (0, ∞] or "inf"
        Order. 2 needs no eigenvalues; large orders only see the largest share.
    weight : float of at least 0, w
    score_K, score_X : bool
        Batches are similarity matrices (n, n), or features of unit length under dot products.
    normalize : bool, whether to divide k(x, y) by √(k(x, x) k(y, y))
    psd : {"check", "clip"}, to raise for negative eigenvalues, or to set them to zero
    **options : options of the kernel, such as `sigma`; a tensor keeps its gradient

    Raises
    ------
    TypeError, ValueError, MissingPackageError
        For keywords that `compute` would refuse, and q = 0, which counts and has no gradient; by
        the import of this module, without torch.

    Notes
    -----
    The gradient is exact, and finite where samples coincide or K has not full rank: up to order 1
    it is then the slope along the directions that are there. So it is 0 for vectors that are all
    the same, and small near there: add the term from the start. Time O(n d² + d³) from d < n
    features, else O(n² d + n³), in double precision. In parallel training, each process scores its
    own batch. `torch.compile` leaves it as it is.

    Examples
    --------
    >>> import torch
    >>> z = torch.eye(4, requires_grad=True)
    >>> VendiLoss(weight=0.1)(z)
    tensor(-0.1386, grad_fn=...)
    """

    def __init__(
        self,
        k: KernelArgument | None = None,
        *,
        q: float | str = DEFAULT_ORDER,
        weight: float = 1.0,
        score_K: bool = False,
        score_X: bool = False,
        normalize: bool = False,
        psd: PSD = "check",
        **options: object,
    ) -> None:
        super().__init__()
        self.q = check_order(q, allow_zero=False)
        self.weight = check_float(
            "weight", weight, "a finite number of at least 0", lambda w: 0 <= w < float("inf")
        )
        self.psd = check_psd(psd)
        named = "cosine" if k is None and not (score_K or score_X) else k
        rest = {"k": named, "score_K": score_K, "score_X": score_X, "normalize": normalize}
        self._how = similarity_spec_from_keywords(rest | options)
        self._said = named if named is not None else "score_K" if score_K else "score_X"

    # Checks of input look at numbers, which is not compiled.
    @torch.compiler.disable  # type: ignore[misc, untyped-decorator, unused-ignore]
    def forward(self, samples: Samples, p: Weights | None = None) -> Tensor:
        """Return −w · log VS_q of a batch, a tensor of no dimension with its gradient.

        Parameters
        ----------
        samples : tensor (n, …)
            n vectors, or what else has n rows, which are flattened; or K (n, n). Not changed.
        p : tensor (n,) of weights that sum to 1, optional (default: uniform)

        Returns
        -------
        tensor in the precision of the samples, or single precision if theirs is less

        Raises
        ------
        TypeError, SampleError, NotPSDError, ValueError
            As `compute`, for samples other than a tensor of floats, and a kernel that leaves torch.
        """
        if not is_torch(samples) or not samples.is_floating_point():
            got = samples.dtype if is_torch(samples) else type(samples).__name__
            raise TypeError(
                f"`samples` must be a tensor of floating point, got {got}; pass "
                "torch.as_tensor(samples).float(), or a network's output"
            )
        dtype = torch.promote_types(samples.dtype, torch.float32)
        rows = as_samples(samples if samples.ndim <= 2 else samples.flatten(1))
        with disable_autocast(samples):
            (K,) = build_set_similarities([rows], self._how, ["samples"])
            weights = check_weights(p, K.n + len(K.dropped), K.dropped, like=K.diagonal())
            value = compute_vendi_scores(K, [self.q], weights, self.psd).values[0]
        if not is_torch(value):
            raise TypeError(
                f"`k` must be a kernel that stays in torch, got {self._said!r}; pass 'cosine', "
                f"'rbf' or 'laplacian', or K itself, with score_K=True"
            )
        return (-self.weight * value.log()).to(dtype)

    def extra_repr(self) -> str:
        """Return the part of the `repr` between brackets."""
        return f"{self._said!r}, q={self.q:g}, weight={self.weight:g}"
