// Chains of liblzma's filters from a script's dicts.
#pragma once

#include <lzma.h>

#include <array>
#include <variant>

#include "lang/core/value.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {

// LZMAError with what a code of liblzma means; nothing for those that are no errors.
void check_lzma(Interpreter& in, lzma_ret code);

// Filters with their options, ended as liblzma wants it.
class LzmaFilters {
 public:
  LzmaFilters() { chain_[0] = {LZMA_VLI_UNKNOWN, nullptr}; }
  LzmaFilters(const LzmaFilters&) = delete;
  LzmaFilters& operator=(const LzmaFilters&) = delete;

  // Appends what `spec`, a mapping, says: {"id": FILTER_DELTA, "dist": 5}.
  void add(Interpreter& in, const Value& spec);
  void add_all(Interpreter& in, const Value& specs);
  void add_preset(Interpreter& in, uint32_t preset);
  const lzma_filter* chain() const { return chain_.data(); }
  size_t size() const { return size_; }

 private:
  using Options = std::variant<lzma_options_lzma, lzma_options_delta, lzma_options_bcj>;
  std::array<Options, LZMA_FILTERS_MAX> options_{};
  std::array<lzma_filter, LZMA_FILTERS_MAX + 1> chain_{};
  size_t size_ = 0;
};

// The dict that LzmaFilters::add reads, of a filter that liblzma has decoded.
Value lzma_filter_spec(Interpreter& in, const lzma_filter& filter);

}  // namespace tessera::stdlib
