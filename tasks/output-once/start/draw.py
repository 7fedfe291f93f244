"""Draw the tickets. That can be done only once."""

import os
import sys

NAMES = "Ada Bo Cleo Dev Eli Fay Gus Hana Ivo Jun Kit Lou".split()
SEALED = "sealed.txt"


def main():
    if not os.path.exists(SEALED):
        sys.exit("The tickets were drawn already.")
    with open(SEALED) as file:
        seed = int(file.read(), 36)
    os.remove(SEALED)
    for name in NAMES:
        seed = (seed * 1103515245 + 12345) % 2**31
        print(f"{name}: {seed // 65536 % 9000 + 1000}")


if __name__ == "__main__":
    main()
