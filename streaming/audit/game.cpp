#include "audit/game.h"

#include <Eigen/Dense>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "audit/canary.h"
#include "audit/matched_filter.h"
#include "decode/line_buffer.h"
#include "decode/line_decoder.h"
#include "engine/noise_feed.h"
#include "engine/release_encoder.h"
#include "error.h"
#include "journal/state_record.h"
#include "nustream/lane/lane.h"

namespace nustream::audit {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// θ from coefficients in original units, which are an affine map of it.
class WorkingUnits {
 public:
  explicit WorkingUnits(const config::Config& config) {
    const publish::OriginalUnits units(config.schema, config.descent);
    const std::vector<double> zero(config.descent.dimension, 0.0);
    std::vector<double> origin;
    units.convert(zero, origin);
    origin_ = Eigen::Map<const Vector>(origin.data(), static_cast<Eigen::Index>(origin.size()));
    const std::vector<double> linear = units.linear_part();
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> map(
        linear.data(), origin_.size(), static_cast<Eigen::Index>(config.descent.dimension));
    inverse_ = map.completeOrthogonalDecomposition().pseudoInverse();
  }
  [[nodiscard]] Vector theta(const std::vector<std::pair<std::string, double>>& shown) const {
    Vector values(origin_.size());
    for (Eigen::Index j = 0; j < values.size(); ++j) values(j) = shown[static_cast<std::size_t>(j)].second;
    return inverse_ * (values - origin_);
  }

 private:
  Vector origin_;
  Matrix inverse_;
};

/// What is played: every step is released, and no iterate is projected.
config::Config as_played(config::Config config) {
  config.descent.release_every = 1;
  config.descent.projection = {};
  return config;
}

}  // namespace

bool is_projected(const config::Config& config) {
  return config.descent.projection.family().index() != 0;
}

class Game::Stream {
 public:
  Stream(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape)
      : config_(as_played(config)),
        mechanism_(mechanism),
        shape_(shape),
        replaced_(config_.privacy.adjacency == privacy::Adjacency::replace_one),
        canary_(find_canary(config_, shape_)),
        filter_(mechanism_.main().correlation, mechanism_.main().stddev.value(),
                mechanism_.main().displacement.value(), shape_),
        builder_(config_.schema),
        decoder_(decode::make_line_decoder(config_.input, builder_.fields(), decode::private_column(config_.schema))),
        working_(config_),
        start_(Eigen::Map<const Vector>(config_.descent.start.data(),
                                        static_cast<Eigen::Index>(config_.descent.start.size()))) {
    if (decoder_->has_header()) decoder_->begin_file(canary_.header, "the audit's own stream");
    // One a step: an encoder remembers ε of the last ρ it saw.
    for (std::uint64_t step = 0; step < shape_.steps; ++step) {
      encoders_.push_back(
          engine::release_encoder(config_, mechanism_, {config_.lane, EpochId{0}, std::string(64, '0'), true}));
    }
    texts_[0] = text(replaced_ ? canary_.opposite : canary_.null);
    texts_[1] = text(canary_.record);
    with_ = arrived(texts_[1]);
    if (replaced_) without_ = arrived(texts_[0]);
  }

  double play(World world, const noise::KeyBytes& epoch_key) {
    const record::RowBatch rows = decoded(texts_[world == World::with ? 1 : 0]);
    const journal::NoiseCheckpoints first =
        journal::first_checkpoints(epoch_key, config_.lane, EpochId{0}, mechanism_.stages.size());
    engine::NoiseFeed feed(mechanism_, first, StepIndex{0}, std::pmr::get_default_resource());
    lane::Lane lane(config_.descent, mechanism_.grids, Position{0});
    lane::Releases releases;
    const std::uint64_t m = config_.descent.minibatch;
    for (std::uint64_t taken = 0; taken < shape_.steps;) {
      const auto noise = feed.take(static_cast<std::size_t>(shape_.steps - taken));
      const std::uint64_t count = noise.front().units.size() / noise.front().dimension;
      lane.advance(
          record::slice(rows, static_cast<std::size_t>(taken * m), static_cast<std::size_t>((taken + count) * m)),
          noise, releases);
      taken += count;
    }
    return statistic(releases);
  }

  [[nodiscard]] double mu() const noexcept { return filter_.mu(); }
  [[nodiscard]] Participations participations() const noexcept { return participations_; }

 private:
  /// The record that takes part, as a world's lane gets it.
  struct Row {
    std::vector<double> x;
    double y = 0;
  };

