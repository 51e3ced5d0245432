#include "stdlib/embedded.h"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>
#include <new>

namespace tessera::stdlib {

namespace {

// A module that lies alone in its block.
std::string inflated(const EmbeddedModule& module) {
  std::string text(module.size, '\0');
  const std::string_view known = embedded_dictionary();
  const auto bytes = [](std::string_view s) { return reinterpret_cast<Bytef*>(const_cast<char*>(s.data())); };
  z_stream stream{};
  const std::string_view block = embedded_block(module.block);
  stream.next_in = bytes(block), stream.avail_in = uInt(block.size());
  stream.next_out = bytes(text), stream.avail_out = uInt(text.size());
  inflateInit(&stream);
  if (inflate(&stream, Z_FINISH) == Z_NEED_DICT) {
    inflateSetDictionary(&stream, bytes(known), uInt(known.size()));
    inflate(&stream, Z_FINISH);
  }
  inflateEnd(&stream);
  return text;
}

// A block, as far as it was read: the modules of a package, which are wanted one after the other, lie together.
class BlockReader {
 public:
  BlockReader() = default;
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;
  ~BlockReader() { lzma_end(&stream_); }

  bool has(int block) const { return block_ == block; }

  std::string text_of(const EmbeddedModule& module) {
    if (block_ != module.block) begin(module.block);
    const std::size_t end = module.at + module.size, had = text_.size();
    if (end > had) {
      text_.resize(end);
      stream_.next_out = reinterpret_cast<std::uint8_t*>(text_.data()) + had, stream_.avail_out = end - had;
      check(lzma_code(&stream_, LZMA_RUN));
    }
    return text_.substr(module.at, module.size);
  }

 private:
  // Of texts that the program itself has, nothing but memory can be missing.
  static void check(lzma_ret result) {
    if (result != LZMA_OK && result != LZMA_STREAM_END) throw std::bad_alloc();
  }

  void begin(int number) {
    if (known_.empty())
      for (const unsigned short index : embedded_known()) known_ += inflated(embedded_modules()[index]);
    block_ = kNone;
    const std::string_view block = embedded_block(static_cast<unsigned>(number));
    lzma_options_lzma options;
    lzma_lzma_preset(&options, LZMA_PRESET_DEFAULT);
    options.dict_size = embedded_window();
    options.pb = 0;
    options.preset_dict = reinterpret_cast<const std::uint8_t*>(known_.data());
    options.preset_dict_size = static_cast<std::uint32_t>(known_.size());
    const lzma_filter filters[] = {{LZMA_FILTER_LZMA1, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
    check(lzma_raw_decoder(&stream_, filters));
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(block.data()), stream_.avail_in = block.size();
    block_ = number;
    text_.clear();
  }

  std::string known_;
  static constexpr int kNone = -1;
  int block_ = kNone;
  std::string text_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

// The blocks that were read last, since a package imports from a few in turn. One for the process, since interpreters on several
// threads read the same blocks.
class BlockReaders {
 public:
  std::string text_of(const EmbeddedModule& module) {
    const std::scoped_lock lock(mutex_);
    auto reader = std::ranges::find_if(readers_, [&](const auto& each) { return each->has(module.block); });
    if (reader == readers_.end()) {
      if (readers_.size() < kReaders) readers_.push_back(std::make_unique<BlockReader>());
      reader = readers_.end() - 1;
    }
    std::rotate(readers_.begin(), reader, reader + 1);  // the one that was used last is the first
    return readers_.front()->text_of(module);
  }

 private:
  static constexpr std::size_t kReaders = 4;  // 2 MB each
  std::mutex mutex_;
  std::vector<std::unique_ptr<BlockReader>> readers_;
};

// Replaces each byte 1 by four spaces: cmake/embed_modules.cpp writes indents so, and no module's text contains that byte.
std::string with_spaces(const std::string& text) {
  std::string out;
  out.reserve(text.size() + 3 * static_cast<std::size_t>(std::ranges::count(text, '\1')));
  for (const char c : text) {
    if (c == '\1') out.append(4, ' ');
    else out += c;
  }
  return out;
}

}  // namespace

const EmbeddedModule* find_embedded(std::string_view name) {
  const auto modules = embedded_modules();
  const auto at = std::ranges::lower_bound(modules, name, {}, [](const EmbeddedModule& m) { return std::string_view(m.name); });
  return at != modules.end() && at->name == name ? &*at : nullptr;
}

std::string path_of(const EmbeddedModule& module) {
  std::string path = module.name;
  std::ranges::replace(path, '.', '/');
  if (module.is_package) path += path.empty() ? "__init__" : "/__init__";
  return (module.is_standard ? "stdlib/python/" : "stdlib/") + path + ".tsr";
}

std::string text_of(const EmbeddedModule& module) {
  static BlockReaders blocks;
  return with_spaces(module.is_shared ? blocks.text_of(module) : inflated(module));
}

}  // namespace tessera::stdlib
