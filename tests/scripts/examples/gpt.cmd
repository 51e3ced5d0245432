{dir}/../../../scripts/examples/gpt.tsr --steps 20
