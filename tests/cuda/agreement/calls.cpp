#include "tests/cuda/agreement/calls.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/views.h"

namespace tessera::agreement {
namespace {

constexpr int64_t kMostElements = 40'000;  // of all operands: more than one grid of the executor's devices
constexpr int64_t kMostResults = 100'000;  // elements of all results: what grows as a square of the sizes stays small
constexpr size_t kMostTensors = 64;        // that a call gives

using Make = std::function<Tensor(const Tensor&)>;

bool is_operand(const Tensor& t) { return t.defined() && !t.is_wrapped_number(); }

// ---- layouts: the same elements, stored otherwise ----

Tensor stored_in(const Tensor& room, const Tensor& t) {
  copy_into(room, t);
  return room;
}
// Behind each element a gap.
Tensor spread(const Tensor& t) {
  if (t.dim() == 0) return t;
  Dims strides = contiguous_strides(t.sizes());
  for (auto& s : strides) s *= 2;
  return stored_in(Tensor::empty({2 * t.numel() + 1}, t.dtype()).view_of(t.sizes(), strides), t);
}
// The last two dimensions the other way round.
Tensor transposed(const Tensor& t) {
  if (t.dim() < 2) return t;
  return stored_in(transpose(Tensor::empty(transpose(t, -1, -2).sizes(), t.dtype()), -1, -2), t);
}
// All of them.
Tensor reversed(const Tensor& t) {
  if (t.dim() < 3) return t;
  Dims sizes(t.sizes()), order;
  std::reverse(sizes.begin(), sizes.end());
  for (int64_t d = t.dim() - 1; d >= 0; d--) order.push_back(d);
  return stored_in(permute(Tensor::empty(sizes, t.dtype()), order), t);
}
// Three elements behind the beginning of the block: no address that vectors are loaded from.
Tensor offset(const Tensor& t) {
  return stored_in(Tensor::empty({t.numel() + 3}, t.dtype()).view_of(t.sizes(), contiguous_strides(t.sizes()), 3), t);
}
// One row stands for all.
Tensor expanded(const Tensor& t) {
  if (t.dim() == 0 || t.size(0) < 2) return t;
  Dims strides = contiguous_strides(t.sizes());
  strides[0] = 0;
  return t.view_of(t.sizes(), strides);
}
struct Layout {
  const char* name;
  Tensor (*make)(const Tensor&);
};
constexpr Layout kLayouts[] = {
    {"transposed", transposed}, {"spread", spread}, {"reversed", reversed}, {"offset", offset}, {"expanded", expanded}};

// ---- sizes: those of a sample's tensors, in its text ----

bool begins_tensor(const std::string& text, size_t at) {
  return text[at] == '[' && at > 0 && std::string("fpgibc").find(text[at - 1]) != std::string::npos &&
         (at == 1 || !std::isalnum(static_cast<unsigned char>(text[at - 2])));
}

/// Calls f(number) for each size; what it answers takes its place. `lists`: the numbers of other lists too.
std::string with_sizes(const std::string& text, bool lists, const std::function<int64_t(int64_t)>& f) {
  std::string out;
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    const bool digit = std::isdigit(static_cast<unsigned char>(text[at]));
    if (inside && digit) {
      size_t length = 0;
      const int64_t size = std::stoll(text.substr(at), &length);
      out += std::to_string(f(size));
      at += length;
      continue;
    }
    if (text[at] == '[') inside = lists || begins_tensor(text, at);
    if (text[at] == ']') inside = false;
    out += text[at++];
  }
  return out;
}

std::set<int64_t> sizes_in(const std::string& text) {
  std::set<int64_t> sizes;
  with_sizes(text, false, [&](int64_t size) {
    sizes.insert(size);
    return size;
  });
  return sizes;
}
bool has_list(const std::string& text) {
  for (size_t at = 0; at < text.size(); at++)
    if (text[at] == '[' && !begins_tensor(text, at)) return true;
  return false;
}

// ---- one entry's calls ----

class Visitor {
 public:
  Visitor(const OpEntry& entry, int depth, const std::function<void(const Call&)>& visit)
      : entry_(entry), depth_(depth), visit_(visit) {}

  void sample(const Sample& sample) {
    text_ = sample.call;
    give(args_of(text_, kFloat32), "");
    if (!sample.error_kind.empty()) return;
    forms();
    dtypes();
    layouts();
    if (is_part_of_another()) return;
    scalars();
    devices();
    if (!entry_.has(kInternal)) sizes();  // who calls those knows what they take
  }

 private:
  void give(std::vector<OpArg> args, const std::string& how, Form form = Form::Function, std::vector<bool> stays = {},
            bool mixed = false) {
    if (args.empty() && !entry_.schema().args.empty()) return;  // a sample that cannot be read with these sizes
    static constexpr const char* kForms[] = {"", " in place", " with out=", " backward", " with out="};
    Call call{&entry_, form, {}, std::move(args), std::move(stays), mixed};
    call.label = std::string(entry_.schema_text) + ": " + text_ + (how.empty() ? "" : " " + how) + kForms[int(form)];
    visit_(call);
  }
  std::vector<OpArg> args_of(const std::string& text, DType floats) const {
    return sample_args(entry_, {text, {}, {}}, floats);
  }

