"""The C interface from another language: through ctypes of CPython. `from_python.py LIBRARY`; status 0 when all was well."""
import ctypes
import sys

tsr = ctypes.CDLL(sys.argv[1])


class As(ctypes.Union):
    _fields_ = [('integer', ctypes.c_int64), ('real', ctypes.c_double), ('object', ctypes.c_void_p)]


class Value(ctypes.Structure):
    _fields_ = [('kind', ctypes.c_int32), ('reserved', ctypes.c_int32), ('as_', As)]


tsr.tsr_new.restype = ctypes.c_void_p
for name in ('tsr_eval', 'tsr_run', 'tsr_set_name'):
    getattr(tsr, name).restype = ctypes.c_bool
tsr.tsr_error_message.restype = ctypes.c_char_p
ALL = ctypes.c_size_t(-1)

interpreter = ctypes.c_void_p(tsr.tsr_new(None, None))
answer, error = Value(), ctypes.c_void_p()
assert tsr.tsr_eval(interpreter, b'sum(i * i for i in range(10))', ALL, ctypes.byref(answer), None)
assert (answer.kind, answer.as_.integer) == (2, 285), (answer.kind, answer.as_.integer)

FUNCTION = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(Value), ctypes.c_size_t,
                            ctypes.POINTER(Value))


@FUNCTION
def half(user, inside, arguments, count, result):
    result[0].kind = 3
    result[0].as_.real = arguments[0].as_.real / 2
    return True


function = Value()
assert tsr.tsr_make_function(interpreter, b'half(x: float)', b'', half, None, None, ctypes.byref(function), None)
assert tsr.tsr_set_name(interpreter, b'half', function, None)
assert tsr.tsr_eval(interpreter, b'half(5)', ALL, ctypes.byref(answer), None)
assert (answer.kind, answer.as_.real) == (3, 2.5)
assert not tsr.tsr_run(interpreter, b'1 / 0', ALL, None, None, ctypes.byref(error))
assert tsr.tsr_error_message(error) == b'division by zero'
tsr.tsr_error_free(error)
tsr.tsr_release_object(ctypes.c_void_p(function.as_.object))
tsr.tsr_free(interpreter)
