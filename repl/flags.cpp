#include "repl/flags.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include <sys/random.h>

#include "lang/types/hash_key.h"

namespace tessera::repl {

using lang::Flags;

bool set_flag(Flags& flags, char letter) {
  switch (letter) {
    case 'b': ++flags.bytes_warning; return true;
    case 'B': flags.dont_write_bytecode = 1; return true;
    case 'd': ++flags.debug; return true;
    case 'E': flags.ignore_environment = 1; return true;
    case 'i': flags.inspect = 1; return true;
    case 'I': flags.isolated = flags.ignore_environment = flags.no_user_site = flags.safe_path = 1; return true;
    case 'O': ++flags.optimize; return true;
    case 'P': flags.safe_path = 1; return true;
    case 'q': flags.quiet = 1; return true;
    case 'R': return true;  // hashes are the same in each process, unless PYTHONHASHSEED says else
    case 's': flags.no_user_site = 1; return true;
    case 'S': flags.no_site = 1; return true;
    case 'u': flags.unbuffered = true; return true;
    case 'v': ++flags.verbose; return true;
    case 'x': flags.skip_first_line = true; return true;
    default: return false;
  }
}

namespace {

constexpr int kLeastMaxDigits = 640;  // sys.int_info.str_digits_check_threshold

// 0, or 640 and more.
bool read_max_digits(std::string_view text, int& digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || (value != 0 && value < kLeastMaxDigits)) return false;
  digits = value;
  return true;
}

// PYTHONHASHSEED: the key of the hashes of texts. False: it is none.
bool set_hash_seed(std::string_view text) {
  lang::HashKey key;
  if (text == "random") {
    if (getrandom(&key, sizeof key, 0) != sizeof key) return false;
    lang::set_hash_key(key);
    return true;
  }
  uint32_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  lang::set_hash_key(lang::hash_key_of_seed(seed));
  return true;
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// A variable such as PYTHONOPTIMIZE: a number, or any text for 1.
int level(const char* value) {
  const int number = std::atoi(value);
  return number > 0 ? number : 1;
}

}  // namespace

std::string set_x_option(Flags& flags, std::string_view text) {
  const size_t equals = text.find('=');
  const std::string name(text.substr(0, equals));
  const std::string value(equals == text.npos ? "" : text.substr(equals + 1));
  if (name == "dev") flags.dev_mode = true;
  if (name == "pycache_prefix") flags.pycache_prefix = value;
  if (name == "int_max_str_digits" && !read_max_digits(value, flags.int_max_str_digits))
    return "-X int_max_str_digits: invalid limit; must be >= 640 or 0 for unlimited.";
  const auto same =
      std::find_if(flags.x_options.begin(), flags.x_options.end(), [&](const auto& o) { return o.first == name; });
  if (same != flags.x_options.end()) same->second = value;
  else flags.x_options.emplace_back(name, value);
  return "";
}

std::string read_environment(Flags& flags) {
  if (flags.ignore_environment) return "";
  const auto raise = [](int& flag, const char* name) {
    if (const char* value = variable(name)) flag = std::max(flag, level(value));
  };
  raise(flags.debug, "PYTHONDEBUG");
  raise(flags.inspect, "PYTHONINSPECT");
  raise(flags.optimize, "PYTHONOPTIMIZE");
  raise(flags.verbose, "PYTHONVERBOSE");
  raise(flags.dont_write_bytecode, "PYTHONDONTWRITEBYTECODE");
  raise(flags.no_user_site, "PYTHONNOUSERSITE");
  if (variable("PYTHONSAFEPATH") != nullptr) flags.safe_path = 1;
  if (variable("PYTHONUNBUFFERED") != nullptr) flags.unbuffered = true;
  if (variable("PYTHONDEVMODE") != nullptr) flags.dev_mode = true;
  const auto is_given = [&](const char* name) {
    return std::any_of(flags.x_options.begin(), flags.x_options.end(), [&](const auto& o) { return o.first == name; });
  };
  if (const char* prefix = variable("PYTHONPYCACHEPREFIX"); prefix != nullptr && !is_given("pycache_prefix")) flags.pycache_prefix = prefix;
  if (const char* seed = variable("PYTHONHASHSEED"); seed != nullptr && !set_hash_seed(seed))
    return "PYTHONHASHSEED must be \"random\" or an integer in range [0; 4294967295]";
  if (const char* list = variable("PYTHONWARNINGS")) {
    std::vector<std::string> first;
    std::istringstream parts{std::string(list)};
    for (std::string each; std::getline(parts, each, ',');) first.push_back(each);
    flags.warn_options.insert(flags.warn_options.begin(), first.begin(), first.end());
  }
  if (const char* digits = variable("PYTHONINTMAXSTRDIGITS"); digits != nullptr && !is_given("int_max_str_digits"))
    if (!read_max_digits(digits, flags.int_max_str_digits))
      return "PYTHONINTMAXSTRDIGITS: invalid limit; must be >= 640 or 0 for unlimited.";
  return "";
}

}  // namespace tessera::repl
