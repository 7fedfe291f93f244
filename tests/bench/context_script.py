"""Twelve turns of an agent's work on a small shop: search, read, edit, run the checks, fix.

Each turn reads some 30 KB: one search, two or three files of 8 to 12 KB, checks that fail at first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keen_tui.demo.script import Call, Reply, Say

CHECKS = "run_checks.py"
_CHECKS_SCRIPT = """\
import pathlib, re, sys

name = sys.argv[1]
text = pathlib.Path(f"shop/{name}.py").read_text()
revision = int(re.search(r"REVISION = (\\d+)", text)[1])
if revision % 2 == 0:
    print("." * 41 + "\\n41 checks passed")
    sys.exit()
for number in range(8):
    print(f"FAILED checks/test_{name}.py::test_{name}_case_{number} - AssertionError")
    print(f"    def test_{name}_case_{number}(shop):")
    print(f"        order = shop.order(lines=[('book', 3), ('pen', {number})], customer='c-{number:04}')")
    print(f">       assert {name}(order).amount == Decimal('{number * 17}.{number:02}')")
    print(f"E       AssertionError: assert Decimal('{number * 17}.{number + 1:02}') == Decimal('...')")
    print(f"E        +  where Decimal('{number * 17}.{number + 1:02}') = {name}(<Order c-{number}>).amount")
    print(f"checks/test_{name}.py:{20 + 9 * number}: AssertionError")
print("8 of 41 checks failed")
sys.exit(1)
"""
_FUNCTION = '''\
def {name}_{number:02}(order: Order, lines: Sequence[Line], *, at: datetime) -> Money:
    """The {name} of an order, step {number:02}: each line is weighed by what its customer is due."""
    shares = [line.amount * rate_of(line, at) for line in lines if line.kind != {number}]
    return Money(sum(shares, start=Decimal(0)), order.currency).rounded({number})

'''
SIZES = {
    "orders": 34, "money": 27, "discount": 31, "tax": 26, "customers": 30, "stock": 33, "invoices": 35,
    "shipping": 26,
}  # fmt: skip
"""Functions of each file: 8 to 12 KB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One turn. `reads` are files of the shop; the first one is changed. `block` is the model's note to
    itself, if it is asked for one."""

    words: str
    reads: tuple[str, ...]
    plan: str
    closing: str
    block: str


def lay_out(root: Path) -> None:
    """Write the shop."""
    (root / "shop").mkdir()
    (root / CHECKS).write_text(_CHECKS_SCRIPT)
    for name, count in SIZES.items():
        body = "\n".join(_FUNCTION.format(name=name, number=number) for number in range(count))
        (root / "shop" / f"{name}.py").write_text(f"REVISION = 0\n\n\n{body}")


def replies(*, with_block: bool) -> Iterator[Reply]:
    """The model's replies in all twelve turns; `with_block`: each turn ends with a note to itself."""
    revisions = dict.fromkeys(SIZES, 0)
    for task in TASKS:
        changed = task.reads[0]
        yield Reply([Say(task.plan), Call("grep_files", {"pattern": f"def {changed}_"})])
        yield Reply([read_call(name) for name in task.reads])
        yield Reply([edit_call(changed, revisions), checks_call(changed)])
        yield Reply([Say("The rounding is off by one cent; I mend that."), edit_call(changed, revisions)])
        yield Reply([checks_call(changed)])
        note = f"\n\n<keen_memory>\n{task.block}\n</keen_memory>" if with_block else ""
        yield Reply([Say(task.closing + note)])


def read_call(name: str) -> Call:
    """Reads a file of the shop."""
    return Call("read_file", {"path": f"shop/{name}.py"})


def checks_call(name: str) -> Call:
    """Runs the checks of a file."""
    return Call("bash", {"command": f"python3 {CHECKS} {name}"})


def edit_call(name: str, revisions: dict[str, int]) -> Call:
    """The next revision of a file, with a new function in it."""
    old = revisions[name]
    revisions[name] = new = old + 1
    function = _FUNCTION.format(name=f"revised_{name}", number=new)
    return Call(
        "edit_file",
        {
            "path": f"shop/{name}.py",
            "old_text": f"REVISION = {old}\n",
            "new_text": f"REVISION = {new}\n\n\n{function}",
        },
    )


