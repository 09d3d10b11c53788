// A line of the log: what happened, when and where, in a form for people or for programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nustream::log {

enum class Level { info, warning, error };

/// How a line is written.
/// plain  "nustream: lane 3 stopped: …", the sentence alone, for somebody who watches a terminal;
/// text   `time=… level=info event=lane_stopped lane=3 msg="…"`;
/// json   one JSON object a line with the same members, where the sentence is "message".
enum class Format { plain, text, json };

/// A fact of an entry. Keys are lower-case words joined by underscores.
struct Field {
  std::string_view key;
  std::variant<std::uint64_t, std::string> value;
};

/// Something that an operator may want to know. `event` names its kind: it stays the same from version to version,
/// while the sentence may change. The log is for the operator, but logs travel further than they should. Therefore an
/// entry holds public facts alone (steps, epochs, places, reasons), unless its sentence says "operator only".
struct Entry {
  Level level = Level::info;
  std::string_view event;
  std::string message;
  std::vector<Field> fields{};
};

/// Who stamps a line with its time.
enum class Clock {
  own,     ///< the line itself, in UTC to the millisecond
  journal  ///< systemd's journal; it takes the level of text and plain lines from a prefix such as "<4>"
           ///< (sd-daemon(3))
};

/// The entry as one line, its end included. Control characters in it, such as line breaks, are escaped or become
/// blanks, so that an entry is always one line.
[[nodiscard]] std::string line(const Entry& entry, Format format, Clock clock,
                               std::chrono::system_clock::time_point now);

}  // namespace nustream::log
