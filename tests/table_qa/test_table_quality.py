"""Sheets that are no data are left out of questions, and examples come from good columns."""

from core.table_qa.table_quality import good_amounts, good_flags, good_groups, no_data_reason
from tests.table_qa.domains import STAFF, Office

DASHBOARD = "Report,,,\nRegion,,,Total\n,North,,12\n,,South,8\n,,,20\n"
LINKS = "Page,Address\nHome,https://a.example\nHelp,https://b.example\nTerms,https://c.example\n"


def test_dashboards_and_lists_of_links_are_off_until_a_person_enables_them() -> None:
    desk = Office({"Dashboard.csv": DASHBOARD, "links.csv": LINKS, "staff.csv": STAFF}).desk
    assert [table.name for table in desk.question_tables()] == ["staff"]
    reasons = {table.name: no_data_reason(table) for table in desk.tables()}
    assert reasons.pop("staff") == ""
    assert reasons and all(reasons.values())
    desk.set_used("links", True)
    assert {table.name for table in desk.question_tables()} == {"links", "staff"}


def test_good_columns_are_names_with_few_values_quantities_and_one_word_flags() -> None:
    table = Office({"staff.csv": STAFF}).desk.table("staff")
    assert [column.header for column in good_groups(table)] == ["Department", "JobRole"]
    assert good_amounts(table)[0].header == "Age"
    assert good_flags(table)[0].header == "Attrition"
