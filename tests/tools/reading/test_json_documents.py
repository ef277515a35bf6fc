"""An invalid line of JSON beyond the lines that are read does not blame another line."""

from vendiscore.report import Limits, Wanted
from vendiscore.tools.reading.json_documents import document, records


def test_lines_beyond_limit_are_not_parsed():
    wanted = Wanted(limits=Limits(samples=2))
    result = records('"a"\n\n"b"\n{\n"c"', wanted)
    assert (result.rows, result.places, result.problems) == ([["a"], ["b"]], [1, 3], {})
    assert result.more
    assert document('["a", "b", 3]', wanted).rows == result.rows
    assert not records('"a"\n"b"', wanted).more
