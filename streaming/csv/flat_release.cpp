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

std::string inside(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + '.' + std::string(name);
}

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
    case dom::element_type::NULL_VALUE:
      return text;
    default:
      return simdjson::to_string(value);  // whole numbers, as they stand
  }
}

void flatten(dom::element value, const std::string& path, Cells& cells) {
  if (value.is_object()) {
    for (const auto& [name, member] : dom::object(value)) flatten(member, inside(path, name), cells);
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
  publish::require_known_format(release);
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
