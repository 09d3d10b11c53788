// Measures how close descent and running sums whose unit is the user come to the least squares of all lines of the
// retail stream, under several limits of a user. Bounds, steps and the limits that have a bar are what `plan`
// suggests from public guesses. Usage: users_bars [KEYS [JSON file]]; 50 keys by default. Exits with 1 where a mean
// is above its bar. Keys are fixed, so the result does not vary by chance.
//
// A user's lines in a minibatch of 1,000 are summed and clipped as a whole. The distance is between the averaged
// iterate, or the solution of the sums, and the least squares of all 397,884 lines, in working coordinates (both
// columns about their public centres). These least squares also hold the lines that the limits do not let count.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/users_suggestion.h"
#include "config/mechanism.h"
#include "config/moments.h"
#include "decode/reader.h"
#include "engine/estimator.h"
#include "engine/noise_feed.h"
#include "error.h"
#include "nustream/record/batch.h"
#include "secrets/keyring.h"
#include "users/identifiers.h"

namespace {

using namespace nustream;

const std::string retail = std::string(NUSTREAM_ROOT_DIR) + "/examples/retail/retail.toml";
/// The columns' own least squares (docs/results.md), in working coordinates.
constexpr double least_squares[] = {1.987337 - 1.5 - 0.529010 * 0.7, -0.529010};

/// The guesses: 4,000 customers with 100 lines each, some 20 lines an order; residuals of 1, and an answer at most 1
/// away.
const std::string guesses = "plan={users=4000, user_records=100, burst=20, residual=1, distance=1}";

struct Setting {
  std::string limits;  ///< as [users] takes them, in words
  std::vector<std::string> overrides;
  std::optional<double> bar{};        ///< bar of the mean distance
  std::optional<double> predicted{};  ///< predicted distance, where the limits are suggested
};

struct Figure {
  std::string estimator;  ///< for a descent, its correlation
  std::string limits;
  double rho;
  double sensitivity;
  double contributions;  ///< contributions of all users in a run
  std::vector<double> distances{};
  std::optional<double> bar{};
  std::optional<double> predicted{};

