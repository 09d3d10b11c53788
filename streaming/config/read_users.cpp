// Reads who a user is and what one user may do. This comes after the other sections, because most of it is refusing
// what has no promise by user, and setting what the windows of limits need of the input.
#include "config/users.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "config/read_sections.h"
#include "error.h"

namespace nustream::config {
namespace {

/// All keys of [users], which stand in a file that other commands read, too.
constexpr const char* keys_of_users[] = {"participations", "separation", "mass", "store",
                                         "partitioner",    "period",     "times"};

/// Reads (k, b): at most k contributions, any two of them b steps apart or more.
std::optional<privacy::Participation> read_participation(const Section& section) {
  const auto times = section.count("participations");
  const auto separation = section.count("separation");
  if (!times) {
    if (separation) section.refuse("separation", "only together with participations");
    return std::nullopt;
  }
  // 2^32 − 1 is the count that marks a closed user.
  if (*times == 0 || *times > users::times_max) section.refuse("participations", "a whole number from 1 to 2^32 - 2");
  if (separation && *separation == 0) section.refuse("separation", "a whole number of steps > 0");
  return privacy::Participation{*times, separation.value_or(1)};
}

/// Reads W, the largest sum of the norms of a user's contributions, in units of a step's bound (G for a descent).
std::optional<Mass> read_mass(const Section& section) {
  const auto mass = section.number("mass");
  if (!mass) return std::nullopt;
  // Mass is charged in parts of 2^-31 of it. With more mass than this, one contribution would be only a few parts.
  if (!(*mass >= 0x1p-20 && *mass <= 0x1p20)) section.refuse("mass", "a number > 0, from 2^-20 to 2^20");
  return Mass{*mass};
}

/// Reads the windows of limits. A record's time decides in which window the record counts. Append time is the
/// broker's, and nobody can choose it. Any other time is somebody's word, and the operator has to vouch for it.
std::optional<users::Windows> read_windows(const Section& section, InputSettings& input) {
  const auto period = section.text("period");
  const auto times = section.text("times");
  if (!period) {
    if (times) section.refuse("times", "only together with period");
    return std::nullopt;
  }
  const auto length = users::parse_period(*period);
  if (!length) {
    section.refuse("period",
                   "an ISO 8601 duration of whole days, hours, minutes and seconds, such as \"P30D\" or "
                   "\"PT12H\", from a second to 36,500 days");
  }
  if (times && *times != "trusted")
    section.refuse("times", "\"trusted\", or leave it out: then windows go by append time");
  // Where no column is named, a topic's own time serves. The messages have to carry the broker's append time.
  const bool is_appended = input.time_column.empty() || input.time_column == timestamp_column;
  if (times && input.time_column.empty())
    section.refuse("times", "only together with stream.time, which names the column");
  // A record that hides its time could move the window of every user.
  if (times && hides_times(input)) section.refuse("times", public_times_wanted);
  if (!times && !is_appended) {
    section.refuse("period",
                   "together with users.times = \"trusted\" where stream.time is a column: else windows go by "
                   "\"@timestamp\", the time at which Kafka appended a record");
  }
  if (!times) {
    input.time_column = timestamp_column;
    // A producer's time under "@timestamp" is refused record by record; it could put a record into any window.
    input.append_times_only = true;
  } else {
    input.times_public = true;  // even a record that cannot be used has its time
  }
  return users::Windows{*length, times.has_value()};
}

/// Reads the limits of a stream's users; at least one of the two kinds is needed.
users::Limits read_limits(const Section& section, InputSettings& input) {
  const auto participation = read_participation(section);
  const auto mass = read_mass(section);
  // Without any limit a user would have no bounded sensitivity.
  if (!participation && !mass) section.missing("participations");
  return {participation, mass, read_windows(section, input)};
}

/// The partitioner of the topic's producers, where users are its keys.
std::optional<users::Partitioner> read_partitioner(const Section& section, const std::string& column) {
  using users::Partitioner;
  using Choice = std::optional<Partitioner>;
  const auto chosen = section.choice<Choice>("partitioner", Choice{},
                                             {{"murmur2", Partitioner::murmur2}, {"crc32", Partitioner::crc32}});
  if (chosen && column != key_column) {
    section.refuse("partitioner",
                   "no partitioner where privacy.user is not \"@key\": partitioners see the key alone");
  }
  return chosen;
}

/// Refuses limits for a table: every user may take part in each of its steps, and its noise is calibrated for that.
void refuse_limits_of_tables(const Section& root) {
  const Section users = root.section("users");
  for (const char* key : keys_of_users) {
    if (users.has(key)) users.refuse(key, "nothing for a table: every user may take part in each of its steps");
  }
}

/// Refuses batch means of a stream whose users may be in several batches. The means would depend on each other
/// through these users, and an interval that assumes them independent would be too narrow. A user who contributes
/// once is in one batch alone.
void refuse_batches_that_share_users(const Section& root, const Config& config) {
  const users::Limits& limits = *config.users->limits;
  // With windows even participations = 1 lets a user contribute again in the next window.
  const bool once = limits.participation() && limits.participation()->times() == 1 && !limits.windows();
  if (!config.descent.batching || once || config.intervals.kind != Intervals::Kind::batch_means) return;
  root.section("intervals")
      .refuse("kind",
              "\"none\" where a user may contribute to several batches, whose means then depend on each other: "
              "batch means of a stream of users need users.participations = 1 without users.period");
}

/// Refuses models and intervals that have no promise, or no formula, for users.
void refuse_what_is_not_there(const Section& root, const Config& config) {
  const Section privacy = root.section("privacy");
  if (config.privacy.protects == Protects::target) privacy.refuse("unit", "\"record\" where protects = \"target\"");
  if (config.descent.first_stage) {
    privacy.refuse("unit",
                   "\"record\" where there are [[endogenous]] regressors, for users are not yet supported there");
  }
  if (config.moments && config.moments->spread != moments::Spread::none) {
    root.section("intervals")
        .refuse("kind",
                "\"none\" where privacy.unit = \"user\" and model.estimator = \"moments\": a user's rows are "
                "no independent records");
  }
  if (config.descent.moments) {
    root.section("intervals")
        .refuse("kind", "\"batch-means\" where privacy.unit = \"user\": a sandwich is of single records");
  }
}

/// Takes note of the keys of users where the unit is the record. They may stand there unused, so that
/// --set privacy.unit=… is enough to compare the two units; unit_is_the_record() warns.
void ignore_users(const Section& root, Config& config) {
  const Section privacy = root.section("privacy");
  const Section section = root.section("users");
  for (const char* key : keys_of_users) static_cast<void>(section.has(key));
  // These two are not ignored like the others: with them a promise reads as one about windows,
  // which records do not have.
  for (const char* key : {"period", "times"}) {
    if (section.has(key)) section.refuse(key, "only with privacy.unit = \"user\": a record has no windows");
  }
  config.privacy.ignores_users = privacy.text("user") || privacy.has("user_null") || root.has("users");
}

/// The column that names the user of a record.
std::string read_user_column(const Section& privacy) {
  const auto column = privacy.text("user");
  if (!column) privacy.missing("user");
  const bool is_beside_value = column->starts_with('@');
  const bool is_header = column->starts_with(header_prefix) && *column != header_prefix;
  if (column->empty() || (is_beside_value && !is_header && *column != key_column)) {
    privacy.refuse("user", "a column, \"@key\" or \"@header:NAME\"");
  }
  return *column;
}

}  // namespace

void read_users(const Section& root, Purpose purpose, Config& config) {
  const Section privacy = root.section("privacy");
  const Section section = root.section("users");
  const std::string unit = privacy.text("unit").value_or("record");
  if (unit != "record" && unit != "user") privacy.refuse("unit", "\"record\" or \"user\"");
  const std::vector<std::string> nobody = privacy.texts("user_null");
  if (unit == "record") {
    ignore_users(root, config);
    return;
  }
  const std::string column = read_user_column(privacy);
  refuse_what_is_not_there(root, config);
  config.users = Users{column, nobody, std::nullopt, identity_of_users(column, config.input)};
  if (purpose == Purpose::table) {
    refuse_limits_of_tables(root);
    // With running sums the number of steps follows from the number of rows, in settle_design().
    // Every user may take part in each step of a table: k is the number of steps, and any two may follow each other.
    config.users->limits = users::Limits({{std::max<std::uint64_t>(1, config.estimate.steps), 1}}, {});
  } else {
    config.users->limits = read_limits(section, config.input);
    refuse_batches_that_share_users(root, config);
    if (config.users->limits->windows() && !config.privacy.account.empty()) {
      privacy.refuse("account", "nothing together with users.period: an account adds up promises that hold for ever");
    }
    config.users->on_disk = section.choice<bool>("store", false, {{"memory", false}, {"disk", true}});
    config.users->are_kept = true;
    config.users->partitioner = read_partitioner(section, column);
  }
  config.descent.users = config.users->limits;
  config.schema.user = record::UserColumn{column, nobody, nullptr};
}

std::string identity_of_users(const std::string& column, const InputSettings& input) {
  if (column.starts_with('@')) return column;
  std::string identity = fmt::format("{} of {}", column, traits_of(input.format).digest_name);
  if (input.envelope != Envelope::none) identity += fmt::format(", envelope {}", static_cast<int>(input.envelope));
  // A header says which field is the column. Without one only the place of the column's name among the settings does.
  if (has_columns(input) && !input.columns.empty()) {
    const auto place = std::ranges::find(input.columns, column) - input.columns.begin();
    identity += fmt::format(", field {} by {}", place + 1, int{input.delimiter});
  }
  return identity;
}

UserGuesses read_user_guesses(const Section& plan) {
  UserGuesses guesses{plan.count("users"), plan.count("user_records"), plan.count("burst").value_or(1),
                      plan.number("user_spread").value_or(1), plan.number("user_deviation")};
  if (guesses.users == std::uint64_t{0}) plan.refuse("users", "a whole number > 0");
  if (guesses.records == std::uint64_t{0}) plan.refuse("user_records", "a whole number > 0");
  if (guesses.burst == 0) plan.refuse("burst", "a whole number > 0");
  if (!(guesses.spread >= 0 && guesses.spread <= 5)) plan.refuse("user_spread", "a number from 0 to 5");
  // What is a user's own in the target is part of the residual, so that it cannot vary more than that.
  const double residual = plan.number("residual").value_or(1);
  if (guesses.deviation && !(*guesses.deviation >= 0 && *guesses.deviation <= residual)) {
    plan.refuse("user_deviation", "a number from 0 to plan.residual, which is 1 unless set");
  }
  return guesses;
}

users::Partitioner partitioner_of(const Config& config) {
  if (config.users && config.users->partitioner) return *config.users->partitioner;
  // Kafka's Java client divides keys by murmur2, so that a topic with users as keys has each user in one partition.
  const bool is_key = config.users && config.users->column == key_column;
  return is_key ? users::Partitioner::murmur2 : users::Partitioner::user_hash;
}

}  // namespace nustream::config
