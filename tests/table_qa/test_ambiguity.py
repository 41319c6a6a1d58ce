"""What a question leaves open is refused or handed back, never answered by a less likely reading."""

import pytest

from tests.table_qa.domains import Office

AWARDS = """App no,Applicant,Field,GPA,Awarded,Amount
1,Ann Lee,Arts,3.5,Yes,900
2,Bo Ray,Law,2.1,No,
3,Cy Fox,Law,3.9,Yes,700
"""
SALES = """Day,Dish,Canteen,Revenue,Waste kg,Vegetarian,Portions
2024-01-02,soup,Lab,100,6,Yes,40
2024-01-02,stew,Lab,200,6,No,30
2024-01-03,soup,Hall,300,12,Yes,20
2024-02-05,stew,Hall,50,1,No,50
"""
STOCK = """SKU,Item,On hand,Unit cost,Last counted,Sold price,In operation
A1,Bolt,60,2.5,2024-01-01,3,Yes
A2,Nut,40,70,2024-02-01,,No
A3,Washer,10,9,2023-02-01,12,Yes
"""
MARKS = "Student,Class,Math,Reading\nAnn Lee,7A,90,60\nBo Ray,7B,85,95\nCy Fox,7B,40,99\n"
STATIONS = """Polling station,Ward,Registered voters,Votes cast
P1,East,2100,900
P2,East,700,300
P3,West,1999,1500
"""
SESSIONS = "Session,Trainer,Average rating\n1,Moss,4.5\n2,Moss,1.0\n3,Roe,2.5\n"
PEOPLE = "Employee ID,Full name,Department\nP1,Ann Lee,Sales\nP2,Bo Ray,Finance\n"
CLAIMS = "Claim,Employee ID,Claimed,Type\nX1,P1,1200,hotel\nX2,P1,90,meals\nX3,P2,2000,hotel\n"
CARS = """Plate,Year,Next service,Fuel
K1,2016,2025-03-04,petrol
K2,2021,2025-06-07,diesel
K3,2024,2024-05-05,petrol
"""
CODES = "Code,Name\nA,Alpha\nB,Beta\nC,Gamma\n"


@pytest.mark.parametrize(
    ("file", "table", "question"),
    [
        ("awards", AWARDS, "how many applicants got an award?"),
        ("awards", AWARDS, "applicants in Law with an award"),
        ("sales", SALES, "days with more than 10 kg of waste"),
        ("sales", SALES, "share of vegetarian sales"),
        ("sales", SALES, "average revenue per day"),
        (
            "sessions",
            "Session,Trainer,Average rating\n1,Moss,4.5\n2,Moss,1.0\n3,Roe,2.5\n",
            "trainers with an average rating above 3",
        ),
        ("stock", STOCK, "items that were sold"),
        ("stock", STOCK, "how many items are running"),
        ("stock", STOCK, "last counted item"),
        ("loans", "Loan,Customer,Amount\n1,Ann,5\n2,Bo,7\n", "sum of all loans"),
        ("codes", CODES, "codes by name"),
        ("cars", CARS, "cars from before 2025"),
        ("incidents", "Incident,Station,Injuries\nF1,Hill,2\nF2,Docks,0\nF3,Hill,5\n", "injuries per incident"),
        ("customers", "Customer,Plan,Tenure\nC1,a,4\nC2,b,5\nC3,b,9\n", "average tenure of customers who stayed"),
    ],
)
def test_what_means_two_things_in_a_table_is_not_answered(file: str, table: str, question: str) -> None:
    answer = Office({f"{file}.csv": table}).desk.ask(question)
    assert not answer.answered, answer.reading
    assert answer.refusal


@pytest.mark.parametrize("question", ["claims over 1000 by people in Sales", "claims of more than 1000 of employees"])
def test_what_is_named_first_is_listed_or_nothing(question: str) -> None:
    answer = Office({"employees.csv": PEOPLE, "expense_claims.csv": CLAIMS}).desk.ask(question)
    assert answer.query is None or answer.query.table == "expense_claims"


@pytest.mark.parametrize(
    ("file", "table", "question", "readings"),
    [
        ("sales", SALES, "sales by canteen", ["Number of rows", "Total Revenue", "Total Waste kg", "Total Portions"]),
        ("stations", STATIONS, "smallest ward", ["Number of rows", "Total Registered voters", "Total Votes cast"]),
        ("sales", SALES, "portions of the soup", ["Rows of sales", "Total Portions", "Average Portions"]),
        ("awards", AWARDS, "gpa of the applicants in Law", ["Rows of awards", "Average GPA"]),
        ("staff", "No,Job,Salary\n1,cook,10\n2,cook,12\n3,host,9\n", "salary by job", ["Total", "Average"]),
    ],
)
def test_the_readings_are_offered_to_click(file: str, table: str, question: str, readings: list[str]) -> None:
    desk = Office({f"{file}.csv": table}).desk
    answer = desk.ask(question)
    assert not answer.answered, answer.reading
    assert [part in other.reading for part, other in zip(readings, answer.others, strict=True)] == [True] * len(
        readings
    )
    assert all(desk.follow(question, other.query).answered for other in answer.others)


def test_lists_of_the_same_rows_are_told_apart_by_their_columns() -> None:
    answer = Office({"cases.csv": "Case,Repair cost,Parts cost\nC1,10,2\nC2,30,9\n"}).desk.ask("cost of case C1")
    assert [other.reading.partition(": ")[2] for other in answer.others] == ["Repair cost", "Parts cost"]


def test_a_unit_of_counting_is_no_unit_cost() -> None:
    answer = Office({"stock.csv": STOCK}).desk.ask("items below 50 units")
    assert "Unit cost" not in answer.reading


def test_one_comparison_holds_for_all_amounts_named_with_it() -> None:
    answer = Office({"marks.csv": MARKS}).desk.ask("students with over 80 in math and reading")
    assert answer.reading == "Rows of marks where Math is more than 80 and Reading is more than 80"


def test_a_year_counts_where_no_date_reaches_into_the_period() -> None:
    answer = Office({"cars.csv": CARS}).desk.ask("cars from before 2020")
    assert answer.reading == "Rows of cars where Year is at most 2019"
