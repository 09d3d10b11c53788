// Predicts the error of running sums stage by stage. settle_rows() says what scaling and clipping make of a stage's
// rows, weigh() weighs the stages as estimate() does, and solved() adds up the errors along each eigenvector of H,
// where the equations fall apart into one number each. The centre of a later stage is a release too, so its distance
// is itself a prediction: stages_of() calls after() for the steps before.
#include "nustream/moments/expected_error.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "nustream/base/error.h"

namespace nustream::moments {
namespace {

using inference::StreamGuess;

/// What one stage adds to the equations.
struct StageGuess {
  Radii radii;
  double records = 0;   ///< number of records in its sums, faded if they forget
  double scaled = 1;    ///< a, the share of E[xxᵀ] that scaling leaves
  double clipped = 0;   ///< p, the share of residuals that is clipped
  double variance = 0;  ///< variance of the clipped residual of a scaled row, in units of the scaled second moments
  double weight = 1;
  std::vector<double> away;  ///< E (θ* − θ_s)_j² along each eigenvector
  [[nodiscard]] double informs() const { return weight * records * scaled; }
};

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

/// Computes what scaling and clipping do to rows about a centre that is `away` from θ*.
void settle_rows(const StreamGuess& guess, const std::vector<double>& norms, StageGuess& stage) {
  double explained = 0;
  for (std::size_t j = 0; j < stage.away.size(); ++j) explained += guess.eigenvalues[j] * stage.away[j];
  const double s = std::sqrt(guess.residual * guess.residual + explained);
  double all = 0;
  double scaled = 0;
  double kept = 0;
  double squares = 0;
  double weighted = 0;  // how much of a residual's square is left if rows are scaled
  double passed = 0;    // of that, weighed by the share that clipping keeps
  // The row lengths of `norms` are equally likely, so plain sums over them are means. A row that is scaled by
  // `factor` has its residual scaled too: its deviation is factor·s against the same bound.
  for (const double squared : norms) {
    const double factor = std::min(1.0, stage.radii.inputs / std::sqrt(squared));
    const double second = factor * factor * squared;
    all += squared;
    scaled += second;
    const double share = inference::kept_share(factor * s, stage.radii.target);
    kept += second * share;
    squares += second * inference::clipped_variance(factor * s, stage.radii.target);
    weighted += second * factor * factor;
    passed += second * factor * factor * share;
  }
  stage.scaled = scaled / all;
  stage.clipped = 1 - kept / scaled;
  // The part of the residual that comes from the distance to the centre is the same for every row and is solved for,
  // so it is no noise. What is solved for is the mean over rows: 1 − p of that part. Long rows keep another share of
  // it, and the difference stays in, so that the variance, E(clip(r) − (1 − p)·part)², is never below 0.
  const double slope = kept / scaled;
  stage.variance = (squares - explained * slope * (2 * passed - slope * weighted)) / scaled;
}

/// Everything that is the same at each release.
class Prediction {
 public:
  Prediction(const StreamGuess& guess, const Settings& settings)
      : guess_(guess),
        settings_(settings),
        noise_(block_noise(settings.mechanism.design, settings.sigmas)),
        every_(static_cast<double>(settings.mechanism.participation.batch)),
        kept_(settings.memory ? 1 - every_ / static_cast<double>(*settings.memory) : 1),
        shared_(settings.mechanism.correlation, kept_),
        norms_(inference::squared_row_norms(guess)) {}

  /// The error along each eigenvector after a number of releases, split by its causes.
  struct Errors {
    std::vector<double> start, sampling, privacy;
    [[nodiscard]] std::vector<double> all() const {
      std::vector<double> total(start.size());
      for (std::size_t j = 0; j < total.size(); ++j) total[j] = start[j] + sampling[j] + privacy[j];
      return total;
    }
  };

  [[nodiscard]] Errors after(StepCount releases) const {
    std::vector<std::uint64_t> firsts;
    std::vector<StageGuess> stages = stages_of(releases, firsts);
    const std::vector<double> covariance = shared_.covariance(firsts, releases);
    Errors errors = solved(stages, covariance);
    if (!settings_.weighting.residual_variance || settings_.memory || stages.size() == 1) return errors;
    weigh(covariance, errors.all(), stages);
    return solved(stages, covariance);
  }

 private:
  // The stages that have a step by then, and the first step of each, as StageNoise wants them.
  [[nodiscard]] std::vector<StageGuess> stages_of(StepCount releases, std::vector<std::uint64_t>& firsts) const {
    const std::size_t d = guess_.eigenvalues.size();
    std::vector<StageGuess> stages;
    for (std::size_t i = 0; i < settings_.stages.size() && settings_.stages[i].first < releases.value(); ++i) {
      const StageStart& start = settings_.stages[i];
      const std::uint64_t end = i + 1 < settings_.stages.size()
                                    ? std::min(settings_.stages[i + 1].first, releases.value())
                                    : releases.value();
      StageGuess stage{.radii = start.radii, .away = {}};
      // The first centre is public; a later one is what the release before it shows.
      stage.away = i == 0 ? std::vector(d, guess_.distance * guess_.distance / static_cast<double>(d))
                          : after(StepCount{start.first}).all();
      // A prediction that diverges is kept finite, so that sums of its products remain numbers.
      for (double& each : stage.away) each = std::min(each, 1e30);
      stage.records = every_ * faded(start.first, end, releases.value());
      settle_rows(guess_, norms_, stage);
      firsts.push_back(start.first);
      stages.push_back(std::move(stage));
    }
    return stages;
  }

