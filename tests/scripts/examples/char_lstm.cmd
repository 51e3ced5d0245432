{dir}/../../../scripts/examples/char_lstm.tsr
