"""Count how often torch reads values from a device: `with HostReads() as reads`.

Calls and operators that would read from a device are also counted for CPU tensors. On CUDA,
`torch.cuda.set_sync_debug_mode` counts each synchronization, including copies to the device.
"""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any, Self

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

# Operators that return a number, or a tensor whose size depends on values, such as a mask index.
READING_OPERATORS = (
    "_local_scalar_dense",
    "nonzero",
    "masked_select",
    "unique_dim",
    "_unique2",
    "equal",
)
# Calls that read a tensor. For a CPU tensor they call none of these operators.
READING_CALLS = ("tolist", "__array__", "numpy")


class _OperatorCounter(TorchDispatchMode):
    """Count operators that read values of a tensor, including indexing with a boolean mask."""

    def __init__(self, count: Counter[str]) -> None:
        super().__init__()
        self.count = count

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = op.overloadpacket.__name__
        # Indexing with a Boolean mask reads the mask, because the number of selected values is the
        # size of the result.
        masks = args[1] if name in ("index", "index_put") else ()
        masked = any(mask is not None and mask.dtype == torch.bool for mask in masks)
        self.count[name] += name in READING_OPERATORS or masked
        return op(*args, **(kwargs or {}))


class _CallCounter(TorchFunctionMode):
    """Count calls such as `tolist`, which read values of a tensor."""

    def __init__(self, count: Counter[str]) -> None:
        super().__init__()
        self.count = count

    def __torch_function__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(call, "__name__", "")
        self.count[name] += name in READING_CALLS
        return call(*args, **(kwargs or {}))


class HostReads:
    """Count reads in a `with` block: `count` by name, their sum `total`, and `waits` of CUDA."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.waits = 0
        self._counters = [_OperatorCounter(self.count), _CallCounter(self.count)]
        self._warning_recorder = warnings.catch_warnings(record=True)

    @property
    def total(self) -> int:
        return self.count.total()

    def __enter__(self) -> Self:
        """Start counting; CUDA warns about each synchronization, and the warnings are recorded."""
        self._warnings = self._warning_recorder.__enter__()
        warnings.simplefilter("always")
        if torch.cuda.is_available():
            torch.cuda.set_sync_debug_mode("warn")
        for mode in self._counters:
            mode.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        """Stop counting, and set `waits` to the number of recorded synchronizations."""
        for mode in reversed(self._counters):
            mode.__exit__(*error)
        if torch.cuda.is_available():
            torch.cuda.set_sync_debug_mode("default")
        self._warning_recorder.__exit__(*error)
        self.waits = sum("synchronizing" in str(warning.message) for warning in self._warnings)
        self.count = +self.count  # without names whose count is 0
