// compile: small (once for a look of a person)
#include "repl/session/profile.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <vector>

#include "lang/compiler/chunk.h"
#include "lang/types/str.h"
#include "lang/vm/frame.h"
#include "lang/vm/vm.h"
#include "runtime/autograd/engine.h"

namespace tessera::repl {
using namespace lang;

namespace {

constexpr long kInterval = 1'000'000;  // nanoseconds
constexpr size_t kMostFrames = 100;
constexpr size_t kMostSites = 4096;
constexpr size_t kMostNodes = 256;
double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// A place in the code. Its texts are copies: the code may be gone when the table is shown.
struct Site {
  const Code* code;  // only compared
  uint32_t word, line;
  Op op;
  int64_t self, total;
  int64_t in_nodes;  // of self, in a backward's nodes, which are counted apart
  uint64_t stamp;    // the last sample that counted it
  char function[64], file[128], text[120], expression[120];
};

// The instruction that the word belongs to.
Op instruction_at(const Code& code, uint32_t word) {
  Op op{};
  for (uint32_t at = 0; at <= word;) {
    op = op_of(code.words[at]);
    at += second_of(op) != 0 ? 2 : 1;
  }
  return op;
}

void copy(char* to, size_t room, std::string_view from) {
  const size_t size = std::min(room - 1, from.size());
  std::memcpy(to, from.data(), size);
  to[size] = 0;
}

}  // namespace

// An operation's derivative, by the name of its node.
struct NodeCount {
  char name[48];
  int64_t count;
};

// Written by the handler of the signal, on the profiled thread.
struct Profile::Table {
  Interpreter& in;
  std::vector<Site> sites;
  std::vector<NodeCount> nodes;
  uint64_t stamp = 0;
  int64_t samples = 0;
  double began = now(), ended = 0;
  timer_t timer{};
  struct sigaction before {};
  bool running = false;

  explicit Table(Interpreter& interpreter) : in(interpreter) {
    sites.reserve(kMostSites);
    nodes.reserve(kMostNodes);
  }

  // No memory is taken here: a signal's handler comes along.
  int site_of(const Frame& frame) {
    const Code* const code = frame.code;
    if (code == nullptr || code->words.empty()) return -1;
    const auto at = static_cast<size_t>(frame.pc - code->words.data());
    const auto word = static_cast<uint32_t>(at == 0 ? 0 : at - 1);
    if (word >= code->places.size()) return -1;
    for (size_t i = 0; i < sites.size(); ++i)
      if (sites[i].code == code && sites[i].word == word) return static_cast<int>(i);
    if (sites.size() == kMostSites) return -1;
    Site& site = sites.emplace_back();
    fill(site, *code, word);
    return static_cast<int>(sites.size()) - 1;
  }
  static void fill(Site& site, const Code& code, uint32_t word) {
    const Place& place = code.places[word];
    const std::string_view text = code.source->text();
    const size_t begin = std::min<size_t>(place.span.begin, text.size());
    site.code = &code;
    site.word = word;
    site.op = instruction_at(code, word);
    site.line =
        1 + static_cast<uint32_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    copy(site.function, sizeof site.function, code.qualname != nullptr ? code.qualname->view() : "");
    copy(site.file, sizeof site.file, code.source->name());
    size_t from = begin;
    while (from > 0 && text[from - 1] != '\n') --from;
    while (from < text.size() && text[from] == ' ') ++from;
    copy(site.text, sizeof site.text, text.substr(from, text.find('\n', from) - from));
    copy(site.expression, sizeof site.expression,
         text.substr(begin, std::max(place.span.end, place.span.begin) - begin));
  }

