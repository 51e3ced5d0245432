// compile: small (once for a look of a person)
#include "repl/inspector/live_tensors.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "repl/inspector/elements.h"
#include "repl/inspector/reach.h"
#include "runtime/autograd/node.h"

namespace tessera::repl {
using namespace tensor;

namespace {

// As PyTorch names the node, without renewing one that a write through a relative has made stale.
std::string grad_fn_name(const Tensor& t) {
  const AutogradMeta* meta = t.impl()->autograd;
  if (meta == nullptr) return "";
  const bool stale = meta->view_base.defined() && meta->view_version != t.version();
  if (stale && meta->view_base.requires_grad()) return "AsStridedBackward0";
  return meta->grad_fn ? meta->grad_fn->name : "";
}

// --- Memory that rows share: runs of addresses that overlap. What has no addresses (device meta, nothing to hold) is shared by
// those on the same storage, for which the storage's own stands.
bool has_addresses(const Tensor& t) {
  return t.storage().data() != nullptr && t.storage().bytes() > 0 && !t.device().is_meta();
}

struct Memory {
  Device device;
  uintptr_t begin, end;
  size_t row;

  Memory(const Tensor& t, size_t row) : device(t.device()), row(row) {
    begin = reinterpret_cast<uintptr_t>(has_addresses(t) ? t.storage().data() : &t.storage());
    end = begin + (has_addresses(t) ? t.storage().bytes() : 1);
  }
  friend bool operator<(const Memory& a, const Memory& b) {
    return std::tuple(a.device.type, a.device.index, a.begin, a.row) <
           std::tuple(b.device.type, b.device.index, b.begin, b.row);
  }
};

// Whose memory it is: the first tensor that is no view of another here, of those that show the most of it.
size_t owner_of(const std::vector<TensorRow>& rows, const std::vector<size_t>& sharing) {
  std::set<const TensorImpl*> here;
  for (const size_t i : sharing) here.insert(rows[i].tensor.impl());
  const auto rank = [&](size_t i) {
    const Tensor& t = rows[i].tensor;
    const AutogradMeta* meta = t.impl()->autograd;
    const bool is_view = meta != nullptr && meta->view_base.defined() && here.contains(meta->view_base.impl());
    return std::tuple(-std::min(rows[i].bytes, static_cast<int64_t>(t.storage().bytes())), is_view, i);
  };
  return *std::min_element(sharing.begin(), sharing.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
}

void mark_sharing(std::vector<TensorRow>& rows, std::vector<size_t> sharing) {
  std::sort(sharing.begin(), sharing.end());
  const size_t owner = owner_of(rows, sharing);
  std::map<const TensorImpl*, size_t> first;
  first.emplace(rows[owner].tensor.impl(), owner);
  for (const size_t i : sharing) {
    if (i == owner) continue;
    const auto [same, is_new] = first.emplace(rows[i].tensor.impl(), i);
    rows[i].is_same = !is_new;
    rows[i].shares = rows[is_new ? owner : same->second].name;
  }
}

struct DeviceOrder {
  bool operator()(Device a, Device b) const { return std::tuple(a.type, a.index) < std::tuple(b.type, b.index); }
};

void add_totals(LiveTensors& live) {
  std::map<Device, DeviceTotal, DeviceOrder> totals;
  std::vector<Memory> memories;
  for (size_t i = 0; i < live.rows.size(); ++i) memories.emplace_back(live.rows[i].tensor, i);
  std::sort(memories.begin(), memories.end());
  for (size_t i = 0; i < memories.size();) {
    size_t j = i;
    uintptr_t end = memories[i].end;
    std::vector<size_t> sharing;
    for (; j < memories.size() && memories[j].device == memories[i].device && (j == i || memories[j].begin < end);
         ++j) {
      end = std::max(end, memories[j].end);
      sharing.push_back(memories[j].row);
    }
    mark_sharing(live.rows, sharing);
    DeviceTotal& total = totals[memories[i].device];
    const Tensor& first = live.rows[memories[i].row].tensor;
    total.bytes += static_cast<int64_t>(has_addresses(first) ? end - memories[i].begin : first.storage().bytes());
    for (const size_t row : sharing) total.tensors += live.rows[row].is_same ? 0 : 1;
    i = j;
  }
  for (auto& [device, total] : totals) {
    total.device = device.str();
    live.totals.push_back(total);
  }
}

void add_statistics(lang::Interpreter& in, LiveTensors& live, const LookFor& look) {
  int64_t left = look.elements_of_all;
  std::map<const TensorImpl*, const TensorRow*> done;
  const Stopping stopping = [&in] { return in.is_stopping(); };
  for (TensorRow& row : live.rows) {
    if (const auto [known, is_new] = done.emplace(row.tensor.impl(), &row); !is_new) {
      row.statistics = known->second->statistics;
      row.fingerprint = known->second->fingerprint;
      continue;
    }
    if (live.stopped || stopping()) {
      live.stopped = true;
      return;
    }
    // What has to be copied first costs more.
    const int64_t of_one = row.tensor.device().is_cpu() ? look.elements_of_one : look.elements_of_copied;
    const bool whole = row.tensor.numel() <= std::min(of_one, left);
    const int64_t most = whole ? row.tensor.numel() : look.elements_of_sample;
    const HostCopy host = on_host(in, row.tensor, most);
    if (!host.tensor.defined()) continue;
    const Survey found = survey(host.tensor, most, stopping);
    row.statistics = found.statistics;
    if (row.statistics && host.is_part) row.statistics->sampled = true;
    row.fingerprint.checksum = found.checksum;
    if (whole) left -= most;
  }
  live.stopped = live.stopped || stopping();
}

}  // namespace

bool share_memory(const Tensor& a, const Tensor& b) {
  const Memory one(a, 0), other(b, 0);
  return one.device == other.device && one.begin < other.end && other.begin < one.end;
}

void LiveTensors::forget_tensors() {
  for (TensorRow& row : rows) {
    row.value = {};
    row.tensor.reset();
  }
}

TensorRow describe_tensor(std::string name, const lang::Value& value, const Tensor& t) {
  TensorRow row;
  row.name = std::move(name);
  row.value = value;
  row.tensor = t;
  row.type = value.is_object() ? std::string(value.as_object()->type->name->view()) : "Tensor";
  row.shape = tensor::text(t.sizes());
  row.dtype = tensor::name(t.dtype());
  row.device = t.device().str();
  row.bytes = static_cast<int64_t>(t.nbytes());
  row.requires_grad = t.requires_grad();
  row.contiguous = t.is_contiguous();
  row.grad_fn = grad_fn_name(t);
  row.fingerprint = {t.impl()->address(), t.version(), 0};
  return row;
}

LiveTensors live_tensors(lang::Interpreter& in, const LookFor& look) {
  LiveTensors live;
  ReachedTensors reached = reach_tensors(in);
  live.more = reached.more;
  live.gave_up = reached.gave_up;
  for (const Reached& each : reached.tensors) {
    live.rows.push_back(describe_tensor(each.name, each.value, each.tensor));
    live.rows.back().type = each.type;
  }
  add_totals(live);
  if (look.statistics) add_statistics(in, live, look);
  return live;
}

}  // namespace tessera::repl
