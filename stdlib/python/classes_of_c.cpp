#include "stdlib/python/classes_of_c.h"

#include <algorithm>
#include <iterator>

namespace tessera::stdlib {
namespace {

constexpr std::string_view kNames[] = {
    "_csv.Dialect", "_csv.Error", "_queue.SimpleQueue", "_struct.Struct", "_thread._ExceptHookArgs", "_thread._local", "ast.AST",
    "collections.OrderedDict", "collections.defaultdict", "datetime.IsoCalendarDate", "datetime.date", "datetime.datetime",
    "datetime.time", "datetime.timedelta", "datetime.timezone", "datetime.tzinfo", "decimal.Context", "decimal.ContextManager",
    "decimal.Decimal", "functools._lru_cache_wrapper", "mmap.mmap", "os.stat_result", "os.statvfs_result", "os.terminal_size",
    "posix.DirEntry", "posix.sched_param", "posix.times_result", "posix.uname_result", "pyexpat.xmlparser",
    "signal.struct_siginfo", "time.struct_time", "types.SimpleNamespace", "unicodedata.UCD"};
static_assert(std::is_sorted(std::begin(kNames), std::end(kNames)));

constexpr lang::ClassNames kClasses(kNames);

}  // namespace

const lang::ClassNames& classes_of_c() { return kClasses; }

}  // namespace tessera::stdlib
