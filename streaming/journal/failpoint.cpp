// Reads NUSTREAM_FAILPOINT once, at the first place that is passed, and counts the passages. Each place has one
// number, counted over all tables of the header in their order; name_of() and failpoint_index() have to agree on that
// order.
#include "journal/failpoint.h"

#ifdef NUSTREAM_FAILPOINTS

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <string_view>

#include "nustream/base/error.h"

namespace nustream::journal {
namespace {

constexpr std::size_t places = failpoints.size() + topic_failpoints.size() + report_failpoints.size() +
                               sums_failpoints.size() + witness_failpoints.size() + users_failpoints.size();

std::string_view name_of(std::size_t index) {
  if (index < failpoints.size()) return failpoints[index];
  index -= failpoints.size();
  if (index < topic_failpoints.size()) return topic_failpoints[index];
  index -= topic_failpoints.size();
  if (index < report_failpoints.size()) return report_failpoints[index];
  index -= report_failpoints.size();
  if (index < sums_failpoints.size()) return sums_failpoints[index];
  index -= sums_failpoints.size();
  return index < witness_failpoints.size() ? witness_failpoints[index]
                                           : users_failpoints[index - witness_failpoints.size()];
}

/// One place that a test asks for, how many passages of it are left, and what happens at the last of them.
struct Request {
  std::size_t index = places;
  // Several threads may pass a place at once. The count is atomic, so that exactly one of them sees it reach 0.
  std::atomic<long> left{0};
  unsigned pause_ms = 0;
  bool lives = false;
  bool aborts = false;

  explicit Request(std::string_view request) {
    const std::size_t colon = request.find(':');
    NUSTREAM_REQUIRE(colon != std::string_view::npos, "NUSTREAM_FAILPOINT is name:count");
    for (index = 0; index < places && name_of(index) != request.substr(0, colon);) ++index;
    // A test that names a place that is not there must not pass by never being killed.
    NUSTREAM_REQUIRE(index < places, "NUSTREAM_FAILPOINT names a place of the table");
    const auto ends_with = [&request](std::string_view word) {
      const bool found = request.ends_with(word);
      if (found) request.remove_suffix(word.size());
      return found;
    };
    // The word at the end is cut off first, so that what is left is name:count or name:count:milliseconds.
    aborts = ends_with(":abort");
    lives = aborts || ends_with(":live");
    long count = 0;
    const char* const end = request.data() + request.size();
    auto parsed = std::from_chars(request.data() + colon + 1, end, count);
    NUSTREAM_REQUIRE(parsed.ec == std::errc{} && count > 0, "NUSTREAM_FAILPOINT counts from 1");
    if (parsed.ptr != end && *parsed.ptr == ':') parsed = std::from_chars(parsed.ptr + 1, end, pause_ms);
    NUSTREAM_REQUIRE(parsed.ec == std::errc{} && parsed.ptr == end,
                     "NUSTREAM_FAILPOINT is name:count[:milliseconds][:live|:abort]");
    left = count;
  }

  [[nodiscard]] bool pass() {
    if (--left != 0) return false;
    // Other threads go on during the pause, so that what was handed to them may still get out.
    if (pause_ms > 0) ::usleep(1000 * pause_ms);
    // SIGKILL, since a process that ends in any softer way runs destructors, which a crash does not.
    if (!lives) ::kill(::getpid(), SIGKILL);
    return aborts;
  }
};

// A deque, since a Request holds an atomic and cannot be moved, which a growing vector would have to do.
std::deque<Request> requests() {
  std::deque<Request> requests;
  const char* const text = std::getenv("NUSTREAM_FAILPOINT");
  std::string_view rest = text != nullptr ? text : "";
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    requests.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return requests;
}

}  // namespace

bool pass_failpoint(std::size_t index) {
  static std::deque<Request> asked = requests();
  bool aborts = false;
  // All requests for the place are counted, also behind one that aborts: each has its own count.
  for (Request& request : asked) {
    if (request.index == index && request.pass()) aborts = true;
  }
  return aborts;
}

}  // namespace nustream::journal

#endif
