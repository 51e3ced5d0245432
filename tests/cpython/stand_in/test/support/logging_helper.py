"""Stand-in for test.support.logging_helper."""
import logging.handlers


class TestHandler(logging.handlers.BufferingHandler):
    def __init__(self, matcher):
        super().__init__(0)
        self.matcher = matcher

    def shouldFlush(self, record):
        return False

    def emit(self, record):
        self.format(record)
        self.buffer.append(record.__dict__)

    def matches(self, **kwargs):
        return any(self.matcher.matches(d, **kwargs) for d in self.buffer)
