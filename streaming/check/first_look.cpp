// Sentences about a run's first records, each empty where there is nothing to say, and the refusal of --min-usable.
// All of them read exact counts, so they are for the operator alone.
#include "check/first_look.h"

#include <algorithm>

#include <fmt/format.h>

#include "check/line_advice.h"
#include "check/tally.h"
#include "decode/json_names.h"
#include "error.h"

namespace nustream::check {
namespace {

constexpr double worth_a_line = 0.1;
// Where a run begins at zero, it is normal that half of the gradients are clipped. If nearly all are, a column is
// probably not scaled.
constexpr double clipped_worth_a_line = 0.9;

/// How many records cannot be used, the most frequent reason, one record that has it, and `advice` on the reason.
std::string in_words(const Tally& tally, const std::string& advice = {}) {
  const std::string reason = tally.most_frequent_reason();
  const std::string labels = label_advice(tally);
  return fmt::format("of the first {} records {} ({}) cannot be used; most often {} (record {}){}{}",
                     with_separators(tally.records), with_separators(tally.rejected),
                     percent(tally.rejected, tally.records), reason, tally.reasons.at(reason).first.value(), advice,
                     labels.empty() ? "" : "; " + labels);
}

}  // namespace

Tally tally_of(const record::RowBatch& rows) {
  Tally tally;
  tally.records = rows.count();
  tally.add(rows.rejects);
  return tally;
}

bool is_worth_a_warning(const Tally& tally) {
  return tally.unusable_share() >= worth_a_line;
}

std::string unusable_at_first(const Tally& first, const std::string& look, const std::string& missing,
                              const std::string& advice) {
  if (!is_worth_a_warning(first)) return {};
  const bool is_told =
      !missing.empty() && std::any_of(first.reasons.begin(), first.reasons.end(),
                                      [](const auto& each) { return each.first.ends_with(": missing"); });
  return in_words(first, advice) + (is_told ? "; " + missing : "") + ": " + look + " shows more";
}

std::string unusable_at_first(const Tally& first, const config::InputSettings& input, const record::Schema& schema) {
  if (!is_worth_a_warning(first)) return {};
  return unusable_at_first(first, input.look, decode::missing_members(input, schema), advice_on_lines(first, input));
}

Clip clip_of(const config::Config& config) {
  if (config.users) {
    if (!config.moments) return {"contributions of users", "descent.clip_norm", config.descent.clip.value()};
    return {"contributions of users", "one row may be by moments.row_norm",
            config.moments->stages.front().radii.inputs};
  }
  if (config.moments) {
    return {"residuals", "moments.residual_bound", config.moments->stages.front().radii.target};
  }
  return {"gradients", "descent.clip_norm", config.descent.clip.value()};
}

std::string clipped_at_first(const Tally& first, const Clip& clip, const std::string& look) {
  if (first.gradients == 0 || first.clipped_share() <= clipped_worth_a_line) return {};
  return fmt::format(
      "of the first {} {} {} ({}) are longer than {} = {:g} where the run begins: "
      "centre and scale the columns by public figures; {} shows them",
      with_separators(first.gradients), clip.what, with_separators(first.clipped),
      percent(first.clipped, first.gradients), clip.setting, clip.length, look);
}

ClipCount count_clips(const config::Config& config, const config::Mechanism& mechanism, const record::RowSlice& rows,
                      std::uint64_t usable, std::size_t rows_of_step) {
  if (!config.users) return {usable, clipped_at_start(config, mechanism, rows)};
  return clipped_contributions(config, mechanism, rows, rows_of_step);
}

ClipCount count_clips(const config::Config& config, const config::Mechanism& mechanism, const record::RowSlice& rows,
                      std::uint64_t usable) {
  return count_clips(config, mechanism, rows, usable, config.descent.minibatch);
}

void require_usable(const Tally& first, double min_usable, const std::string& look) {
  if (first.rejected == 0 || 1 - first.unusable_share() >= min_usable) return;
  throw Failure(
      Exit::unusable,
      fmt::format("operator only, not private: {}: fewer than --min-usable {:g} allows, so nothing was begun "
                  "and no step taken; that, too, tells of the records: keep it to yourself. Mend the "
                  "input or the settings: {} shows more",
                  in_words(first), min_usable, look));
}

}  // namespace nustream::check
