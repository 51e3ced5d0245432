/* Tessera's C interface: what every host stands on, whatever its language. <tessera/tessera.h> is the same for C++.
 *
 *   tsr_interpreter* in = tsr_new(NULL, NULL);
 *   tsr_value answer;
 *   if (tsr_eval(in, "2 ** 0.5", SIZE_MAX, &answer, NULL)) printf("%g\n", answer.as.real);
 *   tsr_free(in);
 *
 * Stable: within a major version nothing here changes its meaning, its layout or goes away; a minor version only adds. A host
 * built against an older header of the same major version runs with this library.
 *
 * Who owns what. A tsr_value that a function hands back belongs to the caller, who gives it back with tsr_release; a
 * tsr_value that is handed in is only borrowed. None, bools, ints and floats stand in the value itself and need neither.
 * Tensors are counted alike: tsr_tensor_release. Whatever ends first, the interpreter or a value of it: a value that outlives
 * its interpreter is empty, every use of it but tsr_release is refused with an error.
 *
 * Failure. Functions that can fail answer false and, where `error` is not NULL, make a tsr_error there, which belongs to the
 * caller: tsr_error_free. Nothing else is written then, and nothing is thrown through C. NULL for an interpreter is one that
 * has ended; for a program, a task, a tensor or a name it is a mistake of the host's, as is a wrong kind of value: TSR_ERROR_USAGE.
 *
 * Threads. An interpreter and its values belong to one thread at a time, several interpreters may run on several threads;
 * tsr_cancel may be called from any thread, another call while a run is under way elsewhere is TSR_ERROR_USAGE. Tensors that no interpreter uses may be handed from thread to thread.
 *
 * Text is UTF-8. A size of SIZE_MAX says that it ends with a zero byte. */
#ifndef TESSERA_TESSERA_C_H
#define TESSERA_TESSERA_C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef TSR_API
#define TSR_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TSR_VERSION_MAJOR 0
#define TSR_VERSION_MINOR 2

/* Of the library that runs: major << 16 | minor. */
TSR_API uint32_t tsr_version(void);

typedef struct tsr_interpreter tsr_interpreter;
typedef struct tsr_object tsr_object;   /* a value of an interpreter that is kept */
typedef struct tsr_tensor tsr_tensor;   /* shape, strides, dtype and a share in the memory */
typedef struct tsr_program tsr_program; /* compiled code */
typedef struct tsr_task tsr_task;       /* a program that runs in pieces */
typedef struct tsr_error tsr_error;
typedef struct tsr_buffer tsr_buffer; /* where a callback writes what it answers */

/* --- errors ------------------------------------------------------------------------------------------------------- */

typedef enum tsr_error_kind {
  TSR_ERROR_SCRIPT = 1,    /* an exception that nobody in the script caught, or one of a tensor operation */
  TSR_ERROR_LIMIT = 2,     /* a limit of steps, time, memory or output ended the run */
  TSR_ERROR_CANCELLED = 3, /* tsr_cancel did */
  TSR_ERROR_USAGE = 4,     /* the host's mistake: a wrong kind of value, an interpreter that has ended */
} tsr_error_kind;

/* These take NULL too, for a failure with no memory left for its tsr_error: a MemoryError. */
TSR_API tsr_error_kind tsr_error_get_kind(const tsr_error* error);
TSR_API const char* tsr_error_class(const tsr_error* error);     /* "ValueError" */
TSR_API const char* tsr_error_message(const tsr_error* error);   /* str(e) */
TSR_API const char* tsr_error_traceback(const tsr_error* error); /* as the program `tsr` prints it, with its notes */
TSR_API void tsr_error_free(tsr_error* error);
/* Is it of that class, or of one that is derived from it: "LookupError". */
TSR_API bool tsr_error_is(const tsr_error* error, const char* class_name);
/* What stands below the message: notes of the script's (add_note) and of the library's. Texts live as long as the error. */
TSR_API size_t tsr_error_note_count(const tsr_error* error);
TSR_API const char* tsr_error_note(const tsr_error* error, size_t index);
/* The calls of the traceback, the innermost last. */
typedef struct tsr_line {
  const char* file;
  const char* function; /* "<module>" outside of functions */
  int64_t line;
} tsr_line;
TSR_API size_t tsr_error_line_count(const tsr_error* error);
TSR_API bool tsr_error_line(const tsr_error* error, size_t index, tsr_line* out);

