"""Type aliases that several packages of the web app share."""

from collections.abc import Generator, Mapping
from typing import Any, TypeAlias, TypeVar

Value = TypeVar("Value")
# Keyword options, which the receiving function validates.
Options: TypeAlias = Mapping[str, object]
# Values by name.
Record: TypeAlias = dict[str, Any]
# Yields progress messages and returns the result.
Steps: TypeAlias = Generator[str, None, Value]