TASKS = (
    Task(
        words="The order totals are a cent off now and then. Find out why and fix it.",
        reads=("orders", "money", "discount"),
        plan="I look for where order totals are added up.",
        closing="Totals were rounded per line and then added, so cents got lost. They are now added exactly "
        "and rounded once, in `shop/orders.py`. All 41 checks pass. The discounts still round on their own; "
        "I left them as they are.",
        block="- orders.py: totals are added exactly and rounded once, at the end\n"
        "- discount.py still rounds by itself: left so on purpose",
    ),
    Task(
        words="Do the discounts the same way.",
        reads=("discount", "orders"),
        plan="I read how discounts round today.",
        closing="`shop/discount.py` keeps four places until the order rounds. Two checks relied on the old "
        "cent and failed at first; the function they call was wrong, not they. All checks pass.",
        block="- discount.py: keeps four places, the order rounds\n- checks were right, the code was not",
    ),
    Task(
        words="where is tax computed, and is it before or after the discount?",
        reads=("tax", "discount", "orders"),
        plan="I search for the tax and who calls it.",
        closing="Tax is computed in `shop/tax.py`, after the discount, on each rate's own sum. One call "
        "in it took the undiscounted amount for gift cards; I corrected that and the checks pass.",
        block="- tax.py: after the discount, one sum a rate; gift cards now too",
    ),
    Task(
        words="Customers with an exemption should pay no tax. Add that.",
        reads=("customers", "tax"),
        plan="I see what is known of a customer.",
        closing="Customers have `exempt_until`; an order placed before that date is taxed at zero, and the "
        "invoice says so. Checked for the day itself and the day after. Still missing: a way to enter the "
        "date in the back office.",
        block="- customers.py: exempt_until (date, inclusive); zero tax before it\n"
        "- left: back office has no field for it",
    ),
    Task(
        words="stock goes negative when two orders come at once",
        reads=("stock", "orders", "shipping"),
        plan="I look at how stock is reserved.",
        closing="Reserving read the stock and wrote it back in two steps. It is now one conditional update "
        "in `shop/stock.py`, and the loser is told that the item is gone. All checks pass; I did not try "
        "it against a real database.",
        block="- stock.py: reserving is one conditional update, OutOfStock for the loser\n"
        "- not tried against a real database",
    ),
    Task(
        words="Invoices should show the discount as a line of its own.",
        reads=("invoices", "discount", "money"),
        plan="I read how an invoice lists its lines.",
        closing="Each invoice now has a discount line behind the goods, negative, without tax of its own. "
        "Old invoices are drawn as they were. The checks pass, the layout of long names included.",
        block="- invoices.py: discount is a negative line behind the goods; old ones unchanged",
    ),
    Task(
        words="Shipping to islands costs extra. The table is in the docstring of shipping.",
        reads=("shipping", "customers"),
        plan="I look for how a zone is chosen.",
        closing="Zones are chosen by postcode, and islands add the surcharge of the table, once an order. "
        "I compared all 14 rows. The checks pass.",
        block="- shipping.py: island surcharge by postcode, once an order (14 rows checked)",
    ),
    Task(
        words="money: support yen, which has no cents",
        reads=("money", "tax", "invoices"),
        plan="I look for every place that assumes two digits.",
        closing="`Money` knows its currency's digits; rounding, printing and parsing follow it. Tax and "
        "invoices needed nothing more. Only the export still writes two digits for every currency; shall "
        "I change that, too?",
        block="- money.py: digits by currency (yen 0)\n- open: the export still writes two digits; asked",
    ),
    Task(
        words="yes, the export too",
        reads=("invoices", "money"),
        plan="I find the export.",
        closing="The export writes as many digits as the currency has. Files of last year read back the "
        "same. All checks pass.",
        block="- invoices.py: export follows the currency's digits; old files read the same",
    ),
    Task(
        words="Can a customer merge two accounts? If not, add it.",
        reads=("customers", "orders", "invoices"),
        plan="I see what refers to a customer.",
        closing="They could not. `merge(kept, gone)` moves orders and invoices over and leaves a forwarding "
        "entry, so old links work. Exemptions are not merged: the kept account's counts. All checks pass.",
        block="- customers.py: merge(kept, gone) with forwarding; exemption of the kept one counts",
    ),
    Task(
        words="the stock report is slow with 50,000 items",
        reads=("stock", "orders"),
        plan="I look at what the report asks for.",
        closing="The report asked for the open orders of each item one by one. It now asks once and groups "
        "them: from about 50,000 queries to two. Same output on the sample data; the checks pass.",
        block="- stock.py: report groups open orders, two queries instead of one an item",
    ),
    Task(
        words="Go over everything we changed today once more: anything inconsistent?",
        reads=("orders", "discount", "tax"),
        plan="I read the three files that belong together.",
        closing="One thing: the order rounded half up and the tax half even. Both are half even now. The "
        "rest fits together: four places until the order rounds, tax after the discount, digits by "
        "currency. All checks pass. Open: the back office has no field for exemptions.",
        block="- orders.py, tax.py: both round half even\n- open: field for exemptions in the back office",
    ),
)
"""What the user asks for, turn by turn."""
