// Documents that were not saved, in files of their own ($XDG_STATE_HOME/tessera/drafts): what is written there outlives the
// server however it ends, and is offered to the next one of the same folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "repl/page/descriptor.h"

namespace tessera::repl::page {

struct Draft {
  std::string id, name, path, format, text;
  int64_t time = 0;  // seconds since 1970
};

class Drafts {
 public:
  // Of documents in `folder`. `state`: where drafts are kept, made at the first one.
  Drafts(std::string folder, std::string state);
  ~Drafts();
  Drafts(const Drafts&) = delete;
  Drafts& operator=(const Drafts&) = delete;

  // $XDG_STATE_HOME/tessera/drafts, else below ~/.local/state; empty: there is no home.
  static std::string default_place();

  // Keeps the text as the draft of the document at hand. A sentence says why that is not possible.
  std::string keep(const Draft& draft);
  // The document at hand is saved.
  void forget();
  // Another document is at hand: the draft of the last one stays, for later.
  void leave();

  // Drafts of this folder that no server has at hand, the newest first, without their texts.
  std::vector<Draft> found() const;
  std::optional<Draft> read(const std::string& id) const;
  void remove(const std::string& id);

 private:
  bool begin(std::string& problem);

  std::string folder_, place_;
  std::string id_;   // of the document's draft; empty: it has none
  Descriptor lock_;  // held as long as it is ours
};

}  // namespace tessera::repl::page