/* --- interpreters ------------------------------------------------------------------------------------------------- */

/* What a script may do besides computing. */
enum {
  TSR_GRANT_FILES = 1,       /* read and write files, import them; below options.files_root when that is set */
  TSR_GRANT_CLOCK = 2,       /* know the time */
  TSR_GRANT_ENVIRONMENT = 4, /* environment variables, names of users, folders and machines, process numbers */
  TSR_GRANT_PROCESSES = 8,   /* start programs, send signals */
  TSR_GRANT_ENTROPY = 16,    /* random numbers that differ from run to run */
  TSR_GRANT_CODE = 32,       /* eval, exec, compile: programs that are made while the program runs */
  TSR_GRANT_NETWORK = 64,    /* sockets */
  TSR_GRANT_ALL = 127,
};

/* Zero everywhere is: no limit, nothing granted, nothing shown. */
typedef struct tsr_options {
  size_t size;                  /* sizeof(tsr_options); set by tsr_options_init */
  uint64_t memory_limit;        /* bytes of the script's objects, and as many of its tensors on the host */
  uint64_t device_memory_limit; /* bytes of its tensors on each other device */
  uint64_t step_limit;    /* of one run: backward jumps, calls, items, and about a microsecond of a kernel's work */
  double time_limit;      /* seconds of one run */
  uint64_t output_limit;  /* bytes printed over all runs */
  uint32_t call_depth;    /* of script functions; zero: 1000 */
  uint32_t open_files;    /* at the same time */
  uint32_t grants;        /* TSR_GRANT_... */
  uint32_t threads;       /* that the script may start beside its first, at the same time; zero: none */
  const char* files_root; /* NULL: no root, all that the process sees */
  void* user;             /* handed to the callbacks */
  void (*print)(void* user, const char* text, size_t size);
  void (*print_error)(void* user, const char* text, size_t size);
  void (*flush)(void* user);
  /* One line for input() or sys.stdin, with its newline; false at the end. */
  bool (*read_line)(void* user, tsr_buffer* line);
  /* The source text of a module that neither the host nor the library has; false: there is none. */
  bool (*import_source)(void* user, const char* name, tsr_buffer* source);
  /* NULL, or called with `user` when the callbacks will not be called again: the interpreter has ended, or was not made. */
  void (*drop)(void* user);
} tsr_options;

TSR_API void tsr_options_init(tsr_options* options, size_t size);
#define TSR_OPTIONS_INIT(options) tsr_options_init((options), sizeof(tsr_options))
TSR_API void tsr_buffer_write(tsr_buffer* buffer, const char* data, size_t size);

/* `options` may be NULL. */
TSR_API tsr_interpreter* tsr_new(const tsr_options* options, tsr_error** error);
/* Ends it: finalizers run, everything of it is freed. Inside of a function that a script of it has called: as soon as that
 * run has ended, which is cancelled. */
TSR_API void tsr_free(tsr_interpreter* in);
/* The pointer itself stays good, though the interpreter may end, until it is given back as often as it was shared: for
 * wrappers whose values may outlive their interpreter. */
TSR_API tsr_interpreter* tsr_share(tsr_interpreter* in);
TSR_API void tsr_unshare(tsr_interpreter* in);

/* From any thread, also a signal handler: the run that is under way ends within milliseconds with an exception that a script
 * cannot catch. Nothing happens where none is. */
TSR_API void tsr_cancel(tsr_interpreter* in);

/* For the runs from now on; zero: no limit. */
TSR_API void tsr_set_step_limit(tsr_interpreter* in, uint64_t steps);
TSR_API void tsr_set_time_limit(tsr_interpreter* in, double seconds);

typedef struct tsr_usage {
  size_t size;           /* sizeof(tsr_usage), set by the caller */
  uint64_t object_bytes; /* of the script's objects */
  uint64_t tensor_bytes; /* of its tensors on the host */
  uint64_t steps;        /* of the last run, or the one under way */
} tsr_usage;
TSR_API void tsr_get_usage(tsr_interpreter* in, tsr_usage* usage);

