// _lzma: compression by liblzma.
// compile: small (the library takes longer)
#include <lzma.h>

#include <memory>
#include <vector>

#include "lang/types/bytes.h"
#include "stdlib/python/native/coders.h"
#include "stdlib/python/native/lzma_filters.h"
#include "stdlib/python/native/native_modules.h"

namespace tessera::stdlib {
namespace {

enum Format : int64_t { kAuto, kXz, kAlone, kRaw };
constexpr uint32_t kUnknownCheck = LZMA_CHECK_ID_MAX + 1;

lzma_allocator allocator_of(Interpreter& in) { return {library_allocate, library_free, &in}; }

class Lzma final : public Coding {
 public:
  explicit Lzma(Interpreter& in) : allocator_(allocator_of(in)) { stream.allocator = &allocator_; }
  ~Lzma() override { ::lzma_end(&stream); }

  bool step(Interpreter& in, std::string_view& input, char*& room, size_t& size, bool finish) override {
    stream.next_in = reinterpret_cast<const uint8_t*>(input.data());
    stream.avail_in = input.size();
    stream.next_out = reinterpret_cast<uint8_t*>(room);
    stream.avail_out = size;
    lzma_ret code = ::lzma_code(&stream, finish ? LZMA_FINISH : LZMA_RUN);
    if (code == LZMA_GET_CHECK || code == LZMA_NO_CHECK) check = ::lzma_get_check(&stream);
    // Neither input nor room: no fault, and no end either.
    if (code == LZMA_BUF_ERROR && (input.empty() || size == 0)) code = LZMA_OK;
    input.remove_prefix(input.size() - stream.avail_in);
    room = reinterpret_cast<char*>(stream.next_out);
    size = stream.avail_out;
    check_lzma(in, code);
    return code == LZMA_STREAM_END;
  }

  lzma_stream stream = LZMA_STREAM_INIT;
  uint32_t check = kUnknownCheck;

