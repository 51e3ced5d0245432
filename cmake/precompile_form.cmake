# cmake -D HEADER=FILE -D FORM=NAME -D "COMPILE=COMPILER OPTION..." -D "INCLUDES=-IFOLDER..." -P: compiles a header to HEADER.gch/FORM. The form
# has this tree's path in it. The compiler's cache, which is to serve all trees, looks at FORM.sum instead: the text and the options.
separate_arguments(compile UNIX_COMMAND "${COMPILE}")
separate_arguments(includes UNIX_COMMAND "${INCLUDES}")
set(form ${HEADER}.gch/${FORM})
file(MAKE_DIRECTORY ${HEADER}.gch)
set(command ${compile} ${includes} -x c++-header ${HEADER})
execute_process(COMMAND ${command} -E -P OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${compile} -dumpfullversion OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
string(SHA256 sum "${version} ${COMPILE} ${text}")
file(WRITE ${form}.sum ${sum})
# g++ looks at all files of the folder, also while another target is compiled: the form is whole when it appears.
execute_process(COMMAND ${command} -o ${HEADER}.new COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${HEADER}.new ${form})