/* What a host keeps with an interpreter, found by `key`, which is compared and never read. `drop` (may be NULL) gets `data`
 * when other data takes its place or the interpreter has ended. NULL: there is none. */
TSR_API void tsr_set_data(tsr_interpreter* in, const void* key, void* data, void (*drop)(void* data));
TSR_API void* tsr_get_data(const tsr_interpreter* in, const void* key);

/* Forgets every name of the main module, after which what only they kept alive is gone. */
TSR_API bool tsr_clear(tsr_interpreter* in, tsr_error** error);
/* As torch.manual_seed and torch.set_num_threads. */
TSR_API bool tsr_seed(tsr_interpreter* in, uint64_t seed, tsr_error** error);
TSR_API bool tsr_set_threads(tsr_interpreter* in, int count, tsr_error** error);

/* --- values ------------------------------------------------------------------------------------------------------- */

typedef enum tsr_kind {
  TSR_NONE = 0,
  TSR_BOOL = 1,
  TSR_INT = 2,
  TSR_FLOAT = 3,
  TSR_OBJECT = 4, /* everything else: tsr_type_of says what */
} tsr_kind;

typedef struct tsr_value {
  int32_t kind;
  int32_t reserved; /* zero */
  union {
    int64_t integer; /* also a bool's 0 or 1 */
    double real;
    tsr_object* object;
  } as;
} tsr_value;

typedef enum tsr_type {
  TSR_TYPE_NONE = 0,
  TSR_TYPE_BOOL,
  TSR_TYPE_INT,
  TSR_TYPE_FLOAT,
  TSR_TYPE_COMPLEX,
  TSR_TYPE_STR,
  TSR_TYPE_BYTES,
  TSR_TYPE_LIST,
  TSR_TYPE_TUPLE,
  TSR_TYPE_DICT,
  TSR_TYPE_SET,
  TSR_TYPE_FUNCTION, /* of a script, of the library or of the host */
  TSR_TYPE_CLASS,
  TSR_TYPE_MODULE,
  TSR_TYPE_TENSOR,
  TSR_TYPE_HOST, /* an instance of a class of the host's */
  TSR_TYPE_OTHER,
} tsr_type;

static inline tsr_value tsr_none(void) {
  tsr_value value;
  value.kind = TSR_NONE, value.reserved = 0, value.as.integer = 0;
  return value;
}
static inline tsr_value tsr_bool(bool x) {
  tsr_value value;
  value.kind = TSR_BOOL, value.reserved = 0, value.as.integer = x ? 1 : 0;
  return value;
}
static inline tsr_value tsr_int(int64_t x) {
  tsr_value value;
  value.kind = TSR_INT, value.reserved = 0, value.as.integer = x;
  return value;
}
static inline tsr_value tsr_float(double x) {
  tsr_value value;
  value.kind = TSR_FLOAT, value.reserved = 0, value.as.real = x;
  return value;
}

/* One more share of what the value refers to; the same value. */
TSR_API tsr_value tsr_retain(tsr_value value);
TSR_API void tsr_release_object(tsr_object* object);
static inline void tsr_release(tsr_value value) {
  if (value.kind == TSR_OBJECT) tsr_release_object(value.as.object);
}

TSR_API tsr_type tsr_type_of(tsr_value value);
/* The name of its class; lives as long as the class. */
TSR_API const char* tsr_type_name(tsr_value value);

/* The exception that the error was made of, as long as the interpreter has told of no later one; else None. */
TSR_API bool tsr_error_exception(tsr_interpreter* in, const tsr_error* told, tsr_value* out, tsr_error** error);

/* Make a value. Items, keys and values are borrowed. */
TSR_API bool tsr_str(tsr_interpreter* in, const char* text, size_t size, tsr_value* out, tsr_error** error);
TSR_API bool tsr_bytes(tsr_interpreter* in, const void* data, size_t size, tsr_value* out, tsr_error** error);
TSR_API bool tsr_complex(tsr_interpreter* in, double real, double imaginary, tsr_value* out, tsr_error** error);
TSR_API bool tsr_list(tsr_interpreter* in, const tsr_value* items, size_t count, tsr_value* out, tsr_error** error);
TSR_API bool tsr_tuple(tsr_interpreter* in, const tsr_value* items, size_t count, tsr_value* out, tsr_error** error);
TSR_API bool tsr_set(tsr_interpreter* in, const tsr_value* items, size_t count, tsr_value* out, tsr_error** error);
TSR_API bool tsr_dict(tsr_interpreter* in, const tsr_value* keys, const tsr_value* values, size_t count, tsr_value* out,
                      tsr_error** error);

