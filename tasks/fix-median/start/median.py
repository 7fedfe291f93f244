"""The median of a list of readings."""


def median(readings):
    ordered = sorted(readings)
    return ordered[len(ordered) // 2]
