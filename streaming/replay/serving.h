// Runs the public and the operator's listener while a recorded stream is replayed, on a thread of their own.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "check/tally.h"
#include "config/mechanism.h"
#include "folder/session.h"

namespace nustream::replay {

/// Shows a lane in a folder as attach shows a lane of a topic, at the addresses of [serve]. It answers from its
/// construction to its destruction, and the replay's own thread never waits for it.
class Serving {
 public:
  /// Listens, and shows what the folder's epoch has published so far. Throws as serve::Servers.
  Serving(const config::Config& config, const config::Mechanism& mechanism, const folder::Session& session);
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  /// Shows lines that are public from now on. The state that they came from is durable.
  void published(std::string_view lines);
  /// Updates the counts, which the operator alone may see.
  void counted(const check::Tally& counts);
  /// The run is over. Waits until a signal comes, and shows what was published until then.
  void stay_until(const std::atomic<int>& signal);

 private:
  struct Front;
  std::unique_ptr<Front> front_;
};

}  // namespace nustream::replay
