"""Rows in print: digits for people, all digits for programs, columns and escapes."""

from vendiscore.cli import output


def test_cells_have_digits_for_people_or_all_of_them():
    values = (3.90657412, 1234, None, True, "a")
    assert [output.shown(x, None) for x in values] == ["3.90657", "1,234", "", "True", "a"]
    assert [output.shown(x, 2) for x in values] == ["3.91", "1,234", "", "True", "a"]
    assert output.exact(0.1 + 0.2, None) == "0.30000000000000004"
    assert output.exact(0.1 + 0.2, 2) == "0.30"


def test_tables_are_aligned_or_markdown():
    rows = [{"file": "a.txt", "VS": 2.5}, {"file": "b|c", "VS": 10.0}]
    assert output.table(rows, 1) == "file     VS\na.txt   2.5\nb|c    10.0\n"
    assert output.markdown(rows[1:], None) == "| file | VS |\n|---|--:|\n| b\\|c | 10 |\n"


def test_json_is_rounded_and_has_no_infinity():
    found = output.as_json({"q": float("inf"), "VS": 2.25, "x": float("nan")}, 1)
    assert found == '{\n "q": "inf",\n "VS": 2.2,\n "x": null\n}\n'
