// _heapq: a list kept as a heap.
//
// A comparison can run a script that changes the list, so every step asks for its size again, as CPython does.
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

// The heap of a call. It is asked for here, not by the signature: arguments without a check are bound by a shorter way.
List& heap_of(Interpreter& in, const Args& args) {
  if (!is_list(args[0]))
    throw_error(ErrorKind::TypeError, "%s() argument%s must be list, not %s", std::string(args.callee->name->view()).c_str(),
                args.count == 2 ? " 1" : "", args[0].is_none() ? "None" : std::string(type_name(in, args[0])).c_str());
  return *as_list(args[0]);
}

// Which items are nearer to the root.
enum class First { Smallest, Largest };

template <First first>
bool before(Interpreter& in, List& heap, size_t a, size_t b) {
  if (heap[a].is_int() && heap[b].is_int()) {
    const int64_t x = heap[a].as_int(), y = heap[b].as_int();
    return first == First::Smallest ? x < y : y < x;
  }
  const uint32_t size = heap.size;
  const Value left = heap[a], right = heap[b];
  const bool answer = first == First::Smallest ? less(in, left, right) : less(in, right, left);
  if (heap.size != size) throw Error(ErrorKind::RuntimeError, "list changed size during iteration");
  return answer;
}

template <First first>
void rise(Interpreter& in, List& heap, size_t start, size_t at) {
  while (at > start) {
    const size_t parent = (at - 1) / 2;
    if (!before<first>(in, heap, at, parent)) return;
    std::swap(heap[at], heap[parent]);
    at = parent;
  }
}

// The smaller child moves up all the way to a leaf, then the item rises from there: fewer comparisons than to test it on
// the way, since an item from the end of the heap is usually large.
template <First first>
void sink(Interpreter& in, List& heap, size_t at) {
  const size_t start = at;
  in.check_stop();
  for (size_t child = 2 * at + 1; child < heap.size; child = 2 * at + 1) {
    if (child + 1 < heap.size && !before<first>(in, heap, child, child + 1)) ++child;
    std::swap(heap[at], heap[child]);
    at = child;
  }
  rise<first>(in, heap, start, at);
}

Value heappush(Interpreter& in, const Args& args) {
  List& heap = heap_of(in, args);
  list_append(in, &heap, args[1]);
  rise<First::Smallest>(in, heap, 0, heap.size - 1);
  return Value::none();
}

[[noreturn]] void throw_empty() { throw Error(ErrorKind::IndexError, "index out of range"); }

template <First first>
Value heappop(Interpreter& in, const Args& args) {
  List& heap = heap_of(in, args);
  if (heap.size == 0) throw_empty();
  Value last = list_pop(in, &heap, heap.size - 1);
  if (heap.size == 0) return last;
  std::swap(heap[0], last);
  sink<first>(in, heap, 0);
  return last;
}

template <First first>
Value heapreplace(Interpreter& in, const Args& args) {
  List& heap = heap_of(in, args);
  if (heap.size == 0) throw_empty();
  Value item = args[1];
  std::swap(heap[0], item);
  sink<first>(in, heap, 0);
  return item;
}

Value heappushpop(Interpreter& in, const Args& args) {
  List& heap = heap_of(in, args);
  Value item = args[1];
  if (heap.size == 0) return item;
  const Value root = heap[0];
  if (!less(in, root, item)) return item;
  if (heap.size == 0) throw_empty();
  std::swap(heap[0], item);
  sink<First::Smallest>(in, heap, 0);
  return item;
}

template <First first>
Value heapify(Interpreter& in, const Args& args) {
  List& heap = heap_of(in, args);
  for (size_t i = heap.size / 2; i-- > 0;) sink<first>(in, heap, i);
  return Value::none();
}

}  // namespace

void fill_heapq(Interpreter& in, Module& module) {
  in.def(module, "heappush(heap, item, /)", "Add an item.", heappush);
  in.def(module, "heappop(heap, /)", "Take the smallest item.", heappop<First::Smallest>);
  in.def(module, "heapreplace(heap, item, /)", "Take the smallest item, then add another.",
         heapreplace<First::Smallest>);
  in.def(module, "heappushpop(heap, item, /)", "Add an item, then take the smallest.", heappushpop);
  in.def(module, "heapify(heap, /)", "Make a list a heap.", heapify<First::Smallest>);
  in.def(module, "_heappop_max(heap, /)", "Take the largest item of a heap with that first.", heappop<First::Largest>);
  in.def(module, "_heapreplace_max(heap, item, /)", "Take the largest item, then add another.",
         heapreplace<First::Largest>);
  in.def(module, "_heapify_max(heap, /)", "Make a list a heap with the largest item first.", heapify<First::Largest>);
}

}  // namespace tessera::stdlib
