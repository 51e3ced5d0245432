// Numbers near 2^63 in shapes: PyTorch's refusals, and no wrap-around behind them. Refused memory leaves nothing behind.
#include "runtime/checked.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include "runtime/context.h"
#include "runtime/ops.h"
#include "runtime/ops/views.h"

using namespace tessera::tensor;

namespace {

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const TensorError& e) {
    return e.message();
  }
  return "";
}

constexpr int64_t kHuge = int64_t(1) << 62;

}  // namespace

TEST_CASE("saturated arithmetic stops at the nearest int64") {
  CHECK(saturated_add(INT64_MAX, 1) == INT64_MAX);
  CHECK(saturated_add(INT64_MIN, -1) == INT64_MIN);
  CHECK(saturated_add(3, -5) == -2);
  CHECK(saturated_sub(INT64_MIN, 1) == INT64_MIN);
  CHECK(saturated_sub(0, INT64_MIN) == INT64_MAX);
  CHECK(saturated_mul(kHuge, -4) == INT64_MIN);
  CHECK(saturated_mul(-kHuge, -4) == INT64_MAX);
  CHECK(saturated_mul(7, -6) == -42);
}

TEST_CASE("checked arithmetic throws what PyTorch throws") {
  CHECK(checked_mul(6, 7) == 42);
  CHECK(checked_add(6, 7) == 13);
  CHECK(message_of([] { checked_mul(kHuge, 2); }) == "numel: integer multiplication overflow");
  CHECK(message_of([] { checked_add(kHuge, kHuge); }).starts_with("Storage size calculation overflowed with sizes="));
  CHECK(message_of([] { numel_of({kHuge, 4}); }) == "numel: integer multiplication overflow");
  CHECK(message_of([] { contiguous_strides({0, kHuge, kHuge}); }) == "Stride calculation overflowed");
  CHECK(contiguous_strides({kHuge, 0}) == Dims{1, 1});
}

TEST_CASE("the bytes that a layout needs") {
  CHECK(storage_bytes_needed({2, 3}, {3, 1}, 1, 4) == 28);
  CHECK(storage_bytes_needed({2, 0}, {INT64_MAX, INT64_MAX}, INT64_MAX, 8) == 0);
  const std::string overflow =
      "Storage size calculation overflowed with sizes=[5, 201] and strides=[" + std::to_string(kHuge - 50) + ", 1]";
  CHECK(message_of([] { storage_bytes_needed({5, 201}, {kHuge - 50, 1}, 0, 8); }) == overflow);
  CHECK(message_of([] { storage_bytes_needed({2}, {1}, INT64_MAX, 1); }) != "");
  CHECK(message_of([] { storage_bytes_needed({kHuge}, {1}, 0, 4); }) != "");
}

TEST_CASE("tensors of impossible sizes are refused before memory is asked for") {
  CHECK(message_of([] { Tensor::empty({kHuge}); }) ==
        "Storage size calculation overflowed with sizes=[" + std::to_string(kHuge) + "]");
  CHECK(message_of([] { Tensor::empty({0, kHuge, kHuge}); }) == "Stride calculation overflowed");
  CHECK(Tensor::empty({kHuge, 0}).numel() == 0);
  CHECK(message_of([] { expand(zeros({1}), {kHuge, 4}); }) == "numel: integer multiplication overflow");
  CHECK(message_of([] { chunk(zeros({0}), kHuge, 0); }) == "cannot create std::vector larger than max_size()");
  CHECK(slice(zeros({3}), 0, 1, INT64_MAX, INT64_MAX).numel() == 1);
}

TEST_CASE("what the memory limit refuses is not allocated") {
  Account* account = Context::current().account;
  const int64_t before = account->used();
  // The block behind a tensor is a size class larger than the tensor: between the two the limit is met only by the block.
  constexpr int64_t kBytes = (1 << 20) + 64;
  account->set_limit(before + kBytes + 1000);
  const struct mallinfo2 start = mallinfo2();
  int refused = 0;
  for (int i = 0; i < 300; i++) {
    try {
      Tensor::empty({kBytes}, kUInt8);
    } catch (const TensorError& e) {
      refused += e.kind() == TensorErrorKind::Memory;
    }
  }
  const struct mallinfo2 end = mallinfo2();
  account->set_limit(Account::kUnlimited);
  CHECK(refused == 300);
  CHECK(account->used() == before);
  CHECK(end.uordblks + end.hblkhd < start.uordblks + start.hblkhd + 20 * kBytes);
}