/* Read a value. The text or bytes of a str or bytes lie there as long as the value lives; a text ends with a zero byte. */
TSR_API bool tsr_as_bool(tsr_interpreter* in, tsr_value value, bool* out, tsr_error** error); /* its truth */
TSR_API bool tsr_as_int(tsr_interpreter* in, tsr_value value, int64_t* out,
                        tsr_error** error); /* int, bool, __index__ */
TSR_API bool tsr_as_float(tsr_interpreter* in, tsr_value value, double* out,
                          tsr_error** error); /* float, int, __float__ */
TSR_API bool tsr_as_complex(tsr_interpreter* in, tsr_value value, double out[2], tsr_error** error);
TSR_API bool tsr_as_text(tsr_interpreter* in, tsr_value value, const char** data, size_t* size, tsr_error** error);
TSR_API bool tsr_as_bytes(tsr_interpreter* in, tsr_value value, const void** data, size_t* size, tsr_error** error);

/* What the language does with values; strings are new values. */
TSR_API bool tsr_to_str(tsr_interpreter* in, tsr_value value, tsr_value* out, tsr_error** error);
TSR_API bool tsr_repr(tsr_interpreter* in, tsr_value value, tsr_value* out, tsr_error** error);
TSR_API bool tsr_equal(tsr_interpreter* in, tsr_value a, tsr_value b, bool* out, tsr_error** error);
TSR_API bool tsr_is_instance(tsr_interpreter* in, tsr_value value, tsr_value type, bool* out, tsr_error** error);
TSR_API bool tsr_length(tsr_interpreter* in, tsr_value value, int64_t* out, tsr_error** error);
TSR_API bool tsr_get_attribute(tsr_interpreter* in, tsr_value object, const char* name, tsr_value* out,
                               tsr_error** error);
TSR_API bool tsr_set_attribute(tsr_interpreter* in, tsr_value object, const char* name, tsr_value value,
                               tsr_error** error);
TSR_API bool tsr_get_item(tsr_interpreter* in, tsr_value object, tsr_value key, tsr_value* out, tsr_error** error);
TSR_API bool tsr_set_item(tsr_interpreter* in, tsr_value object, tsr_value key, tsr_value value, tsr_error** error);
TSR_API bool tsr_delete_item(tsr_interpreter* in, tsr_value object, tsr_value key, tsr_error** error);
TSR_API bool tsr_iterator(tsr_interpreter* in, tsr_value iterable, tsr_value* out, tsr_error** error);
/* The next item, and `*more` true; at the end `*more` false and no item. */
TSR_API bool tsr_next(tsr_interpreter* in, tsr_value iterator, tsr_value* out, bool* more, tsr_error** error);
/* The last `keyword_count` of the arguments belong to the keywords. */
TSR_API bool tsr_call(tsr_interpreter* in, tsr_value callee, const tsr_value* arguments, size_t count,
                      const char* const* keywords, size_t keyword_count, tsr_value* out, tsr_error** error);

/* --- running ------------------------------------------------------------------------------------------------------ */

/* Statements, in the main module; `*out` (may be NULL) becomes the value of a last bare expression, or None. `name` is what
 * tracebacks call the text; NULL: "<host>". */
TSR_API bool tsr_run(tsr_interpreter* in, const char* code, size_t size, const char* name, tsr_value* out,
                     tsr_error** error);
/* One expression. */
TSR_API bool tsr_eval(tsr_interpreter* in, const char* code, size_t size, tsr_value* out, tsr_error** error);
/* A file, read by the host's right, not the script's, as `tsr FILE ARGUMENTS` runs it: sys.argv, `__name__ == '__main__'`. */
TSR_API bool tsr_run_file(tsr_interpreter* in, const char* path, const char* const* arguments, size_t count,
                          tsr_error** error);

typedef enum tsr_mode {
  TSR_STATEMENTS = 0, /* as tsr_run */
  TSR_EXPRESSION = 1, /* as tsr_eval */
} tsr_mode;

