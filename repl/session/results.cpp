// compile: small (waits for a person)
#include "repl/session/results.h"

#include <algorithm>
#include <utility>

#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "runtime/storage.h"
#include "stdlib/torch/state.h"

namespace tessera::repl {
using namespace lang;

namespace {

int64_t tensor_bytes(Interpreter& in, const Value& value) {
  if (in.extension == nullptr || !stdlib::is_tensor(stdlib::torch_state(in), value)) return 0;
  const tensor::Tensor& t = stdlib::tensor_of(value);
  return t.defined() ? t.numel() * static_cast<int64_t>(tensor::item_size(t.dtype())) : 0;
}

}  // namespace

bool is_session_name(std::string_view name) {
  if (name == "In" || name == "Out" || name == "_exit_code") return true;
  if (name.empty() || name[0] != '_') return false;
  const std::string_view rest = name.substr(name.starts_with("_i") ? 2 : 1);
  if (rest.find_first_not_of("0123456789") == rest.npos) return true;
  return name == "__" || name == "___" || name == "_ii" || name == "_iii" || name == "_ih" || name == "_oh" ||
         name == "_dh";
}

void Results::set(std::string_view name, const Value& value) {
  dict_set_str(in_, in_.main_module()->dict, intern(in_, name), value);
}

void Results::publish() {
  if (in_list_.is_undefined()) {
    in_list_ = make_list(in_);
    out_dict_ = make_dict(in_);
    for (const std::string& block : blocks_) list_append(in_, as_list(in_list_), make_str_lossy(in_, block));
  }
  for (const char* name : {"In", "_ih"}) set(name, in_list_);
  for (const char* name : {"Out", "_oh"}) set(name, out_dict_);
}

void Results::begin(int number, const std::string& block) {
  if (in_list_.is_undefined()) publish();
  std::string text = block;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto earlier = [&](size_t back) { return blocks_.size() > back ? blocks_[blocks_.size() - 1 - back] : ""; };
  set("_i", make_str_lossy(in_, earlier(0)));
  set("_ii", make_str_lossy(in_, earlier(1)));
  set("_iii", make_str_lossy(in_, earlier(2)));
  set("_i" + std::to_string(number), make_str_lossy(in_, text));
  list_append(in_, as_list(in_list_), make_str_lossy(in_, text));
  blocks_.push_back(std::move(text));
}

void Results::keep(int number, const Value& value) {
  static constexpr const char* kNames[] = {"_", "__", "___"};
  Dict* const names = in_.main_module()->dict;
  const Value* now = dict_get_text(names, "_");
  if (now == nullptr || now->is(shown_[0])) {  // else the person has an own _
    shown_[2] = std::exchange(shown_[1], std::exchange(shown_[0], value));
    for (int i = 0; i < 3; ++i)
      if (!shown_[i].is_undefined()) set(kNames[i], shown_[i]);
  }
  set("_" + std::to_string(number), value);
  dict_set(in_, as_dict(out_dict_), Value::integer(number), value);
  kept_.push_back({number, tensor_bytes(in_, value)});
  drop_old();
}

void Results::forget(int number) {
  dict_delete_str(in_, in_.main_module()->dict, intern(in_, "_" + std::to_string(number)));
  dict_delete(in_, as_dict(out_dict_), Value::integer(number));
}

void Results::drop_old() {
  if (kept_.size() > kKept) {
    forget(kept_.front().number);
    kept_.erase(kept_.begin());
  }
  int64_t bytes = 0;
  for (const Kept& each : kept_) bytes += each.bytes;
  for (size_t i = 0; bytes > kTensorBytes && i + 3 < kept_.size();) {
    if (kept_[i].bytes == 0) {
      ++i;
      continue;
    }
    bytes -= kept_[i].bytes;
    forget(kept_[i].number);
    kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Results::clear_out() {
  for (const Kept& each : kept_) forget(each.number);
  kept_.clear();
  for (const char* name : {"_", "__", "___"}) dict_delete_str(in_, in_.main_module()->dict, intern(in_, name));
  for (Value& each : shown_) each = Value();
  if (!out_dict_.is_undefined()) dict_clear(in_, as_dict(out_dict_));
}

void Results::clear_in() {
  Dict* const names = in_.main_module()->dict;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i].clear();
    dict_delete_str(in_, names, intern(in_, "_i" + std::to_string(i)));
  }
  in_list_ = make_list(in_);
  for (size_t i = 0; i < blocks_.size(); ++i) list_append(in_, as_list(in_list_), make_str(in_, ""));
  publish();
}

void Results::set_blocks(std::vector<std::string> blocks) {
  if (blocks.empty()) blocks.emplace_back();
  blocks_ = std::move(blocks);
  in_list_ = make_list(in_);
  for (const std::string& block : blocks_) list_append(in_, as_list(in_list_), make_str_lossy(in_, block));
  if (out_dict_.is_undefined()) out_dict_ = make_dict(in_);
  publish();
}

}  // namespace tessera::repl
