// The usual parts of a pickle, for the modules pickle._pickler and pickle._unpickler: objects of built-in types in binary
// protocols from 4 on. What is anything else, or wrong, is left to the script, which finds everything as if it had done
// the work itself.
// compile: few-inlines (no faster with more inlines)
#include <cstring>
#include <string>

#include "lang/core/protocol.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/pickle_buffer.h"

namespace tessera::stdlib {
namespace {

constexpr size_t kFrameSize = size_t{64} << 10;  // FRAME_SIZE_TARGET
constexpr uint32_t kBatch = 1000;                // BATCH_SIZE

template <class Number>
void put_number(char* to, Number number) {
  std::memcpy(to, &number, sizeof number);
}

template <class Number>
Number get_number(const char* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

uint64_t swapped(uint64_t number) { return __builtin_bswap64(number); }

Value identity(const Value& object) {
  return Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(object.as_object())));  // id()
}

// ---- Writing ---------------------------------------------------------------------------------------------------------

// `output` is an _Output that writes frames, `save` and `memo` are the pickler's.
class Saver {
 public:
  Saver(Interpreter& in, const Value& output, const Value& save, Dict* memo)
      : in_(in), output_(output), save_(save), memo_(memo) {
    find_frame();
  }

  // False: the script has to save it.
  bool save(const Value& object) {
    if (!object.is_object()) return save_number(object);
    const Type* const type = object.as_object()->type;
    const BuiltinTypes& types = in_.types;
    const bool is_bytes = in_.shared->bytes != nullptr && type == in_.shared->bytes->bytes;
    if (!is_bytes && type != types.str && type != types.list && type != types.tuple && type != types.dict) return false;
    if (const Value* const known = dict_get(in_, memo_, identity(object))) return get(*known);
    if (type == types.str) return save_text(object, text_of(object), '\x8c', 'X');
    if (is_bytes) return save_text(object, bytes_of(object), 'C', 'B');
    const RecursionGuard guard(in_, " while pickling an object");
    if (type == types.list) save_list(object);
    else if (type == types.tuple) save_tuple(object);
    else save_dict(object);
    return true;
  }

 private:
  void find_frame() {
    frame_ = get_attr(in_, output_, intern(in_, "frame"));
    if (!is_byte_array(frame_)) throw Error(ErrorKind::TypeError, "a frame is a bytearray");
  }

  void put(std::string_view bytes) { byte_array_append(in_, as_byte_array(frame_), bytes); }
  void put(char opcode) { put(std::string_view(&opcode, 1)); }
  template <class Number>
  void put(char opcode, Number number) {
    char bytes[1 + sizeof number] = {opcode};
    put_number(bytes + 1, number);
    put(std::string_view(bytes, sizeof bytes));
  }

  void save_part(const Value& object) {
    in_.poll();
    if (as_byte_array(frame_)->size >= kFrameSize) {
      call_method(in_, output_, intern(in_, "commit"), {});
      find_frame();
    }
    if (save(object)) return;
    call(in_, save_, {object});
    find_frame();
  }

  bool save_number(const Value& value) {
    switch (value.tag()) {
      case Tag::None: put('N'); return true;
      case Tag::Bool: put(value.as_bool() ? '\x88' : '\x89'); return true;
      case Tag::Float: {
        uint64_t bits;
        const double number = value.as_float();
        std::memcpy(&bits, &number, sizeof bits);
        put('G', swapped(bits));
        return true;
      }
      case Tag::Int: {
        const int64_t number = value.as_int();
        if (number >= 0 && number <= UINT8_MAX) put('K', static_cast<uint8_t>(number));
        else if (number >= 0 && number <= UINT16_MAX) put('M', static_cast<uint16_t>(number));
        else if (number >= INT32_MIN && number <= INT32_MAX) put('J', static_cast<int32_t>(number));
        else return false;
        return true;
      }
      default: return false;
    }
  }

  bool save_text(const Value& object, std::string_view text, char shorter, char longer) {
    if (text.size() >= kFrameSize) return false;
    if (text.size() <= UINT8_MAX) put(shorter, static_cast<uint8_t>(text.size()));
    else put(longer, static_cast<uint32_t>(text.size()));
    put(text);
    memoize(object);
    return true;
  }

  bool get(const Value& known) {
    const int64_t index = is_tuple(known) && as_tuple(known)->size == 2 ? (*as_tuple(known))[0].as_int() : -1;
    if (index < 0 || index > UINT32_MAX) return false;
    if (index <= UINT8_MAX) put('h', static_cast<uint8_t>(index));
    else put('j', static_cast<uint32_t>(index));
    return true;
  }

  void memoize(const Value& object) {
    dict_set(in_, memo_, identity(object), make_tuple(in_, {Value::integer(memo_->count), object}));
    put('\x94');
  }

