#include "history.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "config/config.h"
#include "engine/epoch_ledger.h"
#include "engine/noise_feed.h"
#include "engine/release_encoder.h"
#include "engine/stepper.h"
#include "error.h"
#include "journal/last_release.h"
#include "journal/release_chain.h"
#include "played.h"
#include "reference_users.h"
#include "release_text.h"
#include "secrets/locked_memory.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

std::string without_tag(std::string line) {
  for (const char* tag : {"\"shutdown\"", "\"end\"", "\"clock\"", "\"cadence\""}) {
    const std::size_t at = line.find(tag);
    if (at != std::string::npos) return line.erase(at, std::string_view(tag).size());
  }
  return line;
}

/// The stretch of a count of clipped gradients begins at a mark that follows from release.every, which is 1 in the
/// run that releases every step.
std::string without_count(std::string line) {
  const std::size_t at = line.find(",\"clipped\":{");
  return at == std::string::npos ? line : line.erase(at, line.find('}', at) + 1 - at);
}

/// Whether a line is what the undisturbed run has for its step, or would have had.
bool agree(const std::string& line, const std::string& reference, bool same_noise) {
  if (same_noise) return without_tag(line) == without_tag(reference);
  const journal::LastRelease one = journal::parse_last_release(line);
  const journal::LastRelease two = journal::parse_last_release(reference);
  return one.steps == two.steps && one.position == two.position && one.rho && one.rho == two.rho &&
         one.rho_limit == two.rho_limit && one.digest == two.digest;
}

bool is_extra(const std::string& line) {
  return line.find("\"shutdown\"") != std::string::npos || line.find("\"clock\"") != std::string::npos;
}

std::uint64_t step_of(const std::string& line) {
  return journal::parse_last_release(line).steps.value();
}

Reference straight_through(const Settings& settings, const secrets::Keyring& keys, LaneId lane_id,
                           record::RowBatch rows, Position start, bool end_release,
                           const std::optional<LaterEpoch>& later) {
  const config::Config& config = settings.config;
  const config::Mechanism& mechanism = settings.mechanism;
  const EpochId epoch = later ? later->epoch : EpochId{0};
  secrets::LockedMemory locked;
  noise::KeyBytes key = keys.epoch_key(config.stream);
  engine::NoiseFeed noise(mechanism, journal::first_checkpoints(key, lane_id, epoch, mechanism.stages.size()),
                          StepIndex{0}, &locked, keys.healing(false));
  Reference reference;
  reference.epoch = epoch;
  std::optional<ReferenceUsers> users;
  if (config.users)
    users.emplace(*config.descent.users, later ? later->users : std::nullopt, rows, config.descent.minibatch,
                  reference);
  engine::Estimator lane = engine::first_estimator(without_windows(config), mechanism, start);
  if (users) lane.use(users->open());
  if (later && later->carried) lane.go_on_from(*later->carried);
  const engine::EpochLedger ledger(
      {config.stream, lane_id, epoch, start, later ? journal::Overlap::overlapping : journal::Overlap::disjoint,
       settings.digest, config.privacy.neighbours(), keys.is_private(), "", config.descent.users,
       later && later->users},
      mechanism, later ? later->ledger : journal::Ledger{});
  publish::LedgerTotal total;
  if (later && later->tells_total) {
    total = [&](Rho spent, StepCount steps, Position position) { return ledger.total(spent, steps, position); };
  }
  publish::ReleaseEncoder encoder =
      engine::release_encoder(config, mechanism, {lane_id, epoch, settings.digest, keys.is_private()}, total);
  engine::Stepper stepper(lane, noise, encoder, config.descent.minibatch, ledger.limit(config.privacy.budget, start),
                          0);
  engine::Output output;
  while (!reference.at_limit && rows.count() >= config.descent.minibatch) {
    const std::size_t at_once = users ? config.descent.minibatch : rows.count();
    if (users) users->begin_step();
    const engine::Progress progress = stepper.step(rows, at_once, output);
    reference.at_limit = progress.limit_reached;
    if (users && progress.records > 0) users->took_a_step();
  }
  const bool at_horizon = reference.at_limit && mechanism.horizon() == lane.steps();
  if (at_horizon || (end_release && !reference.at_limit)) stepper.release_now("end", output);
  reference.lines = lines_of_text(output.outbox);
  reference.steps = lane.steps().value();
  reference.position = lane.position().value();
  reference.rejected = output.rejects.size();
  return reference;
}

}  // namespace

Counts counts_of(const users::Standings& table) {
  Counts counts;
  for (unsigned part = 0; part < users::Standings::parts; ++part) {
    table.visit_part(part, [&](const users::Entry& entry) { counts.emplace(entry.user, entry.standing); });
  }
  return counts;
}

const std::string& scratch_folder() {
  static const TemporaryFolder folder;
  static const std::string path = folder.path().string();
  return path;
}