  size_t take(uint16_t* stack) {
    size_t count = 0;
    for (const Frame* frame = in.vm().top(); frame != nullptr && count < kMostFrames; frame = frame->caller)
      if (const int site = site_of(*frame); site >= 0) stack[count++] = static_cast<uint16_t>(site);
    return count;
  }
  bool count_node(const char* name) {
    for (NodeCount& each : nodes)
      if (std::strncmp(each.name, name, sizeof each.name - 1) == 0) return ++each.count, true;
    if (nodes.size() == kMostNodes) return false;
    copy(nodes.emplace_back().name, sizeof(NodeCount::name), name);
    return nodes.back().count = 1, true;
  }

  // The safe point that is asked for makes the place of a loop known that calls nothing: it is saved there.
  void on_signal() {
    uint16_t stack[kMostFrames];
    const size_t frames = take(stack);
    in.interrupt.fetch_or(kSampleDue);
    if (frames == 0) return;
    ++samples;
    ++stamp;
    ++sites[stack[0]].self;
    if (const char* node = tensor::running_node(); node != nullptr && count_node(node)) ++sites[stack[0]].in_nodes;
    for (size_t i = 0; i < frames; ++i) {
      Site& site = sites[stack[i]];
      if (site.stamp != stamp) ++site.total;
      site.stamp = stamp;
    }
  }
};

namespace {

thread_local Profile::Table* profiled = nullptr;  // per thread: what the handler of its signal can reach

void on_profile_signal(int) {
  const int error = errno;
  if (profiled != nullptr) profiled->on_signal();
  errno = error;
}

struct Row {
  std::string name, text;
  int64_t self = 0, total = 0;
};

constexpr std::pair<Op, const char*> kOperators[] = {
    {Op::Add, "+"},       {Op::Sub, "-"},      {Op::Mul, "*"},       {Op::TrueDiv, "/"},   {Op::FloorDiv, "//"},
    {Op::Mod, "%"},       {Op::Pow, "**"},     {Op::MatMul, "@"},    {Op::AddI, "+"},      {Op::SubI, "-"},
    {Op::AddK, "+"},      {Op::SubK, "-"},     {Op::MulK, "*"},      {Op::TrueDivK, "/"},  {Op::FloorDivK, "//"},
    {Op::ModK, "%"},      {Op::PowK, "**"},    {Op::KAdd, "+"},      {Op::KSub, "-"},      {Op::KMul, "*"},
    {Op::KTrueDiv, "/"},  {Op::Neg, "-"},      {Op::And, "&"},       {Op::Or, "|"},        {Op::Lt, "<"},
    {Op::Le, "<="},       {Op::Eq, "=="},      {Op::Ne, "!="},       {Op::Gt, ">"},        {Op::Ge, ">="},
    {Op::Contains, "in"}, {Op::GetItem, "[]"}, {Op::GetItemI, "[]"}, {Op::GetItemK, "[]"}, {Op::SetItem, "[]="},
    {Op::GetSlice, "[]"}, {Op::SetSlice, "[]="}};

bool is_call(Op op) {
  return op == Op::Call || op == Op::CallKeywords || op == Op::CallSpread || op == Op::CallMethod ||
         op == Op::CallMethodKeywords || op == Op::Invoke;
}

// What the instruction does in a native: "relu" of `torch.relu(x)`, "sum" of `(a + b).sum(1)`, "@" of `a @ b`. Empty: a step of
// the loop itself.
std::string operation_of(const Site& site) {
  for (const auto& [op, name] : kOperators)
    if (op == site.op) return name;
  if (!is_call(site.op)) return "";
  std::string_view text = site.expression;
  int depth = 0;
  size_t at = text.size();
  while (at > 0) {
    const char c = text[--at];
    depth += (c == ')' || c == ']') - (c == '(' || c == '[');
    if (depth == 0 && c == '(') break;
  }
  if (at == 0) at = std::min(text.find('('), text.size());  // cut off: the outermost call
  text = text.substr(0, at);
  const size_t name = text.find_last_of(". (=[");
  return std::string(text.substr(name == text.npos ? 0 : name + 1));
}

std::string line_of(double share_self, double share_total, double seconds, const std::string& name,
                    const std::string& text, unsigned columns) {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, "%6.1f%% %6.1f%% %8.0f ms  ", 100 * share_self, 100 * share_total,
                1e3 * seconds);
  std::string line = numbers + name;
  if (!text.empty()) line += std::string(line.size() < 52 ? 52 - line.size() : 2, ' ') + text;
  while (count_chars(line) > columns) line.pop_back();
  return line + "\n";
}

void add_table(std::string& out, const char* title, std::vector<Row> rows, int64_t samples, double elapsed,
               unsigned columns) {
  constexpr size_t kShown = 10;
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.self != b.self ? a.self > b.self : a.total != b.total ? a.total > b.total : a.name < b.name;
  });
  if (rows.empty()) return;
  out += std::string("\n   self   total         self  ") + title + "\n";
  const auto all = static_cast<double>(samples);
  for (size_t i = 0; i < rows.size() && i < kShown; ++i) {
    const double self = static_cast<double>(rows[i].self) / all, total = static_cast<double>(rows[i].total) / all;
    if (i > 0 && self < 0.01 && total < 0.05) break;
    out += line_of(self, total, self * elapsed, rows[i].name, rows[i].text, columns);
  }
}

}  // namespace

