"""Throw-away desks: each folder its own tenant, and what is not there is said before anything starts."""

from pathlib import Path

import pytest

from bootstrap.scratch_library import scratch_table_services
from core.domain.errors import BadRequest


def written(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")


def test_each_folder_is_a_desk_of_its_own(tmp_path: Path) -> None:
    written(tmp_path / "shop", {"items.csv": "item_code,price\nA-1,10.50\nA-2,20.00\nA-3,3.00\n"})
    written(tmp_path / "club", {"members.csv": "member_name,age\nAnn Lee,30\nBo Ray,40\n"})
    with scratch_table_services(tmp_path, ["shop", "club"]) as desks:
        assert [table.name for table in desks["shop"].tables()] == ["items"]
        assert [table.name for table in desks["club"].tables()] == ["members"]
        assert desks["shop"].ask("total price").headline == "33.5"
        assert desks["club"].ask("how many members have an age over 35").headline == "1"
        assert not desks["club"].ask("total price").answered
        assert desks["club"].run_sql("select max(age) from members").value == 40


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    written(tmp_path / "shop", {"items.csv": "item_code,price\nA-1,10.50\n"})
    with (
        pytest.raises(BadRequest, match="contains no folder 'club'") as refused,
        scratch_table_services(tmp_path, ["shop", "club", "bar"]),
    ):
        pass
    assert "folder of its name" in refused.value.hint
