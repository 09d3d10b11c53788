// What the client library says of itself, in the log, without drowning what matters.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace nustream::kafka {

/// Lets one line of a kind through in a second, and counts the others. One thread at a time.
class LineLimiter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// What to say: "kafka: KIND: TEXT", with "(+N more)" for the lines of the kind that were held back before; or
  /// nothing. Control characters of `text` become spaces, and what is beyond 500 bytes is cut.
  [[nodiscard]] std::optional<std::string> line(std::string_view kind, std::string_view text, Time now);

 private:
  struct Kind {
    std::optional<Time> printed{};
    std::uint64_t held_back = 0;
  };
  std::map<std::string, Kind, std::less<>> kinds_;
};

/// Puts a line of the client library into the log as a warning, limited as above over all clients of the process.
/// Any thread. For operators: it names brokers, topics and groups, never a record's bytes.
void log_line(std::string_view kind, std::string_view text);

}  // namespace nustream::kafka
