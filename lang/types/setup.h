// The functions that fill the built-in types, one or two per file.
#pragma once

#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"

namespace tessera::lang {

void destroy_str(Interpreter& in, Object* self);
void destroy_list(Interpreter& in, Object* self);
void destroy_tuple(Interpreter& in, Object* self);
void destroy_dict(Interpreter& in, Object* self);
void free_plain_dict(Interpreter& in, Dict* dict) noexcept;  // its memory, when its items have ended
void destroy_set(Interpreter& in, Object* self);
void traverse_list(Object* self, Visitor& visitor);
void traverse_tuple(Object* self, Visitor& visitor);
void traverse_dict(Object* self, Visitor& visitor);
void traverse_set(Object* self, Visitor& visitor);

// `*_slots` fill tables only; `*_methods` need everything that functions need.
void str_slots(Interpreter& in);
void list_slots(Interpreter& in);
void tuple_slots(Interpreter& in);
void dict_slots(Interpreter& in);
void make_number_types(Interpreter& in);
void make_set_types(Interpreter& in);
void make_range_types(Interpreter& in);
void make_iterator_types(Interpreter& in);
void make_view_types(Interpreter& in);
void make_singleton_types(Interpreter& in);
void make_mapping_proxy_type(Interpreter& in);
void make_annotation_types(Interpreter& in);  // list[int], int | None

void str_methods(Interpreter& in);
void list_methods(Interpreter& in);
void tuple_methods(Interpreter& in);
void dict_methods(Interpreter& in);
void set_methods(Interpreter& in);
void number_methods(Interpreter& in);
void range_methods(Interpreter& in);
void add_class_getitem(Interpreter& in, Type* type);  // list[int]
// The special methods (__len__, __add__ …) that a type's slots stand for, as attributes: `[].__len__`, hasattr().
void slot_methods(Interpreter& in, Type* type);
// Of them those of the binary slot, for types that say which operators theirs knows: a bit for each BinaryOp.
void operator_methods(Interpreter& in, Type* type, uint32_t ops);
void call_method_of_slot(Interpreter& in, Type* type);  // __call__ alone
// The same for a type of a native module, as far as it has none of its own: super().__len__() in a subclass of deque.
void complete_special_methods(Interpreter& in, Type* type);

// `|` between classes.
Value union_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t dying);

// A destroy slot for types whose members clean up by themselves.
template <class T>
void destroy_plain(Interpreter& in, Object* self) {
  free_object(in, known_cast<T>(self));
}

template <size_t N>
void add_rows(Interpreter& in, Type* type, const NativeDef (&rows)[N]) {
  in.add_methods(type, rows, N);
}

}  // namespace tessera::lang
