"""Writes the sample library's PDF and Word files from `source/`, and its employees: `python -m sample.make`.

Everything is fixed (dates, names, order), so two runs write the same story. The library's Markdown files and set-up
tables are their own source.
"""

import csv
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

__all__ = ["Block", "Source", "read_source", "write_library"]

FOLDER = Path(__file__).parent
INK, RULE = (34, 40, 49), (170, 176, 186)


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a document. kind: h1, h2, h3, text, bullet, number or table; `rows` is a table's, header first."""

    kind: str
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A document before it is laid out. `head` holds file, title, author and date."""

    head: Mapping[str, str]
    blocks: tuple[Block, ...]

    @property
    def moment(self) -> datetime:
        """The document's own date, at noon UTC."""
        return datetime.fromisoformat(self.head["date"]).replace(hour=12, tzinfo=UTC)


def read_source(path: Path) -> Source:
    """A document of `source/`: front matter, then the few marks of Markdown that the library needs."""
    _, front, body = path.read_text("utf-8").split("---\n", 2)
    head = dict(line.split(": ", 1) for line in front.strip().splitlines())
    return Source(head, tuple(_blocks(body)))


def _blocks(body: str) -> Iterator[Block]:
    for paragraph in re.split(r"\n\s*\n", body.strip()):
        lines = paragraph.splitlines()
        if lines[0].startswith("|"):
            yield Block("table", rows=tuple(tuple(c.strip() for c in line.strip("|").split("|")) for line in lines))
        elif mark := re.match(r"(#{1,3}) ", lines[0]):
            yield Block(f"h{len(mark[1])}", lines[0][mark.end() :])
        elif lines[0].startswith("- "):
            yield from (Block("bullet", line[2:]) for line in lines)
        elif re.match(r"\d+\. ", lines[0]):
            yield from (Block("number", line) for line in lines)
        else:
            yield Block("text", " ".join(lines))


def write_pdf(source: Source, target: Path) -> None:
    """Lays a document out on letter paper, with its title in the running head and an outline of its headings."""
    from fpdf import FPDF

    class Sheet(FPDF):
        """Letter paper with a running head and page numbers."""

        def header(self) -> None:
            self.set_font("helvetica", size=8.5)
            self.set_text_color(*RULE)
            if self.page_no() > 1:
                self.cell(0, 5, source.head["title"], align="R")
            self.ln(10)

        def footer(self) -> None:
            self.set_y(-15)
            self.set_font("helvetica", size=8.5)
            self.set_text_color(*RULE)
            self.cell(0, 5, f"{source.head['author']}   |   Page {self.page_no()}", align="C")

    sheet = Sheet(format="letter", unit="mm")
    sheet.set_margins(25, 18, 25)
    sheet.set_auto_page_break(True, margin=22)
    sheet.set_title(source.head["title"])
    sheet.set_author(source.head["author"])
    sheet.set_creation_date(source.moment)
    sheet.add_page()
    for block in source.blocks:
        _draw(sheet, block)
    sheet.output(str(target))


# size, style, space above in mm
_LOOK = {"h1": (19, "B", 0), "h2": (13, "B", 4), "h3": (11, "B", 2), "text": (10.5, "", 0), "bullet": (10.5, "", 0)}


def _draw(sheet: Any, block: Block) -> None:
    size, style, above = _LOOK.get(block.kind, _LOOK["text"])
    sheet.set_text_color(*INK)
    if block.kind.startswith("h"):
        if sheet.get_y() > 235:  # a heading stays with what follows it
            sheet.add_page()
        sheet.ln(above)
        sheet.start_section(block.text, level=int(block.kind[1]) - 1)
    sheet.set_font("helvetica", style, size)
    if block.kind == "table":
        _draw_table(sheet, block.rows)
        return
    if block.kind in ("bullet", "number"):
        sheet.set_x(sheet.l_margin + 5)
    text = f"\xb7  {block.text}" if block.kind == "bullet" else block.text
    sheet.multi_cell(0, size * 0.47, text, align="L", new_x="LMARGIN", new_y="NEXT")
    sheet.ln(1 if block.kind in ("bullet", "number") else 2.4)


def _draw_table(sheet: Any, rows: Sequence[Sequence[str]]) -> None:
    longest = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    widths = [min(max(n, 8), 60) for n in longest]
    sheet.set_font("helvetica", size=9.5)
    sheet.set_draw_color(*RULE)
    with sheet.table(col_widths=tuple(widths), line_height=5.6, text_align="LEFT", padding=1) as table:
        for cells in rows:
            row = table.row()
            for cell in cells:
                row.cell(cell)
    sheet.ln(4)


