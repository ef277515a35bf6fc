"""JSON lines beyond the limit of samples are not parsed."""

from vendiscore.report import Limits, Wanted
from vendiscore.tools.reading.json_documents import document, records


def test_lines_beyond_limit_are_not_parsed():
    options = Wanted(limits=Limits(samples=2))
    result = records('"a"\n\n"b"\n{\n"c"', options)
    assert (result.rows, result.places, result.problems) == ([["a"], ["b"]], [1, 3], {})
    assert result.more
    assert document('["a", "b", 3]', options).rows == result.rows
    assert not records('"a"\n"b"', options).more