  // No script reaches the entry: who calls it has seen to dtypes, shapes and devices.
  bool is_part_of_another() const { return entry_.has(kInternal) && entry_.name[0] == '_'; }
  // Whether a call is made that depth 1 has only where it is the one of its kind that shows most.
  bool deep(bool telling) const { return depth_ > 1 || (depth_ > 0 && telling); }
  bool differentiable() const { return !entry_.has(kNoGrad) && !entry_.has(kRandom) && !entry_.has(kUninitialised); }
  // All forms that the entry has.
  void give_forms(const std::vector<OpArg>& args, const std::string& how) {
    if (entry_.has(kInplace)) give(args, how, Form::Inplace);
    if (entry_.has(kOut)) give(args, how, Form::Out);
    if (differentiable()) give(args, how, Form::Backward);
  }

  void forms() {
    give_forms(args_of(text_, kFloat32), "");
    if (differentiable()) give(args_of(text_, kFloat64), "as float64", Form::Backward);
  }

  void dtypes() {
    for (const DType type : {kFloat64, kFloat16, kBFloat16}) {
      give(args_of(text_, type), std::string("as ") + name(type));
      if (deep(type != kFloat64)) give_forms(args_of(text_, type), std::string("as ") + name(type));
    }
    if (is_part_of_another()) return;
    const std::vector<OpArg> args = args_of(text_, kFloat32);
    const TensorList tensors = tensors_in(args);
    const auto any = [&](auto&& f) { return std::any_of(tensors.begin(), tensors.end(), f); };
    if (any([](const Tensor& t) { return is_operand(t) && t.dtype() == kFloat32; }))
      for (const DType type : {kComplex64, kInt64, kInt32, kUInt8, kBool, kInt16, kInt8, kComplex128}) {
        if (depth_ == 0 && (type == kInt16 || type == kInt8 || type == kComplex128)) continue;
        converted(args, kFloat32, type);
      }
    if (any([](const Tensor& t) { return is_operand(t) && t.dtype() == kInt64; }))
      for (const DType type : {kInt32, kUInt8}) converted(args, kInt64, type);
    // The second operand of another dtype than the first.
    if (std::count_if(tensors.begin(), tensors.end(), is_operand) > 1)
      for (const DType type : {kFloat64, kInt32}) {
        int seen = 0;
        const auto second = [&](const Tensor& t) {
          return is_operand(t) && t.dtype() == kFloat32 && seen++ == 1 ? to_dtype(t, type) : t;
        };
        give(replaced(args, second), std::string("second as ") + name(type));
      }
  }
  static std::string name(DType type) { return tensor::name(type); }
  void converted(const std::vector<OpArg>& args, DType from, DType to) {
    const auto one = [&](const Tensor& t) { return is_operand(t) && t.dtype() == from ? to_dtype(t, to) : t; };
    const std::vector<OpArg> call = replaced(args, one);
    give(call, "as " + name(to));
    if (deep(to == kComplex64 || to == kInt64)) give_forms(call, "as " + name(to));
  }

  void layouts() {
    const std::vector<OpArg> args = args_of(text_, kFloat32);
    for (const Layout& layout : kLayouts) {
      bool other = false;
      const auto one = [&](const Tensor& t) {
        if (!is_operand(t)) return t;
        const Tensor made = layout.make(t);
        other |= !made.same(t);
        return made;
      };
      const std::vector<OpArg> call = replaced(args, one);
      if (!other) continue;
      give(call, layout.name);
      const bool gaps = layout.make == spread;
      if (gaps || deep(layout.make == expanded)) give_forms(call, layout.name);
      if (gaps || deep(layout.make == transposed)) {
        int seen = 0;
        give(replaced(args, [&](const Tensor& t) { return is_operand(t) && seen++ == 0 ? layout.make(t) : t; }),
             std::string("first ") + layout.name);
      }
    }
  }

