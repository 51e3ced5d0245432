"""Stand-in for test.support.socket_helper."""
import contextlib
import socket
import tempfile
import unittest
import os

HOST = "localhost"
HOSTv4 = "127.0.0.1"
HOSTv6 = "::1"
IPV6_ENABLED = False
has_gethostname = True
skip_unless_bind_unix_socket = lambda test: test


def find_unused_port(family=socket.AF_INET, socktype=socket.SOCK_STREAM):
    with socket.socket(family, socktype) as made:
        return bind_port(made)


def bind_port(sock, host=HOST):
    sock.bind((host, 0))
    return sock.getsockname()[1]


def bind_unix_socket(sock, addr):
    sock.bind(addr)


def get_socket_conn_refused_errs():
    import errno
    return [errno.ECONNREFUSED]


@contextlib.contextmanager
def transient_internet(resource_name, *, timeout=30, errnos=()):
    raise unittest.SkipTest("no network")
    yield


def create_unix_domain_name():
    return tempfile.mktemp(prefix="test_python_", suffix=".sock", dir=os.path.curdir)


def skip_if_tcp_blackhole(test):
    return test
