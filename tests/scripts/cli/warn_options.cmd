-W ignore -W error::FutureWarning -c 'import sys, warnings
print(sys.warnoptions)
warnings.warn("not seen")
try:
    warnings.warn("seen", FutureWarning)
except FutureWarning as e:
    print(repr(e))'
