import prices


def receipt(order):
    lines = [f"{cents / 100:.2f}" for cents in order]
    return "\n".join([*lines, f"= {prices.total_of(order) / 100:.2f}"])
