"""The similarities of `exponentials` for torch: all pairs at once, on the tensor's device.

They can be differentiated, also through a bandwidth that followed from the samples: a median is
the mean of one or two distances, which are computed again from the rows they belong to.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from ..arrays import memory
from ..arrays.namespace import is_torch, row_blocks, scalar
from .exponentials import (
    ERROR,
    FAR,
    LEVEL,
    LOST_SHARE,
    ROUNDING,
    ROUNDS,
    check_positive,
    common_exponent,
    shifted,
    times_power,
    usable_width,
)
from .pairs import draw_pairs
from .squares import product_squares

Tensor: TypeAlias = Any  # of torch, which is not imported here
# The error of an exponent that is let pass in rows, which nothing exact is made of.
ROWS_ERROR = 1e-9


def gaussian(X: Tensor, sigma: Tensor | float) -> Tensor:
    """exp(−‖x − y‖² / 2σ²) of all rows of a tensor X (n, d), in float64; σ may be a 0-d tensor."""
    _require(X)
    exponent = common_exponent(X, scalar(sigma))
    width = shifted(sigma, -exponent)
    D = _squares(times_power(X, -exponent), min(scalar(width), 2.0**LEVEL))
    return (D / (-2 * width) / width).exp()


def laplace(X: Tensor, sigma: Tensor | float) -> Tensor:
    """exp(−Σ|x_j − y_j| / σ), as `gaussian` with the Manhattan distance."""
    _require(X)
    exponent = common_exponent(X, scalar(sigma))
    return (_sums(times_power(X, -exponent)) / -shifted(sigma, -exponent)).exp()


def rows_of(law: str, X: Tensor, sigma: Tensor | float) -> Callable[[Any], Tensor]:
    """A function that gives rows K[index], (len(index), n), of `gaussian` or `laplace`.

    To 1e-9: it multiplies centred rows where that is as exact, which takes no more memory than what
    it returns, and takes differences elsewhere. Errors as of `gaussian`.
    """
    torch = _torch()
    exponent = common_exponent(X, scalar(sigma))
    rows, width = times_power(X, -exponent), shifted(sigma, -exponent)
    if law == "laplace":
        return lambda index: (torch.cdist(rows[index], rows, p=1.0) / -width).exp()
    rows = (rows - rows.mean(dim=0)) / width
    halves = rows.square().sum(dim=1) / 2

    def multiplied(index: Any) -> Tensor:
        found = torch.addmm(-halves, rows[index], rows.T)
        found -= halves[index, None]
        return found.clamp_(max=0.0)

    def apart(index: Any) -> Tensor:
        how = "donot_use_mm_for_euclid_dist"
        return torch.cdist(rows[index], rows, compute_mode=how).square() / -2

    exact = ROUNDING * scalar(halves.detach().max()) <= ROWS_ERROR

    def part(index: Any) -> Tensor:
        itself = torch.arange(len(rows), device=X.device)[index]
        found = multiplied(index) if exact else apart(index)
        return found.scatter_(1, itself[:, None], 0.0).exp_()

    return part


def ones_of(X: Tensor, sigma: Tensor | float) -> Tensor:
    """A one for each row in float64, which has a gradient, of 0, where X or σ has one."""
    ones = X.new_ones(len(X), dtype=_torch().float64)
    for given in (X, sigma):
        if is_torch(given) and given.requires_grad:
            ones = ones + 0.0 * given.reshape(-1)[0]
    return ones


def gaussian_width(X: Tensor) -> Tensor:
    """The median distance of distinct rows of a tensor X (n, d), a 0-d tensor with its gradient.

    Errors as of `exponentials.gaussian_width`. Time O(n² d), memory O(n²).
    """

    def pairs(X: Tensor) -> tuple[Tensor, Tensor]:
        width = math.sqrt(_drawn_median(X))
        found = _middle(_squares(X, width))
        for _ in range(ROUNDS):
            distance = math.sqrt(scalar((X[found[0][0]] - X[found[1][0]]).square().sum()))
            if width / 2 <= distance <= 2 * width:
                break
            width = distance
            found = _middle(_squares(X, width))
        return found

    return _width(X, pairs, lambda gap: gap.square().sum(dim=1).sqrt())


def laplace_width(X: Tensor) -> Tensor:
    """As `gaussian_width`, of Manhattan distances."""
    return _width(X, lambda X: _middle(_sums(X)), lambda gap: gap.abs().sum(dim=1))


def _width(
    X: Tensor, pairs: Callable[[Tensor], tuple[Tensor, Tensor]], length: Callable[[Tensor], Tensor]
) -> Tensor:
    _require(X)
    exponent = common_exponent(X)
    first = _distinct(X.detach())
    if len(first) < 2:
        return X.new_full((), scalar(usable_width(1.0, exponent)), dtype=_torch().float64)
    rows = times_power(X[first], -exponent)
    i, j = pairs(rows.detach())
    lengths = length(rows[i] - rows[j])
    check_positive(scalar(lengths.detach().min()))
    return usable_width(lengths.mean(), exponent)


def _distinct(X: Tensor) -> Tensor:
    """Where each distinct row is first, in order."""
    torch, n = _torch(), len(X)
    rows, group = torch.unique(X + 0.0, dim=0, return_inverse=True)  # −0.0 and 0.0 are one number
    first = group.new_full((len(rows),), n)
    return first.scatter_reduce(0, group, torch.arange(n, device=X.device), "amin").sort().values


def _drawn_median(X: Tensor) -> float:
    """The median of ‖x − y‖² of some pairs of rows, from differences."""
    i, j = (_torch().as_tensor(places, device=X.device) for places in draw_pairs(len(X)))
    parts = row_blocks(len(i), 8 * X.shape[1])
    return scalar(_torch().cat([(X[i[p]] - X[j[p]]).square().sum(dim=1) for p in parts]).median())


def _middle(D: Tensor) -> tuple[Tensor, Tensor]:
    """The places i and j of the two pairs with the distances in the middle, which are not 0."""
    n = D.shape[0]
    size = n * (n - 1) // 2
    i, j = _torch().triu_indices(n, n, 1, device=D.device)
    values = D[i, j]
    found = [values.kthvalue(place + 1) for place in ((size - 1) // 2, size // 2)]
    check_positive(scalar(found[0].values))
    places = _torch().stack([pair.indices for pair in found])
    return i[places], j[places]


def available_bytes(X: Tensor) -> int:
    """Bytes that can be allocated where a tensor is."""
    if not X.is_cuda:
        return memory.available_bytes()
    cuda = _torch().cuda
    free: int = cuda.mem_get_info(X.device)[0]
    return free + int(cuda.memory_reserved(X.device) - cuda.memory_allocated(X.device))


def _require(X: Tensor) -> None:
    if X.is_cuda:  # which raises an error of its own, and nothing else is lost
        return
    n, d = X.shape
    needed = 12 * n * n + 16 * n * d
    memory.require(needed, f"the similarity matrix of {n} samples", "compare fewer samples")


def _torch() -> Any:
    return sys.modules["torch"]


def _sums(X: Tensor) -> Tensor:
    return _torch().cdist(X, X, p=1.0)


def _squares(X: Tensor, sigma: float) -> Tensor:
    """‖x − y‖² for all rows of a float64 X, in digits that are enough beside σ²."""
    if scalar(abs(X).max()) > 2.0**LEVEL:  # then σ is near 1, and what is far is infinite
        blocks = row_blocks(len(X), 8 * X.numel(), least=1)
        parts = [(X[block, None] - X[None]).square().sum(dim=2) for block in blocks]
        return _torch().cat(parts)
    D, norms = product_squares(X - X.mean(dim=0))
    if 2 * ROUNDING * scalar(norms.max()) <= 2 * ERROR * sigma**2:
        return D
    lost = _lost(D, norms, sigma)
    if sum(len(rows) for rows, _ in lost) > LOST_SHARE * len(X) ** 2:
        # The mean is where an outlier draws it; the median of each column is among most samples.
        D, norms = product_squares(X - X.detach().median(dim=0).values)
        lost = _lost(D, norms, sigma)
    found = [
        (a, b, (X[a] - X[b]).square().sum(dim=1))
        for rows, columns in lost
        for part in row_blocks(len(rows), 8 * X.shape[1])
        for a, b in [(rows[part], columns[part])]
    ]
    if not found:
        return D
    a, b, values = (_torch().cat(part) for part in zip(*found, strict=True))
    mended: Tensor = D
    return mended.index_put((a, b), values)


def _lost(D: Tensor, norms: Tensor, sigma: float) -> list[tuple[Tensor, Tensor]]:
    """Pairs whose exponent may be off by more than ERROR, by blocks of rows."""
    found, values = [], D.detach()
    for block in row_blocks(len(norms), 8 * len(norms)):
        error = ROUNDING * (norms[block, None] + norms)
        lost = values[block] < 2 * FAR * sigma**2 + 2 * error
        lost &= error > 2 * ERROR * sigma**2
        rows, columns = lost.nonzero(as_tuple=True)
        found.append((rows + block.start, columns))
    return found
