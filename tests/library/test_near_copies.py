"""Documents that repeat a judged one must not teach the model that judges it."""

from core.library.duplicates.near_copies import near_copies

POLICY = "Employees ask their manager before they travel, keep every receipt and hand it in within ten days."
OTHER = "The vendor delivers three kilns in spring; the customer pays a third of the price when they arrive."


def test_a_copy_is_found_however_it_is_set_and_whatever_surrounds_it() -> None:
    longer = f"{OTHER} {POLICY.upper().replace(',', ';')} {OTHER}"
    assert near_copies([POLICY, OTHER], [OTHER, longer, POLICY]) == [{1, 2}, {0, 1}]


def test_a_few_common_words_are_no_copy() -> None:
    assert near_copies([POLICY], ["Employees ask their manager before they buy a kiln or sell one to a friend."]) == [
        set()
    ]


def test_texts_without_words_copy_nothing() -> None:
    assert near_copies(["", POLICY], ["", "…"]) == [set(), set()]
    assert near_copies([], [POLICY]) == []
