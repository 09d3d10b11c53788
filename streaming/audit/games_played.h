// How many games were played, on the operator's terminal.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "console/path_printer.h"
#include "console/terminal.h"

namespace nustream::audit {

class GamesPlayed {
 public:
  /// Begins a count of `games`, those of all worlds together.
  explicit GamesPlayed(std::uint64_t games) : games_(games), bar_(true) {}

  /// Counts one game. May be called from any thread.
  void one_more() {
    if (!bar_.is_on()) return;
    const std::uint64_t played = played_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (played % looked_every != 0) return;
    const std::unique_lock lock(drawing_, std::try_to_lock);
    if (!lock || !bar_.is_due()) return;
    const double share = static_cast<double>(played) / static_cast<double>(games_);
    bar_.draw(bar_.bar(share) + console::with_separators(played) + " games" + bar_.eta(share));
  }

 private:
  static constexpr std::uint64_t looked_every = 64;  // a look at the clock takes some tens of nanoseconds

  std::uint64_t games_;
  std::atomic<std::uint64_t> played_{0};
  std::mutex drawing_;
  console::TerminalBar bar_;
};

}  // namespace nustream::audit
