// _hashlib: digests as objects.
// compile: small (digests are rare)
#include <algorithm>

#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/types/bytes.h"
#include "stdlib/python/native/digest.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

struct Hash : Object {
  std::string name;
  std::unique_ptr<Digest> digest;
};

Hash* self_of(const Args& args) { return object_cast<Hash>(args[0]); }

void destroy_hash(Interpreter& in, Object* self) { free_object(in, known_cast<Hash>(self)); }

void update_with(Interpreter& in, Digest& digest, const Value& data) {
  if (is_str(data)) throw Error(ErrorKind::TypeError, "Strings must be encoded before hashing");
  if (!is_bytes_like(in, data)) throw Error(ErrorKind::TypeError, "object supporting the buffer API required");
  constexpr size_t kStep = 1 << 22;
  const BytesLike bytes(in, data);  // a signal's handler may run
  for (std::string_view left = bytes.view(); !left.empty(); left.remove_prefix(std::min(kStep, left.size()))) {
    digest.update(left.substr(0, kStep));
    in.poll(kStep >> 10);
  }
}

Value wrap(Interpreter& in, Type* type, std::string_view name, std::unique_ptr<Digest> digest) {
  Hash* h = make_object<Hash>(in, type);
  h->name = name;
  h->digest = std::move(digest);
  return Value::adopt(h);
}

Type* type_of_callee(const Args& args) { return static_cast<Type*>(args.callee->data); }

Value new_hash(Interpreter& in, const Args& args) {
  const std::string name(text_argument(in, args[0], "new() argument 'name'"));
  std::unique_ptr<Digest> digest = make_digest(name);
  if (digest == nullptr) throw Error(ErrorKind::ValueError, "unsupported hash type " + name);
  if (!args[1].is_none()) update_with(in, *digest, args[1]);
  return wrap(in, type_of_callee(args), name, std::move(digest));
}

int64_t between(Interpreter& in, const Value& v, int64_t least, int64_t most, const char* message) {
  const int64_t i = int_argument(in, v);
  if (i < least || i > most) throw Error(ErrorKind::ValueError, message);
  return i;
}

uint64_t unsigned_up_to(Interpreter& in, const Value& v, uint64_t most, const char* message) {
  const Value whole = whole_index(in, v);
  uint64_t number = 0;
  if (whole_sign(whole) < 0) throw Error(ErrorKind::ValueError, "value must be positive");
  if (!whole_to_uint64(whole, number) || number > most) throw Error(ErrorKind::OverflowError, message);
  return number;
}

// blake2(wide, data, digest_size, key, salt, person, fanout, depth, leaf_size, node_offset, node_depth, inner_size,
// last_node)
Value new_blake2(Interpreter& in, const Args& args) {
  const bool wide = truth(in, args[0]);
  const size_t most = wide ? 64 : 32, small = wide ? 16 : 8;
  Blake2Options o;
  o.digest_size = static_cast<size_t>(
      between(in, args[2], 1, static_cast<int64_t>(most),
              wide ? "digest_size for blake2b must be between 1 and 64 bytes, here it is out of range"
                   : "digest_size for blake2s must be between 1 and 32 bytes, here it is out of range"));
  const BytesLike key(in, args[3]), salt(in, args[4]), person(in, args[5]);
  auto check = [](std::string_view part, size_t limit, const char* what) {
    if (part.size() > limit) throw_error(ErrorKind::ValueError, "maximum %s length is %zu bytes", what, limit);
    return part;
  };
  o.salt = check(salt, small, "salt");
  o.person = check(person, small, "person");
  o.key = check(key, most, "key");
  o.fanout = static_cast<uint32_t>(between(in, args[6], 0, 255, "fanout must be between 0 and 255"));
  o.depth = static_cast<uint32_t>(between(in, args[7], 1, 255, "depth must be between 1 and 255"));
  o.leaf_size = static_cast<uint32_t>(unsigned_up_to(in, args[8], UINT32_MAX, "leaf_size is too large"));
  o.node_offset = unsigned_up_to(in, args[9], wide ? UINT64_MAX : (uint64_t{1} << 48) - 1, "node_offset is too large");
  o.node_depth = static_cast<uint32_t>(between(in, args[10], 0, 255, "node_depth must be between 0 and 255"));
  o.inner_size = static_cast<uint32_t>(
      between(in, args[11], 0, static_cast<int64_t>(most),
              wide ? "inner_size must be between 0 and is 64" : "inner_size must be between 0 and is 32"));
  o.last_node = truth(in, args[12]);
  std::unique_ptr<Digest> digest = wide ? make_blake2b(o) : make_blake2s(o);
  update_with(in, *digest, args[1]);
  return wrap(in, type_of_callee(args), wide ? "blake2b" : "blake2s", std::move(digest));
}

