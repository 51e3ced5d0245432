-uBEs -Xdev -X name=value -c 'import sys
print(sys.flags.dont_write_bytecode, sys.flags.ignore_environment, sys.flags.no_user_site, sys.flags.dev_mode, sys._xoptions)'
