// A stream from a seed: settings of every kind as a configuration file says them, and records that suit them, bad
// ones too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nustream::tests {

/// Settings as text, and what records look like under them.
struct RandomStream {
  enum class Target { number, label, count, none };

  std::string toml;                  ///< without [stream] input, [kafka] and [state]
  std::vector<std::string> columns;  ///< in the order of a CSV record
  std::vector<bool> non_negative{};  ///< of each column, what its transform takes
  Target target = Target::number;    ///< of the last column
  std::uint64_t labels = 2;
  bool json = false;
  bool target_only = false;  ///< neighbours differ in a record's target alone
  std::uint64_t minibatch = 1;
  std::uint64_t stages = 1;
  bool batch_means = false;  ///< intervals by means of batches, which the lane remembers
  double clip_norm = 1;
  bool reads_key = false;     ///< a feature is the key of a topic's record
  bool reads_header = false;  ///< a feature is its header `random_header`
};
inline constexpr const char* random_header = "h";

/// A topic's record: what a file has no place for stays empty there.
struct RandomRecord {
  std::optional<std::string> value;  ///< empty: a tombstone
  std::optional<std::string> key{};
  std::vector<std::pair<std::string, std::optional<std::string>>> headers{};
};

/// What the caller can do with.
struct StreamLimits {
  std::uint64_t steps = 100;    ///< correlations with a horizon get about as many steps
  bool replace_one = false;     ///< the other adjacency, too
  bool may_end_early = true;    ///< horizons and budgets below the number of steps
  bool several_passes = false;  ///< only correlations that account for them
  bool beside_values = false;   ///< features of keys and headers, too: of a topic's records alone
};

/// Random settings under `seed`: every loss, schedule, projection, average and correlation.
[[nodiscard]] RandomStream random_stream(std::uint64_t seed, const StreamLimits& limits);

/// The lines of [noise] alone: every correlation.
[[nodiscard]] std::string random_correlation(std::uint64_t seed, const StreamLimits& limits);

/// The text of a record: now and then one that cannot be used, or that is far out.
[[nodiscard]] std::string random_record(const RandomStream& stream, std::uint64_t seed);

/// The same with what stands beside the text, whether or not it is read; now and then a tombstone.
[[nodiscard]] RandomRecord random_message(const RandomStream& stream, std::uint64_t seed);

/// Bytes that are hardly ever a record; without line breaks where `one_line`.
[[nodiscard]] std::string random_garbage(std::uint64_t seed, bool one_line);

}  // namespace nustream::tests
