"""Print what a parcel costs: python3 ship.py "40 books to Bern" """

import sys

from pricing import price

count, _, _, town = sys.argv[1].split()
print(f"{price(int(count), town) / 100:.2f}")