 private:
  lzma_allocator allocator_;
};

uint32_t preset_of(Interpreter& in, const Value& v) {
  if (v.is_none()) return LZMA_PRESET_DEFAULT;
  const int64_t i = int_argument(in, v);
  if (i < 0 || i > UINT32_MAX) throw Error(ErrorKind::OverflowError, "Value too large for uint32_t type");
  return static_cast<uint32_t>(i);
}

void start_xz(Interpreter& in, Lzma& coding, int64_t check, const Value& preset, const Value& filters) {
  const auto kind = check == -1 ? LZMA_CHECK_CRC64 : static_cast<lzma_check>(check);
  if (filters.is_none()) return check_lzma(in, ::lzma_easy_encoder(&coding.stream, preset_of(in, preset), kind));
  LzmaFilters chain;
  chain.add_all(in, filters);
  check_lzma(in, ::lzma_stream_encoder(&coding.stream, chain.chain(), kind));
}

void start_alone(Interpreter& in, Lzma& coding, const Value& preset, const Value& filters) {
  LzmaFilters chain;
  if (filters.is_none()) chain.add_preset(in, preset_of(in, preset));
  else chain.add_all(in, filters);
  if (chain.size() != 1 || chain.chain()[0].id != LZMA_FILTER_LZMA1)
    throw Error(ErrorKind::ValueError, "Invalid filter chain for FORMAT_ALONE - must be a single LZMA1 filter");
  const auto* options = static_cast<const lzma_options_lzma*>(chain.chain()[0].options);
  check_lzma(in, ::lzma_alone_encoder(&coding.stream, options));
}

Value init_compressor(Interpreter& in, const Args& args) {
  const int64_t format = int_argument(in, args[1]), check = int_argument(in, args[2]);
  const Value &preset = args[3], &filters = args[4];
  if (!preset.is_none() && !filters.is_none())
    throw Error(ErrorKind::ValueError, "Cannot specify both preset and filter chain");
  if (format != kXz && check != -1 && check != LZMA_CHECK_NONE)
    throw Error(ErrorKind::ValueError, "Integrity checks are only supported by FORMAT_XZ");
  auto coding = std::make_unique<Lzma>(in);
  if (format == kXz) {
    start_xz(in, *coding, check, preset, filters);
  } else if (format == kAlone) {
    start_alone(in, *coding, preset, filters);
  } else if (format == kRaw) {
    if (filters.is_none()) throw Error(ErrorKind::ValueError, "Must specify filters for FORMAT_RAW");
    LzmaFilters chain;
    chain.add_all(in, filters);
    check_lzma(in, ::lzma_raw_encoder(&coding->stream, chain.chain()));
  } else {
    throw Error(ErrorKind::ValueError, "Invalid container format: " + std::to_string(format));
  }
  start_coder(in, coder_of(args[0]), std::move(coding));
  return Value::none();
}

uint64_t limit_of(Interpreter& in, const Value& v) {
  if (v.is_none()) return UINT64_MAX;
  const int64_t i = int_argument(in, v);
  if (i < 0) throw Error(ErrorKind::OverflowError, "can't convert negative int to unsigned");
  return static_cast<uint64_t>(i);
}

Value init_decompressor(Interpreter& in, const Args& args) {
  const int64_t format = int_argument(in, args[1]);
  const Value &limit = args[2], &filters = args[3];
  if (!limit.is_none() && format == kRaw)
    throw Error(ErrorKind::ValueError, "Cannot specify memory limit with FORMAT_RAW");
  if (format == kRaw && filters.is_none())
    throw Error(ErrorKind::ValueError, "Must specify filters for FORMAT_RAW");
  if (format != kRaw && !filters.is_none())
    throw Error(ErrorKind::ValueError, "Cannot specify filters except with FORMAT_RAW");
  const uint64_t most = limit_of(in, limit);
  constexpr uint32_t kTell = LZMA_TELL_ANY_CHECK | LZMA_TELL_NO_CHECK;
  auto coding = std::make_unique<Lzma>(in);
  switch (format) {
    case kAuto:
      check_lzma(in, ::lzma_auto_decoder(&coding->stream, most, kTell));
      break;
    case kXz:
      check_lzma(in, ::lzma_stream_decoder(&coding->stream, most, kTell));
      break;
    case kAlone:
      coding->check = LZMA_CHECK_NONE;
      check_lzma(in, ::lzma_alone_decoder(&coding->stream, most));
      break;
    case kRaw: {
      LzmaFilters chain;
      chain.add_all(in, filters);
      coding->check = LZMA_CHECK_NONE;
      check_lzma(in, ::lzma_raw_decoder(&coding->stream, chain.chain()));
      break;
    }
    default:
      throw Error(ErrorKind::ValueError, "Invalid container format: " + std::to_string(format));
  }
  start_coder(in, coder_of(args[0]), std::move(coding));
  return Value::none();
}

Value decompress(Interpreter& in, const Args& args) { return decode_part(in, args, "Already at end of stream"); }

Value check_of(Interpreter&, const Args& args) {
  const auto* coding = static_cast<const Lzma*>(coder_of(args[0])->coding.get());
  return Value::integer(coding == nullptr ? kUnknownCheck : coding->check);
}

Value is_check_supported(Interpreter& in, const Args& args) {
  const int64_t id = int_argument(in, args[0]);
  return Value::boolean(id >= 0 && id <= UINT32_MAX && ::lzma_check_is_supported(static_cast<lzma_check>(id)) != 0);
}

Value encode_filter_properties(Interpreter& in, const Args& args) {
  LzmaFilters chain;
  chain.add(in, args[0]);
  uint32_t size = 0;
  check_lzma(in, ::lzma_properties_size(&size, chain.chain()));
  std::vector<uint8_t> properties(size);
  check_lzma(in, ::lzma_properties_encode(chain.chain(), properties.data()));
  return make_bytes(in, {reinterpret_cast<const char*>(properties.data()), size});
}

Value decode_filter_properties(Interpreter& in, const Args& args) {
  const int64_t id = int_argument(in, args[0]);
  const BytesLike properties(in, args[1]);
  const lzma_allocator allocator = allocator_of(in);
  lzma_filter filter{static_cast<lzma_vli>(id), nullptr};
  check_lzma(in, ::lzma_properties_decode(&filter, &allocator, reinterpret_cast<const uint8_t*>(properties.view().data()),
                                          properties.view().size()));
  struct Options {
    Interpreter& in;
    void* memory;
    ~Options() { library_free(&in, memory); }
  } owned{in, filter.options};
  return lzma_filter_spec(in, filter);
}

const NativeDef kFunctions[] = {
    {"is_check_supported(check_id, /)", is_check_supported, "Whether the library can compute this check."},
    {"_encode_filter_properties(filter, /)", encode_filter_properties, "The options of a filter, as bytes."},
    {"_decode_filter_properties(filter_id, encoded_props, /)", decode_filter_properties, "A filter of its options' bytes."},
};
const NativeDef kCompressor[] = {
    {"__init__(self, format=1, check=-1, preset=None, filters=None)", init_compressor},
    {"compress(self, data, /)", encode_part, "Compress a part."},
    {"flush(self)", encode_end, "The end of the stream."},
};
const NativeDef kDecompressor[] = {
    {"__init__(self, format=0, memlimit=None, filters=None)", init_decompressor},
    {"decompress(self, data, max_length=-1)", decompress, "Decompress a part, to max_length bytes at most."},
};

struct Constant {
  const char* name;
  int64_t value;
};
const Constant kConstants[] = {
    {"FORMAT_AUTO", kAuto}, {"FORMAT_XZ", kXz}, {"FORMAT_ALONE", kAlone}, {"FORMAT_RAW", kRaw},
    {"CHECK_NONE", LZMA_CHECK_NONE}, {"CHECK_CRC32", LZMA_CHECK_CRC32}, {"CHECK_CRC64", LZMA_CHECK_CRC64},
    {"CHECK_SHA256", LZMA_CHECK_SHA256}, {"CHECK_ID_MAX", LZMA_CHECK_ID_MAX}, {"CHECK_UNKNOWN", kUnknownCheck},
    {"FILTER_LZMA1", static_cast<int64_t>(LZMA_FILTER_LZMA1)}, {"FILTER_LZMA2", LZMA_FILTER_LZMA2},
    {"FILTER_DELTA", LZMA_FILTER_DELTA}, {"FILTER_X86", LZMA_FILTER_X86}, {"FILTER_POWERPC", LZMA_FILTER_POWERPC},
    {"FILTER_IA64", LZMA_FILTER_IA64}, {"FILTER_ARM", LZMA_FILTER_ARM}, {"FILTER_ARMTHUMB", LZMA_FILTER_ARMTHUMB},
    {"FILTER_SPARC", LZMA_FILTER_SPARC}, {"MF_HC3", LZMA_MF_HC3}, {"MF_HC4", LZMA_MF_HC4}, {"MF_BT2", LZMA_MF_BT2},
    {"MF_BT3", LZMA_MF_BT3}, {"MF_BT4", LZMA_MF_BT4}, {"MODE_FAST", LZMA_MODE_FAST}, {"MODE_NORMAL", LZMA_MODE_NORMAL},
    {"PRESET_DEFAULT", LZMA_PRESET_DEFAULT}, {"PRESET_EXTREME", LZMA_PRESET_EXTREME},
};

}  // namespace

void fill_lzma(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
  make_coder_type(in, module, "LZMACompressor", kCompressor, std::size(kCompressor), false);
  in.add_property(make_coder_type(in, module, "LZMADecompressor", kDecompressor, std::size(kDecompressor), true), "check", check_of);
  for (const Constant& row : kConstants) set_member(in, module, row.name, Value::integer(row.value));
}

}  // namespace tessera::stdlib
