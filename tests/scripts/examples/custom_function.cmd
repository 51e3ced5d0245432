{dir}/../../../scripts/examples/custom_function.tsr
