// Streams that are solved from running sums under settings that are given, or were measured on a first part.
#pragma once

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory_resource>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/mechanism.h"
#include "config/moments.h"
#include "config/ranges.h"
#include "decode/reader.h"
#include "engine/noise_feed.h"
#include "measure/fit.h"
#include "nustream/moments/lane.h"
#include "nustream/record/batch.h"
#include "secrets/keyring.h"

namespace nustream::benchmarks {

struct Stream {
  config::Config config;
  config::Mechanism mechanism;
  record::RowBatch rows;

  [[nodiscard]] const double* row(std::size_t i) const { return rows.x.data() + i * rows.dimension; }
};

inline Stream read_stream(config::Config config) {
  config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  Stream stream{std::move(config), std::move(mechanism), {}};
  stream.rows.dimension = stream.config.descent.dimension;
  const auto reader = decode::open_reader(stream.config.input, stream.config.schema);
  while (reader->read(stream.rows, 1 << 16)) {
  }
  return stream;
}

/// The releases over the rows in the given order.
inline moments::Releases solve(const Stream& stream, const record::RowBatch& rows, std::uint64_t key) {
  const secrets::Keyring keys = secrets::Keyring::insecure(key);
  const config::Mechanism& mechanism = stream.mechanism;
  engine::NoiseFeed feed(mechanism,
                         engine::noise_of_new_epoch(keys, stream.config.stream, LaneId{0}, EpochId{0}, mechanism),
                         StepIndex{0}, std::pmr::get_default_resource(), keys.healing(false));
  moments::Lane lane(config::moments_settings(stream.config, mechanism), Position{0});
  const std::uint64_t every = stream.config.descent.minibatch;
  std::uint64_t steps = rows.count() / every;
  if (const auto horizon = mechanism.horizon()) steps = std::min(steps, horizon->value());
  moments::Releases releases;
  for (std::uint64_t at = 0; at < steps;) {
    const std::span<const noise::GridNoise> noise = feed.take(steps - at);
    const std::uint64_t taken = engine::steps_in(noise);
    lane.advance(record::slice(rows, at * every, (at + taken) * every), noise, releases);
    at += taken;
  }
  return releases;
}

/// The stream under settings that were measured over `table`.
inline Stream measured(const config::Config& asked, const measure::RawTable& table, std::uint64_t key) {
  const measure::Measured found = measure::find_ranges(
      asked, config::Purpose::stream, table, secrets::Keyring::insecure(key), EpochId{1}, std::string(64, '0'));
  if (found.failure) std::rethrow_exception(found.failure);
  return read_stream(measure::settled_config(asked, config::Purpose::stream, found.ranges, "", ""));
}

/// The first `count` records, as they are measured.
inline measure::RawTable raw_table(const config::Config& asked, std::size_t count) {
  const record::Schema schema = measure::raw_schema(asked);
  record::RowBatch rows;
  rows.dimension = schema.dimension();
  const auto reader = decode::open_reader(asked.input, schema);
  while (rows.count() < count && reader->read(rows, count - rows.count())) {
  }
  measure::RawTable table = measure::raw_table(asked);
  table.add(rows, {});
  return table;
}

}  // namespace nustream::benchmarks
