// Which tensors a program can reach from the names of its main module, and by what name it does. It looks into objects
// without asking them: no __getattr__, no property, no __repr__ runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "runtime/tensor.h"

namespace tessera::repl {

struct Reached {
  std::string name;
  lang::Value value;  // Undefined for gradients
  tensor::Tensor tensor;
  std::string_view type;  // of a type that lives as long as the value
  uint32_t place = 0;     // of the variable it was reached from
};

struct ReachedTensors {
  std::vector<Reached> tensors;
  int64_t more = 0;      // seen and not listed
  bool gave_up = false;  // more may be there that was not seen
};

struct ReachLimits {
  int depth = 32;              // of containers in containers
  size_t items = 1000;         // of one container
  size_t tensors = 5000;       // that are listed
  int64_t values = 2'000'000;  // that are looked into
};

ReachedTensors reach_tensors(lang::Interpreter& in, const ReachLimits& limits = {});

// The tensor of a tensor or of an array of NumPy; null for anything else.
const tensor::Tensor* tensor_in(lang::Interpreter& in, const lang::Value& value);
// The names of what lives, by the tensor.
std::unordered_map<const tensor::TensorImpl*, std::string> names_of_tensors(lang::Interpreter& in);

// An attribute of the object's own; null: none.
const lang::Value* own_attribute(lang::Object* object, std::string_view name);
// f(name, value) for each; it must not change the object.
template <class F>
void for_own_attributes(lang::Object* object, F&& f) {
  if (object->type->attributes_offset == 0) return;
  const lang::Attributes& own = lang::attributes_of(object);
  if (own.dict != nullptr) {
    lang::dict_for_each(own.dict, [&](const lang::Value& key, const lang::Value& value) {
      if (lang::is_str(key)) f(lang::text_of(key), value);
    });
    return;
  }
  for (uint32_t i = 0; i < own.count; ++i)
    if (!own.values[i].is_undefined()) f(object->type->instance_keys[i]->view(), own.values[i]);
}

// A layer, by the three stores that torch.nn.Module keeps.
struct LayerStores {
  lang::Dict *parameters = nullptr, *buffers = nullptr, *modules = nullptr;
  explicit operator bool() const { return modules != nullptr; }
};
LayerStores layer_stores(const lang::Value& value);

}  // namespace tessera::repl
