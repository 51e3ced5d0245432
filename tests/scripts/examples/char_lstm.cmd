{dir}/../../../scripts/examples/char_lstm.tsr --steps 30
