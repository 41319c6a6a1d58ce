"""Changes of a process and of the one it works for are told apart."""

from core.ports.own_changes import ChangeCount, OwnChanges


def test_what_another_program_changed_counts_beside_own_changes() -> None:
    count = ChangeCount()
    count.note()
    count.note()
    before = count.number
    count.follow(1)
    assert count.number == before + 1
    count.follow(1)
    assert count.number == before + 1


def test_choices_and_documents_are_counted_apart() -> None:
    app, process = OwnChanges(), OwnChanges()
    app.library.note()
    process.follow(app.numbers)
    assert process.numbers == (1, 0)
    app.choices.note()
    process.follow(app.numbers)
    assert process.numbers == (1, 1)