/* Compiled once, run often. */
TSR_API bool tsr_compile(tsr_interpreter* in, const char* code, size_t size, const char* name, tsr_mode mode,
                         tsr_program** out, tsr_error** error);
TSR_API bool tsr_program_run(tsr_program* program, tsr_value* out, tsr_error** error);
TSR_API void tsr_program_free(tsr_program* program);

/* A program that runs a little at a time and goes on where it stopped: a frame of a game, a tick of a robot. Between the
 * pieces the host may use the interpreter as it likes; of several tasks the one begun last has to end first. A piece ends at
 * the first backward jump or call of the script after `seconds`; natives and host functions that are under way come to their end. Each
 * piece is a run of its own for the limits. */
TSR_API bool tsr_task_start(tsr_program* program, tsr_task** out, tsr_error** error);
/* Resumed after its end, while it runs, or before one that was begun later has ended: TSR_ERROR_USAGE.
 * `*done` true: the program has ended, and `*out` (may be NULL) is its value. */
TSR_API bool tsr_task_run_for(tsr_task* task, double seconds, bool* done, tsr_value* out, tsr_error** error);
/* One that has not ended is given up: no `finally` of it runs. One that is running is when its piece has ended. */
TSR_API void tsr_task_free(tsr_task* task);

/* What a prompt needs. */
typedef enum tsr_completeness { TSR_COMPLETE = 0, TSR_INCOMPLETE = 1, TSR_INVALID = 2 } tsr_completeness;
TSR_API tsr_completeness tsr_is_complete(tsr_interpreter* in, const char* code, size_t size);
/* Calls `found` for each word that may stand at the end of `code` in the place of the one that has begun there: "torch.lin" finds
 * "linspace" and its like, "f(wid" the argument "width=", "d['o" the keys, "import tor" modules. Runs nothing of the script's. */
TSR_API bool tsr_complete(tsr_interpreter* in, const char* code, size_t size,
                          void (*found)(void* user, const char* name, size_t size), void* user, tsr_error** error);
/* What help(value) prints. */
TSR_API bool tsr_help(tsr_interpreter* in, tsr_value value, tsr_value* out, tsr_error** error);

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Of the main module. */
TSR_API bool tsr_get_name(tsr_interpreter* in, const char* name, tsr_value* out, tsr_error** error);
TSR_API bool tsr_set_name(tsr_interpreter* in, const char* name, tsr_value value, tsr_error** error);
TSR_API bool tsr_has_name(tsr_interpreter* in, const char* name);
TSR_API bool tsr_delete_name(tsr_interpreter* in, const char* name, tsr_error** error);
/* A module that scripts may import by that name; the same one each time. Its names are set as attributes. */
TSR_API bool tsr_module(tsr_interpreter* in, const char* name, const char* doc, tsr_value* out, tsr_error** error);
/* As the statement `import name`; the module of that whole name. */
TSR_API bool tsr_import(tsr_interpreter* in, const char* name, tsr_value* out, tsr_error** error);

/* --- functions of the host ---------------------------------------------------------------------------------------- */

/* Arguments come one for each parameter of the signature, defaults filled in, borrowed; `*result` (None at first) is given
 * away. False after tsr_raise or tsr_raise_error: the script gets that exception. */
typedef bool (*tsr_function)(void* user, tsr_interpreter* in, const tsr_value* arguments, size_t count,
                             tsr_value* result);
typedef void (*tsr_drop)(void* user);

/* Only in a function that a script has called, before it answers false. `class_name` is a builtin exception's, one's of the
 * main module, or "module.Class". */
TSR_API void tsr_raise(tsr_interpreter* in, const char* class_name, const char* message);
/* An exception, or a class of exceptions. */
TSR_API void tsr_raise_value(tsr_interpreter* in, tsr_value exception);
/* The same exception that the error was made of goes on into the script. The error stays the caller's. */
TSR_API void tsr_raise_error(tsr_interpreter* in, const tsr_error* error);

