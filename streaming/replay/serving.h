// Both listeners while a recorded stream is replayed: what is published, on a thread of its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "check/tally.h"
#include "config/mechanism.h"
#include "folder/session.h"

namespace nustream::replay {

/// Shows a lane in a folder as attach shows one on a topic: [serve] says where. Answers from its construction to its
/// end; the replay's own thread never waits for it.
class Serving {
 public:
  /// Shows what the folder's epoch has published so far. Failure and InvalidParameter as serve::Servers.
  Serving(const config::Config& config, const config::Mechanism& mechanism, const folder::Session& session);
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  /// Lines that are public from now on: the state that they came from is durable.
  void published(std::string_view lines);
  /// What the operator alone may see.
  void counted(const check::Tally& counts);
  /// The run is over; what it published stays up until a signal comes.
  void stay_until(const std::atomic<int>& signal);

 private:
  struct Front;
  std::unique_ptr<Front> front_;
};

}  // namespace nustream::replay
