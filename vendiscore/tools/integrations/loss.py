"""Torch losses against collapse: −log VS of a batch, with and without checks."""

from __future__ import annotations

import math

from ...core.eigenvalues import PSD, check_psd
from ...core.hill import hill_number
from ...core.score import compute_squared_norm
from ...resolve.similarity_builder import build_set_similarities
from ...resolve.similarity_spec import KernelArgument, similarity_spec_from_keywords
from ...similarity.sample_arrays import as_samples
from ...similarity.weights import check_weights
from ...spectral.vendi_scores import compute_vendi_scores
from ...support.arguments import DEFAULT_ORDER, check_float, check_order
from ...support.namespace import disable_autocast, is_torch
from ...support.optional import require
from ...support.types import Samples, Tensor, Weights

torch = require("torch", "train", "VendiLoss")


class VendiLoss(torch.nn.Module):  # type: ignore[misc, name-defined]  # torch is not read by mypy
    """A loss that rewards diversity of a batch: -weight * log VS_q.

    It is 0 if all samples are identical and -weight * log n for n samples with nothing in common.
    Added to another loss, it prevents the collapse of a generator, an encoder or prototypes.

    Parameters
    ----------
    k : str, callable or dict, optional
        The kernel: "cosine" (default), "rbf" or "laplacian". Cosine similarities ignore the norms
        of vectors, as does "rbf" without `sigma`, which is then fitted to each batch. Set `sigma`
        to keep vectors from shrinking to a point.
    q : float or "inf", default 1
        Order of the score, 0 < q <= infinity. Order 2 needs no eigenvalues. Large orders depend
        mostly on the largest eigenvalue.
    weight : float, default 1.0
        Weight of the loss, at least 0.
    score_K : bool, default False
        Treat batches as similarity matrices of shape (n, n).
    score_X : bool, default False
        Treat batches as unit-norm features whose dot products are the similarities.
    normalize : bool, default False
        Divide k(x, y) by sqrt(k(x, x) k(y, y)).
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.
    **options
        Options of the kernel, such as `sigma`. A tensor keeps its gradient.

    Raises
    ------
    MissingPackageError
        If torch is not installed; raised by the import of this module.
    TypeError, ValueError
        If an argument is invalid, or q is 0, which has no gradient.

    See Also
    --------
    vendi_loss : A function without checks, for `torch.compile`, `torch.func.grad` and `vmap`.
    vendiscore.compute : Scores; differentiable for torch tensors.

    Notes
    -----
    With the eigenvalues lambda_i of K / n, log VS_q is log(sum_i lambda_i^q) / (1 - q), and at q =
    1 -sum_i lambda_i log(lambda_i).

    The gradient is exact, and finite also if samples are identical or K is rank-deficient. Up to
    order 1, only changes within the span of the samples then contribute to it. It is therefore 0 if
    all vectors are identical, and small if they are nearly identical, so use the loss from the
    beginning of training.

    Time is O(n d^2 + d^3) for d < n features, else O(n^2 d + n^3), in double precision. In parallel
    training, each process scores its own batch. `torch.compile` does not compile this loss; use
    `vendi_loss` instead.

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
        kernel = "cosine" if k is None and not (score_K or score_X) else k
        keywords = {"k": kernel, "score_K": score_K, "score_X": score_X, "normalize": normalize}
        self._spec = similarity_spec_from_keywords(keywords | options)
        self._kernel_name = kernel if kernel is not None else "score_K" if score_K else "score_X"

    # The validation depends on the values of the batch, which torch cannot compile.
    @torch.compiler.disable  # type: ignore[misc, untyped-decorator, unused-ignore]
    def forward(self, samples: Samples, p: Weights | None = None) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        samples : tensor of shape (n, ...)
            The n samples; further dimensions are flattened. With `score_K`, a matrix of shape (n,
            n). Not modified.
        p : tensor of shape (n,), optional
            Non-negative weights that sum to 1; uniform by default.

        Returns
        -------
        tensor
            A differentiable 0-d tensor with the dtype of the samples, at least single precision.

        Raises
        ------
        SampleError
            If samples are unusable; the message lists their indices.
        NotPSDError
            If similarities have negative eigenvalues and ``psd="check"``.
        TypeError, ValueError
            If samples are not a floating-point tensor, or the kernel does not support torch.
        """
        if not is_torch(samples) or not samples.is_floating_point():
            got = samples.dtype if is_torch(samples) else type(samples).__name__
            raise TypeError(
                f"`samples` must be a floating-point tensor, got {got}; pass "
                f"torch.as_tensor(samples).float(), or the output of a network"
            )
        dtype = torch.promote_types(samples.dtype, torch.float32)
        rows = as_samples(samples if samples.ndim <= 2 else samples.flatten(1))
        with disable_autocast(samples):
            (K,) = build_set_similarities([rows], self._spec, ["samples"])
            weights = check_weights(p, K.n + len(K.dropped), K.dropped, like=K.diagonal())
            value = compute_vendi_scores(K, [self.q], weights, self.psd).values[0]
        if not is_torch(value):
            raise TypeError(
                f"`k` must be a kernel that is differentiable in torch, got {self._kernel_name!r}; "
                f"pass 'cosine', 'rbf' or 'laplacian', or similarity matrices with score_K=True"
            )
        return (-self.weight * value.log()).to(dtype)

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        return f"{self._kernel_name!r}, q={self.q:g}, weight={self.weight:g}"


