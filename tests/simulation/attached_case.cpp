#include "attached_case.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "attach/record_sizes.h"
#include "secrets/random.h"
#include "user_windows.h"

namespace nustream::tests {
namespace {

constexpr std::size_t letter_bytes_max = 1 << 20;
constexpr std::size_t user_bytes_max = 1 << 20;
constexpr std::uint32_t lanes_with_room = 1000;

/// Draws sections of the settings beside the stream's own.
std::string draw_sections(Draws& draws, std::uint64_t minibatch, std::uint64_t records, bool with_letters,
                          bool stops) {
  return fmt::format(
      "[state]\ncommit_records = {}\ncommit_seconds = {}\n[kafka]\nbrokers = \"simulated\"\n"
      "topic = \"{}\"\ngroup = \"group\"\nbuffered_records = {}\n{}{}",
      minibatch * (1 + draws.draw(25)), draws.chance(0.5) ? 0.05 : 5.0, attached_topics::input,
      minibatch * (2 + draws.draw(40)),
      with_letters ? fmt::format("dead_letter_topic = \"{}\"\n", attached_topics::letters) : "",
      stops ? fmt::format("stop = {}\n", records / 2 + draws.draw(records)) : "");
}

void draw_keys(AttachedCase& drawn) {
  const noise::KeyBytes master = secrets::random_key();
  drawn.keys = secrets::Keyring::from_master(master);
}

/// Divides users among the lanes, as attach does at its start.
void divide_users(AttachedCase& drawn) {
  if (drawn.settings.config.users) drawn.settings.config.users->lanes = drawn.partitions;
  drawn.settings.digest =
      config::settings_digest(drawn.settings.config, drawn.settings.mechanism, drawn.keys.is_private());
}

/// Draws whether the number of partitions changes. It does not where an epoch may have an end of its own, since an
/// instance with --new-epoch begins another one there.
void draw_change(Draws& draws, AttachedCase& drawn) {
  const config::Config& config = drawn.settings.config;
  if (drawn.settings.mechanism.horizon() || config.privacy.budget || config.kafka.stop || draws.chance(0.15)) return;
  drawn.partitions_later += 1 + static_cast<std::uint32_t>(draws.draw(2));
}

/// Draws limits that no settings name.
void draw_limits(Draws& draws, AttachedCase& drawn) {
  config::Config& config = drawn.settings.config;
  drawn.release_bytes_max = attach::release_bytes(config, drawn.settings.mechanism);
  config.publishing.linger = std::chrono::milliseconds(draws.chance(0.5) ? 0 : 300);
  config.publishing.outbox_bytes_max = drawn.release_bytes_max * (1 + draws.draw(8));
  drawn.faults = {draws.chance(0.5) ? 0.2 : 0, draws.chance(0.5) ? 0.03 : 0, draws.chance(0.5) ? 0.15 : 0,
                  draws.chance(0.5) ? 0.5 : 0};
  // Of running sums every step is released.
  if (draws.chance(0.4) && !config.moments)
    config.publishing.interval = std::chrono::duration<double>(draws.chance(0.5) ? 0.2 : 2);
}

std::optional<AttachedCase> try_case(Draws& draws, std::uint64_t seed, const Given* given, bool by_user) {
  const std::uint64_t steps = 20 + draws.draw(80);
  const RandomStream stream =
      given ? given->stream
            : random_stream(draws.random(),
                            {.steps = steps, .replace_one = true, .beside_values = true, .by_user = by_user});
  const auto partitions = 1 + static_cast<std::uint32_t>(draws.draw(2));
  const std::uint64_t records =
      given ? given->records.size() : steps * stream.minibatch + draws.draw(stream.minibatch);
  const bool with_letters = draws.chance(0.5);
  const bool stops = !given && draws.chance(0.3);
  std::optional<Settings> settings = settings_of(
      stream, draw_sections(draws, stream.minibatch, records, with_letters, stops), privacy::Participation::once());
  if (!settings) return std::nullopt;
  AttachedCase drawn{.stream = stream,
                     .settings = std::move(*settings),
                     .keys = secrets::Keyring::insecure(seed),
                     .fresh_keys = !given && draws.chance(0.2),
                     .partitions = partitions,
                     .records = records,
                     .with_letters = with_letters};
  drawn.partitions_later = drawn.partitions;
  // The records of a store of users are short, so that a batch's changes are several records.
  if (by_user) drawn.user_entries_max = 1 + draws.draw(8);
  if (by_user) draw_change(draws, drawn);
  if (drawn.fresh_keys) draw_keys(drawn);
  divide_users(drawn);
  draw_limits(draws, drawn);
  return drawn;
}

}  // namespace

AttachedCase AttachedCase::divided_anew() const {
  AttachedCase anew = *this;
  anew.partitions = partitions_later;
  divide_users(anew);
  return anew;
}

attach::Setup AttachedCase::setup() const {
  return {settings.config,
          config::EpochDigests(settings.config, settings.mechanism, keys.is_private()),
          keys,
          release_bytes_max,
          letter_bytes_max,
          lanes_with_room,
          user_bytes_max,
          user_entries_max};
}

std::optional<AttachedCase> draw_attached_case(Draws& draws, std::uint64_t seed, const Given* given, bool by_user) {
  return first_accepted([&] { return try_case(draws, seed, given, by_user); });
}

std::vector<std::vector<SimulatedEntry>> draw_input(Draws& draws, const AttachedCase& of, const Given* given) {
  std::vector<std::vector<SimulatedEntry>> input(of.partitions_later);
  std::int64_t time = 1'700'000'000'000;
  const bool in_windows = of.stream.times == RandomStream::Times::of_broker;
  for (std::vector<SimulatedEntry>& partition : input) {
    const std::vector<double> times = in_windows ? some_times(draws.random, of.records) : std::vector<double>();
    const bool is_given = given && &partition == &input[given_lane.value()];
    for (std::uint64_t i = 0; i < of.records; ++i) {
      SimulatedEntry entry;
      RandomRecord record = is_given ? given->records[i] : random_message(of.stream, draws.random());
      entry.value = std::move(record.value);
      entry.key = std::move(record.key);
      entry.headers = std::move(record.headers);
      if (!in_windows) {
        time += static_cast<std::int64_t>(draws.draw(1000)) - 300;  // the clocks of producers go back now and then
      } else if (!std::isnan(times[i])) {                           // a broker gives every record a time
        time = 1'700'000'000'000 + std::llround(1000 * times[i]);
      }
      entry.milliseconds = time;
      partition.push_back(std::move(entry));
      if (draws.chance(0.1)) {  // offsets that hold no records
        SimulatedEntry marker;
        marker.is_control = true;
        partition.push_back(std::move(marker));
      }
    }
    std::reverse(partition.begin(), partition.end());
  }
  return input;
}

}  // namespace nustream::tests
