// Plays games and judges them. A game runs shipped code from the text of records to the text of releases: decoder,
// lane, noise feed and release encoder. What the adversary makes of the releases is computed apart from it (stages.h,
// sums_stages.h), and MatchedFilter gives one ratio for each stage.
#include "audit/game.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "audit/game_rows.h"
#include "audit/matched_filter.h"
#include "audit/played.h"
#include "audit/stages.h"
#include "audit/sums_stages.h"
#include "config/moments.h"
#include "engine/noise_feed.h"
#include "engine/release_encoder.h"
#include "journal/state_record.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/lane.h"
#include "publish/released_sums.h"
#include "users/going_on.h"
#include "users/identifiers.h"

namespace nustream::audit {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// How far apart, for each stage, the game's two worlds can be at a step.
std::vector<double> displacements(const config::Config& config, const config::Mechanism& mechanism,
                                  const GameShape& shape, Absent absent) {
  std::vector<double> all;
  for (const config::CalibratedStage& stage : mechanism.stages) {
    all.push_back(part_of_displacement(config, stage, absent) * stage.displacement.value() * shape.length);
  }
  return all;
}

std::vector<MatchedFilter> filters_of(const config::Mechanism& mechanism, const GameShape& shape,
                                      const std::vector<double>& displacements) {
  std::vector<MatchedFilter> filters;
  for (std::size_t i = 0; i < displacements.size(); ++i) {
    const config::CalibratedStage& stage = mechanism.stages[i];
    filters.emplace_back(stage.correlation, stage.stddev.value(), displacements[i], shape);
  }
  return filters;
}

/// The settings that are played; in them `identifiers` distinguish the users of records.
config::Config played_by(const config::Config& config, users::Identifiers& identifiers) {
  config::Config played = as_played(config);
  if (!played.schema.user) return played;
  identifiers.use(users::UserKey::draw());
  played.schema.user->reader = &identifiers;
  return played;
}

/// Shortens what a step's records of one user add to the `mass` that the user may still use. Where anything is
/// shortened, nothing is added to a count, which is the last stage.
void shorten_to(double mass, std::vector<Contribution>& added, bool counts) {
  double longest = 0;
  for (const Contribution& each : added) longest = std::max(longest, std::min(each.length, 1.0));
  if (longest <= mass) return;
  for (Contribution& each : added) each.clipped *= mass / longest;
  if (counts) added.back().clipped.setZero();
}

/// μ of several stages whose noises are independent.
double mu_of(const std::vector<MatchedFilter>& filters) {
  double squares = 0;
  for (const MatchedFilter& filter : filters) squares += filter.mu() * filter.mu();
  return std::sqrt(squares);
}

}  // namespace

bool is_projected(const config::Config& config) {
  return config.descent.projection.family().index() != 0;
}

double reach_in_games(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape) {
  users::Identifiers identifiers(config::partitioner_of(config));
  return reach_of_canary(played_by(config, identifiers), mechanism, shape);
}

class Game::Stream {
 public:
  Stream(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape, Absent absent)
      : identifiers_(config::partitioner_of(config)),
        config_(played_by(config, identifiers_)),
        mechanism_(mechanism),
        shape_(shape),
        displacements_(displacements(config, mechanism, shape, absent)),
        canary_(find_canary(config_, mechanism_, shape_, absent)),
        filters_(filters_of(mechanism_, shape_, displacements_)),
        mu_(mu_of(filters_)),
        rows_(config_, shape_, canary_),
        working_(config_) {
    if (config_.moments) sums_ = config::moments_settings(config_, mechanism_);
    // There is one encoder for each step, because an encoder remembers ε of the last ρ that it saw.
    for (std::uint64_t step = 0; step < shape_.steps; ++step) {
      encoders_.push_back(
          engine::release_encoder(config_, mechanism_, {config_.lane, EpochId{0}, std::string(64, '0'), true}));
    }
    participations_.shorter.resize(filters_.size());
    participations_.information.resize(filters_.size());
    ratios_.resize(filters_.size());
  }

  std::span<const StageRatio> play(World world, const noise::KeyBytes& epoch_key) {
    const record::RowBatch rows = rows_.of(world == World::with);
    Steps told = no_steps();
    users::Table known;
    for (std::uint32_t epoch = 0; epoch < shape_.epochs; ++epoch) {
      // Each epoch draws from the game's key under its own number, as epochs of a stream do.
      const journal::NoiseCheckpoints first =
          journal::first_checkpoints(epoch_key, config_.lane, EpochId{epoch}, mechanism_.stages.size());
      engine::NoiseFeed feed(mechanism_, first, StepIndex{0}, std::pmr::get_default_resource(), {},
                             StepCount{shape_.steps_of_epoch()});
      users::Changes used(known);
      const std::uint64_t from = epoch * shape_.steps_of_epoch();
      sums_ ? play_sums(rows, from, feed, used, told) : play_descent(rows, from, feed, used, told);
      end_epoch(used, known);
    }
    judge(told);
    return ratios_;
  }

