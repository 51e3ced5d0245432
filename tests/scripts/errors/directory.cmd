{dir}/csv_ragged.d
