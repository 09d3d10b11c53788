// Sums moments over a part as a single step of running sums, with the clipping, calibration and noise of the moments
// room. Each block's noise is drawn once, in a key stage of its own.
#include "ranges/part_sums.h"

#include <optional>
#include <utility>

#include "nustream/base/error.h"
#include "nustream/moments/lane.h"

namespace nustream::ranges {

namespace {

/// A user adds once to a part, since the part is one step.
std::optional<users::Limits> limits_of(const moments::Design& design) {
  if (!design.neighbours.of_user) return std::nullopt;
  return users::Limits({{1, 1}}, {});
}

/// Adds the rows to `batch`, each as a contribution of its own.
void add_rows(const EachRow& rows, moments::BatchSums& batch) {
  rows(
      [&](std::span<const double> inputs, double target, double weight) {
        batch.add({inputs.size(), 1, inputs.data(), &target, nullptr, nullptr, &weight});
      },
      [] {});
}

/// Adds what each user's rows come to, shortened, to `batch`.
void add_users(const EachRow& rows, const moments::Design& design, const moments::Spacings& spacings,
               moments::BatchSums& batch) {
  const std::vector<moments::Block> blocks = moments::blocks(design);
  std::vector<users::ContributionBlock> of_user;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    of_user.push_back({moments::entries(design, blocks[i]), 1, spacings[i]});
  }
  UserSums user(of_user);
  std::vector<double> row(of_user[0].entries + of_user[1].entries);
  rows(
      [&](std::span<const double> inputs, double target, double weight) {
        if (batch.contribution(inputs.data(), target, weight, row)) user.add(row);
        // The row counts as a record whether or not it can be used.
        batch.count(1);
      },
      [&] {
        std::span<const std::int64_t> units = user.end_user();
        for (std::size_t i = 0; i < blocks.size(); ++i) {
          batch.add_units(blocks[i], units.first(of_user[i].entries));
          units = units.subspan(of_user[i].entries);
        }
      });
}

}  // namespace

PartSums sum_part(const PartDesign& part, const EachRow& rows, const DrawNoise& draw) {
  // A part is released once, after a single step, so the correlation of the noise does not matter.
  const moments::Mechanism mechanism{
      part.design, {}, noise::Correlation{noise::Independent{}}, limits_of(part.design)};
  moments::Settings settings{.mechanism = mechanism,
                             .sigmas = moments::calibrate(mechanism, part.shares, part.rho),
                             .stages = {},
                             .start = {}};
  const std::vector<noise::Grid> grids = moments::grids(settings);
  const std::vector<moments::Block> noised = moments::noised_blocks(part.design);
  NUSTREAM_REQUIRE(noised.size() == moments::blocks(part.design).size() && noised.size() == part.stages.size(),
                   "every block has noise, and a key stage");
  moments::Spacings spacings;
  for (const noise::Grid& grid : grids) spacings.push_back(grid.spacing());
  moments::BatchSums batch(part.design, spacings);
  batch.aim(part.radii, part.centre);
  if (mechanism.users) {
    add_users(rows, part.design, spacings, batch);
  } else {
    add_rows(rows, batch);
  }
  std::vector<std::vector<std::int64_t>> noise;
  std::vector<std::span<const std::int64_t>> views;
  for (std::size_t i = 0; i < noised.size(); ++i) {
    noise.push_back(draw(part.stages[i], grids[i], moments::entries(part.design, noised[i])));
  }
  for (const std::vector<std::int64_t>& of_block : noise) views.emplace_back(of_block);
  moments::RunningSums sums(part.design, spacings, {}, part.radii, part.centre);
  // Only from here on do the sums have their noise; `batch` is dropped with this function.
  sums.step(batch, views);
  return {std::move(sums), {part.design, moments::block_noise(part.design, settings.sigmas), {}, 1, {}}};
}

}  // namespace nustream::ranges
