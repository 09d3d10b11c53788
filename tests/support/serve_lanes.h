// Lanes with made-up settings and values, and what a metrics page says about them.
#pragma once

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "journal/ledger_chain.h"
#include "nustream/descent/schedule.h"
#include "publish/release_json.h"
#include "serve/committed.h"
#include "serve/public_surface.h"

namespace nustream::tests {

inline constexpr const char* serve_digest = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// A lane with σ = 2 and sensitivity 2, so that ρ_∞ = 0.5.
inline serve::PublicLane public_lane(std::uint32_t lane, std::uint32_t epoch = 0, std::optional<Rho> budget = {},
                                     std::optional<StepCount> last_step = {}) {
  return {.header = {.stream = "retail",
                     .lane = LaneId{lane},
                     .epoch = EpochId{epoch},
                     .delta = Delta{1e-6},
                     .settings_digest = serve_digest,
                     .promise = {}},
          .rho_limit = Rho{0.5},
          .noise_multiplier = NoiseMultiplier{2},
          .sensitivity = Sensitivity{2},
          .schedule = descent::Schedule(descent::Inverse{StepSize{0.5}, 100}),
          .budget = budget,
          .release_every = StepCount{50},
          .last_step = last_step};
}

inline serve::CommittedSpend spend(std::uint32_t lane, std::uint64_t steps, double rho, std::uint32_t epoch = 0,
                                   std::optional<double> total = {}) {
  return serve::CommittedSpend::committed({"retail",
                                           LaneId{lane},
                                           EpochId{epoch},
                                           Position{0},
                                           Position{steps},
                                           StepCount{steps},
                                           Rho{rho},
                                           Rho{0.5},
                                           serve_digest,
                                           {},
                                           true,
                                           journal::Overlap::disjoint},
                                          Rho{total.value_or(rho)});
}

/// One encoded release, as the encoder writes it. `average` is null or an object.
inline std::string release_line(std::uint32_t lane, std::uint64_t step, const std::string& estimate,
                                const std::string& average = "null", std::uint32_t epoch = 0,
                                const std::string& is_private = "true") {
  std::ostringstream line;
  line << R"({"format":1,"stream":"retail","lane":)" << lane << R"(,"epoch":)" << epoch << R"(,"step":)" << step
       << R"(,"position":)" << step + 7 << R"(,"tag":"cadence","estimate":)" << estimate << R"(,"average":)"
       << average << R"(,"rho":0.25,"rho_limit":0.5,"epsilon":3.5,"delta":1e-06,"conversion":"gaussian","digest":")"
       << serve_digest << R"(","private":)" << is_private << "}\n";
  return line.str();
}

inline serve::CommittedRelease release(std::uint32_t lane, std::uint64_t step, const std::string& estimate,
                                       const std::string& average = "null") {
  return serve::CommittedRelease::published(release_line(lane, step, estimate, average));
}

/// The interval of `release`'s estimate of x, as the encoder writes it.
inline const std::string interval_of_x =
    R"(,"interval":{"kind":"batch-means","level":0.95,"covers":"it","effective_steps":80,"through":96,)"
    R"("too_few_steps":true,"lower":{"x":0.5},"upper":{"x":1.5}})";
inline serve::CommittedRelease release_with_interval(std::uint32_t lane, std::uint64_t step) {
  std::string line = release_line(lane, step, R"({"x":1})", R"({"x":1})");
  line.insert(line.find(",\"rho\""), interval_of_x);
  return serve::CommittedRelease::published(line);
}

/// A release that says whether its path has settled.
inline serve::CommittedRelease release_with_verdict(std::uint32_t lane, std::uint64_t step,
                                                    const std::string& verdict) {
  std::string line = release_line(lane, step, R"({"x":1})", R"({"x":1})");
  line.insert(line.find(",\"rho\""), R"(,"status":{"verdict":")" + verdict + R"(","trend":1,"false_alarm":0.06})");
  return serve::CommittedRelease::published(line);
}

/// A release of running sums, in which noise hides `floored` directions.
inline serve::CommittedRelease release_of_sums(std::uint32_t lane, std::uint64_t step, std::uint64_t floored,
                                               std::uint32_t epoch = 0) {
  std::string line = release_line(lane, step, R"({"x":1})", "null", epoch);
  line.insert(line.find(",\"rho\""), ",\"moments\":{\"records\":" + std::to_string(1000 * step) +
                                         ",\"stage\":0,\"floored\":" + std::to_string(floored) + "}");
  return serve::CommittedRelease::published(line);
}

/// A page in Prometheus' text format, read line by line.
struct MetricsPage {
  std::map<std::string, std::string> help;              ///< by metric
  std::map<std::string, std::string> type;              ///< by metric
  std::map<std::string, std::string> values;            ///< by NAME{LABELS}, as they are printed
  std::map<std::string, std::set<std::string>> labels;  ///< names of labels, by metric

  explicit MetricsPage(const std::string& page) {
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) read(line);
  }

  [[nodiscard]] bool has(const std::string& series) const { return values.contains(series); }
  [[nodiscard]] std::string at(const std::string& series) const {
    const auto found = values.find(series);
    return found == values.end() ? "(no such series)" : found->second;
  }

 private:
  void read(const std::string& line) {
    if (line.starts_with("# ")) {
      const std::size_t name_end = line.find(' ', 7);
      auto& texts = line.starts_with("# HELP ") ? help : type;
      texts[line.substr(7, name_end - 7)] = line.substr(name_end + 1);
      return;
    }
    const std::size_t end = line.rfind(' ');
    const std::string series = line.substr(0, end);
    values[series] = line.substr(end + 1);
    read_labels(series);
  }
  void read_labels(const std::string& series) {
    const std::size_t brace = series.find('{');
    std::string name = series.substr(0, brace);
    for (const char* suffix : {"_bucket", "_sum", "_count"}) {
      if (!type.contains(name) && name.ends_with(suffix)) name.resize(name.size() - std::string(suffix).size());
    }
    std::set<std::string>& names = labels[name];
    if (brace == std::string::npos) return;
    for (std::size_t at = brace + 1, equals; (equals = series.find("=\"", at)) != std::string::npos;) {
      const std::string label = series.substr(at, equals - at);
      if (label != "le") names.insert(label);
      at = series.find('"', equals + 2) + 2;
    }
  }
};

/// The name and labels of a lane's metric, as the page prints it with labels ordered by name.
inline std::string of_lane(const std::string& metric, std::uint32_t lane) {
  return metric + "{lane=\"" + std::to_string(lane) + "\",stream=\"retail\"}";
}

}  // namespace nustream::tests
