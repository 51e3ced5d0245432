-O -c 'assert False
print(__debug__)'