/* "scale(x: Tensor, k: float = 2.0) -> Tensor": names, defaults, checks, keywords and help come from the signature, which is
 * what stands between `def` and `:` in the language. `*rest` comes as a tuple, `**named` as a dict. Types are int, float, str, bool,
 * complex, bytes, list, tuple, dict, set, callable, object, Tensor, those of the library and the script, and classes of the host's;
 * with `|`, brackets, and in quotes where the class is yet to come. Defaults are literals. What is not so is refused,
 * TSR_ERROR_USAGE, with the place underlined. `drop` (may be NULL) is called with `user` when the function has
 * ended, or cannot be made. */
TSR_API bool tsr_make_function(tsr_interpreter* in, const char* signature, const char* doc, tsr_function function,
                               void* user, tsr_drop drop, tsr_value* out, tsr_error** error);
/* How many parameters the function of a value has that was made so. */
TSR_API size_t tsr_parameter_count(tsr_value function);
/* Does its signature fit the function behind it? types[0] is what that answers ("float", "list | None"), the others are what
 * it takes for each parameter; "": whatever. TSR_ERROR_USAGE says what does not fit. */
TSR_API bool tsr_check_types(tsr_interpreter* in, tsr_value function, const char* const* types, size_t count,
                             tsr_error** error);

/* A class of the host's. Its instances each carry one pointer. `tag` tells classes apart for tsr_pointer; it is compared,
 * never read. */
TSR_API bool tsr_make_class(tsr_interpreter* in, const char* name, const char* doc, const void* tag, tsr_value* out,
                            tsr_error** error);
/* The class that was made last with that tag; None: there is none. */
TSR_API bool tsr_find_class(tsr_interpreter* in, const void* tag, tsr_value* out, tsr_error** error);
/* Signatures name `self` first; arguments[0] is it. "__init__(self, x: float)" makes instances: its function puts the pointer
 * in place with tsr_set_pointer. Without one only the host makes instances. Other special methods (__len__, __add__,
 * __repr__ ...) do what they do in a class of a script. */
TSR_API bool tsr_add_method(tsr_interpreter* in, tsr_value class_, const char* signature, const char* doc,
                            tsr_function function, void* user, tsr_drop drop, tsr_error** error);
/* `set` NULL: it cannot be written. The getter gets self, the setter self and the value. */
TSR_API bool tsr_add_property(tsr_interpreter* in, tsr_value class_, const char* name, const char* doc,
                              tsr_function get, tsr_function set, void* user, tsr_drop drop, tsr_error** error);
TSR_API bool tsr_make_instance(tsr_interpreter* in, tsr_value class_, void* pointer, tsr_drop drop, tsr_value* out,
                               tsr_error** error);
TSR_API bool tsr_set_pointer(tsr_value instance, void* pointer, tsr_drop drop);
/* The same where something else keeps the object behind the pointer: `drop` gets that `owner`. Several instances may share
 * one object; they are equal, and have one hash. */
TSR_API bool tsr_make_owned_instance(tsr_interpreter* in, tsr_value class_, void* pointer, void* owner, tsr_drop drop,
                                     tsr_value* out, tsr_error** error);
TSR_API bool tsr_set_owned_pointer(tsr_value instance, void* pointer, void* owner, tsr_drop drop);
/* The owner, where the instance was made with that tag and that drop; else NULL. */
TSR_API void* tsr_owner(tsr_value instance, const void* tag, tsr_drop drop);
/* NULL where the value is no instance of a class made with that tag, or holds no pointer. */
TSR_API void* tsr_pointer(tsr_value instance, const void* tag);

/* --- tensors ------------------------------------------------------------------------------------------------------ */

