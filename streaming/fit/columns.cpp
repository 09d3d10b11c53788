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
#include "fit/bins.h"
#include "fit/input.h"
#include "shell_word.h"

namespace nustream::fit {
namespace {

/// Makes a feature for each name of the header, except the columns that have another part in the model.
std::vector<record::Feature> from_header(const Names& header, const Columns& columns, const std::vector<Bins>& bins) {
  std::vector<record::Feature> features;
  for (const std::string& name : header) {
    if (name == columns.target.first.column || name.empty()) continue;
    if (columns.weight && name == columns.weight->first.column) continue;
    if (columns.exposure && name == columns.exposure->first.column) continue;
    if (std::ranges::find(bins, name, &Bins::column) != bins.end()) continue;
    record::Feature feature;
    feature.name = feature.first.column = name;
    features.push_back(std::move(feature));
  }
  return features;
}

/// The option that names the column, in front of a message about it; empty for a column that was found in the header.
const char* option_of(const Columns& columns, const record::Feature& feature) {
  if (&feature == &columns.target) return "--target: ";
  if (columns.weight && &feature == &*columns.weight) return "--weight: ";
  if (columns.exposure && &feature == &*columns.exposure) return columns.is_offset ? "--offset: " : "--exposure: ";
  if (feature.first.transform == record::Transform::bin) return "--bins: ";
  return columns.is_listed ? "--features: " : "";
}

/// Refuses a name that the header lacks, in the words of the readers, before one of them has read a record.
void require_in(const Names& header, const Columns& columns) {
  if (header.empty()) return;
  const auto require = [&](const record::Feature& feature) {
    const std::string where = "'" + columns.input.files.front() + "'";
    const std::array wanted{columns.target.first.column};
    try {
      static_cast<void>(
          decode::find_column(header, feature.first.column, where, wanted, true, columns.input.delimiter));
    } catch (const Failure& failure) {
      throw Failure(failure.code(), option_of(columns, feature) + std::string(failure.what()));
    }
  };
  require(columns.target);
  if (columns.weight) require(*columns.weight);
  if (columns.exposure) require(*columns.exposure);
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

/// Reads --weight.
void read_weight(const Options& options, const Names& header, Columns& columns) {
  if (options.weight.empty()) return;
  columns.weight = read_term(options.weight, header);
  columns.weight->upper = options.weight_bound;
  if (columns.weight->first.column == columns.target.first.column) {
    throw Failure(Exit::usage,
                  fmt::format("--weight '{}': that is the target's column, and records that count by what "
                              "is to be explained give another model",
                              options.weight));
  }
}

/// Reads --exposure or --offset. Only a model of counts has one: its mean is E·exp(θᵀx).
void read_exposure(const Options& options, const Names& header, Columns& columns) {
  const Exposure& exposure = options.exposure;
  columns.is_offset = !exposure.offset.empty();
  const std::string& text = columns.is_offset ? exposure.offset : exposure.column;
  const std::string option = fmt::format("--{} '{}'", columns.is_offset ? "offset" : "exposure", text);
  if (text.empty()) {
    if (!(exposure.bound > 0)) return;
    throw Failure(
        Exit::usage,
        "--exposure-bound: there is no --exposure and no --offset that it would bound: add --exposure COLUMN, "
        "with the column that says over how long, or over how many, a count was made; or leave it out");
  }
  if (options.likelihood != ranges::Likelihood::poisson) {
    throw Failure(Exit::usage, option +
                                   ": only counts are made over an exposure: add --poisson, or, where records of "
                                   "another model count more than others, give --weight");
  }
  if (!(exposure.bound > 0)) {
    throw Failure(Exit::usage, option +
                                   " needs --exposure-bound: a public number, never read off the data; a larger "
                                   "exposure weighs as this one");
  }
  columns.exposure = read_term(text, header);
  columns.exposure->upper = exposure.bound;
  if (columns.exposure->first.column == columns.target.first.column) {
    throw Failure(Exit::usage, option + ": that is the target's column, and a count over itself says nothing");
  }
}

/// Refuses a map of a column where an option takes the column itself.
void require_no_map(const char* option, const std::string& text, const Names& header) {
  const std::string column = column_in_map(text, header);
  if (column.empty()) return;
  throw Failure(Exit::usage,
                fmt::format("{0} '{1}': that is a map of '{2}', and bins and texts are those of a column as "
                            "it is: name the column, and its edges on its own scale, such as --bins {3}",
                            option, text, column, in_shell(column + "=18,30,45")));
}

/// Reads --features, --bins and --other; without a list, takes the columns of the header.
void read_listed(const Options& options, const Names& header, Columns& columns) {
  const std::vector<Bins> bins = read_bins(options.bins, columns.target.first.column);
  const std::vector<std::string> others = split_list(options.others, header, "--other");
  for (const Bins& each : bins) require_no_map("--bins", each.column, header);
  for (const std::string& other : others) require_no_map("--other", other, header);
  for (const std::string& term : split_list(options.features, header, "--features")) {
    std::vector<record::Feature> features = read_features(term, header, options.hash_buckets);
    std::ranges::move(features, std::back_inserter(columns.features));
  }
  // Of a file without public names, bins alone are a list, too.
  columns.is_listed = options.mean || !columns.features.empty() || (header.empty() && !bins.empty());
  if (!columns.is_listed && header.empty()) {
    throw Failure(Exit::usage,
                  "JSON lines have no header whose names are public: list the columns, --features a,b,c");
  }
  if (!columns.is_listed) columns.features = from_header(header, columns, bins);
  columns.found = columns.is_listed ? 0 : columns.features.size();
  add_groups(bins, others, columns.features);
}

}  // namespace

bool is_one_more_of_column(const Columns& columns, std::size_t column) {
  if (column == 0 || column >= columns.features.size()) return false;
  const record::Term& term = columns.features[column].first;
  const record::Term& before = columns.features[column - 1].first;
  const bool is_one_of_several =
      term.transform == record::Transform::bin || term.transform == record::Transform::bucket;
  return is_one_of_several && before.transform == term.transform && before.column == term.column;
}

Columns columns_of(const Options& options) {
  Columns columns{input_of(options), {}, {}, {}};
  const Names header = names_of(columns.input);
  columns.target = read_term(options.target, header);
  read_weight(options, header, columns);
  read_exposure(options, header, columns);
  read_listed(options, header, columns);
  require_in(header, columns);
  require_distinct(columns);
  return columns;
}

}  // namespace nustream::fit