  // Each operand in turn without dimensions, on the device and on the host.
  void scalars() {
    const std::vector<OpArg> args = args_of(text_, kFloat32);
    const size_t count = tensors_in(args).size();
    for (size_t k = 0; k < count && count < 5; k++) {
      bool made = false;
      size_t seen = 0;
      const std::vector<OpArg> call = replaced(args, [&](const Tensor& t) {
        if (seen++ != k || !is_operand(t) || t.numel() == 0) return t;
        made = true;
        return t.view_of({}, {});
      });
      if (!made) continue;
      const std::string which = "operand " + std::to_string(k);
      give(call, which + " without dimensions");
      if (count > 1) give(call, which + " a number of the host", Form::Function, only(k, count), true);
    }
  }
  static std::vector<bool> only(size_t k, size_t count) {
    std::vector<bool> stays(count);
    stays[k] = true;
    return stays;
  }
  // Each in turn on the host.
  void devices() {
    const std::vector<OpArg> args = args_of(text_, kFloat32);
    const TensorList tensors = tensors_in(args);
    if (entry_.has(kOut) && !tensors.empty()) give(args, "and the result on the host", Form::OutElsewhere, {}, true);
    if (tensors.size() < 2 || tensors.size() > 4) return;
    for (size_t k = 0; k < tensors.size(); k++)
      if (is_operand(tensors[k]) && tensors[k].dim() > 0)
        give(args, "operand " + std::to_string(k) + " on the host", Form::Function, only(k, tensors.size()), true);
  }

  int64_t elements(const std::string& text) const {
    int64_t all = 0;
    for (size_t at = 0; at < text.size(); at++) {
      if (!begins_tensor(text, at)) continue;
      int64_t count = 1;
      with_sizes(text.substr(at - 1, text.find(']', at) - at + 2), false, [&](int64_t size) {
        if (count < kMostElements * 4) count *= size;
        return size;
      });
      all += count;
    }
    return all;
  }
  bool slides_window() const { return entry_.schema().find("stride") >= 0 && entry_.schema().find("padding") >= 0; }
  // Whether the results are few enough; what cannot be known without running is.
  bool small_results(const std::vector<OpArg>& args) const {
    if (entry_.has(kDataDependent)) return true;
    int64_t count = 0;
    try {
      const std::vector<Meta> results = infer(entry_, args);
      if (results.size() > kMostTensors) return false;
      for (const Meta& result : results) count += numel_of(result.sizes);
    } catch (const TensorError&) {}
    return count <= kMostResults;
  }
  // False where the call would be too large.
  bool resized(int64_t from, int64_t to, bool lists) {
    const std::string text = with_sizes(text_, lists, [&](int64_t size) { return size == from ? to : size; });
    if (text == text_) return true;
    if (elements(text) > kMostElements) return false;
    std::vector<OpArg> args;
    try {
      args = args_of(text, kFloat32);
    } catch (const TensorError&) {
      return true;  // a form that these sizes do not have
    }
    if (to > 7 && !small_results(args)) return false;
    const std::string whole = std::exchange(text_, text);
    give(args, "");
    if (to == 0 || deep(to > 7)) give_forms(args, "");
    text_ = whole;
    return true;
  }
  void sizes() {
    const std::set<int64_t> sizes = sizes_in(text_);
    const bool lists = has_list(text_);
    for (const int64_t from : sizes) {
      for (const int64_t to : {0, 1, 7}) {
        resized(from, to, false);
        if (lists && to == 7) resized(from, to, true);
      }
      if (from < 2) continue;
      for (const int64_t to : {9001, 1031, 131, 37}) {
        if (to == 9001 && entry_.has(kFft)) continue;  // a transform by its definition takes the square of it
        if (to == 9001 && slides_window()) continue;   // a window of that length over as many places
        if (to > 37 && entry_.has(kLinalg)) continue;  // larger, most matrices are as good as singular
        if (resized(from, to, false)) break;
      }
    }
  }

  const OpEntry& entry_;
  int depth_;
  const std::function<void(const Call&)>& visit_;
  std::string text_;
};

}  // namespace

std::vector<OpArg> replaced(std::vector<OpArg> args, const std::function<Tensor(const Tensor&)>& f) {
  for (OpArg& arg : args) {
    if (auto* t = std::get_if<Tensor>(&arg)) *t = f(*t);
    if (auto* list = std::get_if<TensorList>(&arg))
      for (Tensor& t : *list) t = f(t);
    if (auto* list = std::get_if<std::vector<OptionalTensor>>(&arg))
      for (OptionalTensor& t : *list)
        if (t) t = f(*t);
  }
  return args;
}

TensorList tensors_in(const std::vector<OpArg>& args) {
  TensorList all;
  replaced(args, [&](const Tensor& t) {
    all.push_back(t);
    return t;
  });
  return all;
}

Tensor moved(const Tensor& t, Device device) {
  if (!is_operand(t)) return t;
  const auto count = int64_t(t.storage().bytes() / item_size(t.dtype()));
  const Tensor plain = without_math_bits(t);
  const Tensor there = to_device(plain.view_of({count}, {1}, -plain.offset()), device);
  const Tensor out = there.view_of(t.sizes(), t.strides(), plain.offset());
  if (t.has_math_bits()) out.set_math_bits(t.math_bits());
  return out;
}

void each_call(const OpEntry& entry, int depth, const std::function<void(const Call&)>& visit) {
  Visitor visitor(entry, depth, visit);
  for (const Sample& sample : samples_of(entry)) visitor.sample(sample);
}

}  // namespace tessera::agreement
