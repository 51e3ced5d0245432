// _heapq: a list kept as a heap.
//
// A comparison can run a script that changes the list, so every step asks for its size again, as CPython does.
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

List& heap_of(Interpreter& in, const Value& v) {
  if (!is_list(v))
    throw_error(ErrorKind::TypeError, "heap argument must be a list, not %s", std::string(type_name(in, v)).c_str());
  return *as_list(v);
}

bool before(Interpreter& in, List& heap, size_t a, size_t b) {
  const uint32_t size = heap.size;
  const Value left = heap[a], right = heap[b];
  const bool answer = less(in, left, right);
  if (heap.size != size) throw Error(ErrorKind::RuntimeError, "list changed size during iteration");
  return answer;
}

void rise(Interpreter& in, List& heap, size_t start, size_t at) {
  while (at > start) {
    const size_t parent = (at - 1) / 2;
    if (!before(in, heap, at, parent)) return;
    std::swap(heap[at], heap[parent]);
    at = parent;
  }
}

// The smaller child moves up all the way to a leaf, then the item rises from there: fewer comparisons than to test it on
// the way, since an item from the end of the heap is usually large.
void sink(Interpreter& in, List& heap, size_t at) {
  const size_t start = at;
  in.check_stop();
  for (size_t child = 2 * at + 1; child < heap.size; child = 2 * at + 1) {
    if (child + 1 < heap.size && !before(in, heap, child, child + 1)) ++child;
    std::swap(heap[at], heap[child]);
    at = child;
  }
  rise(in, heap, start, at);
}

Value heappush(Interpreter& in, const Args& args) {
  List& heap = heap_of(in, args[0]);
  list_append(in, &heap, args[1]);
  rise(in, heap, 0, heap.size - 1);
  return Value::none();
}

[[noreturn]] void throw_empty() { throw Error(ErrorKind::IndexError, "index out of range"); }

Value heappop(Interpreter& in, const Args& args) {
  List& heap = heap_of(in, args[0]);
  if (heap.size == 0) throw_empty();
  Value last = list_pop(in, &heap, heap.size - 1);
  if (heap.size == 0) return last;
  std::swap(heap[0], last);
  sink(in, heap, 0);
  return last;
}

Value heapreplace(Interpreter& in, const Args& args) {
  List& heap = heap_of(in, args[0]);
  if (heap.size == 0) throw_empty();
  Value first = args[1];
  std::swap(heap[0], first);
  sink(in, heap, 0);
  return first;
}

Value heappushpop(Interpreter& in, const Args& args) {
  List& heap = heap_of(in, args[0]);
  Value item = args[1];
  if (heap.size == 0) return item;
  const Value first = heap[0];
  if (!less(in, first, item)) return item;
  if (heap.size == 0) throw_empty();
  std::swap(heap[0], item);
  sink(in, heap, 0);
  return item;
}

Value heapify(Interpreter& in, const Args& args) {
  List& heap = heap_of(in, args[0]);
  for (size_t i = heap.size / 2; i-- > 0;) sink(in, heap, i);
  return Value::none();
}

}  // namespace

void fill_heapq(Interpreter& in, Module& module) {
  in.def(module, "heappush(heap, item, /)", "Add an item.", heappush);
  in.def(module, "heappop(heap, /)", "Take the smallest item.", heappop);
  in.def(module, "heapreplace(heap, item, /)", "Take the smallest item, then add another.", heapreplace);
  in.def(module, "heappushpop(heap, item, /)", "Add an item, then take the smallest.", heappushpop);
  in.def(module, "heapify(heap, /)", "Make a list a heap.", heapify);
}

}  // namespace tessera::stdlib