def write_docx(source: Source, target: Path) -> None:
    """Writes a document as Word, with real headings, lists and tables."""
    from docx import Document

    word = Document()
    word.core_properties.title, word.core_properties.author = source.head["title"], source.head["author"]
    word.core_properties.created = word.core_properties.modified = source.moment.replace(tzinfo=None)
    for block in source.blocks:
        if block.kind.startswith("h"):
            word.add_heading(block.text, level=int(block.kind[1]) - 1)
        elif block.kind == "table":
            _word_table(word, block.rows)
        elif block.kind == "bullet":
            word.add_paragraph(block.text, style="List Bullet")
        else:
            word.add_paragraph(block.text)
    word.save(str(target))


def _word_table(word: Any, rows: Sequence[Sequence[str]]) -> None:
    table = word.add_table(rows=0, cols=len(rows[0]), style="Light Grid Accent 1")
    for cells in rows:
        for cell, text in zip(table.add_row().cells, cells, strict=True):
            cell.text = text
    word.add_paragraph()


# Reality. What the other documents ask for and the set-up tables of the library do not hold is the point: no shift
# differential, no meal premium, no garnishment.
FIRST = """
    Ada Bram Celia Dario Elke Farid Greta Hollis Imani Jonas Kaia Leif Mirela Nils Oona Pavel Quinn Rosa Sven Talia Uma
"""
LAST = """
    Abbotsen Brandvold Castellane Dunmore Eskelin Farrowby Gaspari Holmquist Ibarrola Jessop Kestrell Lindqvare Morrowin
"""
JOBS = (  # department, title, place, least and most pay, exempt, share of the staff
    ("Production", "Lantern assembler", "Alder Street works", 21, 27, "N", 44),
    ("Production", "Glass fitter", "Alder Street works", 23, 31, "N", 18),
    ("Repair", "Repair technician", "Alder Street works", 25, 34, "N", 14),
    ("Warehouse", "Order picker", "Canal Road warehouse", 19, 24, "N", 22),
    ("Shops", "Sales associate", "Harbor shop", 18, 23, "N", 8),
    ("Shops", "Sales associate", "Station shop", 18, 23, "N", 6),
    ("Administration", "Accountant", "Alder Street works", 78000, 96000, "Y", 5),
    ("Administration", "Department manager", "Alder Street works", 92000, 128000, "Y", 3),
)
COLUMNS = (
    "employee_id,last_name,first_name,department,job_title,work_location,state,shift,status,hire_date,exempt,pay_type,pay_rate,"
    "hours_per_week,medical_plan,deferral_percent,vacation_balance_hours,sick_balance_hours"
).split(",")


def employees() -> Iterator[tuple[object, ...]]:
    """120 invented people, the same every time."""
    dice = random.Random(1907)
    names = [(last, first) for last in LAST.split() for first in FIRST.split()]
    dice.shuffle(names)
    jobs = [job for job in JOBS for _ in range(job[-1])]
    for number, (job, (last, first)) in enumerate(zip(jobs, names, strict=False), start=1):
        department, title, location, low, high, exempt, _ = job
        shift = dice.choice(("day", "day", "evening", "night")) if department in ("Production", "Warehouse") else "day"
        hired = date(2009, 3, 2) + timedelta(days=dice.randrange(5700))
        rate = f"{dice.uniform(low, high):.2f}" if exempt == "N" else f"{dice.randrange(low, high, 500)}.00"
        status = dice.choices(("active", "leave", "terminated"), (91, 5, 4))[0]
        yield (
            f"TL{1000 + number}", last, first, department, title, location, "CA", shift, status, hired.isoformat(),
            exempt, "hourly" if exempt == "N" else "salary", rate,
            dice.choice((40, 40, 40, 32, 24)) if exempt == "N" else 40,
            dice.choice(("MED-A", "MED-A", "MED-F", "none")), dice.choice((0, 0, 3, 4, 5, 6, 10)),
            f"{dice.uniform(0, 120):.2f}", f"{dice.uniform(0, 80):.2f}",
        )  # fmt: skip


def write_library(folder: Path) -> list[Path]:
    """Writes every made file into `folder` and returns them."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for path in sorted((FOLDER / "source").glob("*.md")):
        source = read_source(path)
        target = folder / source.head["file"]
        {".pdf": write_pdf, ".docx": write_docx}[target.suffix](source, target)
        made.append(target)
    with (folder / "employees.csv").open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines, lineterminator="\n").writerows([COLUMNS, *employees()])
    return [*made, folder / "employees.csv"]


if __name__ == "__main__":
    write_library(FOLDER / "library")
