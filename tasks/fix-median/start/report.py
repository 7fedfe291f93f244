"""Print the median of readings.txt."""

from median import median


def read(path):
    with open(path) as file:
        return [float(line) for line in file if line.strip()]


if __name__ == "__main__":
    print("median:", median(read("readings.txt")))