  void save_list(const Value& object) {
    put(']');
    memoize(object);
    const List* const list = as_list(object);
    if (list->size == 1) {
      save_part(Value((*list)[0]));
      put('a');
      return;
    }
    for (uint32_t done = 0; done < list->size; done += kBatch) {
      put('(');
      for (uint32_t i = done; i < list->size && i < done + kBatch; ++i) save_part(Value((*list)[i]));
      put('e');
    }
  }

  void save_tuple(const Value& object) {
    const Tuple& tuple = *as_tuple(object);
    if (tuple.size == 0) return put(')');
    const bool shorter = tuple.size <= 3;
    if (!shorter) put('(');
    for (uint32_t i = 0; i < tuple.size; ++i) save_part(tuple[i]);
    if (const Value* const known = dict_get(in_, memo_, identity(object))) {  // one of its own items holds it
      if (shorter) put(std::string(tuple.size, '0'));
      else put('1');
      get(*known);
      return;
    }
    put(shorter ? static_cast<char>('\x85' + static_cast<char>(tuple.size - 1)) : 't');
    memoize(object);
  }

  void save_dict(const Value& object) {
    put('}');
    memoize(object);
    Dict* const dict = as_dict(object);
    const uint32_t size = dict->count;
    const bool alone = size == 1;
    uint32_t inside = 0;
    for (uint32_t i = 0; i < dict->used; ++i) {
      if (dict->entries[i].key.is_undefined()) continue;
      const Value key = dict->entries[i].key, value = dict->entries[i].value;
      if (inside++ == 0 && !alone) put('(');
      save_part(key);
      save_part(value);
      if (dict->count != size) throw Error(ErrorKind::RuntimeError, "dictionary changed size during iteration");
      if (inside == kBatch) {
        put('u');
        inside = 0;
      }
    }
    if (inside != 0) put(alone ? 's' : 'u');
  }

  Interpreter& in_;
  const Value& output_;
  const Value& save_;
  Dict* const memo_;
  Value frame_;
};

Value save_plain(Interpreter& in, const Args& args) {
  return Value::boolean(Saver(in, args[0], args[1], as_dict(args[2])).save(args[3]));
}

// ---- Reading ---------------------------------------------------------------------------------------------------------

// Runs the instructions from `at` on; the stack and those that wait below marks are lists, as the script has them.
class Loader {
 public:
  Loader(Interpreter& in, std::string_view data, size_t at, const Value& stack, const Value& below, Dict* memo)
      : in_(in), data_(data), at_(at), stack_(stack), below_(as_list(below)), memo_(memo) {}

  size_t at() const { return at_; }
  const Value& stack() const { return stack_; }

  void run() {
    while (at_ < data_.size() && step(data_[at_])) in_.poll();
  }

 private:
  List& top() { return *as_list(stack_); }
  bool push(Value value, size_t used) {
    list_append(in_, as_list(stack_), std::move(value));
    at_ += 1 + used;
    return true;
  }
  // Are so many bytes there behind the opcode, and values on the stack?
  bool has(size_t bytes) const { return data_.size() - at_ - 1 >= bytes; }
  bool holds(size_t values) { return top().size >= values; }
  const char* argument() const { return data_.data() + at_ + 1; }

  // False: nothing was done, it is the script's turn.
  bool step(char opcode) {
    switch (opcode) {
      case 'N': return push(Value::none(), 0);
      case '\x88': return push(Value::boolean(true), 0);
      case '\x89': return push(Value::boolean(false), 0);
      case 'K': return has(1) && push(Value::integer(get_number<uint8_t>(argument())), 1);
      case 'M': return has(2) && push(Value::integer(get_number<uint16_t>(argument())), 2);
      case 'J': return has(4) && push(Value::integer(get_number<int32_t>(argument())), 4);
      case 'G': return has(8) && push(real(), 8);
      case '\x8c': return has(1) && text(get_number<uint8_t>(argument()), 1);
      case 'X': return has(4) && text(get_number<uint32_t>(argument()), 4);
      case 'C': return has(1) && bytes(get_number<uint8_t>(argument()), 1);
      case 'B': return has(4) && bytes(get_number<uint32_t>(argument()), 4);
      case ')': return push(in_.shared->empty_tuple, 0);
      case ']': return push(make_list(in_), 0);
      case '}': return push(make_dict(in_), 0);
      case '\x85': return tuple(1);
      case '\x86': return tuple(2);
      case '\x87': return tuple(3);
      case '(': return mark();
      case 't': return marked_tuple();
      case 'a': return append();
      case 'e': return extend();
      case 's': return set_item();
      case 'u': return set_items();
      case 'h': return has(1) && known(get_number<uint8_t>(argument()), 1);
      case 'j': return has(4) && known(get_number<uint32_t>(argument()), 4);
      case 'q': return has(1) && keep(get_number<uint8_t>(argument()), 1);
      case 'r': return has(4) && keep(get_number<uint32_t>(argument()), 4);
      case '\x94': return keep(memo_->count, 0);
      default: return false;
    }
  }