std::optional<Settings> settings_of(const RandomStream& stream, const std::string& more,
                                    const privacy::Participation& participation) {
  const std::string file = scratch_folder() + "/settings.toml";
  std::ofstream(file, std::ios::binary) << stream.toml << more;
  try {
    config::Config config = config::read_config(file, {});
    config::Mechanism mechanism = config::make_mechanism(config, participation);
    std::string digest = config::settings_digest(config, mechanism, false);
    return Settings{std::move(config), std::move(mechanism), std::move(digest)};
  } catch (const Failure&) {
    return std::nullopt;
  }
}

HistoryResult unexpected() {
  try {
    throw;
  } catch (const std::exception& failure) {
    return {std::string("an exception: ") + failure.what(), {}};
  } catch (const SimulatedCrash&) {
    return {"a crash outside of a life", {}};
  } catch (...) {
    return {"an exception of another kind", {}};
  }
}

bool is_behind_recentring(const config::Config& config, std::uint64_t steps) {
  if (!config.moments) return false;
  const std::uint64_t records = steps * config.descent.minibatch;
  const std::uint64_t restage = config.moments->restage_every;
  const std::uint64_t last = config.moments->stages.back().from;
  return std::ranges::any_of(config.moments->stages,
                             [&](const auto& stage) { return stage.from > 0 && stage.from < records; }) ||
         (restage > 0 && last + restage < records);
}

void count_sums(const config::Config& config, const Reference& reference, FaultCounts& happened) {
  if (!config.moments || config.users) return;
  const auto count = [&](const char* what, bool happens) {
    if (happens) ++happened[std::string("sums of records") + what];
  };
  const std::uint64_t records = reference.steps * config.descent.minibatch;
  const std::uint64_t restage = config.moments->restage_every;
  count("", reference.steps > 0);
  count(" that recentre", is_behind_recentring(config, reference.steps));
  count(" that recentre again and again", restage > 0 && config.moments->stages.back().from + 2 * restage < records);
  count(" whose units may grow", config.moments->grows && is_behind_recentring(config, reference.steps));
  count(" that forget", reference.steps > 0 && config.moments->memory);
  count(" with instruments", reference.steps > 0 && config.descent.first_stage);
  count(" of private targets", reference.steps > 0 && config.privacy.protects == config::Protects::target);
  count(" with intervals", reference.steps > 0 && config.moments->spread != moments::Spread::none);
}

Reference undisturbed(const Settings& settings, const secrets::Keyring& keys, LaneId lane_id, record::RowBatch rows,
                      Position start, bool end_release, const std::optional<LaterEpoch>& later) {
  Settings every_step = settings;
  every_step.config.descent.release_every = 1;
  std::vector<std::string> lines = straight_through(every_step, keys, lane_id, rows, start, false, later).lines;
  Reference reference = straight_through(settings, keys, lane_id, std::move(rows), start, end_release, later);
  reference.every_step = std::move(lines);
  return reference;
}

bool Watcher::look(const std::string& line) {
  const journal::LastRelease release = journal::parse_last_release(line);
  furthest_ = release.steps.value();
  const auto [entry, is_new] = seen_.try_emplace({release.epoch.value(), release.steps.value()}, line);
  return is_new || entry->second == line;
}

std::string difference(const std::vector<std::string>& lines, const Reference& reference, bool same_noise) {
  std::size_t next = 0;
  for (const std::string& chained : lines) {
    const std::string line = without_chain(chained);
    const bool is_here = next < reference.lines.size() && step_of(line) == step_of(reference.lines[next]);
    if (!is_here) {
      const std::uint64_t step = step_of(line);
      if (is_extra(line) && step > 0 && step <= reference.every_step.size()) {
        if (agree(without_count(line), without_count(reference.every_step[step - 1]), same_noise)) continue;
        return "another value of an extra release: " + line + "\nundisturbed: " + reference.every_step[step - 1];
      }
      return fmt::format(
          "a release of step {} where the undisturbed run has {}", step_of(line),
          next < reference.lines.size() ? fmt::format("step {}", step_of(reference.lines[next])) : "none");
    }
    if (!agree(line, reference.lines[next], same_noise)) {
      return "another value: " + line + "\nundisturbed: " + reference.lines[next];
    }
    ++next;
  }
  return next == reference.lines.size() ? std::string()
                                        : fmt::format("{} of {} releases, the next one of step {}", next,
                                                      reference.lines.size(), step_of(reference.lines[next]));
}

std::string chain_fault(const std::vector<std::string>& lines, std::uint64_t every, const secrets::Keyring& keys) {
  std::string whole;
  std::string unchained;
  for (const std::string& line : lines) {
    whole += line + '\n';
    unchained += without_chain(line) + '\n';
  }
  journal::ReleaseChain chain{every};
  return journal::chained(unchained, chain, keys) == whole ? "" : "releases are not chained as if by one process";
}

std::string difference(const journal::State& state, const Reference& reference) {
  if (state.identity.steps.value() != reference.steps || state.record.position.value() != reference.position) {
    return fmt::format("step {} at {}, undisturbed {} at {}", state.identity.steps.value(),
                       state.record.position.value(), reference.steps, reference.position);
  }
  if (state.record.rejected != reference.rejected) return "another number of unusable records";
  if (state.identity.epoch != reference.epoch) return "another epoch than was asked for";
  return {};
}

std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace nustream::tests
