// Makes a stream from a seed: settings of every kind as a configuration file, and records that suit them, bad ones
// among them.
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
  std::vector<bool> non_negative{};  ///< for each column, whether its transform takes such values alone
  Target target = Target::number;    ///< what the last column is
  std::uint64_t labels = 2;
  bool json = false;
  bool target_only = false;  ///< neighbours differ in a record's target alone
  std::uint64_t minibatch = 1;
  std::uint64_t stages = 1;
  bool batch_means = false;  ///< intervals come from means of batches, which the lane remembers
  double clip_norm = 1;
  bool reads_key = false;     ///< a feature is the key of a topic's record
  bool reads_header = false;  ///< a feature is the header `random_header` of a topic's record
  std::string user{};         ///< the column of users, where the unit is the user; else empty
  /// Whose times say in which window a record of a user counts. None: limits hold for ever.
  enum class Times : std::uint8_t { none, of_column, of_broker };
  Times times = Times::none;
};
inline constexpr const char* random_header = "h";
inline constexpr const char* random_time = "when";  ///< the column of a record's time, where there is one

/// A topic's record. A record of a file has its value alone.
struct RandomRecord {
  std::optional<std::string> value;  ///< empty for a tombstone
  std::optional<std::string> key{};
  std::vector<std::pair<std::string, std::optional<std::string>>> headers{};
};

/// What the caller can use.
struct StreamLimits {
  std::uint64_t steps = 100;    ///< correlations with a horizon get about as many steps
  bool replace_one = false;     ///< the other adjacency may come, too
  bool may_end_early = true;    ///< horizons and budgets may be below the number of steps
  bool several_passes = false;  ///< only correlations that account for several passes come
  bool beside_values = false;   ///< features of keys and headers may come, which only a topic's records have
  bool by_user = false;         ///< the unit is the user, each of whom has limits, perhaps within windows of time
};

/// Random settings under `seed`: every loss, schedule, projection, average and correlation; and in one stream of four
/// a model that is solved from running sums, whether its unit is the record or the user.
[[nodiscard]] RandomStream random_stream(std::uint64_t seed, const StreamLimits& limits);

/// The lines of [noise] alone, of every correlation.
[[nodiscard]] std::string random_correlation(std::uint64_t seed, const StreamLimits& limits);

/// The text of a record. Now and then it cannot be used, or is far out. `time` is what stands in the column of times.
[[nodiscard]] std::string random_record(const RandomStream& stream, std::uint64_t seed, const std::string& time = {});

/// A record with what comes beside its text, whether or not that is read; now and then a tombstone.
[[nodiscard]] RandomRecord random_message(const RandomStream& stream, std::uint64_t seed);

/// Bytes that are hardly ever a record; without line breaks where `one_line`.
[[nodiscard]] std::string random_garbage(std::uint64_t seed, bool one_line);

}  // namespace nustream::tests
