"""Headers have units, verbs and brackets; questions say the same in other forms."""

import pytest

from tests.table_qa.domains import Office

TENDERS = """Tender,Ministry,Value (lakh INR),Decision date,Expiry,Financial year,Awarded,Delay (min)
T1,Health,10,2023-05-01,2025-01-01,2022/23,Yes,30
T2,Health,30,2023-08-01,2025-09-01,2023/24,No,90
T3,Roads,20,2024-02-01,2026-01-01,2022/23,Yes,20
"""
VOLUNTEERS = """Name,Driver,Age,Hours 2023,Hours 2024,Artist,Registered voters
Ann Lee,Yes,60,10,20,Okada,2100
Bo Ray,No,41,30,5,,900
Cy Fox,No,75,8,9,Okada,2500
"""
CALLS = """Call,Vessel,Flag,Sold on,Reported on,Average rating,Passengers,Response min,Port dues,Express
C1,Aurora,Malta,2022-01-01,2025-02-01,2.0,100,5,7,Yes
C2,Aurora,Panama,2022-03-01,2024-02-01,4.0,200,15,5,No
C3,Bergen,Malta,2023-06-01,2025-06-01,3.0,300,10,1,Yes
"""


@pytest.mark.parametrize(
    ("table", "question", "headline"),
    [
        (TENDERS, "average value of tenders", "20"),
        (TENDERS, "top 2 tenders by value", "T2: 30; T3: 20"),
        (TENDERS, "tenders decided before June 2023", "T1"),
        (TENDERS, "tenders expiring before July 2025", "T1"),
        (TENDERS, "how many tenders in 2022/23", "2"),
        (TENDERS, "award rate by ministry", "Roads: 100.0%; Health: 50.0%"),
        (TENDERS, "tenders delayed by over an hour", "T2"),
        (VOLUNTEERS, "volunteers who do not drive", "Bo Ray; Cy Fox"),
        (VOLUNTEERS, "volunteers aged 60 or older", "Ann Lee; Cy Fox"),
        (VOLUNTEERS, "volunteers by unknown artists", "Bo Ray"),
        (VOLUNTEERS, "who worked more hours in 2024 than in 2023", "Ann Lee; Cy Fox"),
        (VOLUNTEERS, "volunteers with over 2000 registered voters", "Ann Lee; Cy Fox"),
        (CALLS, "average rating of express calls", "2.5"),
        (CALLS, "average response time by flag", "Panama: 15; Malta: 7.5"),
        (CALLS, "average passengers per call", "200"),
        (CALLS, "calls sold before 2023 and reported after 2024", "C1"),
        (CALLS, "total dues paid by flag", "Malta: 8; Panama: 5"),
        (CALLS, "how many different vessels called", "2"),
        (CALLS, "most common flag", "Malta: 2"),
    ],
)
def test_words_are_found_in_headers(table: str, question: str, headline: str) -> None:
    name = {TENDERS: "tenders", VOLUNTEERS: "volunteers", CALLS: "vessel_calls"}[table]
    answer = Office({f"{name}.csv": table}).desk.ask(question)
    assert answer.headline == headline, answer.refusal or answer.reading