  [[nodiscard]] double mean() const {
    return std::accumulate(distances.begin(), distances.end(), 0.0) / static_cast<double>(distances.size());
  }
  [[nodiscard]] double standard_error() const {
    double squares = 0;
    for (const double value : distances) squares += std::pow(value - mean(), 2);
    const auto n = static_cast<double>(distances.size());
    return std::sqrt(squares / (n - 1) / n);
  }
};

/// Reads all lines once, with their users under one key.
record::RowBatch read_lines() {
  config::Config config = config::read_config(retail, {});
  users::Identifiers identifiers(users::Partitioner::user_hash);
  identifiers.use(users::UserKey::draw());
  config.schema.user = record::UserColumn{"user", {}, &identifiers};
  record::RowBatch rows;
  rows.dimension = config.schema.dimension();
  const auto reader = decode::open_reader(config.input, config.schema);
  while (reader->read(rows, 1 << 16)) {
  }
  return rows;
}

double distance_of(std::span<const double> theta) {
  return std::hypot(theta[0] - least_squares[0], theta[1] - least_squares[1]);
}

/// The distance of one run, and how many contributions it had. `final` takes the answer from the last releases.
template <class Lane, class Releases, class Final>
std::pair<double, std::uint64_t> played(Lane lane, const config::Config& config, const config::Mechanism& mechanism,
                                        const record::RowBatch& rows, std::uint64_t key, const Final& final) {
  const secrets::Keyring keys = secrets::Keyring::insecure(key);
  engine::NoiseFeed feed(mechanism, engine::noise_of_new_epoch(keys, config.stream, LaneId{0}, EpochId{0}, mechanism),
                         StepIndex{0}, std::pmr::get_default_resource(), keys.healing(false));
  users::Table table;
  users::Changes changes(table);
  Releases releases;
  const std::uint64_t m = config.descent.minibatch;
  const std::uint64_t steps = rows.count() / m;
  for (std::uint64_t at = 0; at < steps;) {
    const std::span<const noise::GridNoise> noise = feed.take(steps - at);
    const std::uint64_t taken = engine::steps_in(noise);
    lane.advance(record::slice(rows, at * m, (at + taken) * m), noise, releases, &changes);
    at += taken;
    releases.clear();
  }
  lane.release_now(releases);
  return {distance_of(final(releases[0])), lane.contributions()};
}

std::pair<double, std::uint64_t> distance(const config::Config& config, const config::Mechanism& mechanism,
                                          const record::RowBatch& rows, std::uint64_t key) {
  if (!config.moments) {
    return played<lane::Lane, lane::Releases>(lane::Lane(config.descent, mechanism.grids, Position{0}), config,
                                              mechanism, rows, key,
                                              [](const lane::Release& release) { return release.average; });
  }
  return played<moments::Lane, moments::Releases>(
      moments::Lane(config::moments_settings(config, mechanism), Position{0}), config, mechanism, rows, key,
      [](const moments::Release& release) { return release.theta; });
}

/// The distances of `keys` runs.
Figure measured(const record::RowBatch& rows, const std::string& estimator, double rho, const Setting& setting,
                std::uint64_t keys, std::vector<std::string> overrides) {
  overrides.insert(overrides.end(), {"privacy.unit=user", "privacy.user=user", fmt::format("privacy.rho={}", rho)});
  overrides.insert(overrides.end(), setting.overrides.begin(), setting.overrides.end());
  const config::Config config = config::read_config(retail, overrides);
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  Figure figure{estimator, setting.limits, rho, mechanism.main().sensitivity.value(), 0};
  figure.bar = setting.bar;
  figure.predicted = setting.predicted;
  for (std::uint64_t key = 0; key < keys; ++key) {
    const auto [off, contributions] = distance(config, mechanism, rows, key);
    figure.distances.push_back(off);
    figure.contributions = static_cast<double>(contributions);
  }
  return figure;
}

/// Settings apart from limits and bounds. Sums are of 398 batches of 1,000 lines.
std::vector<std::string> sums_settings() {
  return {"model.estimator=moments", "release.every=1000", "intervals.kind=none",
          "moments={row_norm=1, residual_bound=6, releases=398}"};
}
std::vector<std::string> descent_settings(const std::string& correlation) {
  std::vector<std::string> settings{"noise.nu=0.01", fmt::format("noise.correlation={}", correlation)};
  if (correlation == "tree") settings.emplace_back("noise.height=9");
  return settings;
}

/// What `plan` suggests from the guesses alone.
cli::UsersSuggestion suggested(std::vector<std::string> overrides, double rho) {
  overrides.insert(overrides.end(), {"privacy.unit=user", "privacy.user=user", "users.participations=1",
                                     fmt::format("privacy.rho={}", rho), guesses});
  const auto suggestion = cli::users_suggestion(config::read_config(retail, overrides));
  if (!suggestion) throw Failure(Exit::configuration, "no suggestion");
  return *suggestion;
}

/// With the minibatch, bounds and steps that are suggested.
std::vector<std::string> with_bounds(std::vector<std::string> settings, const cli::UsersSuggestion& suggestion) {
  for (std::string& each : cli::settings_of(suggestion)) settings.push_back(std::move(each));
  return settings;
}

std::string to_json(const std::vector<Figure>& figures, std::uint64_t keys) {
  std::string text = fmt::format("{{\"figure\": \"users bars\", \"keys\": {}, \"rows\": [", keys);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Figure& one = figures[i];
    text += fmt::format(
        "{}\n  {{\"estimator\": \"{}\", \"limits\": \"{}\", \"rho\": {}, \"sensitivity\": {:.5g}, "
        "\"contributions\": "
        "{}, \"distance\": {:.4g}, \"standard_error\": {:.2g}{}{}}}",
        i == 0 ? "" : ",", one.estimator, one.limits, one.rho, one.sensitivity, one.contributions, one.mean(),
        one.standard_error(),
        one.predicted ? fmt::format(", \"suggested\": true, \"predicted\": {:.4g}", *one.predicted) : "",
        one.bar ? fmt::format(", \"bar\": {}", *one.bar) : "");
  }
  return text + "]}\n";
}

