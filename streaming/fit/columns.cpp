#include "fit/columns.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "console/signals.h"
#include "decode/byte_source.h"
#include "decode/csv_columns.h"
#include "decode/line_buffer.h"

namespace nustream::fit {
namespace {

using record::Transform;

constexpr std::array<std::pair<std::string_view, Transform>, 6> maps{{{"log", Transform::log},
                                                                      {"log1p", Transform::log1p},
                                                                      {"sqrt", Transform::sqrt},
                                                                      {"square", Transform::square},
                                                                      {"hour", Transform::hour},
                                                                      {"day_of_week", Transform::day_of_week}}};

bool is_json(const Options& options) {
  if (!options.format.empty()) return options.format == "jsonl";
  std::string_view name = options.file;
  for (const std::string_view packed : {".gz", ".zst", ".bz2", ".xz", ".zip"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  return name.ends_with(".jsonl") || name.ends_with(".ndjson") || name.ends_with(".json");
}

config::InputSettings input_of(const Options& options) {
  if (decode::is_standard_input(options.file)) {
    throw Failure(Exit::usage, "fit reads its file column by column, and standard input once: name a file");
  }
  config::InputSettings input;
  input.files = {options.file};
  if (is_json(options)) input.format = config::Format::json_lines;
  if (options.delimiter.size() > 1) throw Failure(Exit::usage, "--delimiter is one character");
  if (!options.delimiter.empty()) input.delimiter = options.delimiter.front();
  return input;
}

std::string first_line(const config::InputSettings& input) {
  const auto source = decode::open_source(input.files.front());
  decode::LineBuffer lines(input.record_bytes_max);
  for (;;) {
    console::require_no_signal();
    switch (lines.advance(*source)) {
      case decode::LineBuffer::State::lines:
        return std::string(lines.lines().substr(0, lines.lines().find('\n')));
      case decode::LineBuffer::State::interrupted:
        continue;
      case decode::LineBuffer::State::over_long:
      case decode::LineBuffer::State::end:
        throw Failure(
            Exit::data,
            fmt::format(
                "'{0}' has no header: it is empty, or its first line is too long; look at it: head -c 300 '{0}'",
                input.files.front()));
    }
  }
}

/// All names but those of the target's column and the weight's.
std::vector<record::Feature> from_header(const config::InputSettings& input, const record::Feature& target,
                                         const std::optional<record::Feature>& weight) {
  std::vector<record::Feature> features;
  for (const std::string& name : decode::read_header(first_line(input), input.delimiter, input.files.front())) {
    if (name == target.first.column || name.empty()) continue;
    if (weight && name == weight->first.column) continue;
    record::Feature feature;
    feature.name = feature.first.column = name;
    features.push_back(std::move(feature));
  }
  return features;
}

void require_distinct(const Columns& columns) {
  std::set<std::string> names{"intercept", columns.target.name};
  for (const record::Feature& feature : columns.features) {
    if (names.insert(feature.name).second) continue;
    throw Failure(Exit::usage,
                  fmt::format("'{}' is there twice: as a feature and as the target, or as two features; name it once",
                              feature.name));
  }
}

}  // namespace

record::Feature read_term(const std::string& text) {
  record::Feature feature;
  feature.name = text;
  feature.first.column = text;
  const std::size_t open = text.find('(');
  if (open != std::string::npos && text.ends_with(')')) {
    const auto* const map =
        std::ranges::find(maps, std::string_view(text).substr(0, open), &decltype(maps)::value_type::first);
    if (map == maps.end() || open + 2 > text.size() - 1) {
      throw Failure(Exit::usage, fmt::format("'{}' is no column and no map of one: allowed are log, log1p, sqrt, "
                                             "square, hour and day_of_week, as in log(column)",
                                             text));
    }
    feature.first.transform = map->second;
    feature.first.column = text.substr(open + 1, text.size() - open - 2);
  } else if (const std::size_t equals = text.find('='); equals != std::string::npos && equals > 0) {
    feature.first = {text.substr(0, equals), Transform::indicator, text.substr(equals + 1)};
  }
  return feature;
}

Columns columns_of(const Options& options) {
  Columns columns{input_of(options), {}, read_term(options.target), {}, true};
  if (!options.weight.empty()) {
    columns.weight = read_term(options.weight);
    columns.weight->upper = options.weight_bound;
  }
  for (const std::string& name : options.features) columns.features.push_back(read_term(name));
  if (options.mean || !columns.features.empty()) {
    require_distinct(columns);
    return columns;
  }
  if (columns.input.format == config::Format::json_lines) {
    throw Failure(Exit::usage,
                  "JSON lines have no header whose names are public: list the columns, --features a,b,c");
  }
  columns.is_listed = false;
  columns.features = from_header(columns.input, columns.target, columns.weight);
  require_distinct(columns);
  return columns;
}

}  // namespace nustream::fit
