// Checks what several sections decide together, once all of them are read. Each of these faults would otherwise show
// in some commands alone, or only when a run begins.
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/nearest.h"
#include "config/read_sections.h"
#include "nustream/base/error.h"
#include "nustream/record/row.h"

namespace nustream::config {
namespace {

/// Checks that there is a target exactly where the model needs one, and that it is not scaled where the loss needs
/// its own units.
void check_target(const Section& root, const Config& config) {
  const bool mean = config.descent.loss.kind == model::Loss::Kind::mean;
  // The loss decides whether there is a target. For the mean, all columns are features.
  if (mean && config.schema.target) root.refuse("target", "no target for the mean");
  if (!mean && !config.schema.target) root.missing("target.column");
  const bool counts = config.schema.labels > 0 || config.descent.loss.kind == model::Loss::Kind::poisson;
  // A class or a count is no longer one after it was centred or scaled.
  if (counts && config.schema.target && (config.schema.target->center != 0 || config.schema.target->scale != 1)) {
    root.section("target").refuse("center",
                                  "neither center nor scale for this loss: its target has units of its own");
  }
}

/// Checks that there are as many guesses of eigenvalues as a plan needs. They belong to features, and a mean ignores
/// them.
void check_eigenvalues(const Section& plan, const Config& config) {
  constexpr const char* key = "second_moment_eigenvalues";
  const std::vector<double>& values = config.problem.eigenvalues;
  if (std::ranges::any_of(values, [](double value) { return !(value >= 0); })) plan.refuse(key, "numbers >= 0");
  if (values.empty() || config.descent.loss.kind == model::Loss::Kind::mean) return;
  if (const auto& first = config.descent.first_stage) {
    const bool are_squares = std::ranges::all_of(values, [](double value) { return value <= 1; });
    if (are_squares && values.size() == first->shape.endogenous) return;
    plan.refuse(key, fmt::format("of two stages one number from 0 to 1 for each of the {} regressors, of what the "
                                 "instruments tell of them",
                                 first->shape.endogenous));
  }
  if (values.size() == config.descent.dimension) return;
  plan.refuse(key,
              fmt::format("one number for each of the {} parameters, the intercept included: these are {}. A state "
                          "that was begun with them goes on if noise.nu is set to what it had, too",
                          config.descent.dimension, values.size()));
}

/// Checks that a box has one pair of bounds, or one for each coefficient of the stage that is projected.
void check_box(const Section& descent, const Config& config) {
  const auto& first = config.descent.first_stage;
  try {
    config.descent.projection.check(first ? first->shape.second_stage() : config.descent.dimension);
  } catch (const InvalidParameter& error) {
    descent.refuse("lower", error.allowed() + " bounds");
  }
}

/// " (did you mean 'NAME'?)" for one of `names` that `column` was probably meant to be; else "".
std::string meant_for(const std::string& column, const std::vector<std::string>& names) {
  std::vector<std::string> alike;
  std::ranges::copy_if(names, std::back_inserter(alike),
                       [&](const std::string& name) { return !difference_unseen(column, name).empty(); });
  return did_you_mean_one_of(alike.empty() ? closest(column, names) : alike);
}

/// Whether the column is of a message and not of its value.
bool is_beside_value(const std::string& column) {
  return column == key_column || column == timestamp_column || column.starts_with(header_prefix);
}

}  // namespace

void check_columns(const Section& stream, const InputSettings& input, const record::Schema& schema,
                   const std::string& beside) {
  if (!has_columns(input) || input.columns.empty()) return;
  std::vector<std::string> wanted;
  const record::RowBuilder builder(schema);
  for (const record::Field& field : builder.fields()) wanted.push_back(field.column);
  if (!beside.empty()) wanted.push_back(beside);
  std::vector<std::string> missing;
  for (const std::string& column : wanted) {
    const auto count = std::ranges::count(input.columns, column);
    if (count > 1) {
      stream.refuse("columns", fmt::format("names that differ: '{}' is there {} times, and is read", column, count));
    }
    const std::string told = "'" + column + "'" + meant_for(column, input.columns);
    const bool is_new = std::ranges::find(missing, told) == missing.end();
    if (count == 0 && is_new && !is_beside_value(column)) missing.push_back(told);
  }
  if (missing.empty()) return;
  stream.refuse("columns", fmt::format("a name for each field of a record, in their order: {} {} read, and {} not "
                                       "there",
                                       fmt::join(missing, ", "), missing.size() == 1 ? "is" : "are",
                                       missing.size() == 1 ? "is" : "are"));
}

void check_together(const Section& root, Purpose purpose, Config& config) {
  // An account has no place where it could say that it trusts the framing of a stream.
  if (config.input.framing_is_trusted && !config.privacy.account.empty()) {
    root.section("stream").refuse("framing",
                                  "\"newline\" with privacy.account: an account does not say what it trusts");
  }
  if (config.schema.features.empty()) root.missing("features");
  check_target(root, config);
  const Section descent = root.section(config.moments ? "moments" : "descent");
  const auto& first = config.descent.first_stage;
  config.descent.dimension =
      first ? first->shape.dimension() : config.schema.dimension() * model::predictors(config.descent.loss);
  // For running sums over a table the minibatch is 0 until the number of its records is known.
  const bool whole_table = config.moments && purpose == Purpose::table;
  if (config.descent.minibatch == 0 && !whole_table) descent.refuse("minibatch", "a whole number > 0");
  if (!config.moments) check_box(descent, config);
  config.descent.start = read_start(descent, config);
  if (config.input.times_public && config.input.time_column.empty()) {
    root.section("stream").refuse("times_public", "only together with time = \"column\"");
  }
  check_columns(root.section("stream"), config.input, config.schema, config.input.time_column);
  check_eigenvalues(root.section("plan"), config);
}

}  // namespace nustream::config
