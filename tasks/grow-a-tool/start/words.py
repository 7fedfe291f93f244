"""Count the words of a text file: python3 words.py [--lower] FILE"""

import argparse
import re
from collections import Counter


def count(text, lower=False):
    """Pairs of word and count, the most frequent first."""
    words = re.findall(r"[A-Za-z]+", text.lower() if lower else text)
    return sorted(Counter(words).items(), key=lambda pair: (-pair[1], pair[0]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--lower", action="store_true", help="count upper and lower case together")
    options = parser.parse_args()
    with open(options.file) as file:
        pairs = count(file.read(), lower=options.lower)
    for word, number in pairs:
        print(word, number)


if __name__ == "__main__":
    main()
