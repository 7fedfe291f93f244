"""Print what is paid back: python3 refund.py 12"""

import sys

from pricing import BOOK
from rates import discounts


def refund(count):
    percent = 0
    for number, off in discounts():
        if count <= number:
            percent = off
    books = count * BOOK
    return books - books * percent // 100


if __name__ == "__main__":
    print(f"{refund(int(sys.argv[1])) / 100:.2f}")
