"""Words that are looked for: letters, blanks, and what a longer needle needs not search again."""

from __future__ import annotations

from keen_tui.text.find import Needle


def test_small_letters_find_capitals_and_a_capital_finds_only_itself() -> None:
    text = "Discount, discount and DISCOUNT"
    assert Needle("discount").count(text) == 3
    assert Needle("Discount").count(text) == 1
    assert Needle("größe").count("GRÖSSE, Größe, GRÖßE") == 2


def test_blanks_stand_for_any_blanks_and_line_ends() -> None:
    assert Needle("two words").count("two  words, two\twords, two\nwords, twowords") == 3
    assert Needle(" words ").count("words") == 1


def test_nothing_is_found_where_nothing_is_looked_for() -> None:
    assert not Needle("  ")
    assert Needle("").count("anything") == 0


def test_what_looks_like_a_pattern_is_taken_as_it_is() -> None:
    assert Needle("a.b (c)").count("a.b (c) axb (c)") == 1


def test_a_longer_needle_is_only_in_texts_that_hold_the_shorter_one() -> None:
    assert Needle("discount te").narrows(Needle("disc"))
    assert Needle("discA").narrows(Needle("disc"))
    assert not Needle("disc").narrows(Needle("discount"))
    assert not Needle("disc").narrows(Needle(""))
