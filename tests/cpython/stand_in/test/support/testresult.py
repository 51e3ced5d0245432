"""Stand-in for test.support.testresult."""
