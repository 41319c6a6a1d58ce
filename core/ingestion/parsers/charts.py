"""The data of charts in Office files, as rows of a table: one per category, one column per series."""

from collections.abc import Iterator
from typing import Any

from core.domain.extraction import BlockKind
from core.ingestion.parsers.blocks import PageWriter, write_rows
from core.ingestion.parsers.cell_format import number_text
from core.ingestion.parsers.text_cleaning import clean
from core.ingestion.parsers.workbooks import cell_text

__all__ = ["CHART", "write_chart"]

CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_MOST_POINTS = 10_000  # of a series. Chosen by hand, not fitted.


def write_chart(chart: Any, writer: PageWriter) -> None:
    """Writes the title and the data of a `c:chartSpace`."""
    title = chart.find(f"{CHART}chart/{CHART}title")
    if title is not None:
        writer.add(clean("".join(each.text or "" for each in title.iter(f"{_A}t"))), BlockKind.PARAGRAPH)
    for rows in _tables(chart):
        write_rows(writer, rows)


def _tables(chart: Any) -> Iterator[list[list[str]]]:
    """Tables of a `c:chartSpace`, each with a header row: series with the same categories share one."""
    flag = chart.find(f"{CHART}date1904")
    mac = flag is not None and flag.get("val", "1") not in {"0", "false"}
    tables: list[tuple[list[str], list[tuple[str, dict[int, str]]], dict[int, str]]] = []
    for series in chart.iter(f"{CHART}ser"):
        points = series.find(f"{CHART}xVal") is not None
        categories = _values(series.find(CHART + ("xVal" if points else "cat")), mac)
        name = " ".join(_values(series.find(f"{CHART}tx"), mac).values()) or "Series"
        columns = [(name, _values(series.find(CHART + ("yVal" if points else "val")), mac))]
        if sizes := _values(series.find(f"{CHART}bubbleSize"), mac):
            columns.append((f"{name} (size)", sizes))
        if not tables or tables[-1][2] != categories:
            tables.append((["X" if points else "Category"], [], categories))
        tables[-1][1].extend(columns)
    for head, columns, categories in tables:
        places = sorted({at for values in (categories, *(values for _, values in columns)) for at in values})
        rows = [[categories.get(at, str(at + 1)), *(values.get(at, "") for _, values in columns)] for at in places]
        yield [[*head, *(name for name, _ in columns)], *rows]


def _values(node: Any, mac: bool) -> dict[int, str]:
    """The saved points of a series by position, as the chart shows them; levels of a category joined. mac: dates count
    from 1904."""
    if node is None:
        return {}
    levels = node.findall(f".//{CHART}lvl")
    if levels:
        return _joined_levels([_points(level, "", mac) for level in reversed(levels)])
    cache = next(node.iter(f"{CHART}strCache", f"{CHART}numCache", f"{CHART}strLit", f"{CHART}numLit"), node)
    return _points(cache, cache.findtext(f"{CHART}formatCode") or "", mac)


def _points(node: Any, number_format: str, mac: bool) -> dict[int, str]:
    found = {}
    for point in node.findall(f"{CHART}pt")[:_MOST_POINTS]:
        place, text = point.get("idx", ""), clean(point.findtext(f"{CHART}v") or "").strip()
        is_number = node.tag in {f"{CHART}numCache", f"{CHART}numLit"}
        if place.isdecimal() and text:
            shown = _number(text, point.get("formatCode", number_format), mac) if is_number else text
            found[int(place)] = " ".join(shown.split())
    if not found and (text := node.findtext(f"{CHART}v")):
        found[0] = " ".join(clean(text).split())
    return found


def _number(text: str, number_format: str, mac: bool) -> str:
    from openpyxl.styles.numbers import is_date_format
    from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel

    try:
        value = float(text)
        if is_date_format(number_format):
            return cell_text(from_excel(value, MAC_EPOCH if mac else WINDOWS_EPOCH))
    except (ValueError, OverflowError):
        return text
    return number_text(value, number_format)


def _joined_levels(levels: list[dict[int, str]]) -> dict[int, str]:
    """Categories in levels, the outermost first, which name only the first of each group.

    >>> _joined_levels([{0: "2023", 2: "2024"}, {0: "H1", 1: "H2", 2: "H1"}])
    {0: '2023 H1', 1: '2023 H2', 2: '2024 H1'}
    """
    joined = {}
    group = [""] * (len(levels) - 1)
    for at in sorted(levels[-1]):
        group = [level.get(at) or name for level, name in zip(levels, group, strict=False)]
        joined[at] = " ".join(filter(None, [*group, levels[-1][at]]))
    return joined
