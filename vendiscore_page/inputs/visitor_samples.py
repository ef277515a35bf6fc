"""Samples of a user, with the information that the web app shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from vendiscore.report import Samples as ReadSamples
from vendiscore.support.errors import short_repr

from .file_code import FileCode

FILE = "file"  # `sets_by` of samples whose sets are text files


@dataclass(frozen=True)
class Samples(ReadSamples):
    """Samples of a file or a text box, and how they were read, drawn and labelled."""

    sentence: str = ""  # what the reader took of a table, and what it left out
    letters: bool = False  # whether they are sequences of letters, which have no words
    python: FileCode | None = None  # that reads them again, if they are of a file
    kinds: tuple[str, ...] = ()  # other kinds that they could be
    how: str = ""  # the way they were split, such as "split by semicolons"
    total: int = 0  # size of the set that `values` are a part of; 0 for all
    draw: int = 0  # number of the random part
    columns: tuple[str, ...] = ()  # to pick from
    by: str | None = None  # the column of the groups
    sets_by: str | None = None  # the column of the sets
    correct_by: str | None = None  # the column that `correct` is from
    min_quality: float | None = None  # threshold if this column contains numbers
    separator: str | None = None
    splits: tuple[tuple[str, int], ...] = ()  # how many texts each separator would give
    text: str = ""  # of examples: text for the box
    asked: Sequence[str] = ()  # prompts by a column of that name, whether or not they are taken out
    prompt_column: str = ""  # column that prompts are from, or could be
    roles: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict)  # columns, labels
    # The roles of all rows, also where `values` are a part that was drawn.
    all_roles: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict)
    files: Sequence[str] = ()  # names of the text files that the samples are from, if several
    wide: Sequence[str] = ()  # columns of answers, of one model each or all of one
    cells: Mapping[str, Sequence[object]] = field(
        default_factory=dict
    )  # of each column, by its name

    @classmethod
    def of(cls, result: ReadSamples) -> Samples:
        """Return samples that a reader of the library found, without functions of their file.

        Samples are pickled, and these functions would keep all rows of the file.
        """
        names = [
            attribute.name
            for attribute in fields(result)
            if attribute.name not in ("written", "saved")
        ]
        return cls(**{name: getattr(result, name) for name in names})

    @property
    def result_notes(self) -> list[str]:
        """Notes of results, which show the samples: the sentence, and the other notes."""
        return [*filter(None, [self.sentence]), *self.notes]

    @property
    def ids(self) -> Sequence[int | str]:
        """The id of each sample, or its place without a column of ids."""
        return self.roles["id"][1] if "id" in self.roles else self.places

    def subset(self, indices: Sequence[int]) -> Samples:
        """Return the samples at some indices; their `places` stay the same."""
        return replace(
            Samples.of(super().subset(indices)),
            asked=[self.asked[i] for i in indices] if self.asked else (),
            roles={
                role: (column, [labels[i] for i in indices])
                for role, (column, labels) in self.roles.items()
            },
            cells={name: [cells[i] for i in indices] for name, cells in self.cells.items()},
            python=self.python and self.python.subset(indices, len(self), self.draw),
        )

    def describe_problem(self, i: int, problem: str) -> str:
        """Describe the problem of sample i for the web app, without a hint about Python."""
        value = self.values[i]
        problem = problem.rpartition("; ")[0] or problem
        if not isinstance(value, str):
            return f"{self.unit} {self.places[i]} {problem}"
        quoted = short_repr(value)
        return f"{self.unit} {self.places[i]}, {quoted}, {problem.removesuffix(f': {quoted}')}"

    def describe_locations(self, indices: Iterable[int]) -> str:
        """Describe the locations of some samples: "lines 2 and 23–27"."""
        return format_ranges(self.unit, [self.places[i] for i in indices])


def format_ranges(unit: str, places: Sequence[int | str], max_n: int = 8) -> str:
    """Format locations, with consecutive ones as ranges: "lines 23–25 and 27"."""
    runs: list[list[int | str]] = []
    for location in places:
        if runs and isinstance(location, int) and runs[-1][-1] == location - 1:
            runs[-1].append(location)
        else:
            runs.append([location])
    words: list[str] = []
    for run in runs:
        words += [f"{run[0]}–{run[-1]}"] if len(run) > 2 else map(str, run)
    listed = format_series(words) if len(words) <= max_n else f"{', '.join(words[:max_n])}, …"
    return f"{unit}{'s' * (len(places) > 1)} {listed}"


def format_series(names: Sequence[str]) -> str:
    """Join names: "A, B and C"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
