// Measures how close descent and running sums whose unit is the user come to the least squares of all lines of the
// retail stream, under several limits of a user and with settings that are public. Usage: users_bars [KEYS [JSON
// file]]; 50 keys by default. Exits with 1 where a mean is above its bar. Keys are fixed, so the result does not vary
// by chance.
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

struct Setting {
  std::string limits;  ///< as [users] takes them, in words
  std::vector<std::string> overrides;
  std::optional<double> bar;  ///< bar of the mean distance
};

struct Figure {
  std::string estimator;  ///< for a descent, its correlation
  std::string limits;
  double rho;
  double sensitivity;
  double contributions;  ///< contributions of all users in a run
  std::vector<double> distances{};
  std::optional<double> bar{};

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
  engine::NoiseFeed feed(
      mechanism,
      journal::first_checkpoints(keys.epoch_key(config.stream), LaneId{0}, EpochId{0}, mechanism.stages.size()),
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
  for (std::uint64_t key = 0; key < keys; ++key) {
    const auto [off, contributions] = distance(config, mechanism, rows, key);
    figure.distances.push_back(off);
    figure.contributions = static_cast<double>(contributions);
  }
  return figure;
}

/// Sums of 397 batches of 1,000 lines; the noise is made for 398. The radius is such that 100 lines of a customer fit
/// in where all of them come at once, each of a length of about 1.5: R_x = 1.5·√100.
Figure measure_sums(const record::RowBatch& rows, double rho, const Setting& setting, std::uint64_t keys) {
  return measured(rows, "moments", rho, setting, keys,
                  {"model.estimator=moments", "release.every=1000", "intervals.kind=none",
                   "moments={row_norm=15, residual_bound=6, releases=398}"});
}

Figure measure(const record::RowBatch& rows, const std::string& correlation, double rho, const Setting& setting,
               std::uint64_t keys) {
  std::vector<std::string> overrides{"descent.minibatch=1000", "descent.average_from=130",
                                     "descent.step_size=0.1",  // a third of the 397 steps to get there
                                     "descent.clip_norm=100",  // 100 lines a customer, of a length of about 1
                                     "noise.nu=0.01",          fmt::format("noise.correlation={}", correlation)};
  if (correlation == "tree") overrides.emplace_back("noise.height=9");
  return measured(rows, "descent, " + correlation, rho, setting, keys, std::move(overrides));
}

std::string to_json(const std::vector<Figure>& figures, std::uint64_t keys) {
  std::string text = fmt::format("{{\"figure\": \"users bars\", \"keys\": {}, \"rows\": [", keys);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Figure& one = figures[i];
    text += fmt::format(
        "{}\n  {{\"estimator\": \"{}\", \"limits\": \"{}\", \"rho\": {}, \"sensitivity\": {:.5g}, "
        "\"contributions\": "
        "{}, \"distance\": {:.4g}, \"standard_error\": {:.2g}{}}}",
        i == 0 ? "" : ",", one.estimator, one.limits, one.rho, one.sensitivity, one.contributions, one.mean(),
        one.standard_error(), one.bar ? fmt::format(", \"bar\": {}", *one.bar) : "");
  }
  return text + "]}\n";
}

Setting counted(std::uint64_t times, std::uint64_t separation, std::optional<double> bar = {}) {
  return {fmt::format("({}, {})", times, separation),
          {fmt::format("users.participations={}", times), fmt::format("users.separation={}", separation)},
          bar};
}
Setting massed(double mass, std::optional<double> bar = {}) {
  return {fmt::format("mass {}", mass), {fmt::format("users.mass={}", mass)}, bar};
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t keys = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50;
  const record::RowBatch rows = read_lines();
  std::vector<Figure> figures;
  for (const double rho : {.1, 1.0}) {
    for (const Setting& setting :
         {counted(4, 1), counted(8, 20), massed(2), massed(4, rho < .5 ? std::optional(.045) : std::nullopt),
          massed(8, rho < .5 ? std::nullopt : std::optional(.025)), massed(16)}) {
      figures.push_back(measure_sums(rows, rho, setting, keys));
    }
    for (const std::string correlation : {"rational", "independent", "tree"}) {
      const std::optional<double> bar =
          correlation == "rational" ? std::optional(rho < .5 ? .045 : .035) : std::nullopt;
      for (const Setting& setting :
           {counted(1, 1), counted(4, 1), counted(4, 10, bar), counted(4, 40), counted(16, 1), counted(16, 10),
            counted(16, 20), massed(1), massed(4), massed(8)}) {
        // A tree's bound for several participations of one user exists where a table of them is at hand; otherwise it
        // is refused.
        try {
          figures.push_back(measure(rows, correlation, rho, setting, keys));
        } catch (const Failure& refused) {
          fmt::print(stderr, "{}, {}: {}\n", correlation, setting.limits, refused.what());
        }
      }
    }
  }
  const std::string json = to_json(figures, keys);
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out, "{}", json);
  return std::ranges::all_of(figures, [](const Figure& one) { return !one.bar || one.mean() <= *one.bar; }) ? 0 : 1;
}
