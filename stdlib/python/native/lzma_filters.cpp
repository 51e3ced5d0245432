// Chains of liblzma's filters from a script's dicts.
// compile: small (the library takes longer)
#include "stdlib/python/native/lzma_filters.h"

namespace tessera::stdlib {
namespace {

struct Field {
  const char* name;
  uint32_t lzma_options_lzma::*place;
};
constexpr Field kLzmaFields[] = {
    {"dict_size", &lzma_options_lzma::dict_size}, {"lc", &lzma_options_lzma::lc},
    {"lp", &lzma_options_lzma::lp},               {"pb", &lzma_options_lzma::pb},
    {"nice_len", &lzma_options_lzma::nice_len},   {"depth", &lzma_options_lzma::depth},
};

uint32_t number(Interpreter& in, const Value& v) {
  const int64_t i = int_argument(in, v);
  if (i < 0 || i > UINT32_MAX) throw Error(ErrorKind::OverflowError, "Value too large for uint32_t type");
  return static_cast<uint32_t>(i);
}

// Reads the keys of a specification and counts them, so that one of another name is noticed.
class SpecReader {
 public:
  SpecReader(Interpreter& in, const Value& spec, const char* filter) : in_(in), spec_(spec), filter_(filter) {}
  bool read(const char* key, uint32_t& into) {
    const Value name = make_str(in_, key);
    if (!contains(in_, spec_, name)) return false;
    into = number(in_, get_item(in_, spec_, name));
    ++found_;
    return true;
  }
  void end() const {
    if (length(in_, spec_) > found_) throw_error(ErrorKind::ValueError, "Invalid filter specifier for %s filter", filter_);
  }

