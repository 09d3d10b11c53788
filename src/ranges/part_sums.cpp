#include "ranges/part_sums.h"

#include <utility>

#include "nustream/base/error.h"
#include "nustream/moments/lane.h"

namespace nustream::ranges {

PartSums sum_part(const PartDesign& part, const std::function<void(const AddRow&)>& rows, const DrawNoise& draw) {
  // A part is released once, after a single step, so the correlation of the noise does not matter.
  const moments::Mechanism mechanism{part.design, {}, noise::Correlation{noise::Independent{}}};
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
  rows([&](std::span<const double> inputs, double target, double weight) {
    batch.add({inputs.size(), 1, inputs.data(), &target, nullptr, nullptr, &weight});
  });
  std::vector<std::vector<std::int64_t>> noise;
  std::vector<std::span<const std::int64_t>> views;
  for (std::size_t i = 0; i < noised.size(); ++i) {
    noise.push_back(draw(part.stages[i], grids[i], moments::entries(part.design, noised[i])));
  }
  for (const std::vector<std::int64_t>& of_block : noise) views.emplace_back(of_block);
  moments::RunningSums sums(part.design, spacings, {}, part.radii, part.centre);
  sums.step(batch, views);
  return {std::move(sums), {part.design, moments::block_noise(part.design, settings.sigmas), {}, 1, {}}};
}

}  // namespace nustream::ranges