  /// The number of steps from `first` to end − 1, each counted by how much of it is kept at `now`.
  [[nodiscard]] double faded(std::uint64_t first, std::uint64_t end, std::uint64_t now) const {
    if (kept_ == 1) return static_cast<double>(end - first);
    const double youngest = std::pow(kept_, static_cast<double>(now - end));
    return youngest * (1 - std::pow(kept_, static_cast<double>(end - first))) / (1 - kept_);
  }

  /// Weighs the stages as moments::estimate() does.
  void weigh(const std::vector<double>& covariance, const std::vector<double>& errors,
             std::vector<StageGuess>& stages) const {
    const auto d = static_cast<double>(guess_.eigenvalues.size());
    for (std::size_t s = 0; s < stages.size(); ++s) {
      StageGuess& stage = stages[s];
      const double mean_eigenvalue = stage.records * stage.scaled * sum(guess_.eigenvalues) / d;
      const double informs = mean_eigenvalue * *settings_.weighting.residual_variance;
      // E‖θ_s − θ̂‖², with both distances from θ* taken as independent. The noise of H_s multiplies it, as
      // noise_variance() of estimate.cpp says, here with all shares of scales 1.
      const double squares = sum(stage.away) + sum(errors);
      const double of_second = stage.radii.inputs * stage.radii.inputs * noise_.second;
      const double of_target = stage.radii.inputs * stage.radii.target * noise_.target;
      const double noise = covariance[s * stages.size() + s] *
                           (of_target * of_target + of_second * of_second * 0.5 * squares * (1 + 1 / d));
      stage.weight = informs / (informs + noise);
    }
  }

  [[nodiscard]] Errors solved(const std::vector<StageGuess>& stages, const std::vector<double>& covariance) const {
    const std::size_t d = guess_.eigenvalues.size();
    // The variance of Σ w_s·scale_s·N_s. Noises of neighbouring stages mostly cancel, so rounding may leave a sum
    // below 0.
    const auto quadratic = [&](auto scale) {
      double total = 0;
      for (std::size_t s = 0; s < stages.size(); ++s) {
        for (std::size_t r = 0; r < stages.size(); ++r) {
          total += stages[s].weight * stages[r].weight * scale(s, r) * covariance[s * stages.size() + r];
        }
      }
      return std::max(total, 0.0);
    };
    const auto inputs = [&](std::size_t s) { return stages[s].radii.inputs; };
    double information = 0;
    for (const StageGuess& stage : stages) information += stage.informs();
    const double second = quadratic([&](auto s, auto r) { return std::pow(inputs(s) * inputs(r), 2); });
    // λ = √(2d)·τ, as for the released estimate.
    const double floor = std::sqrt(2.0 * static_cast<double>(d) * second) * noise_.second;
    const double target = noise_.target * noise_.target * quadratic([&](auto s, auto r) {
                            return inputs(s) * stages[s].radii.target * inputs(r) * stages[r].radii.target;
                          });
    Errors errors{std::vector(d, 0.0), std::vector(d, 0.0), std::vector(d, 0.0)};
    constexpr int rounds = 3;  // repeated, as the noise of H multiplies the solution's own error too
    for (int round = 0; round < rounds; ++round) {
      const std::vector<double> own = errors.all();
      for (std::size_t j = 0; j < d; ++j) {
        const double curvature = information * guess_.eigenvalues[j];
        const double raised = std::max(curvature, floor);
        // The share of the way from the centre that the solution goes along this eigenvector: 1 unless the floor is
        // above it.
        const double there = curvature / raised;
        double bias = 0;
        double sampling = 0;
        for (const StageGuess& stage : stages) {
          // Of the distance to its centre, a stage leaves the share p of clipped residuals uncovered.
          bias += std::pow(stage.informs() / information * stage.clipped * there, 2) * stage.away[j];
          sampling += stage.weight * stage.informs() * stage.variance * guess_.eigenvalues[j];
        }
        // What the floor holds back stays at the newest centre.
        bias += std::pow(1 - there, 2) * stages.back().away[j];
        const double met = quadratic([&](auto s, auto r) {
          // Cov(Nδ_s, Nδ_r) along j is ½(E δ_sᵀδ_r + E δ_s,j δ_r,j). Two stages share the error of θ̂; the errors of
          // their centres are taken as independent.
          const double both = sum(own) + own[j] + (s == r ? sum(stages[s].away) + stages[s].away[j] : 0.0);
          return std::pow(inputs(s) * inputs(r), 2) * both / 2;
        });
        errors.start[j] = bias;
        errors.sampling[j] = sampling / (raised * raised);
        errors.privacy[j] = (target + noise_.second * noise_.second * met) / (raised * raised);
      }
    }
    return errors;
  }

  const StreamGuess& guess_;
  const Settings& settings_;
  BlockNoise noise_;
  double every_;
  double kept_;
  StageNoise shared_;
  std::vector<double> norms_;
};

}  // namespace

inference::ExpectedError expected_error(const StreamGuess& guess, const Settings& settings, StepCount releases) {
  inference::check(guess);
  NUSTREAM_REQUIRE(releases.value() > 0 && settings.mechanism.design.shape.endogenous == 0 &&
                       settings.mechanism.design.shape.inputs == guess.eigenvalues.size(),
                   "a release of a linear model with an eigenvalue for each input");
  const Prediction::Errors errors = Prediction(guess, settings).after(releases);
  inference::ExpectedError total{0, 0, 0};
  for (std::size_t j = 0; j < guess.eigenvalues.size(); ++j) {
    total.start += guess.eigenvalues[j] * errors.start[j];
    total.sampling += guess.eigenvalues[j] * errors.sampling[j];
    total.privacy += guess.eigenvalues[j] * errors.privacy[j];
  }
  return total;
}

}  // namespace nustream::moments
