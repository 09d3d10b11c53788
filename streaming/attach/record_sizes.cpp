// Bounds are found by making the largest release and the largest state that the settings allow, with the longest text
// of each number, and counting their bytes. So they follow the encoders by themselves, and need no formula beside
// them.
#include "attach/record_sizes.h"

#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "config/moments.h"
#include "engine/noise_feed.h"
#include "engine/release_encoder.h"
#include "error.h"
#include "journal/ledger_chain.h"
#include "journal/release_chain.h"
#include "journal/state_record.h"
#include "kafka/seen_records.h"
#include "kafka/topic_bookmark.h"
#include "nustream/descent/second_moments.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/lane.h"
#include "publish/release_json.h"
#include "users/sealed_record.h"
#include "users/topic_mark.h"

namespace nustream::attach {
namespace {

// The longest texts of numbers: a double with sign, 17 digits and a three-digit exponent, and a large integer.
constexpr double widest = -1.2345678901234567e-308;
constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
// A state has room for the last ledger lines of this number of epochs.
constexpr std::size_t epochs = 16;
// What else a record of the topic holds: the framing of a batch of one record, its key without the stream's name, and
// the text that a stop was resolved from.
constexpr std::size_t around = 256;

/// The most bytes that Lane::encode() gives: once every average has begun and every batch of means and iterate of the
/// trail is there, and for running sums with every stage.
std::size_t lane_bytes(const config::Config& config, const config::Mechanism& mechanism) {
  if (config.moments) return moments::encoded_bytes_max(config::moments_settings(config, mechanism));
  const lane::Settings& settings = config.descent;
  std::size_t averages = settings.dimension;
  if (settings.batching) averages += 2 * settings.batching->batches * settings.dimension;
  // The two numbers that stand before a trail are counted as well.
  if (settings.trail) averages += descent::Trail::most_iterates * settings.dimension + 2;
  return lane::Lane(settings, mechanism.grids, Position{0}).encode().size() + averages * sizeof(double);
}

/// A release of running sums with everything that the settings let it show, in which every number is as long as can
/// be.
moments::Release widest_release(const config::Config& config, const moments::Settings& settings) {
  const moments::Shape& shape = settings.mechanism.design.shape;
  moments::Release release;
  release.steps = StepCount{1};
  release.position = Position{most};
  release.records = std::numeric_limits<std::uint64_t>::max();
  release.floored = release.stage = most;
  release.floor = widest;
  release.theta.assign(shape.coefficients(), widest);
  if (settings.grows) {
    release.grown.emplace();
    for (std::size_t j = 1; j < shape.inputs; ++j) release.grown->push_back({j, moments::largest_scale, most});
  }
  if (settings.keeps_marks) release.status = moments::SumsStatus{inference::Verdict::converging, widest, widest};
  if (shape.endogenous > 0) {
    release.structural =
        moments::Structural{std::vector<double>(config.descent.first_stage->shape.second_stage(), widest),
                            std::vector<double>(shape.endogenous, widest), false};
    if (shape.endogenous == 1) {
      release.set = moments::AndersonRubinSet{moments::AndersonRubinSet::Kind::outside, widest, widest, false};
    }
  }
  if (!settings.release_sums) return release;
  const std::vector<double> cross(shape.coefficients(), widest);
  const std::vector<double> triangle(descent::triangle_size(shape.inputs), widest);
  release.sums = moments::NormalEquations{shape.inputs, triangle, cross, cross};
  if (shape.endogenous == 0) release.noise = moments::GapNoise{widest, widest, cross, triangle};
  return release;
}

/// Noise checkpoints as large as they get: what a generator remembers has the same size at every block, and there are
/// as many segments as there can be. They are made from a key of zeros, because only their size matters.
journal::NoiseCheckpoints some_checkpoints(const config::Mechanism& mechanism) {
  const noise::KeyBytes key{};
  return engine::NoiseFeed(mechanism, journal::first_checkpoints(key, LaneId{0}, EpochId{0}, mechanism.stages.size()),
                           StepIndex{0}, std::pmr::get_default_resource(), {})
      .largest_checkpoints();
}

/// The longest part about users that a ledger line can have.
std::optional<journal::UserSpend> longest_user(const config::Config& config) {
  if (!config.users) return std::nullopt;
  journal::UserSpend spend{*config.users->limits, true, {}, Rho{-widest}};
  const auto& participation = config.users->limits->participation();
  if (participation) spend.by_count.assign(std::min<std::uint64_t>(participation->times(), 64) + 1, Rho{-widest});
  return spend;
}

}  // namespace

std::size_t release_bytes(const config::Config& config, const config::Mechanism& mechanism) {
  publish::ReleaseEncoder encoder =
      engine::release_encoder(config, mechanism, {LaneId{most}, EpochId{most}, std::string(64, '0'), false});
  std::string line;
  if (config.moments) {
    // The longest tag that a release can have.
    encoder.append(widest_release(config, config::moments_settings(config, mechanism)), "shutdown", line);
  } else {
    const std::vector<double> theta(config.descent.dimension, widest);
    lane::Release release{StepCount{1}, Position{most}, theta, theta};
    if (config.descent.counts_clipped) release.clipped = lane::ClippedStretch{StepCount{0}, widest};
    encoder.append(release, "shutdown", line);
  }
  // The chain's fields are added when the batch is sealed.
  line.append(journal::chain_bytes_max, ' ');
  // An interval names every coefficient twice more, with two numbers, beside a sentence.
  const std::size_t interval = config.intervals.kind == config::Intervals::Kind::none ? 0 : line.size() + 512;
  return 2 * (line.size() + interval);  // twice that, as a margin
}

std::size_t state_bytes(const config::Config& config, const config::Mechanism& mechanism,
                        const secrets::Keyring& keys) {
  constexpr std::uint64_t wide = std::numeric_limits<std::uint64_t>::max();
  const std::string digest(64, '0');
  const std::string line = journal::ledger_line({config.stream,
                                                 LaneId{most},
                                                 EpochId{most},
                                                 Position{wide},
                                                 Position{wide},
                                                 StepCount{wide},
                                                 Rho{-widest},
                                                 Rho{-widest},
                                                 digest,
                                                 {privacy::Adjacency::replace_one, true, config.users.has_value()},
                                                 false,
                                                 journal::Overlap::overlapping,
                                                 longest_user(config),
                                                 StepCount{wide},
                                                 std::string(32, '0')},
                                                journal::empty_ledger_head, keys, journal::empty_release_head);
  // Contents are zeros: only their lengths count.
  journal::StateRecord record;
  record.lane.assign(lane_bytes(config, mechanism), '\0');
  record.noise = some_checkpoints(mechanism);
  record.bookmark = kafka::encode_bookmark({});
  record.ledger_epochs.assign(epochs * line.size(), '\0');
  record.seen.resize(kafka::SeenRecords::kept, {Position{0}});
  record.ranges = config.ranges;
  record.settings = config::settings_text(config, mechanism, keys.is_private(), config::EpochStart::settings);
  if (config.users) {
    record.users.emplace();
    record.users->mark = users::encode_mark({});
    record.users->identity = config.users->identity;
  }
  const secrets::StateIdentity identity{config.stream, LaneId{most}, EpochId{most},
                                        StepCount{0},  digest,       keys.is_private()};
  // The framing of the topic's record comes on top.
  return journal::seal_state(keys, identity, record).size() + config.stream.size() + around;
}

std::size_t user_entries(const config::Config& config, std::size_t record_bytes_max) {
  if (!config.users) return 1;
  // At least one entry has to fit, or no user could ever be stored.
  const std::size_t taken = users::record_overhead_bytes + config.stream.size() + around;
  if (record_bytes_max < taken + users::entry_bytes) {
    throw Failure(
        Exit::configuration,
        fmt::format("topic '{}' (kafka.user_topic) takes records of {} bytes, too few for one user: raise its "
                    "max.message.bytes",
                    config.kafka.topics.users, record_bytes_max));
  }
  return std::min((record_bytes_max - taken) / users::entry_bytes, users::record_entries_max);
}

std::size_t outbox_bytes(const config::Config& config, std::size_t release_bytes, std::size_t state_bytes,
                         std::size_t record_bytes_max) {
  const std::size_t taken = state_bytes + release_bytes;
  if (taken + release_bytes > record_bytes_max) {
    throw Failure(Exit::configuration,
                  fmt::format("a state has up to {} bytes, one release up to {}, and the topics take records of {}, "
                              "too few for a state and two releases: raise max.message.bytes of the topics and "
                              "message.max.bytes in [kafka.librdkafka]",
                              state_bytes, release_bytes, record_bytes_max));
  }
  return std::clamp<std::size_t>(config.publishing.outbox_bytes_max.value_or(record_bytes_max / 2), release_bytes,
                                 record_bytes_max - taken);
}

}  // namespace nustream::attach
