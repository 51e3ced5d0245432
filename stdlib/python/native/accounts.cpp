// _accounts: the users and groups of the system, as tuples in the order of struct passwd and struct group.
// compile: small (the system calls take longer)
#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <mutex>
#include <vector>

#include "stdlib/python/native/processes.h"

namespace tessera::stdlib {
namespace {

constexpr size_t kFirstBuffer = 4096, kLargestBuffer = size_t{1} << 24;

Value text(Interpreter& in, const char* s) { return make_str_lossy(in, s == nullptr ? "" : s); }

Value user_tuple(Interpreter& in, const passwd& user) {
  return make_tuple(in, {text(in, user.pw_name), text(in, user.pw_passwd), Value::integer(user.pw_uid), Value::integer(user.pw_gid),
                         text(in, user.pw_gecos), text(in, user.pw_dir), text(in, user.pw_shell)});
}

Value group_tuple(Interpreter& in, const group& g) {
  const Value members = make_list(in);
  for (char** member = g.gr_mem; member != nullptr && *member != nullptr; ++member) list_append(in, as_list(members), text(in, *member));
  return make_tuple(in, {text(in, g.gr_name), text(in, g.gr_passwd), Value::integer(g.gr_gid), members});
}

// `find(buffer, size, &found)` is one of the get...r functions. None if there is no such entry.
template <class Entry, class Find, class Make>
Value entry(Interpreter& in, Find&& find, Make&& make) {
  require_processes(in);
  for (size_t size = kFirstBuffer; size <= kLargestBuffer; size *= 2) {
    std::vector<char> buffer(size);
    Entry storage{};
    Entry* found = nullptr;
    const int failed = find(&storage, buffer.data(), size, &found);
    if (failed == ERANGE) continue;
    if (failed != 0 && failed != ENOENT && failed != ESRCH) throw_os_error(in, failed);
    return found == nullptr ? Value::none() : make(in, *found);
  }
  throw_os_error(in, ERANGE);
}

std::string name_argument(Interpreter& in, const Value& v) {
  if (!is_str(v)) throw_error(ErrorKind::TypeError, "argument must be str, not %s", std::string(type_name(in, v)).c_str());
  return path_argument(in, v);
}

// An id from 0 on; a larger number belongs to no account.
bool id_argument(Interpreter& in, const Value& v, uint32_t& id) {
  const int64_t number = int_argument(in, v);
  id = static_cast<uint32_t>(number);
  return number >= 0 && number <= UINT32_MAX;
}

Value user_by_id(Interpreter& in, const Args& args) {
  uint32_t id = 0;
  if (!id_argument(in, args[0], id)) return Value::none();
  return entry<passwd>(in, [&](passwd* p, char* b, size_t n, passwd** f) { return getpwuid_r(id, p, b, n, f); }, user_tuple);
}
Value user_by_name(Interpreter& in, const Args& args) {
  const std::string name = name_argument(in, args[0]);
  return entry<passwd>(in, [&](passwd* p, char* b, size_t n, passwd** f) { return getpwnam_r(name.c_str(), p, b, n, f); }, user_tuple);
}
Value group_by_id(Interpreter& in, const Args& args) {
  uint32_t id = 0;
  if (!id_argument(in, args[0], id)) return Value::none();
  return entry<group>(in, [&](group* g, char* b, size_t n, group** f) { return getgrgid_r(id, g, b, n, f); }, group_tuple);
}
Value group_by_name(Interpreter& in, const Args& args) {
  const std::string name = name_argument(in, args[0]);
  return entry<group>(in, [&](group* g, char* b, size_t n, group** f) { return getgrnam_r(name.c_str(), g, b, n, f); }, group_tuple);
}

// getpwent and getgrent have one position for the whole process, so interpreters on other threads wait for each other.
std::mutex enumeration;

// `begin`, `next` and `end` are setpwent, getpwent and endpwent, or those of groups.
template <class Next, class Make>
Value all_entries(Interpreter& in, void (*begin)(), Next&& next, void (*end)(), Make&& make) {
  require_processes(in);
  const Value list = make_list(in);
  const std::lock_guard guard(enumeration);
  begin();
  while (const auto* const found = next()) list_append(in, as_list(list), make(in, *found));
  end();
  return list;
}
Value all_users(Interpreter& in, const Args&) { return all_entries(in, setpwent, getpwent, endpwent, user_tuple); }
Value all_groups(Interpreter& in, const Args&) { return all_entries(in, setgrent, getgrent, endgrent, group_tuple); }

const NativeDef kFunctions[] = {
    {"user_by_id(uid, /)", user_by_id},   {"user_by_name(name, /)", user_by_name},   {"all_users()", all_users},
    {"group_by_id(gid, /)", group_by_id}, {"group_by_name(name, /)", group_by_name}, {"all_groups()", all_groups},
};

}  // namespace

void fill_accounts(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib
