#include "tests/cuda/agreement/expected.h"

#include <cstdlib>
#include <string_view>

namespace tessera::agreement {
namespace {

constexpr Expected kExpected[] = {
#define REFUSED(KERNEL, DTYPES, REASON) {Expected::Kind::Refused, KERNEL, " " DTYPES " ", REASON},
#define DIFFERS(ENTRY, BEGINNING, REASON) {Expected::Kind::Differs, ENTRY, BEGINNING, REASON},
#define UNORDERED(ENTRY, PART, REASON) {Expected::Kind::Unordered, ENTRY, PART, REASON},
#define TIES(ENTRY, REASON) {Expected::Kind::Ties, ENTRY, "", REASON},
#define UNWRITTEN(ENTRY, REASON) {Expected::Kind::Unwritten, ENTRY, "", REASON},
#define ON_CUDA(ENTRY, ARGUMENT, VALUE) {Expected::Kind::OnCuda, ENTRY, ARGUMENT, VALUE},
#define NEAR(ENTRY, SHARE, REASON) {Expected::Kind::Near, ENTRY, #SHARE, REASON},
#define FACTORS(ENTRY, PRODUCT, REASON) {Expected::Kind::Factors, ENTRY, PRODUCT, REASON},
#define LEFT(ENTRY, BEGINNING, REASON) {Expected::Kind::Left, ENTRY, BEGINNING, REASON},
#include "tests/cuda/agreement/expected.def"
#undef REFUSED
#undef DIFFERS
#undef UNORDERED
#undef TIES
#undef NEAR
#undef UNWRITTEN
#undef ON_CUDA
#undef FACTORS
#undef LEFT
};

// What stands between two texts, where `text` begins with the first; else empty.
std::string_view between(std::string_view text, std::string_view before, std::string_view behind) {
  const size_t end = text.find(behind, before.size());
  if (!text.starts_with(before) || end == text.npos) return {};
  return text.substr(before.size(), end - before.size());
}

bool refuses(const Expected& line, std::string_view error) {
  const std::string_view kernel = between(error, "NotImplementedError: \"", "\" not implemented for '");
  if (kernel != line.what) return false;
  const size_t quote = error.find(" for '") + 6;
  const std::string dtype = " " + std::string(error.substr(quote, error.find('\'', quote) - quote)) + " ";
  return std::string_view(line.detail).find(dtype) != std::string_view::npos;
}

}  // namespace

std::span<const Expected> all_expected() { return kExpected; }

int expectation(const Call& call, const std::string& error, const std::string& differs) {
  for (size_t k = 0; k < std::size(kExpected); k++) {
    const Expected& line = kExpected[k];
    switch (line.kind) {
      case Expected::Kind::Refused:
        if (refuses(line, error)) return int(k);
        break;
      case Expected::Kind::Unordered:
      case Expected::Kind::Unwritten:
      case Expected::Kind::OnCuda:
      case Expected::Kind::Ties:
      case Expected::Kind::Near:
      case Expected::Kind::Factors: break;
      case Expected::Kind::Differs:
      case Expected::Kind::Left:
        if (std::string_view(line.what) == call.entry->name && differs.starts_with(line.detail)) return int(k);
        break;
    }
  }
  return -1;
}

int not_determined(const Call& call) {
  for (size_t k = 0; k < std::size(kExpected); k++) {
    const Expected& line = kExpected[k];
    if (line.kind == Expected::Kind::Unordered && std::string_view(line.what) == call.entry->name &&
        call.label.find(line.detail) != std::string::npos)
      return int(k);
  }
  return -1;
}

Call as_on_cuda(const Call& call) {
  Call other = call;
  for (const Expected& line : kExpected) {
    if (line.kind != Expected::Kind::OnCuda || std::string_view(line.what) != call.entry->name) continue;
    const int at = call.entry->schema().find(line.detail);
    if (at >= 0 && std::holds_alternative<std::monostate>(other.args[size_t(at)]))
      other.args[size_t(at)] = std::string(line.reason);
  }
  return other;
}

bool has_unwritten(const Call& call) {
  for (const Expected& line : kExpected)
    if (line.kind == Expected::Kind::Unwritten && std::string_view(line.what) == call.entry->name) return true;
  return false;
}

double tolerance_of(const Call& call) {
  for (const Expected& line : kExpected)
    if (line.kind == Expected::Kind::Near && std::string_view(line.what) == call.entry->name)
      return std::strtod(line.detail, nullptr);
  return 0;
}

const char* product_of(const Call& call) {
  for (const Expected& line : kExpected)
    if (line.kind == Expected::Kind::Factors && std::string_view(line.what) == call.entry->name) return line.detail;
  return nullptr;
}

bool has_ties(const Call& call) {
  for (const Expected& line : kExpected)
    if (line.kind == Expected::Kind::Ties && std::string_view(line.what) == call.entry->name) return true;
  return false;
}

}  // namespace tessera::agreement
