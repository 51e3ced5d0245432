{dir}/../../../scripts/examples/loader_workers.tsr
