"""Prices in cents."""

from rates import discounts

BOOK = 1500
POSTAGE = {"Bern": 900, "Oslo": 1400, "Rome": 1100}


def percent_off(count):
    """The discount for so many books."""
    percent = 0
    for number, off in discounts():
        if count <= number:
            percent = off
    return percent


def price(count, town):
    books = count * BOOK
    return books - books * percent_off(count) // 100 + POSTAGE[town]
