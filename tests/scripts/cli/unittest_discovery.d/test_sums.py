import unittest


class Sums(unittest.TestCase):
    def test_one(self):
        self.assertEqual(1 + 1, 2)