 private:
  Interpreter& in_;
  const Value& spec_;
  const char* filter_;
  int64_t found_ = 1;  // the id
};

void read_preset(Interpreter& in, lzma_options_lzma& options, uint32_t preset) {
  if (::lzma_lzma_preset(&options, preset)) {
    const Value error_class = get_attr(in, Value(in.import("lzma")), intern(in, "LZMAError"));
    throw Thrown(call(in, error_class, {make_str(in, "Invalid compression preset: " + std::to_string(preset))}));
  }
}

lzma_options_lzma read_lzma(Interpreter& in, const Value& spec) {
  SpecReader reader(in, spec, "LZMA");
  lzma_options_lzma options{};
  uint32_t preset = LZMA_PRESET_DEFAULT, mode = 0, finder = 0;
  reader.read("preset", preset);
  read_preset(in, options, preset);
  for (const Field& field : kLzmaFields) reader.read(field.name, options.*field.place);
  if (reader.read("mode", mode)) options.mode = static_cast<lzma_mode>(mode);
  if (reader.read("mf", finder)) options.mf = static_cast<lzma_match_finder>(finder);
  reader.end();
  return options;
}

lzma_options_delta read_delta(Interpreter& in, const Value& spec) {
  SpecReader reader(in, spec, "delta");
  lzma_options_delta options{};
  options.type = LZMA_DELTA_TYPE_BYTE;
  options.dist = 1;
  reader.read("dist", options.dist);
  reader.end();
  return options;
}

lzma_options_bcj read_bcj(Interpreter& in, const Value& spec) {
  SpecReader reader(in, spec, "BCJ");
  lzma_options_bcj options{};
  reader.read("start_offset", options.start_offset);
  reader.end();
  return options;
}

const char* meaning(lzma_ret code) {
  switch (code) {
    case LZMA_OK: case LZMA_GET_CHECK: case LZMA_NO_CHECK: case LZMA_STREAM_END: return nullptr;
    case LZMA_UNSUPPORTED_CHECK: return "Unsupported integrity check";
    case LZMA_MEMLIMIT_ERROR: return "Memory usage limit exceeded";
    case LZMA_FORMAT_ERROR: return "Input format not supported by decoder";
    case LZMA_OPTIONS_ERROR: return "Invalid or unsupported options";
    case LZMA_DATA_ERROR: return "Corrupt input data";
    case LZMA_BUF_ERROR: return "Insufficient buffer space";
    default: return "Internal error";
  }
}

}  // namespace

void check_lzma(Interpreter& in, lzma_ret code) {
  if (code == LZMA_MEM_ERROR) throw Error(ErrorKind::MemoryError, std::string());
  const char* const words = meaning(code);
  if (words == nullptr) return;
  const Value error_class = get_attr(in, Value(in.import("lzma")), intern(in, "LZMAError"));
  throw Thrown(call(in, error_class, {make_str(in, words)}));
}

void LzmaFilters::add(Interpreter& in, const Value& spec) {
  if (!is_dict(spec) && find_attr(in, spec, intern(in, "keys")).is_undefined())
    throw Error(ErrorKind::TypeError, "Filter specifier must be a dict or dict-like object");
  if (size_ == LZMA_FILTERS_MAX)
    throw_error(ErrorKind::ValueError, "Too many filters - liblzma supports a maximum of %d", LZMA_FILTERS_MAX);
  const Value key = make_str(in, "id");
  if (!contains(in, spec, key)) throw Error(ErrorKind::ValueError, "Filter specifier must have an \"id\" entry");
  const Value given = get_item(in, spec, key);
  const auto id = static_cast<lzma_vli>(int_argument(in, given));
  Options& place = options_[size_];
  void* options = nullptr;
  switch (id) {
    case LZMA_FILTER_LZMA1:
    case LZMA_FILTER_LZMA2:
      options = &place.emplace<lzma_options_lzma>(read_lzma(in, spec));
      break;
    case LZMA_FILTER_DELTA:
      options = &place.emplace<lzma_options_delta>(read_delta(in, spec));
      break;
    case LZMA_FILTER_X86:
    case LZMA_FILTER_POWERPC:
    case LZMA_FILTER_IA64:
    case LZMA_FILTER_ARM:
    case LZMA_FILTER_ARMTHUMB:
    case LZMA_FILTER_SPARC:
      options = &place.emplace<lzma_options_bcj>(read_bcj(in, spec));
      break;
    default:
      throw Error(ErrorKind::ValueError, "Invalid filter ID: " + std::to_string(id));
  }
  chain_[size_++] = {id, options};
  chain_[size_] = {LZMA_VLI_UNKNOWN, nullptr};
}

void LzmaFilters::add_all(Interpreter& in, const Value& specs) {
  if (is_dict(specs)) throw Error(ErrorKind::TypeError, "dict is not a sequence");
  length(in, specs);  // an iterator has none, and is refused before it is drained
  for_each(in, specs, [&](const Value& spec) {
    add(in, spec);
    return true;
  });
}

void LzmaFilters::add_preset(Interpreter& in, uint32_t preset) {
  lzma_options_lzma& options = options_[0].emplace<lzma_options_lzma>();
  read_preset(in, options, preset);
  chain_[0] = {LZMA_FILTER_LZMA1, &options};
  chain_[1] = {LZMA_VLI_UNKNOWN, nullptr};
  size_ = 1;
}

Value lzma_filter_spec(Interpreter& in, const lzma_filter& filter) {
  const Value made = make_dict(in);
  auto set = [&](const char* name, uint64_t value) {
    dict_set_str(in, as_dict(made), intern(in, name), Value::integer(static_cast<int64_t>(value)));
  };
  set("id", filter.id);
  if (filter.options == nullptr) return made;
  if (filter.id == LZMA_FILTER_LZMA1 || filter.id == LZMA_FILTER_LZMA2) {
    const auto* options = static_cast<const lzma_options_lzma*>(filter.options);
    if (filter.id == LZMA_FILTER_LZMA1) {
      set("lc", options->lc);
      set("lp", options->lp);
      set("pb", options->pb);
    }
    set("dict_size", options->dict_size);
  } else if (filter.id == LZMA_FILTER_DELTA) {
    set("dist", static_cast<const lzma_options_delta*>(filter.options)->dist);
  } else {
    set("start_offset", static_cast<const lzma_options_bcj*>(filter.options)->start_offset);
  }
  return made;
}

}  // namespace tessera::stdlib