  [[nodiscard]] double mu() const noexcept { return mu_; }
  [[nodiscard]] double information_claimed(std::size_t stage) const noexcept {
    return filters_[stage].mu() * filters_[stage].mu();
  }
  [[nodiscard]] const Participations& participations() const noexcept { return participations_; }

 private:
  /// What a game's releases say of each stage, step by step.
  struct Steps {
    std::vector<Matrix> seen;
    std::vector<Matrix> shift;
    Eigen::Index next = 0;  ///< index of the canary's next step

    void see(std::uint64_t step, const std::vector<Vector>& sums) {
      for (std::size_t i = 0; i < seen.size(); ++i)
        seen[i].row(static_cast<Eigen::Index>(step)) = sums[i].transpose();
    }
    void shift_by(const std::vector<Vector>& shifts) {
      for (std::size_t i = 0; i < shift.size(); ++i) shift[i].row(next) = shifts[i].transpose();
      ++next;
    }
  };

  // The clock of a lane's windows begins anew with each epoch, as rows are dated from the epoch's beginning.
  [[nodiscard]] std::optional<users::WindowClock> new_clock() const {
    if (!config_.descent.users || !config_.descent.users->windows()) return std::nullopt;
    return users::WindowClock(config_.descent.users->windows()->period);
  }

  /// Does what the product does between two epochs: counts and masses are carried over, or all users but the closed
  /// ones are forgotten.
  void end_epoch(users::Changes& used, users::Table& known) const {
    used.apply(known);
    if (shape_.keeps_counts) {
      known.change_all([](const users::Standing& standing) { return users::carried_over(standing); });
      return;
    }
    users::Changes anew(known);
    users::count_anew(known, anew);
    anew.apply(known);
  }

  /// Plays one epoch of a descent; `from` is the game's index of the epoch's first step.
  void play_descent(const record::RowBatch& rows, std::uint64_t from, engine::NoiseFeed& feed, users::Changes& used,
                    Steps& told) {
    lane::Lane lane(config_.descent, mechanism_.grids, Position{0});
    lane::Releases releases;
    std::optional<users::WindowClock> clock = new_clock();
    const std::uint64_t m = config_.descent.minibatch;
    for (std::uint64_t taken = 0; taken < shape_.steps_of_epoch();) {
      const auto noise = feed.take(static_cast<std::size_t>(shape_.steps_of_epoch() - taken));
      const std::uint64_t count = noise.front().units.size() / noise.front().dimension;
      lane.advance(record::slice(rows, static_cast<std::size_t>((from + taken) * m),
                                 static_cast<std::size_t>((from + taken + count) * m)),
                   noise, releases, &used, clock ? &*clock : nullptr);
      taken += count;
    }
    Seen before = seen_at_start(config_.descent);
    for (std::size_t t = 0; t < releases.size(); ++t) {
      Seen after = seen_at(from + t, releases[t]);
      std::vector<Vector> sums = noisy_sums(config_.descent, StepIndex{t}, before, after);
      const auto at = [&](const Row& row) {
        return contributions(config_.descent, before.theta, row.x, row.y, row.weight);
      };
      // The shift is the canary's gradient at the iterate before the step, which was released: the noise of the step
      // is in none of it.
      if (shape_.takes_part(from + t)) told.shift_by(shifts_at(at, sums));
      told.see(from + t, sums);
      before = std::move(after);
    }
  }

