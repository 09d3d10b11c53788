// The limit is for each kind of line, so that a broker that is away, of which every connection complains, hides no
// other trouble.
#include "kafka/log_lines.h"

#include <algorithm>
#include <mutex>

#include "log/log.h"

namespace nustream::kafka {
namespace {

constexpr std::size_t text_bytes_max = 500;

/// A line of the log stays one line, and a terminal is sent no control codes.
char printable(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return code < 0x20 || code == 0x7f ? ' ' : byte;
}

}  // namespace

std::optional<std::string> LineLimiter::line(std::string_view kind, std::string_view text, Time now) {
  auto found = kinds_.find(kind);
  if (found == kinds_.end()) found = kinds_.emplace(std::string(kind), Kind{}).first;
  Kind& state = found->second;
  if (state.printed && now - *state.printed < std::chrono::seconds(1)) {
    ++state.held_back;
    return std::nullopt;
  }
  std::string line = "kafka: " + std::string(kind) + ": " + std::string(text.substr(0, text_bytes_max));
  std::transform(line.begin(), line.end(), line.begin(), printable);
  if (state.held_back > 0) line += " (+" + std::to_string(state.held_back) + " more)";
  state = {now, 0};
  return line;
}

void log_line(std::string_view kind, std::string_view text) {
  static std::mutex mutex;
  static LineLimiter& limiter = *new LineLimiter;  // never destroyed: clients may log while the process ends
  const std::lock_guard lock(mutex);
  const auto line = limiter.line(kind, text, std::chrono::steady_clock::now());
  if (line) log::warning("kafka_client", *line, {{"facility", std::string(kind)}});
}

}  // namespace nustream::kafka
