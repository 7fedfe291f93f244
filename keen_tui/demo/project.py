"""The scratch project of the tour: a small cart with a bug and the test that shows it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

BUGGY_LINES = """\
        net = sum(price for _, price in self.lines)
        gross = net + net * TAX_PERCENT // 100
        return gross - self.discount
"""
FIXED_LINES = """\
        net = sum(price for _, price in self.lines)
        # tax is due on what the customer pays
        net -= self.discount
        return net + net * TAX_PERCENT // 100
"""

_CART = f'''\
"""A small shopping cart. All amounts are in cents."""

TAX_PERCENT = 19


class Cart:
    def __init__(self, discount: int = 0) -> None:
        self.discount = discount
        self.lines: list[tuple[str, int]] = []

    def add(self, name: str, price: int) -> None:
        self.lines.append((name, price))

    def total(self) -> int:
{BUGGY_LINES}'''

_TESTS = """\
import unittest

from cart import Cart


class CartTest(unittest.TestCase):
    def test_an_empty_cart_costs_nothing(self) -> None:
        self.assertEqual(Cart().total(), 0)

    def test_tax_is_added(self) -> None:
        cart = Cart()
        cart.add("lamp", 10000)
        self.assertEqual(cart.total(), 11900)

    def test_the_discount_comes_off_before_tax(self) -> None:
        cart = Cart(discount=1000)
        cart.add("lamp", 10000)
        self.assertEqual(cart.total(), 10710)
"""

_PYTEST_INI = """\
[pytest]
# the tour's output should be the same whatever plugins are installed
addopts = -p no:asyncio -p no:cacheprovider
"""


@contextmanager
def scratch_project() -> Iterator[Path]:
    """A fresh folder `shopcart` with the project in it, removed at the end."""
    with TemporaryDirectory(prefix="keen-demo-", ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve() / "shopcart"
        root.mkdir()
        (root / "cart.py").write_text(_CART)
        (root / "test_cart.py").write_text(_TESTS)
        (root / "pytest.ini").write_text(_PYTEST_INI)
        yield root


def run_tests_command() -> str:
    """How the tests are run: with pytest where this Python has it, else with unittest."""
    return "python -m pytest -q" if importlib.util.find_spec("pytest") else "python -m unittest"
