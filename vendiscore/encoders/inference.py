"""A torch network at work: in evaluation mode, on its device, and given back as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from threading import RLock
from typing import Any, NamedTuple

from ..optional import require


class Place(NamedTuple):
    """Where a network runs, as a torch device, and the dtype of its weights."""

    device: Any
    dtype: Any

    @property
    def settings(self) -> dict[str, Any]:
        """What a report says of it."""
        return {"device": self.device.type, "half": self.dtype.itemsize == 2}


class Network:
    """A torch network that embeds: one loaded here stays ready, a caller's is borrowed."""

    def __init__(self, model: Any, device: Any, *, ours: bool) -> None:
        self.model, self.device, self.ours = model, device, ours
        if ours:
            model.eval().to(device)

    @contextmanager
    def running(self) -> Iterator[Place]:
        """Hold the network in evaluation mode, on its device."""
        with nullcontext() if self.ours else _borrowed(self.model, self.device):
            place = _place(self.model)
            yield place._replace(device=self.device or place.device)


def _place(model: Any) -> Place:
    first = next(model.parameters(), None)
    if first is None:
        torch = require("torch", "text", "an encoder")
        return Place(torch.device("cpu"), torch.float32)
    return Place(first.device, first.dtype)


def inference() -> AbstractContextManager[Any]:
    """Work without gradients; the mode belongs to a thread, so that it holds for one batch."""
    mode: AbstractContextManager[Any] = require("torch", "text", "an encoder").inference_mode()
    return mode


@dataclass
class _Loan:
    """What is given back to a network: the mode of each submodule, and where it was."""

    modes: dict[Any, bool]
    home: Any
    device: Any
    users: int = 0


_loans: dict[int, _Loan] = {}  # by id, while they are used
_lending = RLock()  # a generator that nobody holds is closed at any time, in here too


@contextmanager
def _borrowed(model: Any, device: Any) -> Iterator[None]:
    """Yield a caller's network in evaluation mode, and on `device` if that is given, meanwhile.

    Every submodule gets its own mode back, and the network goes back to where it was, when the
    last of those that use it at once, in several threads, is done.
    """
    with _lending:
        loan = _loans.get(id(model)) or _lend(model, device)
        if device is not None and not _is_at(loan.device, device):
            raise ValueError(
                f"`device` must be {str(loan.device)!r} while `model` is used there, got "
                f"{str(device)!r}; give each device a model of its own"
            )
        loan.users += 1
    try:
        yield
    finally:
        with _lending:
            loan.users -= 1
            if not loan.users:
                del _loans[id(model)]
                _give_back(model, loan)


def _lend(model: Any, device: Any) -> _Loan:
    home = _place(model).device
    loan = _Loan({module: module.training for module in model.modules()}, home, device or home)
    model.eval()
    try:
        if loan.device != home:
            model.to(loan.device)
    except BaseException:  # out of memory, say
        _give_back(model, loan)
        raise
    _loans[id(model)] = loan
    return loan


def _give_back(model: Any, loan: _Loan) -> None:
    if loan.device != loan.home:
        model.to(loan.home)
    for module, training in loan.modes.items():
        module.training = training


def _is_at(place: Any, device: Any) -> bool:
    """Return whether `device` is where something is; "cuda" without a number is any of them."""
    numbers = {place.index, device.index}
    return place.type == device.type and (len(numbers) == 1 or None in numbers)
