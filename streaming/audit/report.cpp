// A finding as text and as JSON.
#include <algorithm>

#include <fmt/format.h>

#include "audit/audit.h"
#include "publish/json_text.h"
#include "replay/path_printer.h"

namespace nustream::audit {
namespace {

void print_bounds(const Bounds& bounds, double delta) {
  fmt::print("{:<10}  {:>10}  {:>12}\n", "", "claimed", "proven");
  fmt::print("{:<10}  {:>10.6g}  {:>12.6g}   at delta {:g}\n", "epsilon", bounds.epsilon, bounds.epsilon_bound,
             delta);
  fmt::print("{:<10}  {:>10.6g}  {:>12.6g}   of the Gaussian curve\n", "mu", bounds.mu, bounds.mu_bound);
}

/// Why less was proven than is claimed.
void print_shortfalls(const Bounds& bounds) {
  for (const auto& [stage, share] : bounds.shorter) {
    if (share == 0) continue;
    fmt::print("in {:.3g}% of its steps the record moved the {} by less than is claimed{}\n", 100 * share, stage,
               share < 1 ? ": with a smaller descent.step_size, on which no claim depends, gradients stay long" : "");
  }
  if (bounds.mu_bound == 0) {
    fmt::print("no trace of the record was seen: games as few as these say nothing of a claim as small as this\n");
  }
  if (bounds.epsilon > bounds.epsilon_provable) {
    fmt::print(
        "so many games can prove no epsilon above {:.4g}, whatever the mechanism: take a smaller rho, or more\n",
        bounds.epsilon_provable);
  }
}

void print(const config::Config& config, const Options& options, const Finding& finding) {
  fmt::print("{}: {} games of {} steps in each of two worlds, fresh keys, every step released\n", config.file,
             replay::with_separators(finding.runs), finding.steps);
  print_bounds(finding, options.delta);
  fmt::print("rho {:.6g} after {} steps; proven with {:g}% confidence, from below (Clopper-Pearson)\n", finding.rho,
             finding.steps, 100 * finding.confidence.level);
  if (finding.at > 0) fmt::print("the record came at step {}, counted from 0\n", finding.at);
  if (finding.unprojected) {
    fmt::print(
        "played without the projection, which hides a part of the noisy gradients: this is the stronger adversary\n");
  }
  print_shortfalls(finding);
  if (finding.against_nothing) {
    fmt::print("and as many with nothing in the record's place, half as far: rho {:.6g}\n",
               finding.against_nothing->rho);
    print_bounds(*finding.against_nothing, options.delta);
    print_shortfalls(*finding.against_nothing);
  }
  fmt::print("{}\n", finding.all_hold()
                         ? "the claim holds: nothing above it was proven"
                         : "THE CLAIM DOES NOT HOLD: an adversary tells the record more surely than it allows");
}

std::string members(const Bounds& bounds) {
  std::string out;
  for (const auto& [key, value] :
       {std::pair{"rho", bounds.rho}, std::pair{"epsilon", bounds.epsilon},
        std::pair{"epsilon_lower_bound", bounds.epsilon_bound}, std::pair{"mu", bounds.mu},
        std::pair{"mu_lower_bound", bounds.mu_bound}, std::pair{"mu_of_filter", bounds.mu_of_filter},
        std::pair{"shorter_share", bounds.shorter_share()}}) {
    publish::append_field(key, value, out);
  }
  publish::append_object("shorter_share_of", bounds.shorter, out);
  return out;
}

std::string to_json(const config::Config& config, const Options& options, const Finding& finding) {
  std::string out = "{\"stream\":";
  publish::append_string(config.stream, out);
  out += fmt::format(",\"runs\":{},\"steps\":{},\"at\":{}", finding.runs, finding.steps, finding.at);
  publish::append_field("delta", options.delta, out);
  publish::append_field("confidence", finding.confidence.level, out);
  out += members(finding);
  if (finding.against_nothing) {
    out += ",\"against_nothing\":{" + members(*finding.against_nothing).substr(1) + '}';
  }
  return out + (finding.all_hold() ? ",\"holds\":true}" : ",\"holds\":false}");
}

}  // namespace

Exit run(const config::Config& config, config::Purpose purpose, const Options& options) {
  const Finding finding = audit(config, purpose, options);
  if (options.json) {
    fmt::print("{}\n", to_json(config, options, finding));
  } else {
    print(config, options, finding);
  }
  return finding.all_hold() ? Exit::done : Exit::internal;
}

}  // namespace nustream::audit
