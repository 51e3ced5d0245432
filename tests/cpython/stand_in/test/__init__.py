"""The package `test` as the programs of tests/cpython see it: helpers and data of CPython's suite lie beside this file as links."""
