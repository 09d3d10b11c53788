// Public lists become features of one column, as `bins`, `one_hot` and `other` of a configuration do. A fit always
// has an intercept, so that the first feature of a full set is left out here.
#include "fit/bins.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "error.h"
#include "nustream/record/number.h"

namespace nustream::fit {
namespace {

using record::Feature;
using record::Transform;

constexpr double no_end = std::numeric_limits<double>::infinity();

std::optional<double> read_edge(std::string_view text) {
  if (text == "inf" || text == "+inf") return no_end;
  if (text == "-inf") return -no_end;
  return record::parse_number(text);
}

/// The edges behind "=", or a failure that names the column.
std::vector<double> read_edges(const std::string& entry, const std::string& column, std::string_view list) {
  std::vector<double> edges;
  const auto refuse = [&](const std::string& why) {
    throw Failure(Exit::usage,
                  fmt::format("--bins '{}': {}; the edges of '{}' are two or more numbers that rise, such "
                              "as {}=18,30,45, and the outer ones may be -inf and inf",
                              entry, why, column, column));
  };
  for (bool more = true; more;) {
    const std::size_t comma = list.find(',');
    more = comma != std::string_view::npos;
    const std::string_view text = list.substr(0, comma);
    const std::optional<double> edge = read_edge(text);
    if (!edge) refuse(fmt::format("'{}' is no number", text));
    edges.push_back(*edge);
    if (more) list.remove_prefix(comma + 1);
  }
  // Edges that are equal would make a bin that holds no number.
  const bool rises = std::ranges::adjacent_find(edges, std::greater_equal<>()) == edges.end();
  if (edges.size() < 2) refuse("that is one edge");
  if (!rises) refuse("they do not rise");
  return edges;
}

Feature bin_of(const std::string& column, double from, double below) {
  Feature feature;
  feature.name = fmt::format("{}[{},{})", column, from, below);
  feature.first.column = column;
  feature.first.transform = Transform::bin;
  feature.first.from = from;
  feature.first.below = below;
  return feature;
}

void add_bins(const Bins& bins, bool with_other, std::vector<Feature>& features) {
  std::vector<double> edges = bins.edges;
  if (with_other && edges.front() != -no_end) edges.insert(edges.begin(), -no_end);
  if (with_other && edges.back() != no_end) edges.push_back(no_end);
  const bool is_full = edges.front() == -no_end && edges.back() == no_end;
  if (is_full && edges.size() == 2) {
    throw Failure(Exit::usage, fmt::format("--bins '{}': one interval from -inf to inf holds every number, and says "
                                           "nothing; name an edge within",
                                           bins.column));
  }
  for (std::size_t i = is_full ? 1 : 0; i + 1 < edges.size(); ++i) {
    features.push_back(bin_of(bins.column, edges[i], edges[i + 1]));
  }
}

/// Puts column=other in the place of the first feature of a text of this column.
void add_other_texts(const std::string& column, std::vector<Feature>& features) {
  const auto is_text = [&](const Feature& feature) {
    return feature.first.transform == Transform::indicator && feature.first.column == column;
  };
  const auto first = std::ranges::find_if(features, is_text);
  if (first == features.end()) {
    throw Failure(Exit::usage,
                  fmt::format("--other '{0}': no list says which values of '{0}' are not the other ones; add --bins "
                              "'{0}=18,30,45' for numbers, or --features '{0}=a|b' for texts (the buckets of hash() "
                              "have no others)",
                              column));
  }
  Feature other;
  other.name = column + "=other";
  other.first.column = column;
  other.first.transform = Transform::other;
  for (const Feature& feature : features) {
    if (is_text(feature)) other.first.labels.push_back(feature.first.equals);
  }
  features.erase(first);
  features.push_back(std::move(other));
}

}  // namespace

std::vector<Bins> read_bins(const std::vector<std::string>& entries, const std::string& target) {
  std::vector<Bins> all;
  for (const std::string& entry : entries) {
    // The last "=" divides, since edges have none and a name may have one.
    const std::size_t equals = entry.rfind('=');
    const std::string column = entry.substr(0, equals);
    if (equals == std::string::npos || column.empty()) {
      throw Failure(Exit::usage,
                    fmt::format("--bins '{}': name a column and its edges, such as age=18,30,45", entry));
    }
    if (column == target) {
      throw Failure(Exit::usage, fmt::format("--bins '{}': '{}' is the target, and no feature", entry, column));
    }
    if (std::ranges::find(all, column, &Bins::column) != all.end()) {
      throw Failure(Exit::usage, fmt::format("--bins: '{}' is there twice; give all its edges at once", column));
    }
    all.push_back({column, read_edges(entry, column, std::string_view(entry).substr(equals + 1))});
  }
  return all;
}

void add_groups(const std::vector<Bins>& bins, const std::vector<std::string>& others,
                std::vector<Feature>& features) {
  for (auto other = others.begin(); other != others.end(); ++other) {
    if (std::find(others.begin(), other, *other) != other) {
      throw Failure(Exit::usage, fmt::format("--other: '{}' is there twice; name it once", *other));
    }
    const bool has_bins = std::ranges::find(bins, *other, &Bins::column) != bins.end();
    if (!has_bins) add_other_texts(*other, features);
  }
  for (const Bins& each : bins) {
    add_bins(each, std::ranges::find(others, each.column) != others.end(), features);
  }
}

}  // namespace nustream::fit
