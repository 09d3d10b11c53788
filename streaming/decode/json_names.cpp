// Collects the members of the first records as JSON pointers, and says which columns none of them has. Only hints for
// the operator come of it.
#include "decode/json_names.h"

#include <simdjson.h>

#include <algorithm>

#include "config/unicode.h"
#include "decode/byte_source.h"
#include "decode/csv_line.h"
#include "decode/first_lines.h"
#include "decode/json_members.h"
#include "decode/member_hints.h"
#include "decode/message_columns.h"
#include "decode/segment_rows.h"
#include "nustream/record/row.h"

namespace nustream::decode {
namespace {

// Bounds for records that hold anything: their members may be many, deep, or keys that are data themselves.
constexpr std::size_t names_max = 400;
constexpr std::size_t depth_max = 4;
constexpr std::size_t places_max = 16;  // elements of an array that are looked at

/// Whether the record is one of a change of a database's row in the envelope of Debezium, with or without its schema.
bool is_change(const simdjson::dom::element& record) {
  const auto has = [&](const char* pointer) { return record.at_pointer(pointer).error() == simdjson::SUCCESS; };
  return (has("/after") && has("/op")) || (has("/payload/after") && has("/payload/op"));
}

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

}  // namespace

void MemberNames::add(std::string_view record) {
  if (is_full()) return;
  // A byte that is not UTF-8 must not hide the members of its record.
  const std::string text = as_utf8(without_mark(record));
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (parser.parse(simdjson::padded_string(text)).get(document) != simdjson::SUCCESS) return;
  if (!document.is_object()) return;
  ++records_;
  if (is_change(document)) ++changes_;
  collect(document, "", 0, pointers_);
}

bool MemberNames::has(const std::string& column, config::Envelope envelope) const {
  const std::string pointer = as_pointer(column);
  if (envelope == config::Envelope::none || column.starts_with('/')) return pointers_.contains(pointer);
  return pointers_.contains("/after" + pointer) || pointers_.contains("/payload/after" + pointer);
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

/// Proposes an envelope where most records have one that is not set, and a plain name of `columns` is in its row.
std::string MemberNames::envelope_to_set(const std::vector<std::string>& columns, const MemberHints& hints) const {
  const bool is_wanted =
      std::any_of(columns.begin(), columns.end(), [&](const std::string& column) { return hints.is_in_row(column); });
  if (!is_wanted || 2 * changes_ <= records_) return {};
  const std::string which = changes_ == records_
                                ? "the records"
                                : std::to_string(changes_) + " of the first " + std::to_string(records_) + " records";
  return which +
         " look like changes of a database's rows (Debezium): set stream.envelope = \"debezium\", under which a "
         "plain "
         "name is a column of the row";
}

std::string MemberNames::missing(const std::vector<std::string>& columns, config::Envelope envelope) const {
  // No record was an object, so that none has members.
  if (records_ == 0) return {};
  std::vector<std::string> wanted;
  std::vector<std::string> taken;
  for (const std::string& column : columns) {
    if (!is_message_column(column)) (has(column, envelope) ? taken : wanted).push_back(column);
  }
  const MemberHints hints(pointers_, envelope, taken);
  std::string to_set = envelope_to_set(columns, hints);
  if (wanted.empty()) return to_set;
  std::string list;
  for (const std::string& column : wanted) {
    list += (list.empty() ? "'" : ", '") + column + "'" + hints.on_column(column);
  }
  const bool are_utf8 = std::none_of(pointers_.begin(), pointers_.end(), holds_stand_in);
  return "in none of the first " + std::to_string(records_) + (records_ == 1 ? " record: " : " records: ") + list +
         (to_set.empty() ? "" : "; " + to_set) + (are_utf8 ? "" : "; " + config::not_utf8("some names are"));
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
