// Memory of other devices is booked apart from the host's, each device for itself.
#include <doctest/doctest.h>

#include <cstdlib>

#include "runtime/context.h"
#include "runtime/device/backend.h"
#include "runtime/error.h"

using namespace tessera::tensor;

TEST_CASE("account: each device has an account of its own, with the limit of devices") {
  Context context;
  const ContextScope scope(context);
  context.device_limit = 1000;
  Account& first = context.account_of(Device(DeviceType::Cuda, 0));
  Account& second = context.account_of(Device(DeviceType::Cuda, 1));
  CHECK(&first != &second);
  CHECK(&first == &context.account_of(Device(DeviceType::Cuda, 0)));
  CHECK(&context.account_of(kCpu) == context.account);
  first.charge(900);
  CHECK_THROWS_AS(first.charge(200), TensorError);
  second.charge(900);  // the other one's is its own
  CHECK(first.used() == 900);
  CHECK(context.account->used() == 0);
  first.refund(900);
  second.refund(900);
}
