from cart import Cart
from prices import total_of, total_of_day
from receipt import receipt

cart = Cart()
cart.add(250)
cart.add(199)
assert cart.total() == 449
assert total_of([1, 2]) == 3
assert total_of_day([[1, 2], [3]]) == 6
assert receipt([250, 199]).endswith("= 4.49")
print("ok")