typedef enum tsr_dtype {
  TSR_DTYPE_BOOL = 0,
  TSR_DTYPE_UINT8 = 1,
  TSR_DTYPE_INT8 = 2,
  TSR_DTYPE_INT16 = 3,
  TSR_DTYPE_INT32 = 4,
  TSR_DTYPE_INT64 = 5,
  TSR_DTYPE_UINT16 = 6,
  TSR_DTYPE_UINT32 = 7,
  TSR_DTYPE_UINT64 = 8,
  TSR_DTYPE_FLOAT16 = 9,
  TSR_DTYPE_BFLOAT16 = 10,
  TSR_DTYPE_FLOAT32 = 11,
  TSR_DTYPE_FLOAT64 = 12,
  TSR_DTYPE_COMPLEX64 = 13,
  TSR_DTYPE_COMPLEX128 = 14,
  TSR_DTYPE_FLOAT8_E4M3FN = 15,
  TSR_DTYPE_FLOAT8_E5M2 = 16,
  TSR_DTYPE_FLOAT8_E4M3FNUZ = 17,
  TSR_DTYPE_FLOAT8_E5M2FNUZ = 18,
  TSR_DTYPE_COMPLEX32 = 19,
  TSR_DTYPE_BCOMPLEX32 = 20,
  /* These cannot be read or computed with; their bytes hold parts of numbers, or several. */
  TSR_DTYPE_UINT1 = 21,
  TSR_DTYPE_UINT2 = 22,
  TSR_DTYPE_UINT3 = 23,
  TSR_DTYPE_UINT4 = 24,
  TSR_DTYPE_UINT5 = 25,
  TSR_DTYPE_UINT6 = 26,
  TSR_DTYPE_UINT7 = 27,
  TSR_DTYPE_INT1 = 28,
  TSR_DTYPE_INT2 = 29,
  TSR_DTYPE_INT3 = 30,
  TSR_DTYPE_INT4 = 31,
  TSR_DTYPE_INT5 = 32,
  TSR_DTYPE_INT6 = 33,
  TSR_DTYPE_INT7 = 34,
  TSR_DTYPE_FLOAT4_E2M1FN_X2 = 35,
  TSR_DTYPE_BITS1X8 = 36,
  TSR_DTYPE_BITS2X4 = 37,
  TSR_DTYPE_BITS4X2 = 38,
  TSR_DTYPE_BITS8 = 39,
  TSR_DTYPE_BITS16 = 40,
  TSR_DTYPE_QINT8 = 41,
  TSR_DTYPE_QUINT8 = 42,
  TSR_DTYPE_QINT32 = 43,
  TSR_DTYPE_QUINT4X2 = 44,
  TSR_DTYPE_QUINT2X4 = 45,
  TSR_DTYPE_FLOAT8_E8M0FNU = 46,
  TSR_DTYPE_SAME = -1, /* for tsr_tensor_to: the tensor's own */
} tsr_dtype;

/* Zeros, row-major, on the host. */
TSR_API bool tsr_tensor_new(const int64_t* sizes, size_t dims, tsr_dtype dtype, tsr_tensor** out, tsr_error** error);
/* Memory of the host's, shared: nothing is copied. `strides` are in elements, NULL: row-major. The memory has to stay until
 * `drop(user)` is called, when the last tensor on it (of the host or of a script) is gone; without `drop`, as long as the
 * process may use it. drop may be called on any thread that lets a tensor go, and is not called when no tensor is made. It must
 * not throw, as no `drop` of this header: nobody is there to catch it, and the process ends (std::terminate). */
TSR_API bool tsr_tensor_from_blob(void* data, const int64_t* sizes, const int64_t* strides, size_t dims,
                                  tsr_dtype dtype, tsr_drop drop, void* user, tsr_tensor** out, tsr_error** error);
TSR_API tsr_tensor* tsr_tensor_retain(tsr_tensor* tensor);
TSR_API void tsr_tensor_release(tsr_tensor* tensor);

TSR_API size_t tsr_tensor_dims(const tsr_tensor* tensor);
TSR_API const int64_t* tsr_tensor_sizes(const tsr_tensor* tensor);   /* as long as the tensor lives */
TSR_API const int64_t* tsr_tensor_strides(const tsr_tensor* tensor); /* in elements */
TSR_API int64_t tsr_tensor_numel(const tsr_tensor* tensor);
TSR_API tsr_dtype tsr_tensor_dtype(const tsr_tensor* tensor);
TSR_API bool tsr_tensor_on_host(const tsr_tensor* tensor);
TSR_API bool tsr_tensor_is_contiguous(const tsr_tensor* tensor);
/* The address of element [0, 0, ...]; scripts that hold the tensor see what is written there. */
TSR_API void* tsr_tensor_data(tsr_tensor* tensor);

/* Into a script and out of one: the same tensor, the same memory. */
TSR_API bool tsr_from_tensor(tsr_interpreter* in, tsr_tensor* tensor, tsr_value* out, tsr_error** error);
TSR_API bool tsr_as_tensor(tsr_interpreter* in, tsr_value value, tsr_tensor** out, tsr_error** error);

