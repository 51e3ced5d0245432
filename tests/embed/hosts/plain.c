/* A host in C: values, a function of its own, an error, a tensor on its memory. Status 0 when all was as it should be. */
#include <stdio.h>
#include <string.h>
#include <tessera/tessera_c.h>

static bool add(void* user, tsr_interpreter* in, const tsr_value* arguments, size_t count, tsr_value* result) {
  (void)user;
  if (count != 2 || arguments[0].kind != TSR_INT) {
    tsr_raise(in, "TypeError", "add() takes ints");
    return false;
  }
  *result = tsr_int(arguments[0].as.integer + arguments[1].as.integer);
  return true;
}

int main(void) {
  tsr_options options;
  TSR_OPTIONS_INIT(&options);
  options.memory_limit = 64u << 20;
  tsr_interpreter* in = tsr_new(&options, NULL);
  tsr_value function, answer;
  tsr_error* error = NULL;
  int failures = 0;
  if (!tsr_make_function(in, "add(a, b)", "Add.", add, NULL, NULL, &function, &error)) return 1;
  failures += !tsr_set_name(in, "add", function, NULL);
  tsr_release(function);
  failures += !tsr_eval(in, "add(2, b=40)", SIZE_MAX, &answer, NULL) || answer.as.integer != 42;
  failures += tsr_eval(in, "add('x', 1)", SIZE_MAX, &answer, &error);
  failures += strcmp(tsr_error_class(error), "TypeError") != 0 || tsr_error_get_kind(error) != TSR_ERROR_SCRIPT;
  tsr_error_free(error);

  float data[4] = {1, 2, 3, 4};
  const int64_t sizes[2] = {2, 2};
  tsr_tensor *x, *sum;
  size_t count = 1;
  failures += !tsr_tensor_from_blob(data, sizes, NULL, 2, TSR_DTYPE_FLOAT32, NULL, NULL, &x, NULL);
  tsr_value value;
  failures += !tsr_from_tensor(in, x, &value, NULL) || !tsr_set_name(in, "x", value, NULL);
  tsr_release(value);
  failures += !tsr_run(in, "x *= 10", SIZE_MAX, NULL, NULL, NULL) || data[3] != 40;
  tsr_argument argument = {TSR_ARG_TENSOR, 0, NULL, 0, {0}};
  argument.as.tensor = x;
  double item = 0;
  failures += !tsr_op("sum", &argument, 1, &sum, &count, NULL) || !tsr_tensor_item(sum, &item, NULL) || item != 100;
  tsr_tensor_release(sum);
  tsr_value kept;
  failures += !tsr_eval(in, "[1, 2]", SIZE_MAX, &kept, NULL) || tsr_type_of(kept) != TSR_TYPE_LIST;
  tsr_share(in);
  tsr_free(in);
  failures += tsr_repr(in, kept, &answer, &error) || tsr_error_get_kind(error) != TSR_ERROR_USAGE;
  tsr_error_free(error);
  tsr_release(kept);
  tsr_unshare(in);
  tsr_tensor_release(x);
  if (failures) printf("%d failures\n", failures);
  return failures;
}
