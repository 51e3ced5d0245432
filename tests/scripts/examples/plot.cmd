{dir}/../../../scripts/examples/plot.tsr