/* An argument of an operation; `name` NULL: by position. */
typedef enum tsr_argument_kind {
  TSR_ARG_NONE = 0,
  TSR_ARG_BOOL,
  TSR_ARG_INT,
  TSR_ARG_FLOAT,
  TSR_ARG_TENSOR,
  TSR_ARG_TENSORS, /* count of them */
  TSR_ARG_INTS,
  TSR_ARG_FLOATS,
  TSR_ARG_DTYPE, /* in as.integer */
  TSR_ARG_TEXT,
} tsr_argument_kind;

typedef struct tsr_argument {
  int32_t kind;
  int32_t reserved; /* zero */
  const char* name;
  size_t count;
  union {
    int64_t integer;
    double real;
    tsr_tensor* tensor;
    tsr_tensor* const* tensors;
    const int64_t* integers;
    const double* reals;
    const char* text;
  } as;
} tsr_argument;

/* An operation by PyTorch's name ("softmax", "matmul", "add_"), without an interpreter. Its results (all of them tensors)
 * come to `out`, which has room for `*count`; afterwards `*count` is how many there are. */
TSR_API bool tsr_op(const char* name, const tsr_argument* arguments, size_t argument_count, tsr_tensor** out,
                    size_t* count, tsr_error** error);
/* The one element as a number; as an integer only where it is whole. */
TSR_API bool tsr_tensor_item(tsr_tensor* tensor, double* out, tsr_error** error);
TSR_API bool tsr_tensor_item_int(tsr_tensor* tensor, int64_t* out, tsr_error** error);
TSR_API bool tsr_tensor_item_complex(tsr_tensor* tensor, double out[2], tsr_error** error);
/* With another dtype (or TSR_DTYPE_SAME), on another device ("cuda:0"; NULL: the same); the same tensor where that changes
 * nothing. Gradients flow through it. */
TSR_API bool tsr_tensor_to(tsr_tensor* tensor, tsr_dtype dtype, const char* device, tsr_tensor** out,
                           tsr_error** error);
/* "cpu", "cuda:0", for tsr_text_free. */
TSR_API bool tsr_tensor_device(const tsr_tensor* tensor, char** out, tsr_error** error);
TSR_API bool tsr_tensor_set_requires_grad(tsr_tensor* tensor, bool requires_grad, tsr_error** error);
TSR_API bool tsr_tensor_requires_grad(const tsr_tensor* tensor);
/* d(tensor)/d(leaves) is added to the leaves' gradients. */
TSR_API bool tsr_tensor_backward(tsr_tensor* tensor, tsr_error** error);
/* NULL in `*out`: there is none. */
TSR_API bool tsr_tensor_grad(tsr_tensor* tensor, tsr_tensor** out, tsr_error** error);
TSR_API bool tsr_tensor_clear_grad(tsr_tensor* tensor, tsr_error** error);
/* Whether operations of this thread outside of interpreters record gradients; answers what was set before. */
TSR_API bool tsr_set_grad_enabled(bool enabled);
/* As print() shows it, in a new block of memory: tsr_text_free. */
TSR_API bool tsr_tensor_text(tsr_tensor* tensor, char** out, tsr_error** error);
TSR_API void tsr_text_free(char* text);

/* --- DLPack: tensors of other libraries, without copies ----------------------------------------------------------- */

/* Declared by <dlpack/dlpack.h> (github.com/dmlc/dlpack), which a host includes for itself. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* Takes the tensor over: its deleter is called when the last tensor on that memory is gone. On failure it stays the caller's. */
TSR_API bool tsr_tensor_from_dlpack(struct DLManagedTensor* managed, tsr_tensor** out, tsr_error** error);
TSR_API bool tsr_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned* managed, tsr_tensor** out,
                                              tsr_error** error);
/* A share in the tensor's memory, which the receiver gives back by calling its deleter. */
TSR_API bool tsr_tensor_to_dlpack(tsr_tensor* tensor, struct DLManagedTensor** out, tsr_error** error);
TSR_API bool tsr_tensor_to_dlpack_versioned(tsr_tensor* tensor, struct DLManagedTensorVersioned** out,
                                            tsr_error** error);

#ifdef __cplusplus
}
#endif

#endif
