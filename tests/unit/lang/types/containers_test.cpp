// The tables below lists, dicts, sets and strings, where a script would not see a mistake at once.
#include "doctest/doctest.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

using namespace tessera::lang;

TEST_CASE("a dict keeps the order of insertion through growth and deletion") {
  Interpreter in;
  Value holder = make_dict(in);
  Dict* d = as_dict(holder);
  for (int i = 0; i < 1000; ++i) dict_set(in, d, Value::integer(i), Value::integer(i * i));
  for (int i = 0; i < 1000; i += 2) CHECK(dict_delete(in, d, Value::integer(i)));
  CHECK(d->count == 500);
  int64_t expected = 1;
  dict_for_each(d, [&](const Value& key, const Value& value) {
    CHECK(key.as_int() == expected);
    CHECK(value.as_int() == expected * expected);
    expected += 2;
  });
  CHECK(dict_get(in, d, Value::real(501.0)) != nullptr);
  CHECK(dict_get(in, d, Value::integer(500)) == nullptr);
}

TEST_CASE("an entry's number stays good while its key stays") {
  Interpreter in;
  Value holder = make_dict(in);
  Dict* d = as_dict(holder);
  Str* name = intern(in, "name");
  dict_set_str(in, d, intern(in, "first"), Value::integer(0));
  dict_set_str(in, d, name, Value::integer(1));
  const int32_t at = dict_find_str(d, name);
  const uint32_t version = d->keys_version;
  dict_set_str(in, d, name, Value::integer(2));
  CHECK(d->keys_version == version);
  CHECK(dict_entry_is(d, static_cast<uint32_t>(at), name));
  dict_delete_str(in, d, name);
  CHECK(d->keys_version != version);
  CHECK_FALSE(dict_entry_is(d, static_cast<uint32_t>(at), name));
}

TEST_CASE("1, 1.0 and True are one key") {
  Interpreter in;
  Value holder = make_dict(in);
  dict_set(in, as_dict(holder), Value::integer(1), Value::integer(10));
  dict_set(in, as_dict(holder), Value::real(1.0), Value::integer(20));
  dict_set(in, as_dict(holder), Value::boolean(true), Value::integer(30));
  CHECK(as_dict(holder)->count == 1);
  CHECK(dict_get(in, as_dict(holder), Value::integer(1))->as_int() == 30);
}

TEST_CASE("a string grows in place when nobody else holds it") {
  Interpreter in;
  Value s = make_str(in, std::string(200, 'x'));
  const Value tail = make_str(in, "yy");
  s = str_concat(in, std::move(s), as_str(tail));
  Object* const object = s.as_object();
  for (int i = 0; i < 50; ++i) s = str_concat(in, std::move(s), as_str(make_str(in, "\xc3\xa9")));
  CHECK(s.as_object() == object);
  CHECK(as_str(s)->length == 252);
  CHECK(as_str(s)->size == 302);
  const Value shared = s;
  Value longer = str_concat(in, Value(s), as_str(make_str(in, "z")));
  CHECK(longer.as_object() != s.as_object());
  CHECK(as_str(shared)->length == 252);
}

TEST_CASE("positions of strings that are not ASCII") {
  Interpreter in;
  std::string text;
  for (int i = 0; i < 100; ++i) text += i % 3 == 0 ? "a" : i % 3 == 1 ? "\xc3\xa9" : "\xf0\x9f\x98\x80";
  const Value s = make_str(in, text);
  for (uint32_t i = 0; i <= 100; ++i) CHECK(char_index(as_str(s), byte_offset(in, as_str(s), i)) == i);
  CHECK(as_str(str_slice(in, as_str(s), 50, 53))->length == 3);
}

TEST_CASE("one-character strings and interned strings are shared") {
  Interpreter in;
  CHECK(make_str(in, "a").is(char_str(in, 'a')));
  CHECK(intern(in, "word") == intern(in, "word"));
  CHECK(intern(in, "word") != intern(in, "words"));
}

TEST_CASE("a set survives removal and growth") {
  Interpreter in;
  const Value holder = make_set(in);
  for (int i = 0; i < 500; ++i) CHECK(set_add(in, as_set(holder), Value::integer(i * 37)));
  for (int i = 0; i < 500; i += 3) CHECK(set_discard(in, as_set(holder), Value::integer(i * 37)));
  for (int i = 0; i < 500; ++i) CHECK(set_contains(in, as_set(holder), Value::integer(i * 37)) == (i % 3 != 0));
}

TEST_CASE("sorting is stable and finds runs") {
  Interpreter in;
  const Value holder = make_list(in);
  List* list = as_list(holder);
  for (int i = 0; i < 300; ++i) list_append(in, list, Value::integer(i * 7919 % 101));
  list_sort(in, list, Value::none(), false);
  for (uint32_t i = 1; i < list->size; ++i) CHECK(list->items[i - 1].as_int() <= list->items[i].as_int());
  list_sort(in, list, Value::none(), true);
  for (uint32_t i = 1; i < list->size; ++i) CHECK(list->items[i - 1].as_int() >= list->items[i].as_int());
}

TEST_CASE("a tuple's hash is CPython's") {
  Interpreter in;
  CHECK(hash(in, make_tuple(in, {Value::integer(1), Value::integer(2)})) == -3550055125485641917);
  CHECK(hash(in, make_tuple(in, {})) == 5740354900026072187);
}
