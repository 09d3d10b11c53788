// Which columns a fit takes, from the options and the public header. No record is read here.
#include "fit/columns.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>

#include <fmt/format.h>

#include "decode/csv_columns.h"
#include "error.h"
#include "fit/input.h"

namespace nustream::fit {
namespace {

/// Makes a feature for each name of the header, except the target's column and the weight's.
std::vector<record::Feature> from_header(const Names& header, const Columns& columns) {
  std::vector<record::Feature> features;
  for (const std::string& name : header) {
    if (name == columns.target.first.column || name.empty()) continue;
    if (columns.weight && name == columns.weight->first.column) continue;
    record::Feature feature;
    feature.name = feature.first.column = name;
    features.push_back(std::move(feature));
  }
  return features;
}

/// Refuses a name that the header lacks, in the words of the readers, before one of them has read a record.
void require_in(const Names& header, const Columns& columns) {
  if (header.empty()) return;
  const auto require = [&](const record::Feature& feature) {
    const std::string where = "'" + columns.input.files.front() + "'";
    const std::array wanted{columns.target.first.column};
    static_cast<void>(
        decode::find_column(header, feature.first.column, where, wanted, true, columns.input.delimiter));
  };
  require(columns.target);
  if (columns.weight) require(*columns.weight);
  for (const record::Feature& feature : columns.features) require(feature);
}

/// Two features of one name could not be told apart in a release, whose members are named by features.
void require_distinct(const Columns& columns) {
  // The model's own intercept is a name in every output, so no feature may have it.
  std::set<std::string> names{"intercept", columns.target.name};
  for (const record::Feature& feature : columns.features) {
    if (names.insert(feature.name).second) continue;
    throw Failure(Exit::usage,
                  fmt::format("'{}' is there twice: as a feature and as the target, or as two features; name it once",
                              feature.name));
  }
}

}  // namespace

Columns columns_of(const Options& options) {
  Columns columns{input_of(options), {}, {}, {}, true};
  const Names header = names_of(columns.input);
  columns.target = read_term(options.target, header);
  if (!options.weight.empty()) {
    columns.weight = read_term(options.weight, header);
    columns.weight->upper = options.weight_bound;
  }
  for (const std::string& term : split_list(options.features, header, "--features")) {
    std::vector<record::Feature> features = read_features(term, header, options.hash_buckets);
    std::ranges::move(features, std::back_inserter(columns.features));
  }
  columns.is_listed = options.mean || !columns.features.empty();
  if (!columns.is_listed && header.empty()) {
    throw Failure(Exit::usage,
                  "JSON lines have no header whose names are public: list the columns, --features a,b,c");
  }
  if (!columns.is_listed) columns.features = from_header(header, columns);
  require_in(header, columns);
  require_distinct(columns);
  return columns;
}

}  // namespace nustream::fit
