from prices import total_of


class Cart:
    def __init__(self):
        self.prices = []

    def add(self, cents):
        self.prices.append(cents)

    def total(self):
        return total_of(self.prices)
