import sys
import beside
print(__name__, sys.path[0], beside.x)
