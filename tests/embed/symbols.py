"""symbols.py LIBRARY HEADER: the library shows each function of the header, under a version, and nothing besides."""
import re
import subprocess
import sys

library, header = sys.argv[1:]
text = re.sub(r'/\*.*?\*/', '', open(header).read(), flags=re.S)
declared = set(re.findall(r'TSR_API[^;]*?\b(tsr_\w+)\(', text))
table = subprocess.run(['nm', '-D', '--defined-only', library], capture_output=True, text=True, check=True).stdout
shown = {}
for line in table.splitlines():
    _, kind, name = line.split()
    if kind != 'A':  # the version itself
        shown[name.partition('@@')[0]] = name.partition('@@')[2]
wrong = [f'missing: {name}' for name in sorted(declared - shown.keys())]
wrong += [f'not in the header: {name}' for name in sorted(shown.keys() - declared)]
wrong += [f'without a version: {name}' for name, version in sorted(shown.items()) if not version.startswith('TESSERA_')]
print('\n'.join(wrong))
sys.exit(bool(wrong))
