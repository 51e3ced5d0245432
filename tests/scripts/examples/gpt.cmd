{dir}/../../../scripts/examples/gpt.tsr
