// groupby, tee and zip_longest: iterators that keep items for others.
#include "stdlib/python/native/itertools.h"

namespace tessera::stdlib::itertools {
namespace {

// --- groupby: the group that is read and the groupby itself take from one source. An item that was read ahead stands in
// `item`, its key in `key`; `group_key` is the key of the group given out last.

struct GroupBy : GcObject {
  Value source, function, item, key, group_key;
  const Object* group = nullptr;  // the group that may still read; compared, never followed
  Type* group_type = nullptr;
  template <class F>
  void each(F&& f) {
    f(source);
    f(function);
    f(item);
    f(key);
    f(group_key);
  }
};

struct Group : GcObject {
  Value parent, key;
  template <class F>
  void each(F&& f) {
    f(parent);
    f(key);
  }
};

Value make_groupby(Interpreter& in, Type* type, const Args& args) {
  check_keywords(args, "groupby", {"iterable", "key"}, 1);
  const Value* iterable = make_argument(args, 0, "iterable");
  const Value* key = make_argument(args, 1, "key");
  if (iterable == nullptr) throw Error(ErrorKind::TypeError, "groupby() missing required argument 'iterable' (pos 1)");
  if (args.count > 2) throw_error(ErrorKind::TypeError, "groupby() takes at most 2 arguments (%u given)", args.count);
  const Value source = iter(in, *iterable);
  Value made;
  GroupBy* g = start<GroupBy>(in, type, made);
  g->source = source;
  if (key != nullptr && !key->is_none()) g->function = *key;
  g->group_type = own_type(type_lookup(type, intern(in, "_grouper")), layout_of<Group>, "groupby._grouper");
  return made;
}

bool read_ahead(Interpreter& in, GroupBy* g) {
  Value item;
  if (!step(in, g->source, item)) return false;
  Value key;
  if (g->function.is_undefined()) {
    key = item;
  } else {
    const Value function = g->function;
    key = call(in, function, Args{&item, 1});
  }
  const Value old_item = std::move(g->item), old_key = std::move(g->key);
  g->item = std::move(item);
  g->key = std::move(key);
  return true;
}

bool next_group(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  GroupBy* g = self_of<GroupBy>(self);
  g->group = nullptr;
  for (;;) {
    if (!g->key.is_undefined()) {
      if (g->group_key.is_undefined()) break;
      const Value before = g->group_key, key = g->key;
      if (!equals(in, before, key)) break;
      count_item(in);
    }
    if (!read_ahead(in, g)) return false;
  }
  g->group_key = g->key;
  Value made;
  Group* group = start<Group>(in, g->group_type, made);
  group->parent = self;
  group->key = g->group_key;
  g->group = group;
  out = make_tuple(in, {g->key, made});
  return true;
}

bool next_member(Interpreter& in, const Value& self, Value& out) {
  Group* group = self_of<Group>(self);
  if (group->parent.is_undefined()) return false;
  const Value parent = group->parent, wanted = group->key;
  GroupBy* g = self_of<GroupBy>(parent);
  if (g->group != group) return false;
  if (g->item.is_undefined() && !read_ahead(in, g)) return false;
  const Value key = g->key;
  if (!equals(in, wanted, key)) return false;
  out = std::move(g->item);
  finish(g->key);
  return !out.is_undefined();
}

// --- tee: readers of one source walk a list of blocks; the first to reach a place fills it.

constexpr size_t kBlockItems = 57;
constexpr char kBlockName[] = "_tee_dataobject";

struct TeeBlock : GcObject {
  Value source, behind;  // the iterator; the next block
  std::vector<Value> items;
  bool filling = false;
  template <class F>
  void each(F&& f) {
    f(source);
    f(behind);
    for (Value& v : items) f(v);
  }
};

struct Tee : GcObject {
  Value block;
  size_t at = 0;
  template <class F>
  void each(F&& f) {
    f(block);
  }
};

Value new_block(Interpreter& in, Type* type, const Value& source) {
  Value made;
  start<TeeBlock>(in, type, made)->source = source;
  return made;
}

Value copy_tee(Interpreter& in, Tee* from) {
  Value made;
  Tee* t = start<Tee>(in, from->type, made);
  t->block = from->block;
  t->at = from->at;
  return made;
}

Value tee_of(Interpreter& in, Type* type, const Value& source) {
  if (source.is_object() && source.as_object()->type->is_subtype_of(type)) return copy_tee(in, self_of<Tee>(source));
  Type* block_type = own_type(type_lookup(type, intern(in, kBlockName)), layout_of<TeeBlock>, "_tee._tee_dataobject");
  const Value block = new_block(in, block_type, source);
  Value made;
  start<Tee>(in, type, made)->block = block;
  return made;
}

Value make_tee(Interpreter& in, Type* type, const Args& args) {
  positions(in, type, "_tee", args, 1, 1);
  return tee_of(in, type, iter(in, args[0]));
}

bool next_tee(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  Tee* t = self_of<Tee>(self);
  if (t->block.is_undefined()) return false;
  const Value held = t->block;
  TeeBlock* block = self_of<TeeBlock>(held);
  if (t->at == kBlockItems) {
    if (block->behind.is_undefined()) block->behind = new_block(in, block->type, block->source);
    t->block = block->behind;
    t->at = 0;
    return next_tee(in, self, out);
  }
  if (t->at < block->items.size()) {
    out = block->items[t->at++];
    return !out.is_undefined();
  }
  if (block->filling) throw Error(ErrorKind::RuntimeError, "cannot re-enter the tee iterator");
  struct Filling {
    bool& flag;
    explicit Filling(bool& f) : flag(f) { flag = true; }
    ~Filling() { flag = false; }
  } filling(block->filling);
  if (!step(in, block->source, out)) return false;
  block->items.push_back(out);
  ++t->at;
  return true;
}

Value tee_copy(Interpreter& in, const Args& args) { return copy_tee(in, self_of<Tee>(args[0])); }

// Pickled, readers of one source share their blocks. A new reader gets its block from __setstate__.
Value tee_reduce(Interpreter& in, const Args& args) {
  const Tee* t = self_of<Tee>(args[0]);
  const Value empty = make_tuple(in, {make_tuple(in, {})});
  return make_tuple(in, {Value(args[0].as_object()->type), empty, make_tuple(in, {t->block, Value::integer(static_cast<int64_t>(t->at))})});
}

Value tee_set_state(Interpreter& in, const Args& args) {
  if (!is_tuple(args[1])) throw Error(ErrorKind::TypeError, "state is not a tuple");
  const Tuple& state = *as_tuple(args[1]);
  if (state.size != 2) throw_error(ErrorKind::TypeError, "function takes exactly 2 arguments (%u given)", state.size);
  if (!has_layout(state[0], layout_of<TeeBlock>))
    throw_error(ErrorKind::TypeError, "argument 1 must be itertools._tee_dataobject, not %s", std::string(type_name(in, state[0])).c_str());
  const int64_t at = int_argument(in, state[1]);
  if (at < 0 || at > static_cast<int64_t>(kBlockItems)) throw Error(ErrorKind::ValueError, "Index out of range");
  Tee* t = self_of<Tee>(args[0]);
  t->block = state[0];
  t->at = static_cast<size_t>(at);
  return Value::none();
}

// _tee_dataobject(source, items, the next block or None)
Value make_block(Interpreter& in, Type* type, const Args& args) {
  refuse_keywords(kBlockName, args);
  check_count("teedataobject", args, 3, 3);
  if (!is_list(args[1])) throw_error(ErrorKind::TypeError, "teedataobject() argument 2 must be list, not %s", std::string(type_name(in, args[1])).c_str());
  List& items = *as_list(args[1]);
  const bool whole = items.size == kBlockItems, links = has_layout(args[2], layout_of<TeeBlock>);
  if (items.size > kBlockItems || (!whole && !args[2].is_none()) || (whole && !links && !args[2].is_none()))
    throw Error(ErrorKind::ValueError, "Invalid arguments");
  Value made = new_block(in, type, args[0]);
  TeeBlock* block = self_of<TeeBlock>(made);
  block->items.assign(items.begin(), items.end());
  if (links) block->behind = args[2];
  return made;
}

Value block_reduce(Interpreter& in, const Args& args) {
  const TeeBlock* block = self_of<TeeBlock>(args[0]);
  const Value items = make_list(in);
  for (const Value& item : block->items) list_append(in, as_list(items), item);
  const Value behind = block->behind.is_undefined() ? Value::none() : block->behind;
  return make_tuple(in, {Value(args[0].as_object()->type), make_tuple(in, {block->source, items, behind})});
}

const NativeDef kTeeMethods[] = {{"__copy__(self)", tee_copy, "Another reader from the same place."},
                                 {"__reduce__(self)", tee_reduce, "Return state information for pickling."},
                                 {"__setstate__(self, state, /)", tee_set_state, "Set state information for unpickling."}};
const NativeDef kBlockMethods[] = {{"__reduce__(self)", block_reduce, "Return state information for pickling."}};

Value tee(Interpreter& in, const Args& args) {
  const int64_t n = int_argument(in, args[1]);
  if (n < 0) throw Error(ErrorKind::ValueError, "n must be >= 0");
  if (n > 1'000'000'000) throw Error(ErrorKind::MemoryError, std::string());
  Type* type = own_type(get_attr(in, Value(in.import("itertools")), intern(in, "_tee")), layout_of<Tee>, "itertools._tee");
  if (n == 0) return make_tuple(in, {});
  Value first = iter(in, args[0]);
  Str* copy = intern(in, "__copy__");
  std::vector<Value> readers{first};
  if (type_lookup(type_of(in, first), copy).is_undefined()) readers[0] = tee_of(in, type, first);
  while (readers.size() < static_cast<size_t>(n)) readers.push_back(call_method(in, readers[0], copy));
  return make_tuple_moving(in, readers.data(), readers.size());
}

// --- zip_longest

struct ZipLongest : GcObject {
  std::vector<Value> sources;  // Undefined: ended
  Value fill;
  size_t open = 0;
  template <class F>
  void each(F&& f) {
    for (Value& v : sources) f(v);
    f(fill);
  }
};

Value make_zip_longest(Interpreter& in, Type* type, const Args& args) {
  const Value* fill = keyword_argument(args, "fillvalue");
  if (args.keyword_names != nullptr && args.keyword_names->size > (fill != nullptr ? 1U : 0U)) {
    throw Error(ErrorKind::TypeError, "zip_longest() got an unexpected keyword argument");
  }
  std::vector<Value> sources;
  for (uint32_t i = 0; i < args.positional(); ++i) sources.push_back(iter(in, args[i]));
  Value made;
  ZipLongest* z = start<ZipLongest>(in, type, made);
  z->open = sources.size();
  z->sources = std::move(sources);
  z->fill = fill != nullptr ? *fill : Value::none();
  return made;
}

bool next_row(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();
  ZipLongest* z = self_of<ZipLongest>(self);
  if (z->open == 0) return false;
  Tuple* row = new_tuple(in, z->sources.size());
  Value made = Value::adopt(row);
  for (size_t i = 0; i < z->sources.size(); ++i) {
    bool more = !z->sources[i].is_undefined();
    try {
      if (more && !step(in, z->sources[i], row->items[i])) {
        more = finish(z->sources[i]);
        if (z->open == 0 || --z->open == 0) return false;
      }
    } catch (...) {
      z->open = 0;
      throw;
    }
    if (!more) row->items[i] = z->fill;
  }
  out = std::move(made);
  return true;
}

Value zip_longest_reduce(Interpreter& in, const Args& args) {
  const ZipLongest* z = self_of<ZipLongest>(args[0]);
  std::vector<Value> sources;
  for (const Value& source : z->sources) sources.push_back(source.is_undefined() ? in.shared->empty_tuple : source);
  return reduction(in, args[0], make_tuple_moving(in, sources.data(), sources.size()), z->fill);
}

Value zip_longest_set_state(Interpreter&, const Args& args) {
  self_of<ZipLongest>(args[0])->fill = args[1];
  return Value::none();
}

const NativeDef kZipLongestMethods[] = {
    {"__reduce__(self)", zip_longest_reduce, "Return state information for pickling."},
    {"__setstate__(self, state, /)", zip_longest_set_state, "Set state information for unpickling."},
};

Value groupby_reduce(Interpreter& in, const Args& args) {
  const GroupBy* g = self_of<GroupBy>(args[0]);
  const Value function = g->function.is_undefined() ? Value::none() : g->function;
  const Value arguments = make_tuple(in, {g->source, function});
  if (g->item.is_undefined() || g->key.is_undefined() || g->group_key.is_undefined())
    return reduction(in, args[0], arguments);
  return reduction(in, args[0], arguments, make_tuple(in, {g->item, g->group_key, g->key}));
}

Value groupby_set_state(Interpreter& in, const Args& args) {
  const Tuple& state = state_of(in, args[1], 3, 3);
  GroupBy* g = self_of<GroupBy>(args[0]);
  const Value item = std::exchange(g->item, state[0]), group_key = std::exchange(g->group_key, state[1]),
              key = std::exchange(g->key, state[2]);
  return Value::none();
}

const NativeDef kGroupByMethods[] = {
    {"__reduce__(self)", groupby_reduce, "Return state information for pickling."},
    {"__setstate__(self, state, /)", groupby_set_state, "Set state information for unpickling."},
};

// A type that only this file makes objects of, found through an attribute of the type that needs it.
template <class T>
Type* helper_type(Interpreter& in, Module& module, Type* owner, const char* name, Next next) {
  Type* type = add_type<T>(in, module, name, nullptr, next, "");
  dict_set_str(in, owner->attributes(), intern(in, name), Value(type));
  return type;
}

}  // namespace

void add_groups(Interpreter& in, Module& module) {
  Type* groupby = add_type<GroupBy>(in, module, "groupby", make_groupby, next_group,
                                    "Runs of items with equal keys, as pairs of key and iterator.");
  in.add_methods(groupby, kGroupByMethods, std::size(kGroupByMethods));
  helper_type<Group>(in, module, groupby, "_grouper", next_member);
  Type* reader = add_type<Tee>(in, module, "_tee", make_tee, next_tee, "One of several readers of a source.");
  in.add_methods(reader, kTeeMethods, std::size(kTeeMethods));
  Type* block = helper_type<TeeBlock>(in, module, reader, kBlockName, nullptr);
  block->make = make_block;
  in.add_methods(block, kBlockMethods, std::size(kBlockMethods));
  in.def(module, "tee(iterable, n=2, /)", "n readers of the same items.", tee);
  Type* longest = add_type<ZipLongest>(in, module, "zip_longest", make_zip_longest, next_row,
                                       "Rows of items of all sources; what has ended gives the fill value.");
  in.add_methods(longest, kZipLongestMethods, std::size(kZipLongestMethods));
}

}  // namespace tessera::stdlib::itertools
