// What crossing the border between a C++ host and a script costs, beside Lua 5.4's C interface in the same run: both in turn,
// processor time, the least of the rounds. With --check the status is 1 where a target is missed.
#include <tessera/tessera.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <time.h>

#if __has_include(<lua.hpp>)
#include <lua.hpp>
#define TS_HAS_LUA 1
#else
#define TS_HAS_LUA 0
#endif

namespace {

constexpr int kRounds = 15;

double nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void require(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "calls: wrong result of %s\n", what);
  std::exit(2);
}

// The least time of one of `count` calls of f, over the rounds; `reset` starts anew.
class Least {
 public:
  template <class F>
  void round(int count, F&& f) {
    const double begin = nanoseconds();
    f(count);
    best_ = std::min(best_, (nanoseconds() - begin) / count);
  }
  double value() const { return best_; }

 private:
  double best_ = 1e300;
};

bool missed = false;

// One row: `own` and `lua` each do something `count` times. `lua_idle` and `own_idle`, where given, are what is not to be counted.
using Work = std::function<void(int count)>;
void row(const char* name, double target, int count, const Work& own, const Work& lua, const Work& own_idle = {},
         const Work& lua_idle = {}) {
  Least ours, our_idle, theirs, their_idle;
  for (int i = 0; i < kRounds; ++i) {
    ours.round(count, own);
    if (own_idle) our_idle.round(count, own_idle);
    if (lua) theirs.round(count, lua);
    if (lua_idle) their_idle.round(count, lua_idle);
  }
  const double tsr = ours.value() - (own_idle ? our_idle.value() : 0);
  std::printf("| %-46s | %8.1f |", name, tsr);
  if (lua) {
    const double peer = theirs.value() - (lua_idle ? their_idle.value() : 0);
    std::printf(" %8.1f | %5.2f |", peer, tsr / peer);
  } else {
    std::printf("        - |     - |");
  }
  if (target > 0) std::printf(" %6.0f%s |\n", target, tsr <= target ? "" : " missed");
  else std::printf("      - |\n");
  missed = missed || (target > 0 && tsr > target);
}

const char* const kScript = R"(
def add(a, b):
    return a + b

def idle(n):
    for i in range(n):
        pass

def call(n):
    for i in range(n):
        host(1.5, 2.5)

def call_method(n, counter):
    for i in range(n):
        counter.add(1)

x = 41
)";

struct Counter {
  int64_t count = 0;
  void add(int64_t n) { count += n; }
};

#if TS_HAS_LUA
const char* const kLuaScript = R"(
function add(a, b) return a + b end
function idle(n) for i = 1, n do end end
function call(n) local f = host for i = 1, n do f(1.5, 2.5) end end
x = 41
)";

int lua_host(lua_State* L) {
  lua_pushnumber(L, luaL_checknumber(L, 1) + luaL_checknumber(L, 2));
  return 1;
}

class Lua {
 public:
  Lua() {
    luaL_openlibs(L);
    lua_register(L, "host", lua_host);
    require(luaL_dostring(L, kLuaScript) == LUA_OK, "Lua's script");
    require(luaL_loadstring(L, "return x + 1") == LUA_OK, "Lua's expression");
    chunk_ = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_getglobal(L, "add");
    add_ = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  ~Lua() { lua_close(L); }
  Lua(const Lua&) = delete;

  double add(double a, double b) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, add_);
    lua_pushnumber(L, a);
    lua_pushnumber(L, b);
    require(lua_pcall(L, 2, 1, 0) == LUA_OK, "Lua's add");
    const double sum = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return sum;
  }
  lua_Integer chunk() {
    lua_rawgeti(L, LUA_REGISTRYINDEX, chunk_);
    require(lua_pcall(L, 0, 1, 0) == LUA_OK, "Lua's expression");
    const lua_Integer value = lua_tointeger(L, -1);
    lua_pop(L, 1);
    return value;
  }
  void loop(const char* function, int count) {
    lua_getglobal(L, function);
    lua_pushinteger(L, count);
    require(lua_pcall(L, 1, 0, 0) == LUA_OK, function);
  }

 private:
  lua_State* L = luaL_newstate();
  int chunk_, add_;
};
#endif

}  // namespace

