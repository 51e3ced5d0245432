// _random.Random: the twister behind `random`.
#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/types/bytes.h"
#include "stdlib/python/native/mersenne.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

struct RandomObject : Object {
  Mersenne twister;
};

RandomObject* self_of(const Args& args) { return object_cast<RandomObject>(args[0]); }

void destroy_random(Interpreter& in, Object* self) { free_object(in, known_cast<RandomObject>(self)); }

// From the system's randomness, or from the clock where there is none; always the same for who may not ask the system.
void seed_anew(Interpreter& in, Mersenne& twister) {
  if (!in.limits.entropy) return twister.seed(uint64_t{0});
  uint32_t key[8];
  const bool good = getrandom(key, sizeof key, 0) == static_cast<ssize_t>(sizeof key);
  if (good) {
    twister.seed_words(key, 8);
  } else {
    twister.seed(static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  }
}

Value make_random(Interpreter& in, Type* type, const Args&) {
  RandomObject* made = make_object<RandomObject>(in, type);
  Value result = Value::adopt(made);
  seed_anew(in, made->twister);
  return result;
}

// The absolute value's 32-bit digits, the least significant first.
void seed_whole(Mersenne& twister, const Value& value) {
  const WholeView view(value);
  std::vector<uint32_t> key;
  for (size_t i = 0; i < view.limbs().size; ++i) {
    key.push_back(static_cast<uint32_t>(view.limbs()[i]));
    key.push_back(static_cast<uint32_t>(view.limbs()[i] >> 32));
  }
  while (key.size() > 1 && key.back() == 0) key.pop_back();
  if (key.empty()) key.push_back(0);
  twister.seed_words(key.data(), key.size());
}

Value seed(Interpreter& in, const Args& args) {
  Mersenne& twister = self_of(args)->twister;
  const Value& a = args[1];
  if (a.is_none()) {
    seed_anew(in, twister);
  } else if (is_str(a)) {
    twister.seed_text(text_of(a));
  } else if (is_bytes(a) || is_byte_array(a)) {
    twister.seed_text(bytes_of(a));
  } else if (is_whole(unboxed(a))) {
    seed_whole(twister, unboxed(a));
  } else {
    twister.seed(static_cast<uint64_t>(hash(in, a)));
  }
  return Value::none();
}

Value random(Interpreter&, const Args& args) { return Value::real(self_of(args)->twister.real()); }

bool short_random(Interpreter&, Value* args, Value& answer) {
  answer = Value::real(object_cast<RandomObject>(args[0])->twister.real());
  return true;
}

// Words of 32 bits, the least significant first; the last one gives its upper bits.
Value random_bits(Interpreter& in, Mersenne& twister, uint64_t count) {
  if (count <= 63) return Value::integer(static_cast<int64_t>(twister.bits(static_cast<uint32_t>(count))));
  const size_t limbs = count / kLimbBits + 1;
  Natural result(in, limbs);
  for (size_t i = 0; i < limbs; ++i) {
    if (i % kPieceItems == kPieceItems - 1) in.check_stop(kPieceSteps);
    result.data()[i] = twister.bits(static_cast<uint32_t>(std::min<uint64_t>(count, kLimbBits)));
    count -= std::min<uint64_t>(count, kLimbBits);
  }
  result.set_size(limbs);
  return make_whole(in, std::move(result), false);
}

Value getrandbits(Interpreter& in, const Args& args) {
  const int count = whole_to_int(whole_index(in, args[1]));
  if (count < 0) throw Error(ErrorKind::ValueError, "number of bits must be non-negative");
  return random_bits(in, self_of(args)->twister, static_cast<uint64_t>(count));
}

Value randbelow(Interpreter& in, const Args& args) {
  const Value n = whole_index(in, args[1]);
  if (whole_sign(n) <= 0) throw Error(ErrorKind::ValueError, "n must be positive");  // nothing that is drawn would do
  Mersenne& twister = self_of(args)->twister;
  if (!is_big_int(n)) return Value::integer(static_cast<int64_t>(twister.below(static_cast<uint64_t>(n.as_int()))));
  const uint64_t bits = whole_bit_length(n);
  Value drawn = random_bits(in, twister, bits);
  while (compare_whole(drawn, n) >= 0) drawn = random_bits(in, twister, bits);
  return drawn;
}

bool short_randbelow(Interpreter&, Value* args, Value& answer) {
  if (!args[1].is_int() || args[1].as_int() <= 0) return false;
  answer = Value::integer(static_cast<int64_t>(object_cast<RandomObject>(args[0])->twister.below(static_cast<uint64_t>(args[1].as_int()))));
  return true;
}

Value getstate(Interpreter& in, const Args& args) {
  const Mersenne& twister = self_of(args)->twister;
  std::vector<Value> words;
  for (size_t i = 0; i < Mersenne::kWords; ++i) words.push_back(Value::integer(twister.state()[i]));
  words.push_back(Value::integer(twister.position()));
  return make_tuple_moving(in, words.data(), words.size());
}

Value setstate(Interpreter& in, const Args& args) {
  if (!is_tuple(args[1])) throw Error(ErrorKind::TypeError, "state vector must be a tuple");
  const Tuple& state = *as_tuple(args[1]);
  if (state.size != Mersenne::kWords + 1) throw Error(ErrorKind::ValueError, "state vector is the wrong size");
  uint32_t words[Mersenne::kWords];
  for (size_t i = 0; i < Mersenne::kWords; ++i) words[i] = static_cast<uint32_t>(int_argument(in, state[i]));
  const int64_t position = int_argument(in, state[Mersenne::kWords]);
  if (position < 0 || position > static_cast<int64_t>(Mersenne::kWords))
    throw Error(ErrorKind::ValueError, "invalid state");
  self_of(args)->twister.set_state(words, static_cast<uint32_t>(position));
  return Value::none();
}

Value shuffle(Interpreter& in, const Args& args) {
  if (!is_list(args[1])) throw Error(ErrorKind::TypeError, "shuffle() of the native generator takes a list");
  List& list = *as_list(args[1]);
  constexpr uint32_t kLook = 1 << 16;
  for (uint32_t i = list.size; i-- > 1;) {
    std::swap(list.items[i], list.items[self_of(args)->twister.below(i + 1)]);
    if (i % kLook == 0) in.check_stop();
  }
  return Value::none();
}

const NativeDef kMethods[] = {
    {"seed(self, a=None, /)", seed, "Start again from a seed."},
    {"random(self)", random, "The next float in [0, 1).", {short_random, 1}},
    {"getrandbits(self, k, /)", getrandbits, "An int of k random bits."},
    {"_randbelow(self, n, /)", randbelow, "An int in [0, n).", {short_randbelow, 2}},
    {"_shuffle(self, x, /)", shuffle, "Shuffle a list in place."},
    {"getstate(self)", getstate, "The state as a tuple."},
    {"setstate(self, state, /)", setstate, "Go back to a state."},
};

}  // namespace

void fill_random(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "Random";
  spec.module = "_random";
  spec.size = sizeof(RandomObject);
  spec.doc = "The Mersenne Twister.";
  Type* type = in.new_type(spec);
  type->slots.destroy = destroy_random;
  type->make = make_random;
  in.add_methods(type, kMethods, std::size(kMethods));
  set_member(in, module, "Random", Value(type));
}

}  // namespace tessera::stdlib
