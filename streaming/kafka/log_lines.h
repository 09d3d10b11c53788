// Puts what the client library says of itself into the log, without drowning other lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace nustream::kafka {

/// Lets one line of a kind through in a second, and counts the others. To be used from one thread at a time.
class LineLimiter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Returns what to say: "kafka: KIND: TEXT", with "(+N more)" for lines of that kind that were held back before; or
  /// nothing, where this one is held back. Control characters of `text` become spaces, and it is cut after 500 bytes.
  [[nodiscard]] std::optional<std::string> line(std::string_view kind, std::string_view text, Time now);

 private:
  struct Kind {
    std::optional<Time> printed{};
    std::uint64_t held_back = 0;
  };
  std::map<std::string, Kind, std::less<>> kinds_;
};

/// Puts a line of the client library into the log as a warning, limited as above over all clients of the process. May
/// be called from any thread. The line is for operators: it names brokers, topics and groups, but never holds a
/// record's bytes.
void log_line(std::string_view kind, std::string_view text);

}  // namespace nustream::kafka
