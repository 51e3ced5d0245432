{dir}/../../../scripts/examples/digits_conv.tsr
