// Counts what can be used of a file, without noise, and finds words for what cannot. It is a look for the operator:
// nothing of it enters the fit.
#include "fit/opened.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "check/line_advice.h"
#include "config/nearest.h"
#include "error.h"
#include "fit/input.h"
#include "fit/texts.h"
#include "shell_word.h"

namespace nustream::fit {
namespace {

using check::percent;
using check::with_separators;
using record::Transform;

constexpr double worth_a_line = 0.1;

const record::Feature& feature_at(const Columns& columns, std::size_t column) {
  const std::size_t features = columns.features.size();
  if (column < features) return columns.features[column];
  if (column == features) return columns.target;
  return column == features + 1 && columns.weight ? *columns.weight : *columns.exposure;
}

double value_at(const FileTable& table, std::size_t row, std::size_t column) {
  if (column < table.features) return table.x[row * table.features + column];
  return column == table.features ? table.y[row] : table.weights[row];
}

/// Whether the model can use the target. A target that it cannot use makes its record unusable, just as a text that
/// is no number does.
bool is_target_of(const Options& options, double target) {
  if (!options.likelihood) return true;
  return *options.likelihood == ranges::Likelihood::logistic ? target == 0 || target == 1 : target >= 0;
}

/// The columns that a record needs to be usable. A column of the header counts where its share of numbers is at least
/// half of the target's, as in a fit.
std::vector<std::size_t> taken_columns(const Columns& columns, const FileTable& table) {
  std::vector<std::size_t> taken;
  const double of_target = 1 - table.unread[table.features].unusable_share();
  for (std::size_t j = 0; j < table.unread.size(); ++j) {
    // Bins, target and weight come behind what was found in the header, and are always needed.
    const bool is_needed = j >= columns.found;
    if (is_needed || 1 - table.unread[j].unusable_share() >= 0.5 * of_target) taken.push_back(j);
  }
  return taken;
}

std::uint64_t usable_rows(const Options& options, const Columns& columns, const FileTable& table) {
  const std::vector<std::size_t> taken = taken_columns(columns, table);
  std::uint64_t usable = 0;
  for (std::size_t row = 0; row < table.y.size(); ++row) {
    const auto is_number = [&](std::size_t column) { return std::isfinite(value_at(table, row, column)); };
    if (std::ranges::all_of(taken, is_number) && is_target_of(options, table.y[row])) ++usable;
  }
  return usable;
}

/// Whether the reason is about a line and not about a column. It then applies to all columns alike.
bool is_of_line(const std::string& reason) {
  return !reason.starts_with("column '");
}

std::string of_all(std::uint64_t part, const check::Tally& tally) {
  return fmt::format("{} of {} records ({})", with_separators(part), with_separators(tally.records),
                     percent(part, tally.records));
}

/// " (such as line 5)", counted in the whole file. Empty where comment lines above the header are skipped, because
/// their number is not known.
std::string place_of(const Columns& columns, const check::Refused& refused) {
  const config::InputSettings& input = columns.input;
  if (!input.comment.empty()) return {};
  const std::uint64_t above = input.skip_lines + (has_header(input) ? 1 : 0);
  return fmt::format(" (such as line {})", with_separators(refused.first.value() + above + 1));
}

/// Lines that cannot be read at all are missing in every column, so they are told once, by the target's tally.
void say_of_lines(const Columns& columns, const FileTable& table, Look& look) {
  const check::Tally& tally = table.unread[table.features];
  const std::string reason = tally.most_frequent_reason();
  if (tally.unusable_share() < worth_a_line || !is_of_line(reason)) return;
  const check::Refused& refused = tally.reasons.at(reason);
  look.lines.push_back(fmt::format("{} cannot be read at all: {}{}{}", of_all(refused.count, tally),
                                   in_options(reason), place_of(columns, refused),
                                   in_options(check::advice_on_lines(tally, columns.input))));
}

std::string target_cure(const std::string& column, const std::string& labels, const std::string& last) {
  return fmt::format("; its texts are {}: --target {} makes 1 of one, and 0 of all others", labels,
                     in_shell(column + "=" + last));
}

/// Says how many targets are numbers that the model does not allow: labels other than 0 and 1, or counts below 0.
void say_of_targets(const Options& options, const Columns& columns, const FileTable& table, Look& look) {
  const auto is_other = [&](double target) { return std::isfinite(target) && !is_target_of(options, target); };
  const auto others = static_cast<std::uint64_t>(std::ranges::count_if(table.y, is_other));
  if (others == 0 || static_cast<double>(others) < worth_a_line * static_cast<double>(table.y.size())) return;
  const bool is_logistic = *options.likelihood == ranges::Likelihood::logistic;
  std::string cure = "; --poisson wants counts, which are 0 or more";
  if (is_logistic) {
    const std::string& column = columns.target.first.column;
    std::string last;
    const std::string labels = labels_in(texts_of(columns.input, column).all, &last);
    cure = labels.empty() ? "" : target_cure(column, labels, last);
  }
  look.lines.push_back(fmt::format("in {} the target '{}' is {}, and these count as unusable{}",
                                   of_all(others, table.unread[table.features]), columns.target.name,
                                   is_logistic ? "a number other than 0 and 1" : "negative", cure));
}

/// Says why a column lacks numbers, where it lacks a tenth or more of them.
void say_of_column(const Options& options, const Columns& columns, const FileTable& table, std::size_t column,
                   Look& look) {
  const check::Tally& tally = table.unread[column];
  if (tally.unusable_share() < worth_a_line || is_of_line(tally.most_frequent_reason())) return;
  const bool is_found = column < columns.found;
  if (is_one_more_of_column(columns, column)) return;
  const std::string why = why_unread(columns, table, column);
  // A column of text that was found in the header is left out of the model. That is no fault, unless the text looks
  // like numbers. Who asks for a look is told how to make features of it.
  if (!options.look && is_found && tally.unusable_share() > 0.5 && why.find("; most") == std::string::npos) return;
  // Features of several texts of one column lack the same fields.
  if (std::ranges::find(look.lines, why) == look.lines.end()) look.lines.push_back(why);
}

/// Says so where a column has one value alone, and of an indicator that is always 0 which texts there are.
void say_of_text(const Columns& columns, const FileTable& table, std::size_t column, Look& look) {
  const record::Feature& feature = feature_at(columns, column);
  // Which buckets have texts is as the hash has it, and nobody can leave one of them out.
  if (feature.first.transform == Transform::bucket) return;
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (std::size_t row = 0; row < table.y.size(); ++row) {
    const double value = value_at(table, row, column);
    if (std::isnan(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (least != most) return;
  if (feature.first.transform == Transform::bin) {
    look.lines.push_back(
        fmt::format("'{}' holds {} record: edges that are chosen by this are read off the data, which "
                    "the promise does not cover",
                    feature.name, most == 0 ? "no" : "every"));
    return;
  }
  if (feature.first.transform != Transform::indicator || most != 0) {
    look.lines.push_back(fmt::format("'{}' is the same in every record: {}", feature.name,
                                     column < table.features ? "it cannot be told from the intercept; leave it out"
                                                             : "there is nothing to explain"));
    return;
  }
  // An indicator that is 0 everywhere often has its text misspelt, so the texts that there are get listed.
  const check::LabelTexts texts = texts_of(columns.input, feature.first.column).all;
  const std::string labels = labels_in(texts);
  std::vector<std::string> known;
  for (const auto& [text, count] : texts.counts()) known.push_back(text);
  look.lines.push_back(fmt::format(
      "no record has the text of '{}'{}", feature.name,
      labels.empty() ? ""
                     : config::did_you_mean(feature.first.equals, known) + "; the column's texts are " + labels));
}

/// What a record has to have for the feature, such as: number for 'age'. Bins, buckets and texts are named by their
/// column.
std::string what_is_lacking(const Columns& columns, const record::Feature& feature) {
  const record::Term& term = feature.first;
  const auto named = [](const char* what, const std::string& name) { return fmt::format("{} '{}'", what, name); };
  if (columns.exposure && &feature == &*columns.exposure) return named("exposure in", feature.name);
  constexpr std::array of_texts{Transform::indicator, Transform::other, Transform::bucket};
  if (std::ranges::count(of_texts, term.transform) > 0) return named("text in", term.column);
  return named("number for", term.transform == Transform::bin ? term.column : feature.name);
}

}  // namespace

std::string why_unread(const Columns& columns, const FileTable& table, std::size_t column) {
  const check::Tally& tally = table.unread[column];
  const record::Feature& feature = feature_at(columns, column);
  std::string reason = tally.most_frequent_reason();
  const std::string place = place_of(columns, tally.reasons.at(reason));
  const std::string& name = feature.first.column;
  const std::string prefix = fmt::format("column '{}': ", name);
  if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
  std::string line = fmt::format("{} have no {}: most often {}{}", of_all(tally.rejected, tally),
                                 what_is_lacking(columns, feature), in_options(reason), place);
  if (has_members(columns.input) && reason.find("missing") != std::string::npos) {
    return line + members_near(columns.input, name) + "; one inside another is named by a path, /user/x";
  }
  const Texts texts = texts_of(columns.input, name);
  std::string cure = cure_of(texts.unread, columns.input, name);
  std::string last;
  const std::string labels = cure.empty() ? labels_in(texts.all, &last) : "";
  if (!labels.empty() && column == table.features) {
    cure = target_cure(name, labels, last);
  } else if (!labels.empty() && column < table.features && feature.first.transform != Transform::bin) {
    cure = fmt::format("; its texts are {}: a feature of one is {}", labels, in_shell(name + "=" + last));
  } else if (const std::string unread = labels_in(texts.unread); cure.empty() && !unread.empty()) {
    cure = fmt::format("; such texts are {}", unread);
  }
  return line + cure;
}

Look look_at(const Options& options, const Columns& columns, const FileTable& table) {
  Look look{table.y.size(), usable_rows(options, columns, table)};
  say_of_lines(columns, table, look);
  say_of_targets(options, columns, table, look);
  for (std::size_t column = 0; column < table.unread.size(); ++column) {
    say_of_column(options, columns, table, column, look);
    // A weight or an exposure may be the same in every record.
    const bool varies = column <= table.features;
    if (varies && table.unread[column].unusable_share() < 1) say_of_text(columns, table, column, look);
  }
  const std::vector<std::size_t> taken = taken_columns(columns, table);
  const bool is_bare =
      !options.mean && std::ranges::none_of(taken, [&](std::size_t j) { return j < table.features; });
  if (is_bare) {
    look.lines.emplace_back(
        "no column beside the target is mostly numbers: what is left to fit is the target's mean alone");
  }
  return look;
}

void require_usable(const Options& options, const Look& look) {
  const double share = static_cast<double>(look.usable) / static_cast<double>(look.records);
  if (!options.min_usable || share >= *options.min_usable) return;
  throw Failure(Exit::unusable,
                fmt::format("operator only, not private: of {} records {} can be used: fewer than --min-usable {:g} "
                            "allows, so nothing was read privately and nothing is spent; that, too, tells of the "
                            "records: keep it to yourself",
                            with_separators(look.records), percent(look.usable, look.records), *options.min_usable));
}

}  // namespace nustream::fit
