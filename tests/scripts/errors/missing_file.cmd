no_such_file.tsr
