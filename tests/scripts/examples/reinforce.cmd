{dir}/../../../scripts/examples/reinforce.tsr
