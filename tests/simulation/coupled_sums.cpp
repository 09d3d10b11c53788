#include "coupled_sums.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "coupling.h"
#include "nustream/moments/batch_sums.h"

namespace nustream::tests {
namespace {

/// The stage of the step behind the state. A row of zeros opens the step, and with it the stage that may begin there.
moments::StageSums stage_behind(const moments::Settings& settings, const std::string& state) {
  moments::Lane lane = moments::Lane::decode(settings, state);
  const moments::Design& design = settings.mechanism.design;
  std::vector<std::size_t> entries;
  for (const moments::Block block : moments::noised_blocks(design)) {
    entries.push_back(moments::entries(design, block));
  }
  std::vector<std::vector<std::int64_t>> units;
  std::vector<noise::GridNoise> noise = silence(entries, units);
  for (noise::GridNoise& of_block : noise) of_block.first = StepIndex{lane.steps().value()};
  record::RowBatch zeros;
  zeros.dimension = moments::row_entries(settings);
  zeros.x.resize(zeros.dimension);
  zeros.y.resize(1);
  zeros.next.push_back(lane.position().value() + 1);
  moments::Releases releases;
  lane.advance(record::slice(zeros, 0, 1), noise, releases);
  return lane.sums().stages().back();
}

moments::BatchSums sums_of_step(const moments::Settings& settings, const moments::StageSums& stage,
                                const record::RowBatch& rows, std::size_t row) {
  const moments::Design& design = settings.mechanism.design;
  const std::vector<noise::Grid> grids = moments::grids(settings);
  moments::Spacings spacings;
  std::size_t next = 0;
  for (const moments::Block block : moments::blocks(design)) {
    spacings.push_back(moments::is_noised(design, block) ? grids[next++].spacing() : moments::exact_spacing);
  }
  moments::BatchSums sums(design, spacings);
  sums.aim(stage.radii, stage.centre, stage.scales);
  const auto every = static_cast<std::size_t>(settings.mechanism.participation.batch);
  const std::size_t first = row / every * every;
  sums.add(record::slice(rows, first, first + every));
  return sums;
}

}  // namespace

std::vector<std::vector<std::int64_t>> sums_difference(const moments::Settings& settings, const std::string& state,
                                                       const record::RowBatch& here, const record::RowBatch& there,
                                                       std::size_t row) {
  const moments::StageSums stage = stage_behind(settings, state);
  moments::BatchSums one = sums_of_step(settings, stage, here, row);
  moments::BatchSums two = sums_of_step(settings, stage, there, row);
  const moments::Design& design = settings.mechanism.design;
  std::vector<std::vector<std::int64_t>> shift;
  for (const moments::Block block : moments::blocks(design)) {
    const std::span<const moments::Wide> with_here = one.sums(block);
    const std::span<const moments::Wide> with_there = two.sums(block);
    if (!moments::is_noised(design, block)) {
      if (!std::ranges::equal(with_here, with_there)) throw std::runtime_error("a record that moves exact sums");
      continue;
    }
    shift.emplace_back();
    for (std::size_t j = 0; j < with_here.size(); ++j) {
      shift.back().push_back(static_cast<std::int64_t>(with_here[j] - with_there[j]));
    }
  }
  return shift;
}

}  // namespace nustream::tests
