"""A metric of torchmetrics: the Vendi Score of embeddings, over batches and processes."""

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
from ..streams.second_moment import scale_to_diagonal

_Metric = require("torchmetrics", "train", "VendiScore of torchmetrics").Metric
_torch = require("torch", "train", "VendiScore of torchmetrics")


class VendiScore(_Metric):  # type: ignore[misc, valid-type]
    """The Vendi Score of embeddings with cosine similarity, over all batches and processes.

    The result equals ``vendiscore.compute(X, k="cosine")`` for all embeddings X. Processes without
    embeddings are allowed.

    Parameters
    ----------
    num_features : int
        Length d of an embedding.
    q : float, "inf" or sequence of these, default 1
        Order of the score, 0 <= q <= infinity. For several orders, `compute` returns a dict of
        tensors ("VS_q0", "VS_q1"); for one order, a tensor.
    **options
        Options of `torchmetrics.Metric`.

    Raises
    ------
    MissingPackageError
        If torchmetrics is not installed; raised by the import of this module.
    TypeError, ValueError
        If an argument is invalid.

    See Also
    --------
    vendiscore.State : The same without torchmetrics.

    Notes
    -----
    The state is the sum of x x^T over unit-norm embeddings x: 8 d^2 bytes on the device, in double
    precision. Time is O(n d^2) per batch and O(d^3) per score.

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
    _spec = similarity_spec_from_keywords({"k": "cosine"})

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
        self.has_several_orders = is_collection(q)
        products = _torch.zeros((num_features, num_features), dtype=_torch.float64)
        self.add_state("products", products, dist_reduce_fx="sum")
        self.add_state("count", _torch.tensor(0), dist_reduce_fx="sum")

    def update(self, embeddings: object) -> None:
        """Add a batch of embeddings; gradients are not tracked.

        Parameters
        ----------
        embeddings : tensor of shape (n, d)
            Embeddings, such as outputs of a network.

        Raises
        ------
        SampleError
            If a row is zero or not finite; no row is then added.
        ValueError
            If the shape is not (n, d); no row is then added.
        """
        X = embeddings
        with _torch.no_grad():
            if not is_torch(X) or X.ndim != 2 or X.shape[1] != self.num_features:
                got = f"shape {tuple(X.shape)}" if is_torch(X) else type(X).__name__
                raise ValueError(
                    f"`embeddings` must be a tensor of shape (n, {self.num_features}), because "
                    f"num_features={self.num_features}, got {got}; reshape them, or set "
                    f"num_features"
                )
            if not len(X):
                return
            X = X.detach().to(self.products.device)
            similarity = scale_to_diagonal(build_set_similarities([X], self._spec, ["batch"])[0])
            self.products += similarity.covariance()
            self.count += len(X)

    def compute(self) -> Tensor | dict[str, Tensor]:
        """Compute the score of all embeddings that were added.

        Returns
        -------
        tensor or dict of str to tensor
            A 0-d tensor, or for several orders one per key.

        Raises
        ------
        ValueError
            If there are no embeddings.
        """
        n = int(self.count)
        if n == 0:
            raise ValueError("no process has added embeddings; call update(embeddings) first")
        values = score_covariance(self.products, n, self.orders).values
        if not self.has_several_orders:
            return values[0]
        suffixes = order_suffixes(self.orders, several=True)
        return {f"VS{suffix}": value for suffix, value in zip(suffixes, values, strict=True)}

    def plot(self, val: object = None, ax: Axes | None = None) -> Axes:
        """Plot scores, as torchmetrics does.

        Parameters
        ----------
        val : tensor, dict or sequence of these, optional
            Results of `compute` or `forward`; by default the current score.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        tuple of Figure and Axes
            The figure and its axes.
        """
        return self._plot(val, ax)
