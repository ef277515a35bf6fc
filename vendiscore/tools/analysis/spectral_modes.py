"""Modes of a set: the eigenvectors of its weighted similarity matrix."""

from dataclasses import dataclass

import numpy as np

from ...spectral.spectrum import Spectrum
from ...support.namespace import row_blocks, to_host
from ...support.summary import SummaryMixin

# Maximum number of samples that are shown as examples of a mode.
EXEMPLARS = 3


@dataclass(frozen=True, eq=False, repr=False)
class Mode(SummaryMixin):
    """One eigenvector of the weighted similarity matrix, and the samples that it describes best.

    Attributes
    ----------
    number : int
        Index of the mode, from 0, in descending order of eigenvalues.
    share : float
        The normalized eigenvalue; those of all modes sum to 1.
    members : array of int of shape (m,)
        Indices of the samples whose largest component is along this mode, in descending order of
        that component.

    See Also
    --------
    vendiscore.explain : Explain a score.

    Examples
    --------
    >>> from vendiscore import explain
    >>> first, second = explain(["red", "red", "red", "blue"], k="labels").modes()
    >>> round(first.share, 6), second.members
    (0.75, array([3]))
    """

    _repr_attributes = ("number", "share", "exemplars")

    number: int
    share: float
    members: np.ndarray

    @property
    def sentence(self) -> str:
        """A sentence with the normalized eigenvalue and the first samples of the mode."""
        exemplars = ""
        if self.exemplars:
            exemplars = f", first {', '.join(map(str, self.exemplars))}"
        count = f"{len(self.members):,} samples"
        return f"Mode {self.number} has a share of {self.share:.3g}: {count}{exemplars}."

    @property
    def exemplars(self) -> list[int]:
        """The indices of up to three samples with the largest components along the mode."""
        return self.members[:EXEMPLARS].tolist()


def strongest_modes(spectrum: Spectrum) -> tuple[np.ndarray, np.ndarray]:
    """Return the strongest mode of n samples, and their proportion along it, both of shape (n,).

    The strongest mode of a sample is the eigenvector along which it has the largest component. A
    sample of weight 0 has mode −1 and proportion 0.
    """
    values = to_host(spectrum.values)
    values = values[values > 0]
    U: np.ndarray = to_host(spectrum.vectors)
    n = len(U)
    mode = np.full(n, -1)
    weight = np.zeros(n)
    for rows in row_blocks(n, 8 * U.shape[1]):
        mode_weights = np.square(U[rows], dtype=np.float64) * values
        p = mode_weights.sum(axis=1)
        best_modes = mode_weights.argmax(axis=1)
        has_weight = p > 0
        mode[rows] = np.where(has_weight, best_modes, -1)
        max_weights = mode_weights.max(axis=1)
        np.divide(max_weights, p, out=weight[rows], where=has_weight)
    return mode, np.minimum(weight, 1.0)


def list_modes(
    spectrum: Spectrum,
    mode: np.ndarray,
    weight: np.ndarray,
    count: int,
    input_indices: np.ndarray,
) -> list[Mode]:
    """List up to `count` modes with the largest eigenvalues; some may have no members.

    `mode` and `weight`, shape (n,), are the results of `strongest_modes` for n samples.
    `input_indices`, shape (n,), are the indices of the samples in the list that the caller passed.
    """
    eigenvalues = to_host(spectrum.values)
    n_positive = int((eigenvalues > 0).sum())
    modes = []
    for number in range(min(count, n_positive)):
        members = np.flatnonzero(mode == number)
        strongest_first = np.argsort(-weight[members], kind="stable")
        members = members[strongest_first]
        share = float(eigenvalues[number])
        modes.append(Mode(number, share, input_indices[members]))
    return modes
