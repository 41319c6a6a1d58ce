"""Real PDFs, made for a story: several pages, headings, running text, and facts that stand nowhere else."""

import re
from pathlib import Path

__all__ = ["make_pdf", "text_of"]


def make_pdf(target: Path, title: str, sections: dict[str, str]) -> Path:
    """A PDF with a page for each section."""
    from fpdf import FPDF

    sheet = FPDF(format="letter")
    sheet.set_title(title)
    for number, (heading, text) in enumerate(sections.items(), start=1):
        sheet.add_page()
        if number == 1:
            sheet.set_font("helvetica", "B", 20)
            sheet.multi_cell(0, 10, title, new_x="LMARGIN", new_y="NEXT")
        sheet.set_font("helvetica", "B", 14)
        sheet.multi_cell(0, 12, f"{number}. {heading}", new_x="LMARGIN", new_y="NEXT")
        sheet.set_font("helvetica", size=11)
        for paragraph in text.strip().split("\n\n"):
            sheet.multi_cell(0, 6, " ".join(paragraph.split()), new_x="LMARGIN", new_y="NEXT")
            sheet.ln(3)
    sheet.output(str(target))
    return target


def text_of(pdf: Path) -> str:
    """All words of a PDF as another reader sees them, with single blanks between."""
    from pypdf import PdfReader

    return re.sub(r"\s+", " ", " ".join(page.extract_text() for page in PdfReader(pdf).pages))
