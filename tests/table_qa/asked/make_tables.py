"""Writes the constructed tables of `development` and `held_out`, by folder and set; the same bytes on every run.

python tests/table_qa/asked/make_tables.py
"""
# Over 300 lines: one specification per table.

import csv
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
Cell = Callable[[Random, int, dict[str, str]], object]
_SEEDS = {"development_2": "held_out", "development_3": "held_out_2"}
"""The names these folders had while they were left out: with them as seeds the cells stay the same."""


def write(place: str, rows: int, columns: dict[str, Cell], delimiter: str = ",") -> None:
    """Write one table; every column sees the row's cells so far."""
    folder, _, rest = place.partition("/")
    random, path = Random(f"{_SEEDS.get(folder, folder)}/{rest}"), HERE / f"{place}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        for number in range(rows):
            cells: dict[str, str] = {}
            for header, cell in columns.items():
                cells[header] = str(cell(random, number, cells))
            writer.writerow(cells.values())


def pick(*values: str, weights: Sequence[int] | None = None) -> Cell:
    return lambda random, number, cells: random.choices(values, weights)[0]


def cycle(*values: str) -> Cell:
    return lambda random, number, cells: values[number % len(values)]


def code(pattern: str, first: int = 1, step: int = 1) -> Cell:
    return lambda random, number, cells: pattern.format(first + number * step)


def whole(least: int, most: int, step: int = 1) -> Cell:
    return lambda random, number, cells: random.randrange(least, most + 1, step)


def real(least: float, most: float, digits: int = 2) -> Cell:
    return lambda random, number, cells: f"{random.uniform(least, most):.{digits}f}"


def money(least: int, most: int, pattern: str = "${:,.2f}") -> Cell:
    return lambda random, number, cells: pattern.format(random.randrange(least * 100, most * 100) / 100)


def day(first: str, last: str, form: str = "%Y-%m-%d") -> Cell:
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    return lambda random, number, cells: (start + timedelta(days=random.randrange((end - start).days + 1))).strftime(
        form
    )


def blank(share: float, cell: Cell, mark: str = "") -> Cell:
    def made(random: Random, number: int, cells: dict[str, str]) -> object:
        value = cell(random, number, cells)
        return mark if random.random() < share else value

    return made


def yes(share: float, words: tuple[str, str] = ("Yes", "No")) -> Cell:
    return lambda random, number, cells: words[random.random() >= share]


SURNAMES = (
    "Abel Bauer Costa Dietz Evans Fuchs Grant Hoyer Iqbal Jonas Keller Lopez Meyer Nolan Okafor Peters Quinn Rossi "
    "Schulz Tanaka Ueda Vogel Weber Xu Young Zeller Brandt Clark Dubois Egan Fischer Garcia Hahn Ivanov Jung Klein "
    "Lang Moreau Novak Olsen Park Reyes Sato Thomas Ulrich Vance Wolf Yilmaz Zhang Adams Berg Chen Diaz Engel"
).split()
GIVEN = (
    "Anna Ben Clara David Elif Frank Greta Hugo Ines Jakob Karin Leo Mia Nils Olga Paul Rita Simon Tara Uwe Vera Walt "
    "Yara Zoe Alan Bea Carl Dora Emil Fay Gus Hana Igor Jana Kurt Lea Max Nora Otto Pia"
).split()


def surname(random: Random, number: int, cells: dict[str, str]) -> str:
    return SURNAMES[number % len(SURNAMES)]


def given(random: Random, number: int, cells: dict[str, str]) -> str:
    return GIVEN[(number * 7) % len(GIVEN)]


def person(random: Random, number: int, cells: dict[str, str]) -> str:
    return f"{GIVEN[(number * 7) % len(GIVEN)]} {SURNAMES[number % len(SURNAMES)]}"


def plus(header: str, form: str, least: int, most: int) -> Cell:
    """A day after that of another column."""

    def made(random: Random, number: int, cells: dict[str, str]) -> str:
        start = datetime.strptime(cells[header], form)
        return (start + timedelta(days=random.randrange(least, most + 1))).strftime(form)

    return made


def times(pattern: str, *headers: str, factor: float = 1.0) -> Cell:
    """The product of other columns."""

    def made(random: Random, number: int, cells: dict[str, str]) -> str:
        product = factor
        for header in headers:
            product *= float("".join(c for c in cells[header] if c.isdigit() or c == "."))
        return pattern.format(product)

    return made


YN, FLAG = ("Y", "N"), ("1", "0")

# Development tables