Value update(Interpreter& in, const Args& args) {
  update_with(in, *self_of(args)->digest, args[1]);
  return Value::none();
}

std::string finished(Interpreter& in, const Args& args) {
  const Digest& digest = *self_of(args)->digest;
  if (digest.digest_size != 0) return digest.digest(0);
  const char* const name = self_of(args)->name.c_str();
  if (args[1].is_none()) throw_error(ErrorKind::TypeError, "%s() missing required argument 'length' (pos 1)", name);
  const int64_t size = int_argument(in, args[1]);
  if (size < 0) throw Error(ErrorKind::ValueError, "value must be positive");
  if (size >= (1 << 29)) throw Error(ErrorKind::ValueError, "length is too large");
  return digest.digest(static_cast<size_t>(size));
}

Value digest_bytes(Interpreter& in, const Args& args) { return make_bytes(in, finished(in, args)); }
Value digest_hex(Interpreter& in, const Args& args) {
  std::string out;
  for (const char c : finished(in, args)) {
    out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    out += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return make_str(in, out);
}
Value copy(Interpreter& in, const Args& args) {
  return wrap(in, self_of(args)->type, self_of(args)->name, self_of(args)->digest->copy());
}

Value hash_repr(Interpreter& in, const Value& self) {
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<void*>(self.as_object()));
  return make_str(in, "<" + object_cast<Hash>(self)->name + " _hashlib.HASH object @ " + address + ">");
}

// openssl_md5(data): CPython's names for the constructors, of which the part behind the first underscore names the digest.
Value new_named_hash(Interpreter& in, const Args& args) {
  Value pair[2] = {make_str(in, args.callee->name->view().substr(std::string_view("openssl_").size())), args[0]};
  return new_hash(in, Args{pair, 2, nullptr, args.callee});
}

constexpr const char* kConstructors[] = {
    "openssl_md5(string=None, *, usedforsecurity=True)",
    "openssl_sha1(string=None, *, usedforsecurity=True)",
    "openssl_sha224(string=None, *, usedforsecurity=True)",
    "openssl_sha256(string=None, *, usedforsecurity=True)",
    "openssl_sha384(string=None, *, usedforsecurity=True)",
    "openssl_sha512(string=None, *, usedforsecurity=True)",
    "openssl_sha3_224(string=None, *, usedforsecurity=True)",
    "openssl_sha3_256(string=None, *, usedforsecurity=True)",
    "openssl_sha3_384(string=None, *, usedforsecurity=True)",
    "openssl_sha3_512(string=None, *, usedforsecurity=True)",
    "openssl_shake_128(string=None, *, usedforsecurity=True)",
    "openssl_shake_256(string=None, *, usedforsecurity=True)",
};

const NativeDef kMethods[] = {
    {"update(self, data, /)", update, "Take more bytes in."},
    {"digest(self, length=None, /)", digest_bytes, "The digest of all bytes so far."},
    {"hexdigest(self, length=None, /)", digest_hex, "The digest as hexadecimal digits."},
    {"copy(self)", copy, "A copy with the same state."},
};

}  // namespace

void fill_hashlib(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "HASH";
  spec.module = "_hashlib";
  spec.size = sizeof(Hash);
  spec.flags = kFinalType;
  Type* type = in.new_type(spec);
  type->slots.destroy = destroy_hash;
  type->slots.repr = hash_repr;
  in.add_methods(type, kMethods, std::size(kMethods));
  in.add_property(type, "name", [](Interpreter& i, const Args& a) { return make_str(i, self_of(a)->name); });
  in.add_property(type, "digest_size", [](Interpreter&, const Args& a) {
    return Value::integer(static_cast<int64_t>(self_of(a)->digest->digest_size));
  });
  in.add_property(type, "block_size", [](Interpreter&, const Args& a) {
    return Value::integer(static_cast<int64_t>(self_of(a)->digest->block_size));
  });
  set_member(in, module, "HASH", Value(type));
  for (const char* signature : kConstructors) {
    const Value made = in.new_function(signature, "A digest of bytes.", new_named_hash, type);
    set_member(in, module, object_cast<NativeFunction>(made)->name->view(), made);
  }
  set_member(in, module, "new", in.new_function("new(name, string=None, *, usedforsecurity=True)", "A digest by name.", new_hash, type));
  set_member(
      in, module, "blake2",
      in.new_function("blake2(wide, data, digest_size, key, salt, person, fanout, depth, leaf_size, node_offset, "
                      "node_depth, inner_size, last_node, /)",
                      "A BLAKE2 digest.", new_blake2, type));
}

}  // namespace tessera::stdlib
