// Writes an entry in one of three forms: a sentence for people, key=value pairs, or JSON. Line breaks in what an
// entry holds are escaped or become blanks, so that an entry is always one line.
#include "log/entry.h"

#include <algorithm>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "publish/json_writer.h"

namespace nustream::log {
namespace {

std::string_view name_of(Level level) {
  switch (level) {
    case Level::info:
      return "info";
    case Level::warning:
      return "warning";
    case Level::error:
      return "error";
  }
  return "error";
}

/// The level as systemd's journal reads it: severities are numbered as in syslog.
std::string_view prefix_of(Level level) {
  switch (level) {
    case Level::info:
      return "<6>";
    case Level::warning:
      return "<4>";
    case Level::error:
      return "<3>";
  }
  return "<3>";
}

/// UTC in ISO 8601 to the millisecond, for example 2024-05-01T12:00:00.250Z. Times are floored, so that the
/// milliseconds are never negative.
std::string time_text(std::chrono::system_clock::time_point now) {
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(now);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     (milliseconds - seconds).count());
}

std::string in_quotes(std::string_view text) {
  std::string out;
  publish::append_string(text, out);
  return out;
}

/// Whether a value of the text form would be read otherwise without quotation marks: blanks end a value there.
bool needs_quotes(std::string_view text) {
  const auto plain = [](unsigned char byte) {
    return byte > 0x20 && byte != 0x7f && byte != '"' && byte != '=' && byte != '\\';
  };
  return text.empty() || !std::all_of(text.begin(), text.end(), plain);
}

/// The text with a blank for each control character, for the form without escapes.
std::string one_line(std::string_view text) {
  std::string line(text);
  const auto control = [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; };
  std::replace_if(line.begin(), line.end(), control, ' ');
  return line;
}

/// A field's value in the text form.
std::string value_text(const Field& field) {
  if (const auto* number = std::get_if<std::uint64_t>(&field.value)) return std::to_string(*number);
  const std::string& text = std::get<std::string>(field.value);
  return !needs_quotes(text) ? text : in_quotes(text);
}

/// The sentence alone. Event and fields are for programs, which read one of the other forms.
std::string plain_line(const Entry& entry) {
  const std::string_view kind = entry.level == Level::info      ? ""
                                : entry.level == Level::warning ? "warning: "
                                                                : "error: ";
  return fmt::format("nustream: {}{}\n", kind, one_line(entry.message));
}

/// The form for people who search: key=value pairs, the sentence last. Without a time where the
/// journal stamps the line.
std::string text_line(const Entry& entry, const std::string& time) {
  std::string line = time.empty() ? "" : "time=" + time + ' ';
  line += fmt::format("level={} event={}", name_of(entry.level), entry.event);
  for (const Field& field : entry.fields) line += fmt::format(" {}={}", field.key, value_text(field));
  return line + " msg=" + in_quotes(entry.message) + '\n';
}

/// The form for programs: one object, whose members are named as in the text form, with the sentence as "message".
std::string json_line(const Entry& entry, const std::string& time) {
  const std::string line = publish::object_text([&](publish::JsonWriter& json) {
    json.field("time", time);
    json.field("level", name_of(entry.level));
    json.field("event", entry.event);
    for (const Field& field : entry.fields) {
      std::visit([&](const auto& value) { json.field(field.key, value); }, field.value);
    }
    json.field("message", entry.message);
  });
  return line + '\n';
}

}  // namespace

std::string line(const Entry& entry, Format format, Clock clock, std::chrono::system_clock::time_point now) {
  // A JSON line tells its time and level itself, also in the journal: with a prefix it would be no JSON.
  if (format == Format::json) return json_line(entry, time_text(now));
  const std::string prefix(clock == Clock::journal ? prefix_of(entry.level) : "");
  // The plain form has no time: somebody is watching, or the journal stamps the line.
  if (format == Format::plain) return prefix + plain_line(entry);
  return prefix + text_line(entry, clock == Clock::journal ? "" : time_text(now));
}

}  // namespace nustream::log
