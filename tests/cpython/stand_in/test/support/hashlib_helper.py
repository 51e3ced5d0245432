"""Stand-in for test.support.hashlib_helper."""
import hashlib
import unittest


def requires_hashdigest(digestname, openssl=None, usedforsecurity=True):
    return unittest.skipUnless(digestname in hashlib.algorithms_available, "hash digest %r is not available" % digestname)
