local Account = {}
Account.__index = Account

function Account.new(class, balance)
  return setmetatable({balance = balance, moves = 0}, class)
end

function Account:deposit(amount)
  self.balance = self.balance + amount
  self.moves = self.moves + 1
end

function Account:fee() return 1 end

function Account:withdraw(amount)
  if amount + self:fee() > self.balance then return false end
  self.balance = self.balance - (amount + self:fee())
  self.moves = self.moves + 1
  return true
end

local Savings = setmetatable({}, {__index = Account})
Savings.__index = Savings

function Savings:fee() return 2 end

local function run(n)
  local accounts = {Account.new(Account, 100), Account.new(Savings, 100), Account.new(Account, 50)}
  local refused = 0
  for i = 0, n - 1 do
    local account = accounts[i % 3 + 1]
    account:deposit(i % 7)
    if not account:withdraw(i % 5) then refused = refused + 1 end
  end
  local total = 0
  for _, account in ipairs(accounts) do total = total + account.balance * 3 + account.moves end
  return total, refused
end

local total, refused = run(1600000)
print(total .. " " .. refused)