Profile::Profile(Interpreter& in) : table_(new Table(in)) {
  profiled = table_.get();
  struct sigaction action {};
  action.sa_handler = on_profile_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGPROF, &action, &table_->before);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_MONOTONIC, &event, &table_->timer) != 0) return;
  table_->running = true;
  const itimerspec every{{0, kInterval}, {0, kInterval}};
  timer_settime(table_->timer, 0, &every, nullptr);
}

Profile::~Profile() { stop(); }

void Profile::stop() {
  if (table_->ended != 0) return;
  table_->ended = now();
  if (table_->running) timer_delete(table_->timer);
  // Ours stays where there was none: a session on another thread may be profiled still.
  const bool foreign = table_->before.sa_handler != SIG_DFL && table_->before.sa_handler != SIG_IGN;
  if (foreign && table_->before.sa_handler != on_profile_signal) sigaction(SIGPROF, &table_->before, nullptr);
  table_->in.interrupt.fetch_and(~kSampleDue);
  profiled = nullptr;
}

std::string Profile::text(unsigned columns) const {
  const Table& table = *table_;
  const double elapsed = table.ended - table.began;
  char head[96];
  std::snprintf(head, sizeof head, "%.3f s, looked at %lld times\n", elapsed, static_cast<long long>(table.samples));
  std::string out = head;
  if (table.samples == 0) return out + "It was over before it could be looked at: try :timeit.\n";
  std::map<std::string, Row> lines, functions, operations;
  for (const Site& site : table.sites) {
    const std::string place = std::string(site.file) + ":" + std::to_string(site.line);
    Row& line = lines[place];
    line.name = place;
    line.text = site.text;
    line.self += site.self;
    line.total = std::min(line.total + site.total, table.samples);
    const std::string name = std::string(site.function) + "  (" + site.file + ")";
    Row& function = functions[name];
    function.name = name;
    function.self += site.self;
    function.total = std::min(function.total + site.total, table.samples);
    const std::string operation = operation_of(site);
    if (site.self == site.in_nodes || operation.empty()) continue;
    Row& row = operations[operation];
    row.name = operation;
    row.self += site.self - site.in_nodes;
    row.total = row.self;
  }
  for (const NodeCount& node : table.nodes) {
    Row& row = operations[node.name];
    row.name = node.name;
    row.self = row.total = node.count;
  }
  const auto rows = [](const std::map<std::string, Row>& from) {
    std::vector<Row> all;
    for (const auto& [name, row] : from) all.push_back(row);
    return all;
  };
  add_table(out, "line", rows(lines), table.samples, elapsed, columns);
  add_table(out, "function", rows(functions), table.samples, elapsed, columns);
  add_table(out, "operation", rows(operations), table.samples, elapsed, columns);
  return out;
}

}  // namespace tessera::repl
