{dir}/../../../scripts/examples/vae.tsr
