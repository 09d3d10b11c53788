// Pieces of the command line's grammar that commands share, and the commands that may talk to a broker.
#pragma once

#include <functional>
#include <string>

#include "cli/commands.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace nustream::cli {

/// What the parsed command line asks for; set by the subcommand that was chosen.
using Job = std::function<Exit()>;

/// Adds CONFIG and --set.
void add_config_arguments(CLI::App& command, ConfigArguments& arguments);
/// Adds -b and -X: where the brokers are, and which properties the client gets.
void add_broker_arguments(CLI::App& command, KafkaArguments& arguments);
/// Adds -b, -X, -t, -G and --until-end; returns the last of them.
CLI::Option* add_kafka_arguments(CLI::App& command, KafkaArguments& arguments);
/// Requires a number above 0, whole or not.
[[nodiscard]] CLI::Validator positive();
/// Requires a number, 0 or above.
[[nodiscard]] CLI::Validator not_negative();
/// Requires a number from 0 to 1.
[[nodiscard]] CLI::Validator share();

void add_fit(CLI::App& app, Job& job);
void add_solve(CLI::App& app, Job& job);
void add_verify(CLI::App& app, Job& job);
void add_export(CLI::App& app, Job& job);
void add_attach(CLI::App& app, Job& job);
void add_record(CLI::App& app, Job& job);
void add_topics(CLI::App& app, Job& job);
void add_check(CLI::App& app, Job& job);
void add_inspect(CLI::App& app, Job& job);
void add_users(CLI::App& app, Job& job);
void add_key(CLI::App& app, Job& job);
void add_account(CLI::App& app, Job& job);

}  // namespace nustream::cli
