"""Small files for the tests, made by the libraries users' programs resemble."""

import csv
import zipfile
from io import BytesIO
from pathlib import Path

import docx
import openpyxl
from fpdf import FPDF
from pypdf import PdfReader, PdfWriter

from core.domain.datasets import ReadTable
from core.ingestion.parsers import extract

__all__ = ["docx_of", "drawn", "encrypted", "loaded", "pdf_of", "scan_of", "table_of", "with_part", "workbook_of"]


def pdf_of(*pages: str, header: str = "", footer: bool = False, title: str = "") -> bytes:
    """One page per text; a line that begins with '# ' is printed large."""
    pdf = FPDF()
    pdf.set_auto_page_break(False)
    if title:
        pdf.set_title(title)
    for number, text in enumerate(pages, start=1):
        pdf.add_page()
        pdf.set_font("helvetica", size=11)
        if header:
            pdf.cell(0, 8, header, new_x="LMARGIN", new_y="NEXT")
        for line in text.split("\n"):
            pdf.set_font(
                "helvetica", style="B" if line.startswith("# ") else "", size=18 if line.startswith("# ") else 11
            )
            pdf.multi_cell(0, 6, line.removeprefix("# "), new_x="LMARGIN", new_y="NEXT")
        if footer:
            pdf.set_y(-15)
            pdf.set_font("helvetica", size=11)
            pdf.cell(0, 8, f"Page {number} of {len(pages)}")
    return bytes(pdf.output())


def drawn(data: bytes, page: int = 1, dots: int = 200, turned: int = 0) -> bytes:
    """A page of a PDF (from 1) as a picture (PNG), as a scanner gives it; turned by degrees."""
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    try:
        picture = document[page - 1].render(scale=dots / 72, grayscale=True).to_pil()
    finally:
        document.close()
    out = BytesIO()
    picture.rotate(turned, expand=True, fillcolor=255).save(out, "PNG", dpi=(dots, dots))
    return out.getvalue()


def scan_of(*pages: bytes | str, stamp: str = "") -> bytes:
    """A PDF of pictures, one to a page; a text instead of a picture is a page of text. stamp: text on each picture."""
    pdf = FPDF(unit="pt", format="letter")
    pdf.set_auto_page_break(False)
    pdf.set_font("helvetica", size=11)
    for page in pages:
        pdf.add_page()
        if isinstance(page, bytes):
            pdf.image(BytesIO(page), 0, 0, w=pdf.w, h=pdf.h)
            pdf.text(40, 20, stamp)
        else:
            pdf.multi_cell(0, 14, page)
    return bytes(pdf.output())


def encrypted(data: bytes) -> bytes:
    """A PDF that asks for a password."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    writer.encrypt("secret", algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def docx_of(*blocks: str, table: list[list[str]] | None = None) -> bytes:
    """'# ' is a heading, '- ' an item, the rest paragraphs; then the table."""
    document = docx.Document()
    for block in blocks:
        if block.startswith("# "):
            document.add_heading(block[2:], level=1)
        elif block.startswith("- "):
            document.add_paragraph(block[2:], style="List Bullet")
        else:
            document.add_paragraph(block)
    if table:
        grid = document.add_table(rows=0, cols=len(table[0]))
        for row in table:
            for cell, text in zip(grid.add_row().cells, row, strict=True):
                cell.text = text
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def workbook_of(**sheets: list[list[object]]) -> bytes:
    """One sheet per name."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    out = BytesIO()
    book.save(out)
    return out.getvalue()


def with_part(package: bytes, name: str, content: bytes) -> bytes:
    """An Office package with one part replaced or added."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(package)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            if part.filename != name:
                new.writestr(part, old.read(part.filename))
        new.writestr(name, content)
    return out.getvalue()


def table_of(folder: Path, data: str | bytes, name: str = "a.csv") -> ReadTable:
    """The one table of a file, typed and written."""
    [table] = extract(name, data.encode() if isinstance(data, str) else data, folder).tables
    return table


def loaded(table: ReadTable) -> list[list[str | None]]:
    """The rows as they wait for COPY, without their numbers."""
    with Path(table.path).open(encoding="utf-8", newline="") as file:
        return [[cell or None for cell in row[1:]] for row in csv.reader(file)]
