// The small language of --target and --features: a name of the header, a map such as log(column), column=text for
// indicators, and hash(column). A text that is a name of the header always means that column.
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

/// The text without spaces and tabs at its ends; "" for blanks alone.
std::string without_blanks(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return std::string(text.substr(begin, text.find_last_not_of(" \t") + 1 - begin));
}

/// What stands between the bracket at `open` and the last one, without blanks at its ends.
std::string within_brackets(std::string_view text, std::size_t open) {
  return without_blanks(text.substr(open + 1, text.size() - open - 2));
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
  // log(price) is a map; price(EUR)=low has its bracket before "=", but ends with none, and so names a column.
  const std::size_t open = text.find('(');
  if (open < equals && text.ends_with(')')) {
    const auto* const map =
        std::ranges::find(maps, std::string_view(text).substr(0, open), &decltype(maps)::value_type::first);
    if (map == maps.end() || open + 2 > text.size() - 1) {
      throw Failure(Exit::usage, fmt::format("'{}' is no column and no map of one: allowed are log, log1p, sqrt, "
                                             "square, hour, day_of_week and, among features, hash, as in log(column)",
                                             text));
    }
    feature.first.transform = map->second;
    feature.first.column = within_brackets(text, open);
  } else if (equals > 0 && equals < text.size()) {
    feature.first = {text.substr(0, equals), Transform::indicator, text.substr(equals + 1)};
  }
  return feature;
}

namespace {

constexpr std::string_view hash_map = "hash(";

/// The texts of a list with bars between them.
std::vector<std::string> texts_between_bars(const std::string& list) {
  std::vector<std::string> texts(1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '\\' && i + 1 < list.size() && list[i + 1] == '|') {
      texts.back() += list[++i];
    } else if (list[i] == '|') {
      texts.emplace_back();
    } else {
      texts.back() += list[i];
    }
  }
  return texts;
}

/// One indicator for each bucket of texts but the first. Their number is public, so it must not be read off the data.
std::vector<record::Feature> buckets_of(const std::string& column, std::uint32_t buckets) {
  if (buckets < 2) {
    throw Failure(Exit::usage, fmt::format("hash({}) has no number of buckets; add --hash 16, or another number from "
                                           "2 on that is not read off the data",
                                           column));
  }
  std::vector<record::Feature> features;
  // Bucket 0 is left out, as all buckets together would say the same as the intercept.
  for (std::uint32_t bucket = 1; bucket < buckets; ++bucket) {
    record::Feature& feature = features.emplace_back();
    feature.name = fmt::format("{}#{}", column, bucket);
    feature.first.column = column;
    feature.first.transform = Transform::bucket;
    feature.first.buckets = buckets;
    feature.first.bucket = bucket;
  }
  return features;
}

}  // namespace

std::string column_in_map(const std::string& text, const Names& header) {
  const std::size_t open = std::min(text.find('('), text.size());
  if (!text.ends_with(')') || is_name(text, header)) return {};
  const std::string_view name = std::string_view(text).substr(0, open);
  const bool is_map =
      text.starts_with(hash_map) || std::ranges::find(maps, name, &decltype(maps)::value_type::first) != maps.end();
  return is_map ? within_brackets(text, open) : std::string();
}

std::vector<record::Feature> read_features(const std::string& text, const Names& header, std::uint32_t buckets) {
  const bool is_hash = text.starts_with(hash_map) && text.ends_with(')') && !is_name(text, header);
  if (is_hash) return buckets_of(within_brackets(text, hash_map.size() - 1), buckets);
  const record::Feature feature = read_term(text, header);
  if (feature.first.transform != Transform::indicator) return {feature};
  std::vector<record::Feature> features;
  // colour=red|blue gives the features colour=red and colour=blue.
  for (const std::string& equals : texts_between_bars(feature.first.equals)) {
    features.push_back(feature);
    features.back().name = feature.first.column + '=' + equals;
    features.back().first.equals = equals;
  }
  return features;
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
