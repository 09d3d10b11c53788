// place_columns() of working_rows.h: octaves of all columns, then equal bins, then up to two closer looks at the
// columns that need them. Each look is a release over a part of its own. Which columns are looked at again follows
// from noisy counts, and so do the features that stay.
#include "ranges/part_counts.h"
#include "ranges/working_rows.h"

#include <algorithm>
#include <cmath>

#include "nustream/base/error.h"

namespace nustream::ranges {
namespace {

/// --all-numeric leaves out a column with a smaller share of usable values than this part of the target's share.
constexpr double share_of_a_feature = 0.5;
/// There is no fit where the target, or a feature that was asked for, has a smaller share of usable values than this.
constexpr double share_of_a_fit = 0.1;

/// Makes one release of histograms of `columns`; bin_of(j, value) gives the bin for columns[j].
template <class BinOf>
NoisyCounts count(Rows& rows, const Part& part, const HistogramDesign& design, std::span<const std::size_t> columns,
                  const BinOf& bin_of, const FitSettings& settings, KeyStage stage, const DrawNoise& draw) {
  const auto bins_at = [&](std::uint64_t position, std::span<std::size_t> bins) {
    for (std::size_t j = 0; j < columns.size(); ++j) bins[j] = bin_of(j, rows.value(position, columns[j]));
  };
  return count_part(rows, part, design, settings.rho, bins_at, stage, draw);
}

/// Chooses the features that stay, rising, and finds a column that makes a fit impossible.
void choose_features(const Table& table, const FitSettings& settings, TableFit& fit) {
  // The number behind the features' stands for the target.
  if (fit.shares.back() < share_of_a_fit) fit.unusable_column = table.features;
  // Lines that are no records lower the shares of all columns alike, so a feature is compared with the target.
  const double enough = share_of_a_feature * std::clamp(fit.shares.back(), share_of_a_fit, 1.0);
  for (std::size_t j = 0; j < table.features; ++j) {
    const bool is_asked_for = j >= settings.droppable;
    if (is_asked_for && fit.shares[j] < share_of_a_fit && !fit.unusable_column) fit.unusable_column = j;
    if (is_asked_for || fit.shares[j] >= enough) fit.features.push_back(j);
  }
  fit.is_stopped = fit.unusable_column.has_value();
}

/// Takes back what was found for a kept centre or scale. It was measured all the same, so that the release does not
/// depend on it.
Placement without_kept(Placement placement, const FitSettings& settings, std::size_t column) {
  if (settings.kept.empty()) return placement;
  if (settings.kept[column].centre) placement.centre = 0;
  if (settings.kept[column].scale) placement.scale = 1;
  return placement;
}

/// The noisy count of what lies outside the closer looks at a column, and the variance of its noise.
struct Outside {
  double count = 0;
  double variance = 0;

  /// Whether anything lies outside. Where nothing does, the noise alone says so for 1 column of 40.
  [[nodiscard]] bool is_seen() const { return count > 2 * std::sqrt(variance); }
};

/// Where the closer looks show one value and others outside, rows with another value must not be scaled away, so the
/// scale is half of what the octaves show.
void widen_to_octaves(const FitSettings& settings, std::size_t column, Placement& placement, const TableFit& fit) {
  const Interval& seen = fit.intervals[column];
  placement.scale = std::max(placement.scale, (seen.high - seen.low) / 2);
  placement = without_kept(placement, settings, column);
}

/// Counts equal bins over `intervals`, and looks more closely at the columns that need it. Only those are in the
/// later histograms, so the noise of these is smaller.
void choose_placements(Rows& rows, const Sizes& sizes, const FitSettings& settings, const DrawNoise& draw,
                       std::span<const std::size_t> columns, TableFit& fit) {
  constexpr KeyStage stages[] = {KeyStage::columns, KeyStage::first_zoom, KeyStage::second_zoom};
  std::vector<Interval> intervals;
  for (const std::size_t column : columns) intervals.push_back(fit.intervals[column]);
  std::vector<std::size_t> looked_at(columns.size());
  for (std::size_t j = 0; j < looked_at.size(); ++j) looked_at[j] = j;
  fit.placements.assign(columns.size(), {});
  std::vector<Outside> outside(columns.size());
  for (std::size_t look = 0; look < std::size(stages) && !looked_at.empty(); ++look) {
    std::vector<std::size_t> now;
    std::vector<Interval> over;
    for (const std::size_t j : looked_at) {
      now.push_back(columns[j]);
      over.push_back(intervals[j]);
    }
    const NoisyCounts counts = count(
        rows, rows.dealer.deal(sizes.columns), {now.size(), equal_bins, settings.adjacency}, now,
        [&](std::size_t j, double value) { return equal_bin(over[j], value); }, settings, stages[look], draw);
    const std::vector<ColumnChoice> choices =
        choose_columns(counts, over, look > 0, now.back() == rows.table.features);
    std::vector<std::size_t> again;
    for (std::size_t j = 0; j < choices.size(); ++j) {
      fit.placements[looked_at[j]] = without_kept(choices[j].placement, settings, columns[looked_at[j]]);
      if (look > 0) {
        outside[looked_at[j]].count += choices[j].outermost;
        // Two bins, the outermost on each side.
        outside[looked_at[j]].variance += 2 * counts.stddev() * counts.stddev();
      }
      if (columns[looked_at[j]] == rows.table.features) fit.is_one_target_seen = choices[j].is_one_value;
      if (!choices[j].zoom) continue;
      intervals[looked_at[j]] = *choices[j].zoom;
      again.push_back(looked_at[j]);
    }
    looked_at = std::move(again);
    fit.zooms = look;
  }
  for (const std::size_t j : looked_at) {
    if (outside[j].is_seen()) widen_to_octaves(settings, columns[j], fit.placements[j], fit);
  }
}

}  // namespace

void place_columns(Rows& rows, const Sizes& sizes, const FitSettings& settings, const DrawNoise& draw,
                   TableFit& fit) {
  std::vector<std::size_t> columns(rows.table.features + 1);
  NUSTREAM_REQUIRE(settings.kept.empty() || (settings.kept.size() == columns.size() && settings.droppable == 0),
                   "what is kept is said of every column");
  for (std::size_t j = 0; j < columns.size(); ++j) columns[j] = j;
  const NoisyCounts octaves = count(
      rows, rows.dealer.deal(sizes.columns), {columns.size(), octave_bins, settings.adjacency}, columns,
      [](std::size_t, double value) { return octave_bin(value); }, settings, KeyStage::octaves, draw);
  fit.shares = usable_shares(octaves);
  fit.intervals = intervals_from_octaves(octaves);
  choose_features(rows.table, settings, fit);
  if (fit.is_stopped) return;
  columns = fit.features;
  // The target is always the last column.
  columns.push_back(rows.table.features);
  choose_placements(rows, sizes, settings, draw, columns, fit);
}

}  // namespace nustream::ranges
