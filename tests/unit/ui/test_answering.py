"""What keys mean at a question: a digit alone and the arrows choose, all else is text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis.strategies import integers, text

from keen_tui.frontends.tui.questions.answering import Answering


def answering(*, preselected: int | None = 0, takes_words: int | None = 2) -> Answering:
    """At a question with four answers."""
    return Answering(4, preselected, takes_words, {"y": 0, "n": 2})


def typed(
    keys: str, *, in_a_sentence: bool = False, preselected: int | None = 0, was_read: bool = False
) -> Answering:
    """After these keys: `v` and `^` stand for the arrows, `<` for backspace."""
    asked = answering(preselected=preselected)
    for key in keys:
        if key in "v^":
            asked.choose(1 if key == "v" else -1, in_a_sentence=in_a_sentence)
        elif key == "<":
            asked.edit("backspace")
        else:
            asked.write(key, in_a_sentence=in_a_sentence, was_read=was_read)
    return asked


@pytest.mark.parametrize(
    ("keys", "answer", "words"),
    [
        ("", 0, ""),
        ("2", 1, "2"),
        ("v", 1, ""),
        ("vv^", 1, ""),
        ("^", 0, ""),
        ("2 ", None, "2 "),
        ("2 spaces", None, "2 spaces"),
        ("12", None, "12"),
        ("3", 2, "3"),
        ("3use make", None, "use make"),
        ("3 tests fail", None, "3 tests fail"),
        ("31", None, "31"),
        ("9", None, "9"),
        ("0", None, "0"),
        ("use 2", None, "use 2"),
        (" ", None, " "),
        ("²", None, "²"),
        ("x<", None, ""),
        ("x<2", 1, "2"),
        ("xv", 2, "x"),
        ("xv2", None, "x2"),
        ("xv^", 1, "x"),
        ("xvy", None, "xy"),
        ("v2", 1, "2"),
        ("1<", None, ""),
        ("1v", 1, ""),
        ("22", 1, "2"),
        ("222 ", None, "2 "),
        ("y", 0, "y"),
        ("yy", 0, "y"),
        ("n", 2, "n"),
        ("ny", None, "ny"),
        ("no", None, "no"),
        ("yes", None, "yes"),
        ("y<", None, ""),
        ("y<n", 2, "n"),
    ],
)
def test_only_a_lone_digit_y_or_n_and_the_arrows_choose(keys: str, answer: int | None, words: str) -> None:
    asked = typed(keys)
    assert asked.answer(in_a_sentence=False) == answer
    assert asked.words == words


@pytest.mark.parametrize(
    ("keys", "answer", "words"),
    [
        ("", None, ""),
        ("2", None, "2"),
        ("v", 0, ""),
        ("^", 0, ""),
        ("vv", 1, ""),
        ("v2", 1, "2"),
        ("x", None, "x"),
        ("2v", 2, "2"),
        ("y", None, "y"),
    ],
)
def test_in_the_middle_of_a_sentence_only_the_arrows_choose(
    keys: str, answer: int | None, words: str
) -> None:
    asked = typed(keys, in_a_sentence=True)
    assert asked.answer(in_a_sentence=True) == answer
    assert asked.words == words


def test_an_arrow_chooses_where_nothing_is_preselected() -> None:
    assert typed("v", preselected=None).answer(in_a_sentence=False) == 0
    assert typed("^", preselected=None).answer(in_a_sentence=False) == 3


def test_a_paste_is_text_whatever_it_holds() -> None:
    asked = answering()
    asked.paste("1", was_read=False)
    assert asked.answer(in_a_sentence=False) is None
    assert asked.words == "1"


def test_enter_sends_words_of_a_line_that_was_opened_on_purpose() -> None:
    asked = answering()
    asked.open_words(2)
    asked.write("2", in_a_sentence=True, was_read=False)
    asked.write("x", in_a_sentence=True, was_read=False)
    assert asked.answer(in_a_sentence=True) == 2
    assert asked.take_words() == "2x"
    assert asked.answer(in_a_sentence=False) is None


@pytest.mark.parametrize(
    ("keys", "answer", "words"),
    [
        ("x", 2, "x"),
        ("xv", 3, "x"),
        ("x^", 1, "x"),
        ("x^y", 2, "xy"),
        ("2 x", 2, "2 x"),
        ("x<", None, ""),
        ("xy<", 2, "x"),
    ],
)
def test_words_that_begin_after_the_question_was_read_are_for_their_answer(
    keys: str, answer: int | None, words: str
) -> None:
    asked = typed(keys, was_read=True)
    assert asked.answer(in_a_sentence=False) == answer
    assert asked.words == words


def test_a_draft_goes_on_and_is_no_answer_however_late_its_end_is_typed() -> None:
    asked = answering()
    asked.go_on("do skip it", 3)
    assert (asked.marked, asked.answer(in_a_sentence=True)) == (None, None)
    for character in "not ":
        asked.write(character, in_a_sentence=True, was_read=True)
    assert (asked.marked, asked.answer(in_a_sentence=True)) == (2, None)
    asked.choose(1, in_a_sentence=True)
    assert asked.answer(in_a_sentence=True) == 2
    assert asked.take_words() == "do not skip it"


@given(sentence=text(min_size=2), cut=integers(min_value=0))
def test_no_sentence_is_an_answer_wherever_a_question_cuts_it(sentence: str, cut: int) -> None:
    before, rest = sentence[: cut % len(sentence)], sentence[cut % len(sentence) :]
    asked = answering()
    for character in rest:
        asked.write(character, in_a_sentence=bool(before), was_read=False)
    assert asked.answer(in_a_sentence=bool(before)) is None
    assert before + asked.take_words() == sentence


@pytest.mark.parametrize("key", ["2", "y", "3"])
def test_a_key_that_chose_is_no_word(key: str) -> None:
    asked = typed(key)
    assert not asked.goes_back
    assert asked.take_words() == ""
    assert (asked.marked, asked.answer(in_a_sentence=False)) == (None, None)


def test_escape_goes_back_only_from_words_that_were_added() -> None:
    asked = answering()
    assert not asked.goes_back
    asked.go_on("do skip it", 10)
    assert not asked.goes_back
    asked.write("!", in_a_sentence=True, was_read=False)
    assert asked.goes_back
    assert asked.take_words() == "do skip it!"
    asked.open_words(2)
    assert asked.goes_back


def test_a_question_that_takes_no_words_sends_none() -> None:
    asked = Answering(2, None, None)
    asked.write("keep it", in_a_sentence=False, was_read=True)
    assert asked.words == "keep it" and not asked.sends_words
    assert asked.answer(in_a_sentence=False) is None
