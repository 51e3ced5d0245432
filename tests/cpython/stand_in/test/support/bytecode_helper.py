"""Stand-in for test.support.bytecode_helper: programs that read CPython's bytecode do not count."""
import unittest


class BytecodeTestCase(unittest.TestCase):
    def setUp(self):
        self.skipTest("reads CPython's bytecode")
