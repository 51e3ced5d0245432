# Method calls and attributes: a bank of counters with inheritance.
class Account:
    def __init__(self, balance):
        self.balance = balance
        self.moves = 0

    def deposit(self, amount):
        self.balance += amount
        self.moves += 1

    def fee(self):
        return 1

    def withdraw(self, amount):
        if amount + self.fee() > self.balance:
            return False
        self.balance -= amount + self.fee()
        self.moves += 1
        return True


class Savings(Account):
    def fee(self):
        return 2


def run(n):
    accounts = [Account(100), Savings(100), Account(50)]
    refused = 0
    for i in range(n):
        account = accounts[i % 3]
        account.deposit(i % 7)
        if not account.withdraw(i % 5):
            refused += 1
    total = 0
    for account in accounts:
        total += account.balance * 3 + account.moves
    return total, refused


print(*run(1600000))
