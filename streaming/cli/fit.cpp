// The command line of `nustream fit`.
#include "fit/fit.h"

#include <CLI/CLI.hpp>

#include "cli/arguments.h"

namespace nustream::cli {
namespace {

/// Adds the options on how lines are read, as [stream] has them.
void add_layout(CLI::App& command, fit::Options& options) {
  command.add_option("--delimiter", options.layout.delimiter,
                     "of CSV (, and of a .tsv file tab): one character, or tab");
  command.add_option("--decimal", options.layout.decimal,
                     "what stands before the fraction of a number of CSV: . or ,");
  command.add_option("--skip-lines", options.layout.skip_lines, "skip so many lines above the header");
  command.add_option("--comment", options.layout.comment,
                     "skip lines right above the header that begin with this, such as #");
  command.add_option("--columns", options.layout.columns, "names, where the file has no header: x,y,z");
}

/// Files beside the answer, and how it is printed.
void add_outputs(CLI::App& command, fit::Options& options) {
  command.add_option("--write-config", options.output.write_config,
                     "a new file for a configuration with the ranges: running it spends again");
  command.add_option("--report", options.output.report, "write the fit, its cost and its ranges as one HTML file");
  command.add_option("--chart", options.output.chart, "write the slopes with their intervals as an SVG file");
  command.add_flag("--quiet", options.output.quiet, "print no table: errors, and what is the operator's");
  command.add_flag("--json", options.output.json, "print the result as JSON");
}

/// Public lists of which features of one column are made, beside those of --features.
void add_groups(CLI::App& command, fit::Options& options, CLI::Option* mean) {
  // One value each, because FILE may follow.
  command
      .add_option("--bins", options.bins,
                  "a column and public edges, age=18,30,45: a feature for 18 <= age < 30, and one for 30 <= age < 45")
      ->allow_extra_args(false)
      ->take_all()
      ->excludes(mean);
  command
      .add_option("--other", options.others,
                  "columns of --bins, or with texts in --features (c=a|b): a feature of what is not listed, too")
      ->allow_extra_args(false)
      ->take_all()
      ->excludes(mean);
}

/// How much each record counts: by a column of weights, or by what a count was made over.
void add_weights(CLI::App& command, fit::Options& options) {
  auto* weight = command.add_option("--weight", options.weight,
                                    "how much a record counts: a column, or log(column) and the like");
  auto* bound = command
                    .add_option("--weight-bound", options.weight_bound,
                                "a public number: a larger weight counts as this, whatever the data hold")
                    ->check(positive())
                    ->needs(weight);
  // The bound decides how far one record can move the answer. It cannot be read off the data, so that it has to be
  // given.
  weight->needs(bound);
  auto* exposure = command.add_option("--exposure", options.exposure.column,
                                      "with --poisson: over how long, or how many, a count was made: a column");
  command
      .add_option("--offset", options.exposure.offset,
                  "the same, where the column holds the natural logarithm of the exposure")
      ->excludes(exposure);
  command
      .add_option("--exposure-bound", options.exposure.bound,
                  "a public number: a larger exposure weighs as this, whatever the data hold")
      ->check(positive());
}

/// What is fitted to what, and how much each record counts.
void add_model(CLI::App& command, fit::Options& options) {
  command.add_option("--target", options.target, "the column to explain, or log(column) and the like")->required();
  auto* features =
      command.add_option("--features", options.features,
                         "columns, or maps of them: a,log(b),c=text,d=x|y,hash(e); \\, is a comma of a name");
  command
      .add_option("--hash", options.hash_buckets,
                  "how many buckets the texts of hash(column) fall into: a public number")
      ->check(CLI::Range(2, 4096))
      ->needs(features);
  // The flag names what happens without --features anyway. So nothing reads it: a script can say by it what is meant.
  static bool all_numeric = false;
  auto* all = command.add_flag("--all-numeric", all_numeric,
                               "every column of the header that is mostly numbers (the default of CSV)");
  features->excludes(all);
  auto* mean = command.add_flag("--mean", options.mean, "the target's mean, without features")
                   ->excludes(features)
                   ->excludes(all);
  auto* logistic = command.add_flag_callback(
      "--logistic", [&options] { options.likelihood = ranges::Likelihood::logistic; },
      "a logistic model of a target of 0 and 1");
  auto* poisson = command.add_flag_callback(
      "--poisson", [&options] { options.likelihood = ranges::Likelihood::poisson; }, "a log-linear model of counts");
  logistic->excludes(poisson)->excludes(mean);
  poisson->excludes(mean);
  add_groups(command, options, mean);
  add_weights(command, options);
}

/// What the fit may spend, and against which neighbours.
void add_privacy(CLI::App& command, fit::Options& options) {
  command.add_option("--rho", options.rho, "what this fit spends, zCDP (0.1)")->check(positive());
  command.add_option("--delta", options.deltas, "delta of the epsilon that is shown (1e-6); several: 1e-5,1e-6")
      ->delimiter(',');
  command.add_option("--budget", options.budget, "the most that all fits in the folder may spend together")
      ->check(positive());
  command.add_option("--account", options.account, "a budget that other streams over the same people share");
  command.add_flag("--replace-one", options.replace_one, "neighbours differ in a record's value, not in its absence");
}

}  // namespace

// For example: nustream fit FILE --target 'log(quantity)' --features 'log(unit_price)' --rho 0.1. The command takes
// no configuration.
void add_fit(CLI::App& app, Job& job) {
  static fit::Options options;
  CLI::App* command =
      app.add_subcommand("fit", "a private model of a file, without a configuration: ranges are measured too");
  command->add_option("FILE", options.file, "CSV or JSON lines; .gz, .zst, .bz2, .xz and .zip are read too")
      ->required();
  add_model(*command, options);
  add_privacy(*command, options);
  command->add_option("--format", options.layout.format, "csv or jsonl, where the file's name does not tell")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  add_layout(*command, options);
  command->add_option("--state", options.state, "folder of the ledger, the releases and the state (FILE.fit)");
  command->add_option("--key-directory", options.key_directory, "where the key is made (state.key_directory)");
  command->add_option("--witness", options.witness, "folder of the witness, or none (state.witness)");
  command->add_option("--insecure-seed", options.insecure_seed,
                      "noise that anybody can compute, for tests: every output says private: false");
  command
      ->add_option("--min-usable", options.min_usable,
                   "spend nothing (66) where a smaller share of the records can be used; that tells of them")
      ->check(share());
  command->add_flag("--look", options.look,
                    "tell what of the file can be used, NOT PRIVATE, for the operator alone; spend nothing");
  add_outputs(*command, options);
  command->callback([&job] { job = [] { return fit::run(options); }; });
}

}  // namespace nustream::cli
