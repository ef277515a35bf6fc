"""A torch network at work: in evaluation mode, on its device, and given back as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from threading import RLock
from typing import Any

from ..core.namespace import is_torch
from ..core.types import Record
from ..optional import require
from .embeddings import Encode


@dataclass(eq=False)
class Network:
    """A torch network: `prepare` makes inputs of a batch of samples, `embed` rows of inputs."""

    model: Any
    device: Any
    settings: Record
    prepare: Encode
    embed: Callable[[Any], Any]
    ours: bool

    def __post_init__(self) -> None:
        if self.ours:
            self.model.eval().to(self.device)

    @contextmanager
    def running(self, samples: Sequence[object]) -> Iterator[tuple[Encode, Record]]:
        """Yield a function from a batch to rows, and what to report when all are done."""
        torch = require("torch", "text", "an encoder")
        self.check(samples)
        with nullcontext() if self.ours else _borrowed(self.model, self.device):
            device, dtype = _place(self.model)
            device = self.device or device
            report = {**self.settings, "device": device.type, "half": dtype.itemsize == 2}

            def encode(batch: list[Any]) -> Any:
                inputs = self.inputs(batch, report)
                with torch.inference_mode():  # of this thread, so that it holds for one batch
                    return self.embed(_on_device(inputs, device, dtype))

            yield encode, report

    def check(self, samples: Sequence[object]) -> None:
        """Raise a `SampleError` for samples that the network cannot take, before any work."""

    def inputs(self, batch: list[Any], report: Record) -> Any:
        """Return the inputs of a batch; `report` gets what is to be said of it."""
        return self.prepare(batch)


def _place(model: Any) -> tuple[Any, Any]:
    """Return the device and the dtype of a network's weights."""
    torch = require("torch", "text", "an encoder")
    first = next(model.parameters(), torch.empty(0, dtype=torch.float32, device="cpu"))
    return first.device, first.dtype


def _on_device(inputs: object, device: object, dtype: object) -> Any:
    """Move a tensor, or the tensors of a mapping, to a device, and floats to its precision."""
    if isinstance(inputs, Mapping):
        return {name: _on_device(value, device, dtype) for name, value in inputs.items()}
    if not is_torch(inputs):
        return inputs
    return inputs.to(device, dtype if inputs.is_floating_point() else None)


@dataclass
class _Loan:
    """The state that a network gets back after use: the mode of each submodule, and its device."""

    modes: dict[Any, bool]
    home: Any
    device: Any
    users: int = 0


_loans: dict[int, _Loan] = {}  # by id, while they are used
_lending = RLock()  # a generator that nobody holds is closed at any time, in here too


@contextmanager
def _borrowed(model: Any, device: object) -> Iterator[None]:
    """Hold a caller's network in evaluation mode, on any `device`, until its last user is done."""
    with _lending:
        modes = {module: module.training for module in model.modules()}
        home, _ = _place(model)
        loan = _loans.setdefault(id(model), _Loan(modes, home, device or home))
        if device not in (None, loan.device):
            raise ValueError(
                f"`device` must be {str(loan.device)!r} while `model` is used there, got "
                f"{str(device)!r}; give each device a model of its own"
            )
        loan.users += 1
    try:
        with _lending:
            model.eval()
            if loan.device != loan.home:
                model.to(loan.device)
        yield
    finally:
        with _lending:
            loan.users -= 1
            if not loan.users:
                del _loans[id(model)]
                if loan.device != loan.home:
                    model.to(loan.home)
                for module, training in loan.modes.items():
                    module.training = training