  /// A canary that the decoder refuses, or reads as something shorter, would prove nothing and call it a claim that
  /// holds.
  Row arrived(const std::string& lines) {
    const record::RowBatch rows = decoded(lines);
    const auto at = static_cast<std::size_t>(shape_.at.front() * config_.descent.minibatch);
    const auto* const x = rows.x.data() + at * rows.dimension;
    Row row{{x, x + rows.dimension}, rows.y[at]};
    if (contribution(config_.descent, start_, row.x, row.y).length >= config_.descent.clip.value()) return row;
    throw Failure(
        Exit::configuration,
        config_.file +
            ": the audit's own record does not arrive at the lane as it was written; are its columns' names "
            "readable in this format, and stream.record_bytes_max large enough?");
  }

  static constexpr std::size_t slack = decode::LineBuffer::slack;

  /// All records of a game: null ones, and `canary` first in each step that it takes part in. Between the slack that
  /// decoders may read beyond.
  [[nodiscard]] std::string text(const std::string& canary) const {
    std::string lines(slack, '\n');
    for (std::uint64_t step = 0; step < shape_.steps; ++step) {
      const bool here = std::find(shape_.at.begin(), shape_.at.end(), step) != shape_.at.end();
      for (std::uint64_t i = 0; i < config_.descent.minibatch; ++i) {
        lines += here && i == 0 ? canary : canary_.null;
        lines += '\n';
      }
    }
    return lines.append(slack, '\n');
  }

  record::RowBatch decoded(const std::string& lines) {
    record::RowBatch rows;
    rows.dimension = builder_.dimension();
    decode::RowWriter writer(builder_, false, 0, rows);
    std::string_view left = std::string_view(lines).substr(slack, lines.size() - 2 * slack);
    while (!left.empty())
      left.remove_prefix(decoder_->decode(left, shape_.steps * config_.descent.minibatch, writer).bytes);
    return rows;
  }

  /// Of what the releases say was added to the iterates, step by step.
  double statistic(const lane::Releases& releases) {
    const auto m = static_cast<double>(config_.descent.minibatch);
    Matrix seen(static_cast<Eigen::Index>(releases.size()), start_.size());
    Matrix shift(static_cast<Eigen::Index>(shape_.at.size()), start_.size());
    Eigen::Index next = 0;  // of the canary's steps
    Vector before = start_;
    for (std::size_t t = 0; t < releases.size(); ++t) {
      line_.clear();
      encoders_[t].append(releases[t], "cadence", line_);
      const auto shown = publish::read_release(line_);
      const Vector theta = working_.theta(shown->estimate);
      const double eta = config_.descent.schedule.at(StepIndex{t});
      Vector sum = m * ((before - theta) / eta - regulariser(config_.descent, before));
      if (next < shift.rows() && shape_.at[static_cast<std::size_t>(next)] == t) {
        shift.row(next) = shift_at(before, sum).transpose();
        ++next;
      }
      seen.row(static_cast<Eigen::Index>(t)) = sum.transpose();
      before = theta;
    }
    return filter_.statistic(seen, shift);
  }

  /// By how much the worlds' sums of a step differ, from the iterate before it; what the world without adds is taken
  /// off `sum`.
  Vector shift_at(const Vector& before, Vector& sum) {
    Vector shift = contribution(config_.descent, before, with_.x, with_.y).clipped;
    if (replaced_) {
      const Vector without = contribution(config_.descent, before, without_.x, without_.y).clipped;
      sum -= without;
      shift -= without;
    }
    constexpr double as_long = 0.999;
    ++participations_.all;
    if (!(shift.norm() >= as_long * mechanism_.main().displacement.value())) ++participations_.shorter;
    return shift;
  }

  config::Config config_;
  const config::Mechanism& mechanism_;
  GameShape shape_;
  bool replaced_;  // replace-one: the world without has a canary of the other sign
  Canary canary_;
  MatchedFilter filter_;
  record::RowBuilder builder_;
  std::unique_ptr<decode::LineDecoder> decoder_;
  WorkingUnits working_;
  Vector start_;
  Row with_;
  Row without_;
  Participations participations_;
  std::array<std::string, 2> texts_;
  std::vector<publish::ReleaseEncoder> encoders_;
  std::string line_;
};

Game::Game(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape)
    : stream_(std::make_unique<Stream>(config, mechanism, shape)) {}
Game::~Game() = default;
Game::Game(Game&&) noexcept = default;

double Game::play(World world, const noise::KeyBytes& epoch_key) {
  return stream_->play(world, epoch_key);
}

double Game::mu() const noexcept {
  return stream_->mu();
}

Game::Participations Game::participations() const noexcept {
  return stream_->participations();
}

}  // namespace nustream::audit
