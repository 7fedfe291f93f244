"""Prices in cents."""


def total_of(prices):
    return sum(prices)


def total_of_day(orders):
    return sum(total_of(order) for order in orders)
