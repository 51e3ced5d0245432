// Between the tabs and the worker: who is connected, what was said, the document, and what is to be run. Knows no socket.
// The messages are those of protocol.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repl/page/document.h"
#include "repl/page/drafts.h"
#include "repl/page/files.h"
#include "repl/page/json_text.h"
#include "repl/page/log.h"
#include "repl/page/loop.h"
#include "repl/page/message.h"
#include "repl/page/worker_process.h"
#include "repl/session/history.h"

namespace tessera::repl::page {

// Somebody who is connected.
class Tab {
 public:
  virtual ~Tab() = default;
  virtual void send(const Message& message) = 0;
};

class Hub {
 public:
  struct Setup {
    std::string version;
    std::string folder;                  // that is served
    std::string drafts;                  // where unsaved documents are kept
    std::string outputs;                 // where the worker leaves what was too much to show
    std::vector<std::string> arguments;  // of the worker
  };

  // Throws std::runtime_error with a sentence where there is no such folder.
  Hub(Loop& loop, Setup setup);
  ~Hub();

  void start_worker();
  // A file below the folder in the document's place; a sentence says why not.
  std::string open_file(const std::string& path);

  void join(Tab& tab);
  void leave(Tab& tab);
  void receive(Tab& tab, std::string_view text);

  // The path of what stands at /output/NAME; empty: nothing.
  std::string output_path(const std::string& name) const;

  // The server ends: nothing is lost. What a person should know of it; empty: nothing.
  std::string end();

 private:
  struct Block {
    int64_t id = 0;
    std::string text;
    Json origin;
    std::shared_ptr<CellRecord> record;
    size_t printed = 0;  // bytes, by programs that it started
    bool has_started = false;
  };
  struct Ask {
    Tab* tab = nullptr;
    Json ask;
    std::string answer;  // its type
  };
  struct Input {
    int64_t id = 0, worker_id = 0, block = 0;
    bool hidden = false;
  };
  enum class Worker { kStarting, kIdle, kRunning, kWaiting, kGone };

  // --- tabs (hub.cpp)
  void dispatch(Tab& tab, const std::string& type, const Json& message);
  static void send(Tab& tab, const Json& message);
  void send_all(const Message& message, const Tab* but = nullptr);
  void send_all(const Json& message, const Tab* but = nullptr) {
    send_all(std::make_shared<const std::string>(to_text(message)), but);
  }
  static Json examples();
  static void say_problem(Tab& tab, const std::string& text, const std::string& about, const Json& message);
  Message hello() const;
  void ask_worker(Tab& tab, const std::string& type, const std::string& answer, const Json& message);
  void answer(const Json& message);
  void drop_asks(const char* why);

  // --- blocks (hub_blocks.cpp)
  void add_blocks(Tab& tab, const Json& message);
  void run_next();
  void log_start(const Block& block);
  void drop_queue();
  void interrupt();
  void restart();
  void take_input(Tab& tab, const Json& message);
  void close_input();
  void give_rest(Tab& tab, const Json& message);
  void give_history(Tab& tab, const Json& message) const;
  void worker_said(std::string_view line);
  void worker_asked(Json message);
  void worker_printed(bool is_error, std::string_view text);
  void worker_ended(const std::string& reason);
  void block_started(Json message);
  void block_finished(Json message);
  void block_overflowed(Json message);
  void log(const std::string& type, const Json& message);
  void log(const std::string& type, const Json& message, const Message& text);
  Json state() const;
  void tell_state() { send_all(state()); }

  // --- documents (hub_documents.cpp)
  void edit(Tab& tab, const Json& message);
  void refuse(Tab& tab) const;
  void open(Tab& tab, const Json& message);
  std::string open_draft(const Draft& draft);
  std::string open_text(const std::string& name, std::string text);
  void make_new();
  void put_away();
  void save(Tab& tab, const Json& message);
  void list_files(Tab& tab, const Json& message);
  void answer_draft(Tab& tab, const Json& message);
  Json document() const;
  void tell_document() { send_all(document()); }
  Json draft() const;
  void keep_draft_soon();
  void keep_draft();

  Loop& loop_;
  Setup setup_;
  Folder folder_;
  std::vector<Tab*> tabs_;

  Log log_;
  WorkerProcess worker_;
  Worker worker_state_ = Worker::kStarting;
  std::optional<Block> running_;
  std::deque<Block> queue_;
  int64_t last_block_ = 0, last_ask_ = 0, last_input_ = 0;
  int number_ = 1;
  std::map<int64_t, Ask> asks_;
  bool asked_tensors_ = false;
  std::optional<Input> input_;
  bool restarting_ = false, ending_ = false;
  int failed_starts_ = 0;
  std::string leaving_;  // why the worker said that it would end
  struct Output {
    int64_t block = 0, bytes = 0;
    std::string name;
  };
  std::deque<Output> outputs_;
  History history_;

  Document document_;
  int64_t document_id_ = 1;
  std::optional<FileStamp> stamp_;  // of the document's file
  bool has_carriage_returns_ = false, has_byte_order_mark_ = false;
  Drafts drafts_;
  std::string draft_problem_;
  std::chrono::steady_clock::time_point kept_draft_;
  std::chrono::steady_clock::duration draft_took_{};
  std::unique_ptr<Loop::Watch> draft_timer_;
};

}  // namespace tessera::repl::page
