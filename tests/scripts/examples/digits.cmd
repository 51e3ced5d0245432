{dir}/../../../scripts/examples/digits.tsr
