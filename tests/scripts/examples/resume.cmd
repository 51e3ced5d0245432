{dir}/../../../scripts/examples/resume.tsr
