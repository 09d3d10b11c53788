// Turns one line of JSON into named cells, and cells into a line of CSV. A name is the path to its value, such as
// interval.lower.temp, and the order is that of the release.
#include "csv/export.h"

#include <cstdint>

#include <simdjson.h>

#include "error.h"
#include "publish/json_text.h"
#include "publish/release_json.h"

namespace nustream::csv {
namespace {

namespace dom = simdjson::dom;

void flatten(dom::element value, const std::string& path, Cells& cells);

/// The path to a member or an element of what stands at `path`.
std::string inside(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + '.' + std::string(name);
}

/// The text of a cell. A double is written by the same function as in releases, so that it has the same digits.
std::string text_of(dom::element value) {
  std::string text;
  switch (value.type()) {
    case dom::element_type::STRING:
      return std::string(value.get_string().value());
    case dom::element_type::DOUBLE:
      publish::append_number(value.get_double().value(), text);
      return text;
    case dom::element_type::BOOL:
      return value.get_bool().value() ? "true" : "false";
    // Null is an empty cell, like a member that is not there.
    case dom::element_type::NULL_VALUE:
      return text;
    default:
      return simdjson::to_string(value);  // whole numbers, as they stand
  }
}

/// Appends the cells of a value, depth first. Elements of arrays are named by their places, from 0.
void flatten(dom::element value, const std::string& path, Cells& cells) {
  if (value.is_object()) {
    for (const auto& [name, member] : dom::object(value)) {
      // These coefficients have empty cells already, and a list has other places in every release.
      if (path.empty() && name == "not_determined") continue;
      flatten(member, inside(path, name), cells);
    }
    return;
  }
  if (value.is_array()) {
    std::uint64_t index = 0;
    for (const dom::element element : dom::array(value))
      flatten(element, inside(path, std::to_string(index++)), cells);
    return;
  }
  cells.emplace_back(path, text_of(value));
}

}  // namespace

Cells cells_of(std::string_view line) try {
  dom::parser parser;
  const dom::element release = parser.parse(line.data(), line.size());
  // Of another format it may still be a release, whose members this program could take for something else.
  publish::require_known_format(release);
  // What every release and every combined model has. Other JSON would give columns that mean nothing.
  if (!release["stream"].is_string() || !release["estimate"].is_object())
    throw simdjson::simdjson_error(simdjson::INCORRECT_TYPE);
  Cells cells;
  flatten(release, "", cells);
  return cells;
} catch (const Failure&) {  // a release, of another format
  throw;
} catch (const std::exception&) {  // the reader of JSON throws several kinds; all mean that the line is no release
  throw Failure(Exit::data,
                "this line is no release (a JSON object with stream and estimate); name a file of releases");
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    if (&cell != &cells.front()) line += ',';
    // Only these characters need quotation marks (RFC 4180, section 2).
    if (cell.find_first_of(",\"\r\n") == std::string::npos) {
      line += cell;
      continue;
    }
    line += '"';
    for (const char c : cell) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + '\n';
}

}  // namespace nustream::csv
