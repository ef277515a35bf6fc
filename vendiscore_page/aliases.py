"""Names of types that folders of the page share, for type checkers only."""

from collections.abc import Generator, Mapping
from typing import Any, TypeAlias, TypeVar

Value = TypeVar("Value")
Options: TypeAlias = Mapping[str, object]  # by keyword, checked by their reader
Record: TypeAlias = dict[str, Any]  # numbers and words by their names
Steps: TypeAlias = Generator[str, None, Value]  # yields words for whoever waits, returns the result