write(
    "development/hr_germany/personnel",
    48,
    {
        "Pers.No.": code("{:05d}", 10071, 13),
        "Surname": surname,
        "Given name": given,
        "Dept": pick("Production", "Logistics", "Sales", "Quality", "IT", weights=[5, 3, 3, 2, 2]),
        "Contract": pick("permanent", "fixed-term", "apprentice", weights=[6, 3, 1]),
        "Entry date": day("2009-02-01", "2024-11-01", "%d.%m.%Y"),
        "Exit date": blank(0.8, day("2024-12-01", "2025-10-31", "%d.%m.%Y")),
        "FTE": pick("1.0", "0.8", "0.5", weights=[6, 2, 1]),
        "Monthly gross (EUR)": whole(2100, 6900, 50),
        "Works council": yes(0.15, YN),
    },
)
write(
    "development/payroll_us/pay_lines",
    72,
    {
        "EE_ID": pick("E101", "E102", "E103", "E104", "E105", "E106"),
        "Pay Date": cycle("01/15/2024", "01/31/2024", "02/15/2024", "02/29/2024", "03/15/2024", "03/29/2024"),
        "ERN_CD": pick("REG", "OT", "SICK", "BON", weights=[6, 3, 2, 1]),
        "Hours": pick("8", "16", "40", "72", "80", "4.5"),
        "Gross": money(180, 3900, "{:.2f}"),
        "Net": times("{:.2f}", "Gross", factor=0.71),
        "Work State": pick("TX", "OH", "CA"),
    },
)
write(
    "development/payroll_us/earning_codes",
    5,
    {
        "ERN_CD": cycle("REG", "OT", "SICK", "BON", "JURY"),
        "Description": cycle("Regular pay", "Overtime pay", "Sick leave", "Annual bonus", "Jury duty"),
        "Taxable": cycle("Y", "Y", "Y", "Y", "N"),
        "Pensionable": cycle("Y", "N", "Y", "N", "Y"),
    },
)
write(
    "development/procurement_uk/purchase_orders",
    50,
    {
        "PO Ref": code("PO/{:04d}", 4410),
        "Supplier": pick("Acorn Ltd", "Birch & Sons", "Cedar Supplies", "Dunmore plc", "Elm Services"),
        "Category": pick("Stationery", "IT equipment", "Cleaning", "Catering"),
        "Order date": day("2022-04-01", "2024-03-31", "%d/%m/%Y"),
        "Net £": money(80, 9500, "£{:,.2f}"),
        "VAT £": times("£{:,.2f}", "Net £", factor=0.2),
        "Gross £": times("£{:,.2f}", "Net £", factor=1.2),
        "Approved?": yes(0.75),
        "Delivered late": blank(0.1, yes(0.3)),
        "Requested by": pick("H. Shaw", "P. Doyle", "M. Ahmed"),
    },
)
write(
    "development/grants_eu/grants",
    44,
    {
        "Grant No": code("{}", 101051200, 37),
        "Beneficiary": pick("Uni Porto", "TU Delft", "Charles Univ", "INRIA", "Aalto", "CSIC", "Trinity College"),
        "Country": pick("Portugal", "Netherlands", "Czechia", "France", "Finland", "Spain", "Ireland"),
        "Programme": pick("Horizon", "Erasmus", "LIFE", weights=[5, 3, 2]),
        "Start": day("2020-01-01", "2023-12-31"),
        "End": plus("Start", "%Y-%m-%d", 365, 1500),
        "Awarded (€)": whole(50000, 2900000, 5000),
        "Paid (€)": whole(0, 900000, 5000),
        "Status": pick("ongoing", "closed", "terminated", weights=[5, 4, 1]),
    },
)
write(
    "development/hospital/stays",
    60,
    {
        "Case ID": code("C{:05d}", 20118, 3),
        "Ward": pick("Cardiology", "Surgery", "Oncology", "Maternity", "Geriatrics"),
        "Age": whole(1, 94),
        "Sex": pick("F", "M"),
        "Admitted": day("2023-01-01", "2024-06-30"),
        "Discharged": blank(0.08, plus("Admitted", "%Y-%m-%d", 1, 24)),
        "LOS (days)": whole(1, 24),
        "Readmitted": yes(0.2, FLAG),
        "Insurance": pick("statutory", "private", "none", weights=[7, 2, 1]),
    },
)
write(
    "development/school/results",
    54,
    {
        "Student": person,
        "Class": pick("7A", "7B", "8A", "8B"),
        "Math": whole(31, 100),
        "Reading": whole(38, 100),
        "Science": blank(0.06, whole(30, 100)),
        "Days absent": whole(0, 21),
        "Passed": yes(0.8),
        "Free lunch": yes(0.35, YN),
    },
)
write(
    "development/bus/routes",
    36,
    {
        "Route": code("{}", 1, 3),
        "Operator": pick("Metroline", "CityBus", "Arrow", weights=[4, 3, 2]),
        "Depot": pick("North", "South", "Harbour", "Airport"),
        "Length km": real(4, 38, 1),
        "Stops": whole(8, 61),
        "Daily riders": whole(180, 14200, 10),
        "Low floor": yes(0.7),
        "On-time %": real(61, 99, 1),
    },
)
write(
    "development/power/plants",
    42,
    {
        "Plant": code("Unit {}", 1),
        "Country": pick("Poland", "Germany", "Spain", "Norway", "Italy"),
        "Fuel": pick("coal", "gas", "hydro", "wind", "solar", "nuclear"),
        "Capacity (MW)": whole(5, 1600, 5),
        "Commissioned": whole(1968, 2023),
        "Owner": pick("Enbra", "Volta", "Nordkraft", "state"),
        "In operation": yes(0.83),
        "CO2 (t/yr)": blank(0.3, whole(0, 4200000, 1000), "n/a"),
    },
)
write(
    "development/permits/building_permits",
    52,
    {
        "Permit #": code("B22-{:04d}", 210, 7),
        "Type": pick("New", "Alteration", "Demolition", "Sign"),
        "Issued": day("2022-01-03", "2024-09-30", "%m/%d/%Y"),
        "Neighborhood": pick("Old Town", "Riverside", "Hillcrest", "Mission"),
        "Est. Cost": money(900, 640000, "${:,.0f}"),
        "Contractor": blank(0.15, pick("Apex Build", "Stone Bros", "Vista Homes", "self")),
        "Status": pick("issued", "finaled", "expired", "revoked", weights=[4, 5, 2, 1]),
        "Units": whole(0, 12),
    },
)
write(
    "development/inventory/stock",
    50,
    {
        "SKU": code("SK-{:03d}", 100, 4),
        "Item": code("Part {}", 1),
        "Warehouse": pick("Leeds", "Hull", "York"),
        "On hand": whole(0, 900),
        "Reorder level": whole(20, 400, 10),
        "Unit cost": money(1, 240, "{:.2f}"),
        "Discontinued": yes(0.18, YN),
        "Last counted": day("2024-01-01", "2024-12-20"),
    },
)
write(
    "development/survey/staff_survey",
    56,
    {
        "Resp": code("{}", 1),
        "Team": pick("Support", "Engineering", "Finance", "Marketing"),
        "Tenure (yrs)": whole(0, 19),
        "Satisfaction (1-5)": whole(1, 5),
        "Workload": pick("too low", "right", "too high"),
        "Would recommend": blank(0.1, yes(0.6)),
        "Remote": yes(0.45),
        "Comment": blank(0.7, pick("More training please", "Good team", "Too many meetings")),
    },
)
write(
    "development/city_budget/budget",
    33,
    {
        "Department": cycle(
            "Police",
            "Fire",
            "Parks",
            "Libraries",
            "Public Works",
            "Health",
            "Planning",
            "Finance",
            "Clerk",
            "Courts",
            "Transit",
        ),
        "Fund": lambda random, number, cells: ("General", "Capital", "Grants")[number // 11],
        "FY2022 actual": money(40000, 9000000, "{:.0f}"),
        "FY2023 actual": money(40000, 9000000, "{:.0f}"),
        "FY2024 budget": money(40000, 9000000, "{:.0f}"),
        "Positions": whole(0, 320),
    },
)
write(
    "development/fleet/vehicles",
    40,
    {
        "Plate": code("KX {:03d}", 105, 11),
        "Make": pick("Ford", "Renault", "Toyota", "VW"),
        "Fuel": pick("diesel", "petrol", "electric", "hybrid"),
        "Year": whole(2012, 2024),
        "Odometer (km)": whole(2100, 248000, 100),
        "Assigned to": blank(0.2, pick("Parks", "Post room", "Inspections", "Pool")),
        "Leased": yes(0.4),
        "Next service": day("2025-01-01", "2025-12-31", "%d/%m/%Y"),
    },
)
write(
    "development/helpdesk/tickets",
    64,
    {
        "Ticket": code("INC{}", 70031),
        "Opened": day("2024-01-01", "2024-06-30"),
        "Closed": blank(0.15, plus("Opened", "%Y-%m-%d", 0, 20)),
        "Priority": pick("P1", "P2", "P3", "P4", weights=[1, 3, 5, 3]),
        "Team": pick("Network", "Desktop", "Database", "Security"),
        "Site": pick("Lyon", "Nantes", "Lille"),
        "SLA met": yes(0.72, YN),
        "Minutes spent": whole(5, 480, 5),
    },
)
write(
    "development/bank/loans",
    50,
    {
        "Loan no": code("{}", 8800123, 17),
        "Customer": person,
        "Product": pick("mortgage", "car loan", "personal loan", "overdraft"),
        "Principal": whole(1000, 420000, 500),
        "Interest rate (%)": real(1.9, 14.5, 2),
        "Start": day("2018-01-01", "2024-12-31", "%d-%b-%Y"),
        "Term (months)": pick("12", "24", "36", "60", "120", "240"),
        "Default": yes(0.14, FLAG),
        "Branch": pick("Main St", "Harbour", "Airport"),
    },
)
write(
    "development/housing/listings",
    48,
    {
        "Ref": code("R-{}", 501),
        "City": pick("Lisbon", "Porto", "Braga", "Faro"),
        "Type": pick("flat", "house", "studio"),
        "Rooms": whole(1, 7),
        "Area m2": whole(24, 310),
        "Asking price €": whole(68000, 990000, 1000),
        "Sold price €": blank(0.35, whole(64000, 940000, 1000)),
        "Listed on": day("2023-01-01", "2024-06-30"),
        "Garden": yes(0.3),
        "Energy class": pick("A", "B", "C", "D", "E"),
    },
)
write(
    "development/food/inspections",
    58,
    {
        "Insp ID": code("{}", 33001),
        "Establishment": pick(
            "Blue Cafe", "Taco Haus", "Noodle Bar", "Corner Deli", "Pasta Via", "Grill 21", "Tea Room"
        ),
        "Facility type": pick("restaurant", "bakery", "school kitchen", "food truck"),
        "Borough": pick("Queens", "Bronx", "Brooklyn"),
        "Inspection date": day("2023-01-01", "2024-12-31", "%m/%d/%Y"),
        "Violations": whole(0, 14),
        "Score": whole(55, 100),
        "Result": pick("pass", "pass with conditions", "fail", weights=[5, 3, 2]),
        "Re-inspection": yes(0.3, YN),
    },
)
write(
    "development/donations/gifts",
    62,
    {
        "Gift id": code("G{:04d}", 12),
        "Donor": pick("R. Hale", "S. Moon", "T. Ng", "U. Ortiz", "V. Pratt", "W. Reed", "Acme Foundation"),
        "Donor type": pick("individual", "foundation", "company"),
        "Campaign": pick("Spring appeal", "Gala", "Year-end", "Emergency"),
        "Amount": money(10, 5200),
        "Fee": money(0, 90),
        "Received": day("2021-01-01", "2024-12-31"),
        "Recurring": yes(0.3),
        "Gift aid": blank(0.2, yes(0.5)),
    },
)
write(
    "development/clinic/appointments",
    60,
    {
        "Appt": code("A{}", 3100),
        "Doctor": pick("Dr. Hoffmann", "Dr. Silva", "Dr. Okoye", "Dr. Lindqvist"),
        "Specialty": pick("Dermatology", "Pediatrics", "ENT"),
        "Date": day("2024-02-01", "2024-10-31", "%d.%m.%Y"),
        "Wait (min)": whole(0, 95, 5),
        "No-show": yes(0.2),
        "New patient": yes(0.35),
        "Fee": money(30, 260, "{:.2f}"),
    },
)
write(
    "development/freight/shipments",
    52,
    {
        "Shipment": code("SH{}", 9001),
        "Carrier": pick("DHL", "UPS", "Maersk", "DB Schenker"),
        "Origin": pick("Hamburg", "Rotterdam", "Gdansk"),
        "Destination": pick("Oslo", "Milan", "Hamburg", "Lyon"),
        "Shipped": day("2024-01-01", "2024-08-31"),
        "Weight kg": real(2, 1900, 1),
        "Freight cost": money(15, 2600, "€{:,.2f}"),
        "Damaged": yes(0.12),
        "Insured": yes(0.5),
        "Mode": pick("road", "sea", "air", "rail"),
    },
)
write(
    "development/water/samples",
    50,
    {
        "Sample": code("W-{:03d}", 1),
        "Station": pick("Bridge", "Weir", "Outfall", "Spring"),
        "Taken": day("2023-03-01", "2024-11-30"),
        "pH": real(6.1, 8.9, 1),
        "Nitrate mg/l": real(0.4, 62, 1),
        "Temp C": real(2, 24, 1),
        "Within limit": yes(0.8),
        "Lab": pick("North lab", "Aqua Test"),
    },
)
write(
    "development/university/enrolments",
    60,
    {
        "Student no": code("{}", 202100, 7),
        "Programme": pick("Physics", "Law", "Nursing", "History"),
        "Level": pick("BSc", "MSc", "PhD"),
        "Year of study": whole(1, 4),
        "Enrolled": day("2020-09-01", "2024-09-30"),
        "Credits": whole(0, 180, 5),
        "GPA": real(1.0, 4.0, 2),
        "International": yes(0.3),
        "Dropped out": yes(0.12),
        "Tuition paid": money(0, 9800),
    },
)
write(
    "development/telecom/customers",
    64,
    {
        "customerID": code("{:04d}-XK", 7001, 3),
        "gender": pick("Female", "Male"),
        "SeniorCitizen": yes(0.2, FLAG),
        "tenure": whole(0, 72),
        "InternetService": pick("DSL", "Fiber optic", "No"),
        "Contract": pick("Month-to-month", "One year", "Two year"),
        "PaperlessBilling": yes(0.6),
        "MonthlyCharges": real(18, 118, 2),
        "TotalCharges": real(20, 8400, 2),
        "Churn": yes(0.27),
    },
)
write(
    "development/farm/harvest",
    48,
    {
        "Field": code("F{:02d}", 1),
        "Crop": pick("wheat", "maize", "barley", "soy"),
        "Region": pick("Pampa", "Chaco", "Cuyo"),
        "Area (ha)": real(3, 120, 1),
        "Yield t/ha": real(1.2, 10.9, 2),
        "Irrigated": yes(0.4),
        "Organic": yes(0.25),
        "Season": pick("2021/22", "2022/23", "2023/24"),
        "Fertiliser (kg)": whole(0, 9800, 100),
    },
)
write(
    "development/insurance/claims",
    54,
    {
        "CLM_NBR": code("{}", 500100, 9),
        "LOB_CD": pick("AUTO", "HOME", "LIAB"),
        "LOSS_DT": day("2022-01-01", "2024-06-30", "%Y-%m-%d"),
        "RPT_DT": plus("LOSS_DT", "%Y-%m-%d", 0, 60),
        "STS": pick("open", "closed", "denied", weights=[3, 6, 2]),
        "PAID_AMT": money(0, 48000, "{:.2f}"),
        "RSRV_AMT": money(0, 20000, "{:.2f}"),
        "LITIGATED_IND": yes(0.15, YN),
        "ADJUSTER": pick("Kim", "Lopez", "Marsh", "Novak"),
        "ST": pick("TX", "FL", "NY"),
    },
)
write(
    "development/leave/leave_requests",
    46,
    {
        "Req ID": code("{}", 5000),
        "Employee": person,
        "Leave type": pick("annual", "sick", "parental", "unpaid"),
        "From": day("2024-01-02", "2024-11-30"),
        "To": plus("From", "%Y-%m-%d", 0, 18),
        "Days": whole(1, 18),
        "Approved": blank(0.15, yes(0.8)),
        "Approver": pick("Frank Bauer", "Nora Klein", "Tara Quinn"),
        "Office": pick("Berlin", "Vienna", "Zurich"),
    },
)
write(
    "development/energy_bills/bills",
    48,
    {
        "Site": pick("Town Hall", "Pool", "Library", "Depot"),
        "Month": lambda random, number, cells: f"{2023 + number // 24}-{number // 2 % 12 + 1:02d}-01",
        "Meter": pick("E-1", "E-2", "G-7"),
        "kWh": whole(900, 48000, 10),
        "Cost (CHF)": real(180, 12400, 2),
        "Estimated": yes(0.25, YN),
    },
    delimiter=";",
)

# Held-out tables

write(
    "development_2/nurses_ireland/staff",
    50,
    {
        "Staff No": code("HSE{:04d}", 2201, 3),
        "Grade": pick("Staff Nurse", "Senior Nurse", "Manager", "Healthcare Assistant"),
        "Hospital": pick("Mater", "Beaumont", "St James", "Cork UH"),
        "Start date": day("2011-01-01", "2024-10-31", "%d/%m/%Y"),
        "Weekly hours": pick("39", "30", "19.5"),
        "Agency": yes(0.22),
        "Overtime hrs": whole(0, 48),
        "Annual salary": money(28000, 76000, "€{:,.0f}"),
        "Vaccinated": blank(0.1, yes(0.8)),
    },
)
write(
    "development_2/tenders_india/tenders",
    48,
    {
        "Tender ID": code("T/{}/23", 301),
        "Ministry": pick("Railways", "Health", "Defence", "Road Transport"),
        "State": pick("Kerala", "Punjab", "Gujarat", "Bihar"),
        "Published": day("2023-04-01", "2024-12-31", "%d-%m-%Y"),
        "Value (lakh INR)": whole(12, 4800),
        "Bidders": whole(0, 14),
        "Awarded to": blank(0.25, pick("L&T", "Tata Projects", "Dilip Buildcon", "NCC")),
        "Cancelled": yes(0.15),
    },
)
write(
    "development_2/scholarships/awards",
    46,
    {
        "App #": code("{}", 1201),
        "Applicant": person,
        "Province": pick("Ontario", "Quebec", "Alberta", "Manitoba"),
        "Field": pick("Engineering", "Arts", "Medicine", "Business"),
        "GPA": real(2.1, 4.0, 2),
        "Household income": money(14000, 132000, "${:,.0f}"),
        "Awarded": yes(0.4),
        "Amount": lambda random, number, cells: random.randrange(1000, 12001, 250) if cells["Awarded"] == "Yes" else "",
        "Decision date": day("2022-05-01", "2024-07-31"),
        "First generation": yes(0.35, YN),
    },
)
write(
    "development_2/emergency/er_visits",
    60,
    {
        "Visit": code("V{}", 88001),
        "Triage": pick("1", "2", "3", "4", "5"),
        "Arrival date": day("2024-01-01", "2024-12-31"),
        "Age": whole(0, 96),
        "Sex": pick("female", "male"),
        "Minutes to doctor": whole(2, 310),
        "Left before seen": yes(0.12),
        "Admitted": yes(0.3),
        "Complaint": pick("chest pain", "fracture", "fever", "laceration", "dizziness"),
        "Ambulance": yes(0.4, YN),
    },
)
write(
    "development_2/schools_kenya/schools",
    44,
    {
        "School": code("Primary School {}", 1),
        "County": pick("Nairobi", "Kisumu", "Mombasa", "Nakuru", "Turkana"),
        "Pupils": whole(60, 1400),
        "Teachers": whole(3, 48),
        "Classrooms": whole(4, 30),
        "Electricity": yes(0.7),
        "Meals provided": yes(0.5),
        "Opened": whole(1952, 2021),
        "Sponsor": blank(0.4, pick("church", "county", "NGO")),
    },
)
write(
    "development_2/rail/train_runs",
    56,
    {
        "Run": code("R{}", 401),
        "Line": pick("Coastal", "Valley", "Express"),
        "Service day": day("2024-03-01", "2024-05-31"),
        "Train type": pick("local", "intercity", "night"),
        "Passengers": whole(12, 780),
        "Delay (min)": whole(0, 88),
        "Cancelled": yes(0.1, FLAG),
        "Crew": whole(2, 9),
        "Distance km": whole(18, 640),
    },
)
write(
    "development_2/solar/installations",
    46,
    {
        "ID": code("PV{:03d}", 1),
        "Municipality": pick("Sevilla", "Granada", "Murcia", "Toledo"),
        "Owner type": pick("household", "company", "public"),
        "Peak kW": real(2, 480, 1),
        "Annual output (MWh)": real(3, 760, 1),
        "Connected": day("2016-01-01", "2024-09-30", "%d/%m/%Y"),
        "Battery": yes(0.3),
        "Subsidy €": blank(0.3, whole(500, 64000, 100)),
        "Investment €": whole(4000, 520000, 500),
    },
)
write(
    "development_2/liquor/licences",
    50,
    {
        "Licence": code("L-{}", 6120, 3),
        "Premises": pick("Blue Moon", "The Anchor", "Rosso", "Club 9", "Old Mill", "Tiki Bar"),
        "Class": pick("bar", "restaurant", "club", "off-premises"),
        "Zip": pick("10001", "10453", "11201", "07030"),
        "Granted": day("2019-01-01", "2024-06-30", "%m/%d/%Y"),
        "Expires": plus("Granted", "%m/%d/%Y", 365, 1460),
        "Annual fee": money(200, 4600, "${:,.0f}"),
        "Complaints": whole(0, 9),
        "Suspended": yes(0.14),
    },
)
write(
    "development_2/pharmacy/medicines",
    48,
    {
        "Code": code("{:06d}", 10412, 31),
        "Medicine": pick("Ibuprofen", "Amoxicillin", "Insulin", "Metformin", "Paracetamol", "Salbutamol"),
        "Form": pick("tablet", "syrup", "injection", "inhaler"),
        "Supplier": pick("Medico", "Pharmex", "Novacare"),
        "Packs": whole(0, 320),
        "Pack price": money(1, 95, "{:.2f}"),
        "Expiry": day("2025-01-01", "2027-12-31"),
        "Refrigerated": yes(0.25),
        "Prescription only": yes(0.6),
    },
)
write(
    "development_2/hotel/feedback",
    58,
    {
        "Response ID": code("{}", 41),
        "Hotel": pick("Seaview", "Grand", "Alpine"),
        "Guest country": pick("UK", "Germany", "Japan", "Brazil"),
        "Stay date": day("2024-01-01", "2024-09-30"),
        "Nights": whole(1, 14),
        "Cleanliness": whole(1, 10),
        "Service": whole(1, 10),
        "Would return": blank(0.1, yes(0.65)),
        "Purpose": pick("business", "leisure"),
    },
)
write(
    "development_2/ministry/spending",
    36,
    {
        "Vote": code("{}", 1),
        "Programme": pick("Basic Education", "Health Facilities", "Roads", "Social Grants", "Policing"),
        "Province": pick("Gauteng", "Limpopo", "Free State", "KwaZulu-Natal"),
        "Budget (R million)": whole(12, 4200),
        "Spent (R million)": whole(8, 4100),
        "Financial year": pick("2021/22", "2022/23", "2023/24"),
        "Audit outcome": pick("clean", "qualified", "adverse", weights=[5, 3, 1]),
    },
)
write(
    "development_2/gym/members",
    52,
    {
        "Member": code("M{}", 300),
        "Plan": pick("basic", "plus", "premium"),
        "Joined": day("2020-01-01", "2024-11-30"),
        "Age": whole(16, 78),
        "Monthly fee": pick("19.90", "29.90", "49.90"),
        "Visits last month": whole(0, 26),
        "Personal trainer": yes(0.25),
        "Cancelled": yes(0.2),
        "Branch": pick("Centre", "West", "Lakeside"),
        "Referral": pick("friend", "web", "poster"),
    },
)
write(
    "development_2/museum/objects",
    50,
    {
        "Acc. No.": lambda random, number, cells: f"{1950 + number}.{number % 7 + 1}",
        "Title": code("Object {}", 1),
        "Artist": blank(0.2, pick("Vermeulen", "Okada", "Silva", "Hartmann")),
        "Medium": pick("oil", "bronze", "photograph", "textile"),
        "Year made": whole(1620, 1998),
        "Acquired": day("1990-01-01", "2023-12-31"),
        "Insured value": money(400, 910000, "${:,.0f}"),
        "On display": yes(0.35),
        "Height cm": whole(8, 290),
    },
)
write(
    "development_2/warranty/cases",
    54,
    {
        "Case": code("WC{}", 1501),
        "Product line": pick("washer", "dryer", "oven", "fridge"),
        "Sold on": day("2022-01-01", "2023-12-31"),
        "Reported on": plus("Sold on", "%Y-%m-%d", 20, 640),
        "Fault": pick("motor", "door", "electronics", "leak"),
        "Repair cost": money(0, 420),
        "Parts cost": money(0, 210),
        "Replaced": yes(0.2),
        "Technician": pick("Aydin", "Brooks", "Costa"),
        "Days to repair": whole(0, 40),
    },
)
write(
    "development_2/housing_nl/applications",
    50,
    {
        "Dossier": code("NL{:05d}", 130, 9),
        "Municipality": pick("Utrecht", "Rotterdam", "Groningen"),
        "Household size": whole(1, 7),
        "Monthly rent": money(380, 980, "{:.2f}"),
        "Monthly benefit": blank(0.2, money(40, 390, "{:.2f}")),
        "Decision": pick("granted", "rejected", "pending", weights=[5, 3, 2]),
        "Applied": day("2023-06-01", "2024-08-31", "%d-%m-%Y"),
        "Appeal": yes(0.2),
        "Income band": pick("low", "middle", "high", weights=[5, 3, 1]),
    },
)
write(
    "development_2/volunteers/volunteers",
    48,
    {
        "Name": person,
        "Chapter": pick("Boston", "Denver", "Austin"),
        "Hours 2023": whole(0, 240),
        "Hours 2024": whole(0, 260),
        "Joined": day("2018-01-01", "2024-06-30"),
        "Driver": yes(0.4),
        "Background check": pick("passed", "pending", "expired", weights=[6, 2, 1]),
        "Languages": whole(1, 4),
        "T-shirt": pick("S", "M", "L", "XL"),
    },
)
write(
    "development_2/expenses/expense_claims",
    60,
    {
        "Claim": code("X{}", 100),
        "Employee ID": pick("P01", "P02", "P03", "P04", "P05", "P06", "P07", "P08"),
        "Claim date": day("2024-01-01", "2024-12-31"),
        "Type": pick("travel", "meals", "hotel", "other"),
        "Claimed": money(8, 1400, "{:.2f}"),
        "Reimbursed": times("{:.2f}", "Claimed", factor=0.9),
        "Receipt": yes(0.85, YN),
    },
)
write(
    "development_2/expenses/employees",
    9,
    {
        "Employee ID": code("P{:02d}"),
        "Full name": person,
        "Department": cycle("Sales", "Engineering", "Finance"),
        "Country": cycle("France", "Spain", "Italy", "Greece"),
        "Hired": day("2012-01-01", "2023-12-31"),
        "Part time": yes(0.3),
    },
)
write(
    "development_2/ports/vessel_calls",
    50,
    {
        "Call": code("C{}", 7001),
        "Vessel": pick("Aurora", "Bergen Star", "Cosco Lima", "Dolphin", "Ever Hope"),
        "Flag": pick("Panama", "Liberia", "Norway", "Malta"),
        "Cargo type": pick("containers", "grain", "oil", "cars"),
        "Tonnage": whole(800, 92000, 100),
        "Arrived": day("2024-01-01", "2024-12-31", "%d %b %Y"),
        "Hours in port": whole(4, 130),
        "Hazardous": yes(0.2),
        "Port dues (USD)": whole(900, 64000, 50),
    },
)

# A second set of held-out tables, written after the first was looked at

write(
    "development_3/fire_brigade/callouts",
    48,
    {
        "Incident": code("F{}", 7100),
        "Station": pick("North", "Docks", "Hill"),
        "Call type": pick("fire", "flood", "rescue", "false alarm"),
        "Called": day("2023-01-01", "2024-12-31"),
        "Response min": whole(3, 28),
        "Crew size": whole(4, 16),
        "Injuries": whole(0, 3),
        "Night": yes(0.35),
    },
)
write(
    "development_3/forestry/stands",
    44,
    {
        "Stand": code("S-{:03d}", 11),
        "Species": pick("spruce", "pine", "beech", "oak"),
        "District": pick("Upper", "Lower", "Lake"),
        "Planted": whole(1921, 2015),
        "Area (ha)": real(1, 80, 1),
        "Volume m3": whole(40, 9800),
        "Protected": yes(0.25),
        "Next thinning": day("2025-01-01", "2031-12-31"),
    },
)
write(
    "development_3/recruiting/candidates",
    50,
    {
        "Cand ID": code("K{}", 410),
        "Position": pick("Engineer", "Buyer", "Clerk"),
        "Source": pick("referral", "agency", "job board"),
        "Applied on": day("2024-01-01", "2024-11-30", "%d/%m/%Y"),
        "Interviewed": yes(0.5),
        "Hired": yes(0.2),
        "Expected salary": money(32000, 98000, "${:,.0f}"),
        "Years of experience": whole(0, 25),
    },
)
write(
    "development_3/cafeteria/sales",
    46,
    {
        "Day": day("2024-01-08", "2024-06-28"),
        "Dish": pick("pasta", "curry", "salad", "burger"),
        "Canteen": pick("Main", "Lab", "Garden"),
        "Portions": whole(12, 160),
        "Revenue": money(60, 1400, "{:.2f}"),
        "Waste kg": real(0, 14, 1),
        "Vegetarian": yes(0.4, YN),
    },
)
write(
    "development_3/it_assets/laptops",
    50,
    {
        "Asset tag": code("LT-{:04d}", 88),
        "Model": pick("X1", "Latitude", "MacBook"),
        "Purchased": day("2019-01-01", "2024-06-30"),
        "Warranty until": day("2024-01-01", "2027-12-31"),
        "Price": money(700, 2900),
        "User": blank(0.2, person),
        "Encrypted": yes(0.8),
        "Disk GB": pick("256", "512", "1024"),
    },
)
write(
    "development_3/dental/treatments",
    52,
    {
        "Treatment": code("D{}", 2001),
        "Procedure": pick("filling", "crown", "cleaning", "extraction"),
        "Dentist": pick("Dr. Ito", "Dr. Bell", "Dr. Roth"),
        "Date": day("2024-01-01", "2024-12-31"),
        "Billed": money(40, 1800, "€{:,.2f}"),
        "Insured share %": whole(0, 100, 5),
        "Paid": yes(0.7),
        "Patient age": whole(4, 88),
    },
)
write(
    "development_3/elections/stations",
    40,
    {
        "Polling station": code("PS {}", 1),
        "Ward": pick("East", "West", "Centre"),
        "Registered voters": whole(300, 2600),
        "Votes cast": whole(150, 2100),
        "Invalid votes": whole(0, 60),
        "Wheelchair access": yes(0.6),
        "Opened late": yes(0.1),
    },
)
write(
    "development_3/training/sessions",
    48,
    {
        "Session": code("T{}", 50),
        "Course": pick("Excel", "Safety", "Spanish", "Leadership"),
        "Trainer": pick("Moss", "Perez", "Quint"),
        "Held on": day("2023-02-01", "2024-11-30", "%Y-%m-%d"),
        "Participants": whole(2, 30),
        "Hours": pick("2", "4", "8", "16"),
        "Online": yes(0.5),
        "Average rating": real(2, 5, 1),
    },
)

write(
    "held_out/shelter/animals",
    56,
    {
        "Animal ID": code("A{:03d}", 101, 3),
        "Name": pick("Luna", "Rex", "Milo", "Bella", "Oscar", "Nala", "Simba", "Coco"),
        "Species": pick("dog", "cat", "rabbit", weights=(5, 4, 1)),
        "Age (yrs)": whole(0, 15),
        "Sex": pick("F", "M"),
        "Weight kg": real(0.8, 42, 1),
        "Intake": day("2023-01-01", "2024-12-31"),
        "Outcome": blank(0.25, pick("adopted", "transferred", "returned to owner")),
        "Neutered": yes(0.6),
        "Vaccinated": yes(0.8),
    },
)
write(
    "held_out/parking/fines",
    62,
    {
        "Fine no": code("PF-{}", 70001, 17),
        "Street": pick("High St", "Mill Lane", "Station Rd", "Park Ave"),
        "Issued": day("2024-01-01", "2024-12-31", "%d/%m/%Y"),
        "Violation": pick("no ticket", "overstay", "double parking", "disabled bay"),
        "Amount": pick("£35.00", "£50.00", "£70.00", "£110.00"),
        "Paid": yes(0.65),
        "Vehicle type": pick("car", "van", "motorbike", weights=(6, 2, 1)),
        "Warden": pick("Mills", "Osei", "Novak"),
    },
)
write(
    "held_out/library/loans",
    60,
    {
        "Loan": code("LN{}", 5000),
        "Title": pick("Dune", "Emma", "Ulysses", "Beloved", "Atonement", "Persuasion"),
        "Genre": pick("novel", "sci-fi", "classic"),
        "Branch": pick("Central", "Northside", "Harbour"),
        "Borrower": person,
        "Borrowed": day("2024-01-01", "2024-09-30"),
        "Due": day("2024-02-01", "2024-10-31"),
        "Returned": blank(0.2, day("2024-02-01", "2024-12-15")),
        "Late fee": blank(0.6, money(1, 20, "{:.2f}")),
    },
)
write(
    "held_out/weather/daily",
    64,
    {
        "Station": cycle("Alta", "Bodo", "Oslo", "Roros"),
        "Date": lambda random, number, cells: (date(2024, 1, 1) + timedelta(days=number // 4 * 20)).isoformat(),
        "Max temp C": real(-8, 31, 1),
        "Min temp C": real(-24, 12, 1),
        "Rain mm": real(0, 38, 1),
        "Wind km/h": whole(0, 95),
        "Snow": yes(0.3, YN),
    },
)
write(
    "held_out/accidents/accidents",
    58,
    {
        "Accident ID": code("RA{}", 24001),
        "Date": day("2022-01-01", "2024-12-31", "%d.%m.%Y"),
        "Road": pick("A1", "A8", "B27", "B14"),
        "Severity": pick("slight", "serious", "fatal", weights=(6, 3, 1)),
        "Vehicles": whole(1, 5),
        "Casualties": whole(0, 6),
        "Weather": pick("dry", "rain", "fog", "snow"),
        "Speed limit": pick("50", "80", "100", "120"),
        "Alcohol involved": yes(0.15),
    },
)
write(
    "held_out/court/cases",
    54,
    {
        "Case no": code("C-{}/24", 11),
        "Court": pick("District", "Regional", "Appeal"),
        "Matter": pick("tenancy", "labour", "contract", "family"),
        "Judge": pick("Arnold", "Bianchi", "Cohen", "Dahl"),
        "Filed": day("2021-01-01", "2024-06-30"),
        "Closed": blank(0.3, day("2022-01-01", "2024-12-31")),
        "Amount in dispute": money(500, 90_000),
        "Settled": yes(0.4),
        "Hearings": whole(0, 9),
    },
)
write(
    "held_out/films/films",
    48,
    {
        "Film": code("Film {}", 1),
        "Director": pick("Akin", "Bong", "Chazelle", "Denis", "Varda"),
        "Country": pick("France", "USA", "Germany", "Korea"),
        "Year": whole(1962, 2023),
        "Minutes": whole(71, 209),
        "Budget (M$)": real(0.4, 190, 1),
        "Box office (M$)": real(0.1, 880, 1),
        "Rating": real(3.1, 9.2, 1),
        "Oscar": yes(0.15),
    },
)
write(
    "held_out/football/players",
    52,
    {
        "Player": person,
        "Club": pick("Rovers", "United", "City", "Athletic"),
        "Position": pick("goalkeeper", "defender", "midfielder", "striker"),
        "Date of birth": day("1988-01-01", "2006-12-31"),
        "Height cm": whole(166, 202),
        "Goals": whole(0, 24),
        "Appearances": whole(1, 38),
        "Yellow cards": whole(0, 12),
        "Salary": money(40_000, 900_000, "€{:,.0f}"),
        "Injured": yes(0.2),
    },
)
write(
    "held_out/trees/street_trees",
    55,
    {
        "Tree no": code("T-{:04d}", 301, 7),
        "Species": pick("lime", "plane", "maple", "oak", "chestnut"),
        "Street": pick("Elm Row", "Quay", "Castle St", "Garden Way"),
        "Planted": whole(1921, 2021),
        "Height m": real(2, 31, 1),
        "Trunk cm": whole(8, 160),
        "Condition": pick("good", "fair", "poor", weights=(5, 3, 2)),
        "Last inspection": day("2021-01-01", "2024-12-31"),
        "Listed": yes(0.2),
    },
)
write(
    "held_out/outages/outages",
    50,
    {
        "Outage": code("O{}", 9001),
        "Region": pick("North", "South", "Coast", "Hills"),
        "Started": day("2023-01-01", "2024-12-31"),
        "Duration (h)": real(0.2, 46, 1),
        "Customers affected": whole(12, 18_000),
        "Cause": pick("storm", "equipment", "animal", "digging"),
        "Planned": yes(0.25),
    },
)
write(
    "held_out/fishing/landings",
    53,
    {
        "Landing": code("L-{}", 410),
        "Boat": pick("Sea Star", "Aquila", "North Wind", "Maria"),
        "Harbour": pick("Skagen", "Grimsby", "Vigo"),
        "Species": pick("cod", "herring", "mackerel", "hake"),
        "Landed on": day("2024-01-01", "2024-12-31", "%d %b %Y"),
        "Catch (kg)": whole(120, 9_800, 10),
        "Price €/kg": real(0.6, 9.5),
        "Crew": whole(2, 9),
        "Certified": yes(0.5),
    },
)
write(
    "held_out/patents/patents",
    47,
    {
        "Patent no": code("EP{}", 3100200, 31),
        "Applicant": pick("Bosch", "Philips", "Nokia", "Novartis", "ETH"),
        "Technology": pick("optics", "batteries", "pharma", "telecom"),
        "Filed": day("2014-01-01", "2021-12-31"),
        "Granted": blank(0.35, day("2018-01-01", "2024-12-31")),
        "Claims": whole(3, 42),
        "Inventors": whole(1, 9),
        "Licensed": yes(0.3),
        "Annual fee": money(300, 4_800, "€{:,.0f}"),
    },
)
write(
    "held_out/lifts/lifts",
    38,
    {
        "Lift": code("Lift {}", 1),
        "Resort": pick("Arosa", "Ischgl", "Zermatt"),
        "Type": pick("chairlift", "gondola", "T-bar"),
        "Built": whole(1958, 2022),
        "Length m": whole(280, 4_100, 10),
        "Persons per hour": whole(600, 3_600, 100),
        "Open": yes(0.85),
        "Snow making": yes(0.5),
    },
)
write(
    "held_out/theatre/performances",
    49,
    {
        "Performance": code("PF{}", 301),
        "Play": pick("Hamlet", "Faust", "Tartuffe", "Medea"),
        "Stage": pick("Main", "Studio"),
        "Date": day("2023-09-01", "2024-06-30"),
        "Seats": pick("120", "450", "800"),
        "Tickets sold": whole(30, 800),
        "Takings": money(600, 38_000, "{:.2f}"),
        "Matinee": yes(0.25),
        "Sold out": yes(0.15),
    },
)
write(
    "held_out/customs/declarations",
    57,
    {
        "Declaration": code("MRN{}", 24000, 7),
        "Importer": pick("Alfa Trading", "Brico SA", "Delta Foods", "Ekon"),
        "Country of origin": pick("China", "Brazil", "Turkey", "India"),
        "Goods": pick("textiles", "coffee", "machinery", "toys"),
        "Date": day("2024-01-01", "2024-12-31"),
        "Value (EUR)": whole(900, 240_000),
        "Duty (EUR)": whole(0, 21_000),
        "Gross weight kg": whole(40, 26_000),
        "Inspected": yes(0.2),
        "Released": yes(0.9),
    },
)
write(
    "held_out/blood/blood_donations",
    60,
    {
        "Donation": code("BD{}", 1001),
        "Donor": person,
        "Blood group": pick("A+", "0+", "B+", "AB-"),
        "Date": day("2024-01-01", "2024-12-31"),
        "Volume ml": pick("350", "450", "500"),
        "Centre": pick("City Hall", "University", "Mobile unit"),
        "First time": yes(0.3),
        "Donor age": whole(18, 69),
        "Deferred": yes(0.1),
    },
)
write(
    "held_out/rental/cars",
    14,
    {
        "Car ID": code("K{:02d}", 1),
        "Model": pick("Golf", "Clio", "Transit", "Model 3"),
        "Category": pick("compact", "van", "electric"),
        "Daily rate": money(28, 140, "{:.2f}"),
        "Location": pick("Airport", "Downtown"),
        "Automatic": yes(0.5),
    },
)
write(
    "held_out/rental/bookings",
    58,
    {
        "Booking": code("R{}", 800),
        "Car ID": lambda random, number, cells: f"K{random.randrange(1, 13):02d}",
        "Customer": person,
        "Pick-up": day("2024-01-01", "2024-12-31"),
        "Days": whole(1, 21),
        "Total price": money(40, 2_400, "{:.2f}"),
        "Returned damaged": yes(0.1),
        "Cancelled": yes(0.15),
    },
)
