"""The Vendi Score as a metric of torchmetrics: a sum on the device, synced by torch.distributed."""

from __future__ import annotations

from collections.abc import Iterable

from ...resolve.similarity_builder import build_set_similarities
from ...resolve.similarity_spec import similarity_spec_from_keywords
from ...result import order_suffixes
from ...scoring.score_request import check_orders
from ...spectral.spectrum import score_covariance
from ...support.arguments import DEFAULT_ORDER, check_int, is_collection
from ...support.namespace import is_torch
from ...support.optional import require
from ...support.types import Axes, Tensor
from ..streams.state_sums import unit

_torch = require("torch", "torchmetrics", "VendiScore of torchmetrics")
_Metric = require("torchmetrics", "torchmetrics", "VendiScore of torchmetrics").Metric


class VendiScore(_Metric):  # type: ignore[misc, valid-type]
    """The Vendi Score of embeddings under their cosine, over all batches and processes.

    VS_q = (Σ λ_i^q)^{1/(1−q)} with λ the eigenvalues of (1/n) Σ x xᵀ over embeddings x divided by
    their length: `vendiscore.compute(X, k="cosine")` of all of them. A process may have none.
    8 d² bytes on the device, in double precision; O(n d²) time a batch and O(d³) a score.

    Parameters
    ----------
    num_features : int, d, the length of an embedding
    q : float in [0, ∞], "inf", or several
        Order; with several, `compute` returns a dict of tensors, VS_q0, VS_q1 and so on. The score
        of a single order is a tensor, which has no key.
    **options : options of `torchmetrics.Metric`

    Raises
    ------
    TypeError, ValueError, MissingPackageError
        For arguments that are refused; by the import of this module, without torchmetrics.

    Examples
    --------
    >>> import torch
    >>> metric = VendiScore(num_features=2)
    >>> metric.update(torch.tensor([[1.0, 0.0], [0.0, 3.0], [2.0, 0.0]]))
    >>> metric.compute()
    tensor(1.88..., dtype=torch.float64)
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    plot_lower_bound: float = 1.0
    _how = similarity_spec_from_keywords({"k": "cosine"})

    products: Tensor
    count: Tensor

    def __init__(
        self,
        num_features: int,
        q: float | str | Iterable[float | str] = DEFAULT_ORDER,
        **options: object,
    ) -> None:
        super().__init__(**options)
        self.num_features = check_int("num_features", num_features)
        self.orders = check_orders(q)
        self.several = is_collection(q)
        products = _torch.zeros((num_features, num_features), dtype=_torch.float64)
        self.add_state("products", products, dist_reduce_fx="sum")
        self.add_state("count", _torch.tensor(0), dist_reduce_fx="sum")

    def update(self, embeddings: object) -> None:
        """Add a batch of embeddings (n, d), such as outputs of a network, without its gradient.

        SampleError: rows that are zero or not finite; ValueError: another shape. None is added.
        """
        X = embeddings
        with _torch.no_grad():
            if not is_torch(X) or X.ndim != 2 or X.shape[1] != self.num_features:
                got = f"shape {tuple(X.shape)}" if is_torch(X) else type(X).__name__
                raise ValueError(
                    f"embeddings must be a tensor (n, {self.num_features}), as `num_features` "
                    f"says, got {got}; reshape them, or set num_features"
                )
            if not len(X):
                return
            X = X.detach().to(self.products.device)
            similarity = unit(build_set_similarities([X], self._how, ["batch"])[0])
            self.products += similarity.covariance()
            self.count += len(X)

    def compute(self) -> Tensor | dict[str, Tensor]:
        """Score all embeddings as a 0-d tensor, or a dict by order; raise ValueError for none."""
        n = int(self.count)
        if n == 0:
            raise ValueError("no embeddings were added by any process; call update(…) first")
        values = score_covariance(self.products, n, self.orders).values
        if not self.several:
            return values[0]
        suffixes = order_suffixes(self.orders, several=True)
        return {f"VS{suffix}": value for suffix, value in zip(suffixes, values, strict=True)}

    def plot(self, val: object = None, ax: Axes | None = None) -> Axes:
        """Draw the score, or the results of `compute` or `forward` in `val`, as Figure and Axes."""
        return self._plot(val, ax)
