"""Small tables of five offices, each with headers of its own kind, and the desk in memory that answers from them."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from core.domain.documents import Document, Label, Truth
from core.ingestion.parsers import extract
from core.table_qa.service import TableService
from tests.database import ScratchTableStore
from tests.fakes import FakeCatalogue
from tests.label_edits import store_labels
from tests.stores.libraries import document

TODAY = datetime(2026, 11, 21, 9, tzinfo=UTC)

EMPLOYEES = """\
employee_id,first_name,last_name,gender,department_code,job_title,state,hire_date,salary,bonus,status,\
manager_id,is_remote,work_email
E101,Ann,Lee,F,FIN,Controller,TX,2014-03-03,142000,12000,active,,N,ann.lee@example.com
E102,Bo,Ray,M,FIN,Accountant,TX,2015-06-15,71000,2500,active,E101,N,bo.ray@example.com
E103,Cy,Fox,M,FIN,Accountant,OH,2019-03-18,68000,,active,E101,Y,
E104,Dee,Orr,F,OPS,Plant Manager,OH,2012-01-09,118000,9000,active,E101,N,dee.orr@example.com
E105,Eli,Poe,M,OPS,Operator,OH,2020-02-20,52000,900,active,E104,N,eli.poe@example.com
E106,Fay,Kim,F,OPS,Operator,KY,2020-05-11,54500,1100,terminated,E104,N,
E107,Gus,Ito,M,OPS,Operator,KY,2015-11-30,57000,1300,on leave,E104,N,gus.ito@example.com
E108,Hal,Voss,M,SAL,Account Executive,CA,2021-07-04,88000,22000,active,E109,Y,hal.voss@example.com
E109,Ida,Moss,F,SAL,Sales Director,CA,2016-08-22,151000,40000,active,E101,Y,ida.moss@example.com
E110,Jon,Bly,M,SAL,Account Executive,NY,2023-01-16,92000,,active,E109,Y,jon.bly@example.com
E111,Kit,Ames,F,LEG,Counsel,NY,2018-10-01,160000,15000,active,E101,N,kit.ames@example.com
E112,Lou,Finch,F,,Adviser,TX,2024-04-08,99000,0,active,E101,Y,lou.finch@example.com
"""
DEPARTMENTS = """department_code,department_name,city,budget
FIN,Finance,Austin,900000
OPS,Operations,Dayton,2400000
SAL,Sales,Oakland,1100000
LEG,Legal,Albany,450000
RND,Research,Austin,700000
"""
LEAVE_REQUESTS = """request_id,employee_id,leave_type,start_date,days,approved
9001,E102,vacation,2024-01-15,5,1
9002,E102,sick,2024-05-02,2,1
9003,E105,vacation,2024-07-01,10,0
9004,E107,parental,2023-11-06,40,1
9005,E108,sick,2023-03-14,1,1
9006,E109,vacation,2023-12-18,8,1
9007,E105,sick,2023-09-25,3,1
9008,E104,vacation,2024-08-05,15,0
"""
SUPPLIERS = """Supplier ID,Supplier Name,Country,Tax Category,Preferred
S-01,Acme Paper,Germany,Standard,Yes
S-02,Best Chairs,Italy,,No
S-03,Cobalt Tools,Germany,Reduced,Yes
S-04,Delta Freight,Poland,,No
S-05,Echo Lighting,Spain,Standard,No
"""
PURCHASE_ORDERS = """\
PO Number,Supplier ID,Order Date,Due Date,Delivery Date,Total Amount,Shipping Cost,Order Status,Buyer
PO-2001,S-01,2024-01-10,2024-01-31,2024-01-29,"$1,250.00",$40.00,Approved,Nora Hale
PO-2002,S-01,2024-02-14,2024-03-01,2024-03-09,"$2,400.00",$55.00,Approved,Omar Reed
PO-2003,S-02,2024-02-20,2024-03-15,,"$9,800.00",$310.00,Rejected,Nora Hale
PO-2004,S-03,2024-05-06,2024-06-01,2024-05-28,$640.00,$12.50,Approved,Pia Lund
PO-2005,S-03,2023-11-23,2023-12-20,2023-12-22,"$3,150.00",$90.00,Approved,Omar Reed
PO-2006,S-04,2023-08-02,2023-09-01,2023-08-30,"$7,700.00",$0.00,Pending,Pia Lund
PO-2007,S-01,2023-03-30,2023-04-15,2023-04-11,$980.00,$18.00,Approved,Nora Hale
"""
COURSES = """CRS_CD,CRS_DESC,CRS_CAT,DUR_HRS
FIRE1,Fire safety basics,Safety,4
FORK2,Forklift operation,Safety,16
DATA1,Data protection,Compliance,2
LEAD3,Leading a team,Leadership,24
"""
TRAINING = """REC_NBR,TRAINEE,CRS_CD,COMPL_DT,EXP_DT,TEST_SCORE,PASS_FLG,LOC_CD
70011,Rosa Neal,FIRE1,2024-01-22,2026-01-22,88,Y,NORTH
70012,Sam Otis,FIRE1,2024-01-22,2026-01-22,61,N,NORTH
70013,Tess Park,FORK2,2023-06-05,2026-12-05,93,Y,SOUTH
70014,Rosa Neal,DATA1,2024-09-30,2027-09-30,97,Y,NORTH
70015,Umar Quist,FORK2,2022-10-17,2025-10-17,79,Y,SOUTH
70016,Tess Park,DATA1,2024-03-11,2027-03-11,,N,SOUTH
"""
STAFF = """\
Employee Number,Attrition,Daily Rate,Hourly Rate,Department,JobRole,OverTime,Age,Gender,Satisfaction,Student
1,Yes,1102,94,Sales,Executive,Yes,41,Female,4,Yes
2,No,279,61,Research,Scientist,No,49,Male,2,No
4,Yes,1373,92,Research,Technician,Yes,37,Male,3,Unknown
5,No,1392,56,Research,Scientist,Yes,33,Female,3,No
7,No,591,40,Research,Technician,No,27,Male,2,Yes
8,Yes,1005,79,Sales,Executive,No,32,Male,4,No
9,No,1324,81,Sales,Executive,No,59,Female,1,No
10,No,1358,67,Sales,Manager,Yes,30,Male,3,No
"""
VOYAGE = """Name,Survived,Class,Fare,Attempts 85,Attempts 99
Ann,1,First,80,3,1
Bo,0,Third,8,0,2
Cy,1,Third,7.5,1,1
Dee,0,First,60,2,4
"""
HR = {"employees.csv": EMPLOYEES, "departments.csv": DEPARTMENTS, "leave_requests.csv": LEAVE_REQUESTS}
PROCUREMENT = {"Suppliers.csv": SUPPLIERS, "Purchase Orders.csv": PURCHASE_ORDERS}
TRAINED = {"COURSES.csv": COURSES, "TRN_RECS.csv": TRAINING}
STAFFED = {"staff.csv": STAFF}
SAILED = {"passengers.csv": VOYAGE}
OFFICES = {"hr": HR, "procurement": PROCUREMENT, "training": TRAINED, "staff": STAFFED, "voyage": SAILED}


class Office:
    """A desk, and the catalogue its documents are in. Tables stand on their own: nothing is split or embedded."""

    def __init__(self, files: Mapping[str, str] | None = None) -> None:
        self.catalogue = FakeCatalogue()
        self.store = ScratchTableStore()
        self.desk = TableService(self.store, self.catalogue, now=lambda: TODAY)
        for name, text in (files or {}).items():
            self.add(name, text)

    def add(self, name: str, text: str, project: str | None = None, truth: Truth | None = None) -> Document:
        """Read a file and load its tables."""
        digest = sha256(f"{project} {name}\n{text}".encode()).hexdigest()
        added = self.catalogue.add_document(document(name, sha256=digest, project=project))
        if truth is not None:
            added = replace(added, labels=replace(added.labels, truth=Label(truth.value, 1.0)))
            store_labels(self.catalogue, added, ())
        self.load(added, text)
        return added

    def load(self, document: Document, text: str) -> tuple[int, ...]:
        """Read a document again; the ids of those it replaced."""
        with TemporaryDirectory() as folder:
            return tuple(self.desk.load(document, extract(document.name, text.encode(), Path(folder)).tables))


@cache
def office(name: str) -> Office:
    """An office whose tables no test changes."""
    return Office(OFFICES[name])