int main(int argc, char** argv) {
  tessera::Interpreter tsr;
  tsr.run(kScript);
  tsr.def("host(a: float, b: float) -> float", "", [](double a, double b) { return a + b; });
  const tessera::Ref add = tsr.get("add"), call = tsr.get("call"), idle = tsr.get("idle"),
                     call_method = tsr.get("call_method");
  const auto kept = add.as<std::function<double(double, double)>>();
  const tessera::Program program = tsr.compile("x + 1", TSR_EXPRESSION);
  auto type = tsr.add_class<Counter>("Counter");
  type.method("add(self, n: int)", "", &Counter::add);
  Counter counter;
  const tessera::Ref wrapped = type.wrap(&counter);
  // An interpreter under limits, as a stranger's script has one.
  tessera::Interpreter limited({.memory_limit = 64 << 20, .step_limit = 1'000'000'000, .time_limit = 10.0});
  limited.run(kScript);
  const tessera::Ref limited_add = limited.get("add");

  Work lua_add, lua_chunk, lua_call, lua_idle, lua_state;
#if TS_HAS_LUA
  Lua lua;
  lua_add = [&](int n) {
    for (int i = 0; i < n; ++i) require(lua.add(i, 2.5) == i + 2.5, "add");
  };
  lua_chunk = [&](int n) {
    for (int i = 0; i < n; ++i) require(lua.chunk() == 42, "x + 1");
  };
  lua_call = [&](int n) { lua.loop("call", n); };
  lua_idle = [&](int n) { lua.loop("idle", n); };
  lua_state = [](int n) {
    for (int i = 0; i < n; ++i) {
      lua_State* const L = luaL_newstate();
      luaL_openlibs(L);
      lua_close(L);
    }
  };
#else
  std::printf("no <lua.hpp>: Lua is left out (scripts/setup installs liblua5.4-dev)\n\n");
#endif

  std::printf("| %-46s | %8s | %8s | %5s | target |\n", "nanoseconds", "tessera", "Lua 5.4", "ratio");
  std::printf("|%s|---------:|---------:|------:|-------:|\n", std::string(48, '-').c_str());
  row(
      "a script's function of two floats, from C++", 200, 100'000,
      [&](int n) {
        for (int i = 0; i < n; ++i) require(add(static_cast<double>(i), 2.5).as<double>() == i + 2.5, "add");
      },
      lua_add);
  row(
      "the same as std::function", 200, 100'000,
      [&](int n) {
        for (int i = 0; i < n; ++i) require(kept(i, 2.5) == i + 2.5, "add");
      },
      lua_add);
  row("the same under limits of time, steps, memory", 0, 100'000,
      [&](int n) {
        for (int i = 0; i < n; ++i) require(limited_add(static_cast<double>(i), 2.5).as<double>() == i + 2.5, "add");
      },
      {});
  row(
      "a host's function of two floats, from a script", 100, 200'000, [&](int n) { call(n); }, lua_call,
      [&](int n) { idle(n); }, lua_idle);
  row(
      "a method of a host's object, from a script", 0, 200'000, [&](int n) { call_method(n, wrapped); }, {},
      [&](int n) { idle(n); });
  row(
      "x + 1, compiled and kept", 300, 100'000,
      [&](int n) {
        for (int i = 0; i < n; ++i) require(program.run().as<int64_t>() == 42, "x + 1");
      },
      lua_chunk);
  row(
      "an interpreter made and destroyed", 100'000, 200,
      [](int n) {
        for (int i = 0; i < n; ++i) tessera::Interpreter made;
      },
      lua_state);
  return missed && argc > 1 && std::strcmp(argv[1], "--check") == 0 ? 1 : 0;
}
