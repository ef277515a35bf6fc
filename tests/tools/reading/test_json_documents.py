"""An invalid line of JSON beyond the lines that are read does not blame another line."""

from vendiscore.report import Limits, Wanted
from vendiscore.tools.reading.json_documents import document, records


def test_lines_beyond_the_limit_are_counted_and_not_read():
    wanted = Wanted(limits=Limits(samples=2))
    found = records('"a"\n\n"b"\n{\n"c"', wanted)
    assert (found.rows, found.places, found.problems) == ([["a"], ["b"]], [1, 3], {})
    assert found.more
    assert document('["a", "b", 3]', wanted).rows == found.rows
    assert not records('"a"\n"b"', wanted).more
