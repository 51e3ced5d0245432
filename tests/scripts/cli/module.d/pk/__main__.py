import sys

from pk.part import doubled

print(__name__, sys.argv[1:], doubled(21))
