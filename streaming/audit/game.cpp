#include "audit/game.h"

#include <Eigen/Dense>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "audit/matched_filter.h"
#include "audit/stages.h"
#include "decode/line_buffer.h"
#include "decode/line_decoder.h"
#include "decode/message_columns.h"
#include "engine/noise_feed.h"
#include "engine/release_encoder.h"
#include "error.h"
#include "journal/state_record.h"
#include "nustream/lane/lane.h"

namespace nustream::audit {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// θ from coefficients in original units, which are an affine map of its first entries: of all but a first stage's
/// that are public, and not released.
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
        linear.data(), origin_.size(), static_cast<Eigen::Index>(linear.size()) / origin_.size());
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

/// What is played: every step is released, with all of the second moments, and no iterate is projected. Of a topic's
/// records, what comes beside their values is a column among the others. No row depends on its time.
config::Config as_played(config::Config config) {
  config.input.time_column.clear();
  const record::RowBuilder builder(config.schema);
  const auto beside_values = [](const record::Field& field) { return decode::is_message_column(field.column); };
  if (std::ranges::any_of(builder.fields(), beside_values)) {
    config.input.format = decode::Format::csv;
    config.input.header = true;
    config.input.columns.clear();
  }
  config.descent.release_every = 1;
  config.descent.projection = {};
  if (config.descent.moments) config.descent.moments->from = 0;
  return config;
}

/// `part`: of the claimed displacement, what the game's two worlds can differ by.
std::vector<MatchedFilter> filters_of(const config::Mechanism& mechanism, const GameShape& shape, double part) {
  std::vector<MatchedFilter> filters;
  for (const config::StageNoise& stage : mechanism.stages) {
    filters.emplace_back(stage.correlation, stage.stddev.value(), part * stage.displacement.value(), shape);
  }
  return filters;
}

