{dir}/../../../scripts/examples/regression.tsr
