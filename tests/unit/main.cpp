// The entry point of all unit tests, in a file of its own: doctest's implementation takes seconds to compile.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
