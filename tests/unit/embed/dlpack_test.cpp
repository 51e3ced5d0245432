// DLPack across the border and in scripts: whoever has the memory last calls the deleter, once.
#include <doctest/doctest.h>
#include <tessera/tessera.h>

#include <vector>

#include "runtime/dlpack.h"

using namespace tessera;

namespace {

// A library's tensor of four floats.
struct Foreign {
  std::vector<float> data = {1, 2, 3, 4};
  int64_t shape[1] = {4};
  int deleted = 0;

  template <class Managed>
  Managed managed(uint8_t bits = 32) {
    Managed made{};
    made.dl_tensor = {data.data(), {1, 0}, 1, {2, bits, 1}, shape, nullptr, 0};
    made.manager_ctx = this;
    made.deleter = [](Managed* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
    return made;
  }
};

}  // namespace

TEST_CASE("embed: a DLPack tensor's deleter is called when the last user is gone") {
  Foreign foreign;
  DLManagedTensor managed = foreign.managed<DLManagedTensor>();
  {
    Interpreter tsr;
    {
      const Tensor x = Tensor::from_dlpack(&managed);
      tsr.set("x", x);
    }
    CHECK(tsr.run("import torch\nx += 1\ny = x[1:]\nz = torch.from_dlpack(y)\nx = None\nz.sum().item()").as<double>() ==
          12);
    CHECK(foreign.data == std::vector<float>{2, 3, 4, 5});
    CHECK(foreign.deleted == 0);
    tsr.run("y = None");
    CHECK(foreign.deleted == 0);
    tsr.run("z = None");
    CHECK(foreign.deleted == 1);
  }
  CHECK(foreign.deleted == 1);
}

TEST_CASE("embed: what cannot be taken stays the giver's") {
  Foreign foreign;
  DLManagedTensor managed = foreign.managed<DLManagedTensor>(24);
  CHECK_THROWS_AS(Tensor::from_dlpack(&managed), ScriptError);
  CHECK(foreign.deleted == 0);
  DLManagedTensorVersioned versioned = foreign.managed<DLManagedTensorVersioned>();
  versioned.version = {2, 0};
  tsr_tensor* taken = nullptr;
  CHECK_FALSE(tsr_tensor_from_dlpack_versioned(&versioned, &taken, nullptr));
  versioned.version = {1, 1};
  CHECK(tsr_tensor_from_dlpack_versioned(&versioned, &taken, nullptr));
  CHECK(foreign.deleted == 0);
  tsr_tensor_release(taken);
  CHECK(foreign.deleted == 1);
}

TEST_CASE("embed: a capsule of a script lets go of its tensor once, used or not, also after its interpreter") {
  for (const char* const use :
       {"c = None", "torch.from_dlpack(c)\nc = None", "y = torch.from_dlpack(c)\nc = None\ny = None",
        "d = [c]\nd.append(d)",
        "try:\n    torch.from_dlpack(c)\n    torch.from_dlpack(c)\nexcept RuntimeError:\n    c = None",
        "y = torch.from_dlpack(c)"}) {
    for (const char* const version : {"None", "(1, 0)"}) {
      CAPTURE(use);
      std::vector<float> data(3, 1.0f);
      int deleted = 0;
      {
        Interpreter tsr;
        tsr.set("x", Tensor::from_blob(data.data(), {3}, kFloat32, [&] { ++deleted; }));
        tsr.run(std::string("import torch\nc = x.__dlpack__(max_version=") + version + ")\nx = None");
        CHECK(deleted == 0);
        tsr.run(use);
        const bool given_back = std::string_view(use).ends_with("None");
        CHECK(deleted == (given_back ? 1 : 0));
      }
      CHECK(deleted == 1);
    }
  }
}

TEST_CASE("embed: what a host gets as DLPack keeps the memory until its deleter is called") {
  std::vector<float> data(3, 1.0f);
  int deleted = 0;
  DLManagedTensor* managed = nullptr;
  {
    Interpreter tsr;
    tsr.set("x", Tensor::from_blob(data.data(), {3}, kFloat32, [&] { ++deleted; }));
    managed = tsr.eval("x[1:]").as<Tensor>().to_dlpack();
  }
  CHECK(deleted == 0);
  CHECK(static_cast<const float*>(managed->dl_tensor.data) == data.data() + 1);
  CHECK(managed->dl_tensor.shape[0] == 2);
  managed->deleter(managed);
  CHECK(deleted == 1);
}
