#include "fit/input.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "error.h"

namespace nustream::fit {
namespace {

using record::Transform;

constexpr std::array<std::pair<std::string_view, Transform>, 6> maps{{{"log", Transform::log},
                                                                      {"log1p", Transform::log1p},
                                                                      {"sqrt", Transform::sqrt},
                                                                      {"square", Transform::square},
                                                                      {"hour", Transform::hour},
                                                                      {"day_of_week", Transform::day_of_week}}};

std::string without_blanks(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return std::string(text.substr(begin, text.find_last_not_of(" \t") + 1 - begin));
}

bool is_name(const std::string& text, const Names& header) {
  return std::ranges::find(header, text) != header.end();
}

/// Where the name before "=text" ends: after the longest name of the header that fits, or before the first "=".
std::size_t end_of_name(const std::string& text, const Names& header) {
  std::size_t end = 0;
  for (const std::string& name : header) {
    const bool fits = name.size() > end && text.size() > name.size() && text.starts_with(name);
    if (fits && text[name.size()] == '=') end = name.size();
  }
  return end > 0 ? end : std::min(text.find('='), text.size());
}

}  // namespace

record::Feature read_term(const std::string& text, const Names& header) {
  record::Feature feature;
  feature.name = feature.first.column = text;
  if (is_name(text, header)) return feature;
  const std::size_t equals = end_of_name(text, header);
  const std::size_t open = text.find('(');
  if (open < equals && text.ends_with(')')) {
    const auto* const map =
        std::ranges::find(maps, std::string_view(text).substr(0, open), &decltype(maps)::value_type::first);
    if (map == maps.end() || open + 2 > text.size() - 1) {
      throw Failure(Exit::usage, fmt::format("'{}' is no column and no map of one: allowed are log, log1p, sqrt, "
                                             "square, hour and day_of_week, as in log(column)",
                                             text));
    }
    feature.first.transform = map->second;
    feature.first.column = without_blanks(std::string_view(text).substr(open + 1, text.size() - open - 2));
  } else if (equals > 0 && equals < text.size()) {
    feature.first = {text.substr(0, equals), Transform::indicator, text.substr(equals + 1)};
  }
  return feature;
}

std::vector<std::string> split_list(const std::vector<std::string>& lists, const Names& header, const char* option) {
  std::vector<std::string> entries;
  for (const std::string& list : lists) {
    if (is_name(list, header)) {
      entries.push_back(list);
      continue;
    }
    std::string entry;
    const auto end_entry = [&] {
      entry = without_blanks(entry);
      if (entry.empty()) throw Failure(Exit::usage, fmt::format("{}: a name in '{}' is empty", option, list));
      entries.push_back(std::exchange(entry, {}));
    };
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] == '\\' && i + 1 < list.size() && list[i + 1] == ',') {
        entry += list[++i];
      } else if (list[i] == ',') {
        end_entry();
      } else {
        entry += list[i];
      }
    }
    end_entry();
  }
  return entries;
}

}  // namespace nustream::fit
