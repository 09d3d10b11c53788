// The commands as functions of their arguments. Only app.cpp knows what the command line looks like.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attach/attach.h"
#include "audit/audit.h"
#include "error.h"
#include "estimate/estimate.h"
#include "local/commands.h"
#include "recording/record_topic.h"
#include "replay/replay.h"
#include "solve/solve.h"

namespace nustream::cli {

/// CONFIG and --set, which most commands share.
struct ConfigArguments {
  std::string file;
  std::vector<std::string> overrides;
};

struct AuditArguments {
  ConfigArguments config;
  audit::Options options;
};
/// Proves a lower bound of ε by playing games, and compares it with the claim.
[[nodiscard]] Exit audit(const AuditArguments& arguments);

/// The value of --chart without a file: the picture is drawn in the terminal.
inline constexpr const char* terminal_chart = "-";

struct PlanArguments {
  ConfigArguments config;
  std::uint64_t passes = 1;
  std::uint64_t records = 0;  ///< of one pass; needed where there are several
  std::uint64_t users = 0;    ///< different ones in the input; 0: not known
  bool json = false;
  std::string report{};  ///< file for the plan as a page; empty: none
  std::string chart{};   ///< file for a picture of the predicted error; "-": the terminal; empty: none
};
/// Prints what a budget buys, before any data is read: over a table where the file has a section [estimate], else
/// over a stream.
[[nodiscard]] Exit plan(const PlanArguments& arguments);
/// The plan as JSON, which --json prints.
[[nodiscard]] std::string plan_json(const PlanArguments& arguments);

struct ReplayArguments {
  ConfigArguments config;
  bool resume = false;
  bool new_epoch = false;
  std::string speed = "max";
  std::string write_config;  ///< a new file for the settings with what was measured
  folder::Options options;
};
/// Makes a private model of a recorded stream.
[[nodiscard]] Exit replay(const ReplayArguments& arguments);

struct EstimateArguments {
  ConfigArguments config;
  std::vector<std::string> files;  ///< read in place of stream.input
  bool resume = false;
  bool new_epoch = false;
  std::string write_config;  ///< a new file for the settings with what was measured
  estimate::Options options;
};
/// Makes a private estimate, with intervals, of a whole table.
[[nodiscard]] Exit estimate(const EstimateArguments& arguments);

struct SolveArguments {
  ConfigArguments config;
  solve::Options options;
};
/// Solves other linear models from the sums that a release shows.
[[nodiscard]] Exit solve(const SolveArguments& arguments);

/// Where the topic is. These arguments replace what [kafka] of the file says.
struct KafkaArguments {
  std::string brokers;
  std::string topic;
  std::string group;
  std::string start;
  std::string stop;
  bool until_end = false;
  std::vector<std::string> properties;  ///< properties of librdkafka as NAME=VALUE
};
/// The overrides of the file, followed by those that these arguments stand for. The properties are not among them.
[[nodiscard]] std::vector<std::string> overrides_of(const ConfigArguments& config, const KafkaArguments& kafka);
/// Adds the arguments' properties of librdkafka. Throws Failure(usage) for one that is not NAME=VALUE.
void add_properties(const KafkaArguments& arguments, config::Kafka& kafka);
/// Reads the configuration with these arguments, as if they were written in it.
[[nodiscard]] config::Config read_config(const ConfigArguments& config, const KafkaArguments& kafka);

struct CheckArguments {
  ConfigArguments config;
  KafkaArguments kafka;
  bool data = false;                     ///< make a dry run over an input as well
  std::vector<std::string> files;        ///< read in place of stream.input
  std::optional<std::uint64_t> records;  ///< read this number of first records; of a topic, where there are no files
  std::optional<double> min_usable;      ///< the smallest share of them that has to be usable
  bool json = false;
};
/// Checks a configuration without running it. With `data` it reads records too, but charges nothing and keeps
/// nothing.
[[nodiscard]] Exit check(const CheckArguments& arguments);

struct AttachArguments {
  ConfigArguments config;
  KafkaArguments kafka;
  attach::Options options;
  std::optional<double> min_usable;  ///< refused, with the command that looks at records beforehand
};
/// Makes a live private model of a Kafka topic.
[[nodiscard]] Exit attach(const AttachArguments& arguments);

struct RecordArguments {
  ConfigArguments config;
  KafkaArguments kafka;
  recording::Options options;
};
/// Records a Kafka topic into a folder of segments.
[[nodiscard]] Exit record(const RecordArguments& arguments);

struct TopicsArguments {
  ConfigArguments config;
  KafkaArguments kafka;
  bool create = false;
  bool input = false;                       ///< show or make the input topic too
  std::optional<std::uint32_t> partitions;  ///< empty: as many as the input has, or 1
  std::uint32_t replication = 3;
};
/// Shows the topics that a stream needs beside its input: what is wanted of each, and what the brokers say is there.
/// Makes them where `create` asks for it.
[[nodiscard]] Exit topics(const TopicsArguments& arguments);

struct InspectArguments {
  KafkaArguments kafka;  ///< where the topics of an attached stream are
  std::string place;     ///< a state folder, or the configuration of an attached stream
  std::string key_file;  ///< empty: where "key" in the folder leads to, or the configuration's key
  std::string witness;   ///< folder of the witness; empty: the one beside the key, or the configuration's
  std::optional<std::uint64_t> insecure_seed;
  bool chart = false;  ///< draw the path of a folder's main coefficient, in letters
  bool users = false;  ///< show how many users there are, and how much they have used up
  bool json = false;
};
/// Shows state, ledger and last release of a state folder, or of each lane of an attached stream.
[[nodiscard]] Exit inspect(const InspectArguments& arguments);

struct UsersArguments {
  ConfigArguments config;
  KafkaArguments kafka;  ///< where the topics of an attached stream are
  std::optional<std::uint64_t> insecure_seed;
};
/// Closes the users whose identifiers are read from standard input.
[[nodiscard]] Exit users_close(const UsersArguments& arguments);
/// Destroys what is known about the users of a stream that is over.
[[nodiscard]] Exit users_end(const UsersArguments& arguments);

struct KeyArguments {
  std::string file;
  bool json = false;
};
/// Writes a new key file.
[[nodiscard]] Exit key_new(const KeyArguments& arguments);

struct RotateArguments {
  KafkaArguments kafka;  ///< where the topics of an attached stream are
  std::string place;     ///< a state folder, or the configuration of an attached stream
  std::string old_key;   ///< empty: where "key" in the folder leads to, or the configuration's key
  std::string new_key;
  std::string witness;  ///< folder of the witness; empty: the one beside the key
  bool json = false;
};
/// Seals a folder's state, or the states of an attached stream, under a new key file.
[[nodiscard]] Exit key_rotate(const RotateArguments& arguments);

struct LocalRandomizeArguments {
  ConfigArguments config;
  std::string file;  ///< empty: stream.input, or standard input
  local::RandomizeOptions options;
};
/// Turns users' records into noisy reports.
[[nodiscard]] Exit local_randomize(const LocalRandomizeArguments& arguments);

struct LocalCollectArguments {
  ConfigArguments config;
  KafkaArguments kafka;
  local::CollectOptions options;
};
/// Makes a model of reports.
[[nodiscard]] Exit local_collect(const LocalCollectArguments& arguments);

/// Runs one command and returns its exit code (docs/exit-codes.md). Every failure is one line on standard error.
[[nodiscard]] int run(int argc, char** argv);

}  // namespace nustream::cli