  Value real() const {
    const uint64_t bits = swapped(get_number<uint64_t>(argument()));
    double number;
    std::memcpy(&number, &bits, sizeof number);
    return Value::real(number);
  }
  bool text(size_t size, size_t head) {
    if (!has(head + size)) return false;
    const std::string_view found(argument() + head, size);
    return all_ascii(found) && push(make_str(in_, found, size), head + size);
  }
  bool bytes(size_t size, size_t head) {
    return has(head + size) && push(make_bytes(in_, {argument() + head, size}), head + size);
  }

  bool tuple(uint32_t size) {
    if (!holds(size)) return false;
    List& list = top();
    Value made = make_tuple_moving(in_, list.items + list.size - size, size);
    list.size -= size;
    return push(std::move(made), 0);
  }
  bool mark() {
    list_append(in_, below_, stack_);
    stack_ = make_list(in_);
    ++at_;
    return true;
  }
  // What stands above the last mark.
  Value pop_mark() {
    Value items = std::move(stack_);
    stack_ = list_pop(in_, below_, below_->size - 1);
    ++at_;
    return items;
  }
  bool has_mark() const { return below_->size != 0 && is_list((*below_)[below_->size - 1]); }
  // Is there a mark, and below it an object of the type?
  bool has_target(const Type* type) {
    if (!has_mark()) return false;
    const List& list = *as_list((*below_)[below_->size - 1]);
    return list.size != 0 && list[list.size - 1].is_object() && list[list.size - 1].as_object()->type == type;
  }
  bool marked_tuple() {
    if (!has_mark()) return false;
    const Value items = pop_mark();
    --at_;
    return push(make_tuple(in_, as_list(items)->items, as_list(items)->size), 0);
  }
  bool append() {
    List& list = top();
    if (!holds(2) || !list[list.size - 2].is_object() || list[list.size - 2].as_object()->type != in_.types.list)
      return false;
    Value item = list_pop(in_, &list, list.size - 1);
    list_append(in_, as_list(list[list.size - 1]), std::move(item));
    ++at_;
    return true;
  }
  bool extend() {
    if (!has_target(in_.types.list)) return false;
    const Value items = pop_mark();
    list_extend(in_, as_list(top()[top().size - 1]), items);
    return true;
  }
  bool set_item() {
    List& list = top();
    if (!holds(3) || !list[list.size - 3].is_object() || list[list.size - 3].as_object()->type != in_.types.dict)
      return false;
    ++at_;
    const Value value = list_pop(in_, &list, list.size - 1), key = list_pop(in_, &list, list.size - 1);
    const Value dict = list[list.size - 1];
    dict_set(in_, as_dict(dict), key, value);
    return true;
  }
  bool set_items() {
    if (!has_target(in_.types.dict) || top().size % 2 != 0) return false;
    const Value items = pop_mark();
    const Value dict = top()[top().size - 1];
    const List& pairs = *as_list(items);
    for (uint32_t i = 0; i + 1 < pairs.size; i += 2) {
      const Value key = pairs[i], value = pairs[i + 1];
      dict_set(in_, as_dict(dict), key, value);
    }
    return true;
  }
  bool known(uint32_t index, size_t used) {
    const Value* const found = dict_get(in_, memo_, Value::integer(index));
    return found != nullptr && push(*found, used);
  }
  bool keep(uint32_t index, size_t used) {
    if (!holds(1)) return false;
    dict_set(in_, memo_, Value::integer(index), top()[top().size - 1]);
    at_ += 1 + used;
    return true;
  }

  Interpreter& in_;
  const std::string_view data_;
  size_t at_;
  Value stack_;
  List* const below_;
  Dict* const memo_;
};

// (at, stack) after it.
Value load_plain(Interpreter& in, const Args& args) {
  const Value data = args[0], below = args[3], memo = args[4];
  if (!is_bytes(data)) throw Error(ErrorKind::TypeError, "the data of a pickle is bytes");
  Loader loader(in, bytes_of(data), static_cast<size_t>(args[1].as_int()), args[2], below, as_dict(memo));
  loader.run();
  return make_tuple(in, {Value::integer(static_cast<int64_t>(loader.at())), loader.stack()});
}

}  // namespace

void fill_pickle(Interpreter& in, Module& module) {
  in.def(module, "save_plain(output, save, memo: dict, obj, /)",
         "Write an object of a built-in type into the output's frame; False: it is for the script to do.", save_plain);
  in.def(module, "load_plain(data, at: int, stack: list, below: list, memo: dict, /)",
         "Run instructions up to one that is for the script to do; answer its place and the stack.", load_plain);
  add_pickle_functions(in, module);
  add_pickle_buffer(in, module);
}

}  // namespace tessera::stdlib