  /// Plays one epoch of running sums. The sums are read from the release's text, except the spread, which releases do
  /// not show.
  void play_sums(const record::RowBatch& rows, std::uint64_t from, engine::NoiseFeed& feed, users::Changes& used,
                 Steps& told) {
    moments::Lane lane(*sums_, Position{0});
    const moments::Design& design = sums_->mechanism.design;
    std::optional<users::WindowClock> clock = new_clock();
    const std::uint64_t m = config_.descent.minibatch;
    SeenSums before = seen_at_start(*sums_);
    for (std::uint64_t t = from; t < from + shape_.steps_of_epoch(); ++t) {
      moments::Releases releases;
      lane.advance(record::slice(rows, static_cast<std::size_t>(t * m), static_cast<std::size_t>((t + 1) * m)),
                   feed.take(1), releases, &used, clock ? &*clock : nullptr);
      line_.clear();
      encoders_[t].append(releases.front(), "cadence", line_);
      SeenSums after = seen_of(lane, publish::read_sums(line_)->equations);
      std::vector<Vector> sums = noisy_sums(*sums_, before, after);
      // A stage that begins with this step aims it already, and its centre follows from sums before it.
      const auto at = [&](const Row& row) { return contributions(design, after.aim, row.x, row.y, row.weight); };
      if (shape_.takes_part(t)) told.shift_by(shifts_at(at, sums));
      told.see(t, sums);
      before = std::move(after);
    }
  }

  /// What the accounting lets an adversary know after a step. The iterate is read from the release's text. The second
  /// moments are taken from the lane: a release shows only functions of them, but the accounting allows all of them
  /// to be known. A first stage without noise is taken from the lane as well, because everybody who knows the public
  /// columns can compute it.
  Seen seen_at(std::size_t t, const lane::Release& release) {
    line_.clear();
    encoders_[t].append(release, "cadence", line_);
    Seen seen = seen_of(release);
    const auto read = publish::read_release(line_);
    const Vector shown = working_.theta(read->estimate);
    seen.theta.head(shown.size()) = shown;
    if (read->status.clipped) {
      seen.since = read->status.clipped->since;
      seen.clipped = read->status.clipped->share *
                     static_cast<double>((release.steps.value() - seen.since) * config_.descent.minibatch);
    }
    return seen;
  }

  [[nodiscard]] Steps no_steps() const {
    Steps steps;
    for (const config::CalibratedStage& stage : mechanism_.stages) {
      const auto entries = static_cast<Eigen::Index>(stage.dimension);
      steps.seen.emplace_back(static_cast<Eigen::Index>(shape_.steps), entries);
      steps.shift.emplace_back(static_cast<Eigen::Index>(shape_.at.size()), entries);
    }
    return steps;
  }

  // One number for each stage, from all steps of the game at once.
  void judge(const Steps& told) {
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      ratios_[i] = {filters_[i].log_ratio(told.seen[i], told.shift[i]), filters_[i].information(told.shift[i])};
      participations_.information[i] += ratios_[i].information;
    }
    ++participations_.games;
  }

  /// By how much the sums of a step differ between the worlds, as far as that is known before the step. What the
  /// world without the record adds is subtracted from `sums`. `at` computes what a row adds in this step.
  std::vector<Vector> shifts_at(const std::function<std::vector<Contribution>(const Row&)>& at,
                                std::vector<Vector>& sums) {
    const auto added_by = [&](const Row& row) {
      std::vector<Contribution> added = at(row);
      if (!config_.users) return added;
      const auto records = static_cast<double>(config_.descent.minibatch);
      sums_ ? sum_up_together(added, records) : sum_up(added, records);
      shorten_to(shape_.length, added, config_.descent.counts_clipped);
      return added;
    };
    std::vector<Vector> shifts;
    for (Contribution& each : added_by(canary_.row)) shifts.push_back(std::move(each.clipped));
    if (canary_.opposite) {
      const std::vector<Contribution> without = added_by(canary_.absent_row);
      for (std::size_t i = 0; i < shifts.size(); ++i) {
        // Without the record, its opposite is added. Taken off, the sums hold noise alone in one world, and the
        // difference of both records in the other.
        sums[i] -= without[i].clipped;
        shifts[i] -= without[i].clipped;
      }
    }
    // Opposite directions are found up to 2.5e-4 of a length, and the grid truncates a little; neither is a
    // shortfall.
    constexpr double as_long = 0.999;
    ++participations_.all;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      if (!(shifts[i].norm() >= as_long * displacements_[i])) ++participations_.shorter[i];
    }
    return shifts;
  }

  users::Identifiers identifiers_;  ///< distinguishes users; config_ refers to it
  config::Config config_;
  const config::Mechanism& mechanism_;
  std::optional<moments::Settings> sums_;  ///< of a model that is solved from sums
  GameShape shape_;
  std::vector<double> displacements_;
  Canary canary_;
  std::vector<MatchedFilter> filters_;  ///< one a stage
  double mu_;
  GameRows rows_;
  WorkingUnits working_;
  Participations participations_;
  std::vector<StageRatio> ratios_;
  /// They stay for all games, though a release's verdict on its path is then that of another game now and then: no
  /// game reads it.
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
