// The running sums of rows held in memory, without files or state. The figures of moments are made with this.
#pragma once

#include <cstdint>
#include <vector>

#include "nustream/moments/lane.h"
#include "private_path.h"

namespace nustream::benchmarks {

/// The last release of a lane over the rows of whole steps, under a numbered key.
inline moments::Release last_release(const moments::Settings& settings, const record::RowBatch& rows,
                                     std::uint64_t key) {
  const moments::Design& design = settings.mechanism.design;
  const std::uint64_t every = settings.mechanism.participation.batch;
  const std::uint64_t steps = rows.count() / every;
  const std::vector<noise::Grid> grids = moments::grids(settings);
  const std::vector<moments::Block> noised = moments::noised_blocks(design);
  std::vector<std::vector<std::int64_t>> units(grids.size());
  for (std::size_t block = 0; block < grids.size(); ++block) {
    const std::size_t entries = moments::entries(design, noised[block]);
    const noise::StageId stage{LaneId{0}, EpochId{0}, static_cast<std::uint32_t>(block)};
    noise::NoiseSource source(settings.mechanism.correlation, noise::GeneratorKind::automatic, entries,
                              noise::first_checkpoint(numbered_key(key), stage), StepIndex{0});
    std::vector<std::int64_t>& all = units[block];
    while (all.size() < steps * entries) {
      const noise::CorrelatedBlock next = source.next();
      const std::size_t before = all.size();
      all.resize(before + next.z.size());
      grids[block].round_noise(next.z, std::span(all).subspan(before));
    }
  }
  std::vector<noise::GridNoise> noise;
  for (std::size_t block = 0; block < grids.size(); ++block) {
    noise.push_back({StepIndex{0}, moments::entries(design, noised[block]), units[block]});
  }
  moments::Lane lane(settings, Position{0});
  moments::Releases found;
  lane.advance(record::slice(rows, 0, steps * every), noise, found);
  return found.back();
}

}  // namespace nustream::benchmarks
