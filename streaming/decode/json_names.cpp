// Collects the members of the first records as JSON pointers, and finds for a column that none of them has the one
// that was probably meant. Only hints for the operator come of it.
#include "decode/json_names.h"

#include <simdjson.h>

#include <algorithm>

#include "config/nearest.h"
#include "decode/byte_source.h"
#include "decode/csv_line.h"
#include "decode/first_lines.h"
#include "decode/json_members.h"
#include "decode/message_columns.h"
#include "decode/segment_rows.h"
#include "nustream/record/row.h"

namespace nustream::decode {
std::string pointer_to(std::string_view name) {
  std::string pointer = "/";
  for (const char c : name) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

namespace {

// Bounds for records that hold anything: their members may be many, deep, or keys that are data themselves.
constexpr std::size_t names_max = 400;
constexpr std::size_t depth_max = 4;
constexpr std::size_t places_max = 16;  // elements of an array that are looked at

/// Adds the pointers to a value and to all that is inside it, as far as the bounds allow.
void collect(const simdjson::dom::element& value, const std::string& at, std::size_t depth,
             std::set<std::string>& pointers) {
  if (depth > depth_max || pointers.size() >= names_max) return;
  if (!at.empty()) pointers.insert(at);
  simdjson::dom::object object;
  simdjson::dom::array array;
  if (value.get(object) == simdjson::SUCCESS) {
    for (const auto& [key, inside] : object) collect(inside, at + pointer_to(key), depth + 1, pointers);
  } else if (value.get(array) == simdjson::SUCCESS) {
    std::size_t place = 0;
    for (const simdjson::dom::element inside : array) {
      if (place == places_max) return;
      collect(inside, at + "/" + std::to_string(place++), depth + 1, pointers);
    }
  }
}

/// The column as a pointer: a plain name is a member of the top level.
std::string as_pointer(const std::string& column) {
  return column.starts_with('/') ? column : pointer_to(column);
}

/// The name after the last slash. It is unescaped only as far as hints need it.
std::string_view name_behind_slash(std::string_view pointer) {
  return pointer.substr(pointer.rfind('/') + 1);
}

/// How a setting names the member: by its plain name for a member of the top level or of an envelope's row, and by
/// its pointer for any other.
std::string named(const std::string& pointer, config::Envelope envelope) {
  for (const std::string_view row : {"/payload/after/", "/after/"}) {
    const bool is_in_row = envelope != config::Envelope::none && pointer.starts_with(row);
    if (is_in_row && pointer.find('/', row.size()) == std::string::npos) return pointer.substr(row.size());
  }
  const bool is_plain = pointer.find_first_of("/~", 1) == std::string::npos;
  return is_plain ? pointer.substr(1) : pointer;
}

}  // namespace

void MemberNames::add(std::string_view record) {
  if (is_full()) return;
  std::string text;
  // A byte that is not UTF-8 must not hide the members of its record.
  copy_as_utf8(without_mark(record), text);
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (parser.parse(simdjson::padded_string(text)).get(document) != simdjson::SUCCESS) return;
  if (!document.is_object()) return;
  ++records_;
  collect(document, "", 0, pointers_);
}

bool MemberNames::has(const std::string& column, config::Envelope envelope) const {
  const std::string pointer = as_pointer(column);
  if (envelope == config::Envelope::none || column.starts_with('/')) return pointers_.contains(pointer);
  return pointers_.contains("/after" + pointer) || pointers_.contains("/payload/after" + pointer);
}

// What is added behind a column that is missing; empty where no member is near it.
std::string MemberNames::meant_by(const std::string& column, config::Envelope envelope) const {
  const std::string wanted = as_pointer(column);
  const std::string_view last = name_behind_slash(wanted);
  // First a name that only looks different, then the same name at another place, then the nearest by edits.
  for (const std::string& pointer : pointers_) {
    const std::string difference = config::difference_unseen(last, name_behind_slash(pointer));
    if (!difference.empty()) {
      return " (did you mean '" + named(pointer, envelope) + "'? it differs " + difference + ": copy it from there)";
    }
  }
  for (const std::string& pointer : pointers_) {
    if (name_behind_slash(pointer) != last) continue;
    const std::string name = named(pointer, envelope);
    return column.starts_with('/') || !name.starts_with('/')
               ? " (did you mean '" + name + "'?)"
               : " (it is inside another member: write the JSON pointer '" + name + "')";
  }
  // A short name is near to almost any other, so fewer differences are allowed.
  std::size_t nearest = std::max<std::size_t>(column.size() / 3, column.size() > 2 ? 1 : 0) + 1;
  std::string best;
  for (const std::string& pointer : pointers_) {
    // Compared as pointers, so that a member at the wrong level is further away than one that is misspelt.
    const std::size_t distance = config::edit_distance(wanted, pointer);
    if (distance >= nearest) continue;
    nearest = distance;
    best = named(pointer, envelope);
  }
  return best.empty() ? best : " (did you mean '" + best + "'?)";
}

std::string MemberNames::listed(config::Envelope envelope) const {
  constexpr std::size_t shown_max = 30;
  std::string list;
  std::size_t shown = 0;
  for (const std::string& pointer : pointers_) {
    if (shown++ < shown_max) list += (list.empty() ? "'" : ", '") + named(pointer, envelope) + "'";
  }
  return shown > shown_max ? list + " and " + std::to_string(shown - shown_max) + " more" : list;
}

std::string MemberNames::missing(const std::vector<std::string>& columns, config::Envelope envelope) const {
  // No record was an object, so that none has members.
  if (records_ == 0) return {};
  std::string list;
  for (const std::string& column : columns) {
    if (is_message_column(column) || has(column, envelope)) continue;
    list += (list.empty() ? "'" : ", '") + column + "'" + meant_by(column, envelope);
  }
  if (list.empty()) return {};
  return "in none of the first " + std::to_string(records_) + (records_ == 1 ? " record: " : " records: ") + list;
}

std::vector<std::string> wanted_columns(const config::InputSettings& settings, const record::Schema& schema) {
  std::vector<std::string> columns;
  const auto add = [&](const std::string& column) {
    if (!column.empty() && std::find(columns.begin(), columns.end(), column) == columns.end())
      columns.push_back(column);
  };
  const record::RowBuilder builder(schema);
  for (const record::Field& field : builder.fields()) add(field.column);
  add(settings.time_column);
  return columns;
}

MemberNames first_members(const config::InputSettings& settings) {
  MemberNames names;
  if (!has_members(settings) || settings.files.empty()) return names;
  const std::string& file = settings.files.front();
  if (is_standard_input(file) || !stored_size(file) || is_segment(file)) return names;
  const auto first = first_content(file, settings, look_bytes);
  std::string_view rest = first->bytes;
  for (std::size_t end = rest.find('\n'); !rest.empty() && !names.is_full(); end = rest.find('\n')) {
    // The last line may go on behind what was read.
    if (end == std::string_view::npos && !first->is_all) break;
    names.add(without_line_end(rest.substr(0, end)));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return names;
}

std::string missing_members(const config::InputSettings& settings, const record::Schema& schema) {
  return first_members(settings).missing(wanted_columns(settings, schema), settings.envelope);
}

}  // namespace nustream::decode