def vendi_loss(samples: Tensor, q: float = DEFAULT_ORDER, weight: float = 1.0) -> Tensor:
    """Compute -weight * log VS_q by cosine similarity, without any check of the values.

    It equals ``VendiLoss("cosine", q=q, weight=weight)(samples)`` for valid vectors, and works with
    ``torch.compile(fullgraph=True)``, `torch.func.grad` and `torch.func.vmap`.

    Parameters
    ----------
    samples : tensor of shape (..., n, d)
        Batches of n vectors with d columns. A vector of zeros, NaN or infinite values raises no
        error; it makes the loss of its batch NaN. Not modified.
    q : float, default 1
        Order of the score, 0 < q <= infinity.
    weight : float, default 1.0
        Weight of the loss.

    Returns
    -------
    tensor of shape (...)
        The losses, with the dtype of the samples, at least single precision. Differentiable.

    See Also
    --------
    VendiLoss : A module with other kernels, weights of samples, and checks.

    Notes
    -----
    Eigenvalues of at most n times machine epsilon in double precision count as 0, and have no
    gradient. Time is O(n d^2 + d^3) for d < n, else O(n^2 d + n^3), in double precision.

    Examples
    --------
    >>> import torch
    >>> vendi_loss(torch.eye(4), weight=0.1)
    tensor(-0.1386)
    >>> vendi_loss(torch.randn(8, 5, 3)).shape  # one loss per batch
    torch.Size([8])
    """
    dtype = torch.promote_types(samples.dtype, torch.float32)
    X = samples.double()
    X = X / torch.linalg.vector_norm(X, dim=-1, keepdim=True)
    n, d = X.shape[-2:]
    # XᵀX / n and XXᵀ / n have the same non-zero eigenvalues.
    rows = X.mT if d < n else X
    A = torch.einsum("...ik,...jk->...ij", rows, rows) / n
    # The eigensolver fails for NaN, so a valid matrix replaces the one of an invalid batch.
    is_valid = torch.isfinite(A).all(-1).all(-1)
    identity = torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    A = torch.where(is_valid[..., None, None], A, identity)
    q = float(q)
    score: Tensor
    if q == 2:
        score = 1 / compute_squared_norm(A)
    else:
        values = torch.linalg.eigvalsh(A)
        is_positive = values > n * torch.finfo(values.dtype).eps
        score = hill_number(torch.where(is_positive, values, 0.0), q)
    loss = torch.where(is_valid, -weight * score.log(), math.nan)
    return loss.to(dtype)