/// NaN is NaN.
bool same(std::span<const double> one, std::span<const double> two) {
  return std::ranges::equal(one, two, [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
}

/// Of independent stages.
double mu_of(const std::vector<MatchedFilter>& filters) {
  double squares = 0;
  for (const MatchedFilter& filter : filters) squares += filter.mu() * filter.mu();
  return std::sqrt(squares);
}

}  // namespace

bool is_projected(const config::Config& config) {
  return config.descent.projection.family().index() != 0;
}

class Game::Stream {
 public:
  Stream(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape, Absent absent)
      : config_(as_played(config)),
        mechanism_(mechanism),
        shape_(shape),
        part_(part_of_displacement(config.privacy.adjacency, absent)),
        canary_(find_canary(config_, mechanism_, shape_, absent)),
        filters_(filters_of(mechanism_, shape_, part_)),
        mu_(mu_of(filters_)),
        builder_(config_.schema),
        decoder_(decode::make_line_decoder(config_.input, builder_.fields(), decode::private_column(config_.schema))),
        working_(config_) {
    if (decoder_->has_header()) decoder_->begin_file(canary_.header, "the audit's own stream");
    // One a step: an encoder remembers ε of the last ρ it saw.
    for (std::uint64_t step = 0; step < shape_.steps; ++step) {
      encoders_.push_back(
          engine::release_encoder(config_, mechanism_, {config_.lane, EpochId{0}, std::string(64, '0'), true}));
    }
    texts_[0] = text(canary_.absent);
    texts_[1] = text(canary_.record);
    require_arrival(texts_[1], canary_.row);
    require_arrival(texts_[0], canary_.absent_row);
    participations_.shorter.resize(filters_.size());
    participations_.information.resize(filters_.size());
    ratios_.resize(filters_.size());
  }

  std::span<const StageRatio> play(World world, const noise::KeyBytes& epoch_key) {
    const record::RowBatch rows = decoded(texts_[world == World::with ? 1 : 0]);
    const journal::NoiseCheckpoints first =
        journal::first_checkpoints(epoch_key, config_.lane, EpochId{0}, mechanism_.stages.size());
    engine::NoiseFeed feed(mechanism_, first, StepIndex{0}, std::pmr::get_default_resource(), {},
                           StepCount{shape_.steps});
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
    compare(releases);
    return ratios_;
  }

  [[nodiscard]] double mu() const noexcept { return mu_; }
  [[nodiscard]] double information_claimed(std::size_t stage) const noexcept {
    return filters_[stage].mu() * filters_[stage].mu();
  }
  [[nodiscard]] const Participations& participations() const noexcept { return participations_; }

 private:
  /// A canary that the decoder refuses, or reads as something else, would prove nothing and call it a claim that
  /// holds.
  void require_arrival(const std::string& lines, const Row& row) {
    const record::RowBatch rows = decoded(lines);
    const auto at = static_cast<std::size_t>(shape_.at.front() * config_.descent.minibatch);
    const auto* const x = rows.x.data() + at * rows.dimension;
    if (same({x, rows.dimension}, row.x) && same({&rows.y[at], 1}, {&row.y, 1})) return;
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

  /// Of what the releases say was added to the iterates and the moments, step by step.
  void compare(const lane::Releases& releases) {
    const std::size_t stages = filters_.size();
    std::vector<Matrix> seen;
    std::vector<Matrix> shift;
    for (const config::StageNoise& stage : mechanism_.stages) {
      const auto entries = static_cast<Eigen::Index>(stage.dimension);
      seen.emplace_back(static_cast<Eigen::Index>(releases.size()), entries);
      shift.emplace_back(static_cast<Eigen::Index>(shape_.at.size()), entries);
    }
    Eigen::Index next = 0;  // of the canary's steps
    Seen before = seen_at_start(config_.descent);
    for (std::size_t t = 0; t < releases.size(); ++t) {
      Seen after = seen_at(t, releases[t]);
      std::vector<Vector> sums = noisy_sums(config_.descent, StepIndex{t}, before, after);
      if (next < shift.front().rows() && shape_.at[static_cast<std::size_t>(next)] == t) {
        const std::vector<Vector> shifts = shifts_at(before.theta, sums);
        for (std::size_t i = 0; i < stages; ++i) shift[i].row(next) = shifts[i].transpose();
        ++next;
      }
      for (std::size_t i = 0; i < stages; ++i) seen[i].row(static_cast<Eigen::Index>(t)) = sums[i].transpose();
      before = std::move(after);
    }
    for (std::size_t i = 0; i < stages; ++i) {
      ratios_[i] = {filters_[i].log_ratio(seen[i], shift[i]), filters_[i].information(shift[i])};
      participations_.information[i] += ratios_[i].information;
    }
    ++participations_.games;
  }

  /// The iterate is the one that the release's text shows. Of second moments that shows functions alone; what the
  /// accounting allows is all of them. And whoever knows the public columns knows a first stage that has no noise.
  Seen seen_at(std::size_t t, const lane::Release& release) {
    line_.clear();
    encoders_[t].append(release, "cadence", line_);
    Seen seen = seen_of(release);
    const Vector shown = working_.theta(publish::read_release(line_)->estimate);
    seen.theta.head(shown.size()) = shown;
    return seen;
  }

  /// By how much the worlds' sums of a step differ, from the iterate before it; what the world without adds is taken
  /// off `sums`.
  std::vector<Vector> shifts_at(const Vector& before, std::vector<Vector>& sums) {
    std::vector<Contribution> with = contributions(config_.descent, before, canary_.row.x, canary_.row.y);
    std::vector<Vector> shifts;
    for (Contribution& each : with) shifts.push_back(std::move(each.clipped));
    if (canary_.opposite) {
      const auto without = contributions(config_.descent, before, canary_.absent_row.x, canary_.absent_row.y);
      for (std::size_t i = 0; i < shifts.size(); ++i) {
        sums[i] -= without[i].clipped;
        shifts[i] -= without[i].clipped;
      }
    }
    constexpr double as_long = 0.999;
    ++participations_.all;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      const double claimed = part_ * mechanism_.stages[i].displacement.value();
      if (!(shifts[i].norm() >= as_long * claimed)) ++participations_.shorter[i];
    }
    return shifts;
  }

  config::Config config_;
  const config::Mechanism& mechanism_;
  GameShape shape_;
  double part_;
  Canary canary_;
  std::vector<MatchedFilter> filters_;  ///< one a stage
  double mu_;
  record::RowBuilder builder_;
  std::unique_ptr<decode::LineDecoder> decoder_;
  WorkingUnits working_;
  Participations participations_;
  std::vector<StageRatio> ratios_;
  std::array<std::string, 2> texts_;
  std::vector<publish::ReleaseEncoder> encoders_;
  std::string line_;
};

Game::Game(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape, Absent absent)
    : stream_(std::make_unique<Stream>(config, mechanism, shape, absent)) {}
Game::~Game() = default;
Game::Game(Game&&) noexcept = default;

std::span<const StageRatio> Game::play(World world, const noise::KeyBytes& epoch_key) {
  return stream_->play(world, epoch_key);
}

double Game::mu() const noexcept {
  return stream_->mu();
}

double Game::information_claimed(std::size_t stage) const noexcept {
  return stream_->information_claimed(stage);
}

const Game::Participations& Game::participations() const noexcept {
  return stream_->participations();
}

}  // namespace nustream::audit
