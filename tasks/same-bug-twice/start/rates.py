"""Read rates.txt."""


def discounts(path="rates.txt"):
    """Pairs of number and percent, the smallest number first."""
    pairs = []
    with open(path) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                number, percent = line.split()
                pairs.append((int(number), int(percent)))
    return sorted(pairs)