Setting counted(std::uint64_t times, std::uint64_t separation) {
  return {fmt::format("({}, {})", times, separation),
          {fmt::format("users.participations={}", times), fmt::format("users.separation={}", separation)}};
}
Setting massed(double mass) {
  return {fmt::format("mass {}", mass), {fmt::format("users.mass={}", mass)}};
}

/// The limits that are suggested, whose distance in two coefficients is √2 times the error of one. The bar is theirs.
Setting best(const std::optional<cli::LimitsReach>& reach, std::optional<double> bar) {
  if (!reach) throw Failure(Exit::configuration, "no limits are suggested");
  const users::Limits& limits = reach->limits;
  Setting setting = limits.mass() ? massed(limits.mass()->value())
                                  : counted(limits.participation()->times(), limits.participation()->separation());
  setting.predicted = std::sqrt(2.0) * *reach->error();
  setting.bar = bar;
  return setting;
}

/// The suggested limits, then those of the others that are not among them.
std::vector<Setting> beside(std::vector<Setting> suggested, const std::vector<Setting>& others) {
  for (const Setting& other : others) {
    if (std::ranges::find(suggested, other.limits, &Setting::limits) == suggested.end()) suggested.push_back(other);
  }
  return suggested;
}

void add_sums(const record::RowBatch& rows, double rho, std::uint64_t keys, std::vector<Figure>& figures) {
  const cli::UsersSuggestion suggestion = suggested(sums_settings(), rho);
  const std::vector<Setting> settings =
      beside({best(suggestion.massed, rho < .5 ? .045 : .025), best(suggestion.counted, {})},
             {counted(4, 1), counted(8, 20), massed(2), massed(4), massed(8), massed(16)});
  for (const Setting& setting : settings) {
    figures.push_back(measured(rows, "moments", rho, setting, keys, with_bounds(sums_settings(), suggestion)));
  }
}

void add_descent(const record::RowBatch& rows, const std::string& correlation, double rho, std::uint64_t keys,
                 std::vector<Figure>& figures) {
  // Limits are suggested for the correlation that is the default; others are measured with the same.
  const cli::UsersSuggestion suggestion = suggested(descent_settings("rational"), rho);
  const bool is_default = correlation == "rational";
  std::vector<Setting> settings{
      best(suggestion.counted, is_default ? std::optional(rho < .5 ? .045 : .035) : std::nullopt),
      best(suggestion.massed, {})};
  if (!is_default) {
    for (Setting& setting : settings) setting.predicted.reset();
  }
  for (const Setting& setting :
       beside(settings, {counted(1, 1), counted(4, 1), counted(4, 10), counted(4, 40), counted(16, 1),
                         counted(16, 10), counted(16, 20), massed(1), massed(4), massed(8)})) {
    // A tree's bound for several participations of one user exists where a table of them is at hand; otherwise it is
    // refused.
    try {
      figures.push_back(measured(rows, "descent, " + correlation, rho, setting, keys,
                                 with_bounds(descent_settings(correlation), suggestion)));
    } catch (const Failure& refused) {
      fmt::print(stderr, "{}, {}: {}\n", correlation, setting.limits, refused.what());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t keys = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50;
  const record::RowBatch rows = read_lines();
  std::vector<Figure> figures;
  for (const double rho : {.1, 1.0}) {
    add_sums(rows, rho, keys, figures);
    for (const std::string correlation : {"rational", "independent", "tree"}) {
      add_descent(rows, correlation, rho, keys, figures);
    }
  }
  const std::string json = to_json(figures, keys);
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out, "{}", json);
  return std::ranges::all_of(figures, [](const Figure& one) { return !one.bar || one.mean() <= *one.bar; }) ? 0 : 1;
}
