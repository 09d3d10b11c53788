// The command line of `nustream account`: a budget that several streams over the same people share.
#include <optional>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "error.h"
#include "journal/budget_account.h"
#include "journal/ledger_chain.h"
#include "publish/json_writer.h"
#include "secrets/hex.h"
#include "secrets/locked_memory.h"
#include "secrets/random.h"

namespace nustream::cli {
namespace {

struct AccountArguments {
  std::string file;
  double rho = 0;
  std::string stream;
  bool lower = false;
  bool replace_one = false;
  std::string unit = "record";
  bool json = false;
};

/// `nustream account new`: makes the file with its budget and its neighbours, both of which stay as they are for
/// ever.
Exit account_new(const AccountArguments& arguments) {
  secrets::harden_process();
  const privacy::Neighbours neighbours{
      arguments.replace_one ? privacy::Adjacency::replace_one : privacy::Adjacency::zero_out,
      arguments.unit == "target", arguments.unit == "user"};
  journal::create_account(*journal::posix_disk(), arguments.file, Rho{arguments.rho}, neighbours);
  fmt::print("{}: rho {:g} for all streams whose privacy.account names it; neighbours: {}, {}\n", arguments.file,
             arguments.rho, privacy::name(neighbours.adjacency), journal::protected_by(neighbours));
  return Exit::done;
}

/// What --json prints: the budget, the sum of all charges, and the last charge of each member.
std::string to_json(const journal::AccountBook& book) {
  return publish::object_text([&](publish::JsonWriter& json) {
    json.field("budget", book.budget.value());
    json.field("total", book.total().value());
    json.field("adjacency", privacy::name(book.neighbours.adjacency));
    json.field("protects", journal::protected_by(book.neighbours));
    const auto members = json.array("members");
    for (const journal::Charge& charge : book.charges) {
      const auto object = json.object();
      json.field("member", secrets::to_hex(charge.member.id));
      json.field("stream", charge.member.stream);
      json.field("lane", charge.member.lane.value());
      json.field(std::string_view(charge.is_reserved ? "reserved" : "spent"), charge.rho.value());
    }
  });
}

/// `nustream account show`: who is charged how much. It takes no lock, since a line is there as a whole or is left
/// out.
Exit account_show(const AccountArguments& arguments) {
  secrets::harden_process();
  const journal::AccountBook book = journal::read_account(*journal::posix_disk(), arguments.file);
  if (arguments.json) {
    fmt::print("{}\n", to_json(book));
    return Exit::done;
  }
  fmt::print("{}: rho {:.6g} of {:g} is charged ({}, {})\n", arguments.file, book.total().value(),
             book.budget.value(), privacy::name(book.neighbours.adjacency), journal::protected_by(book.neighbours));
  if (!book.charges.empty()) fmt::print("{:<32} {:>5} {:>12}  {}\n", "stream", "lane", "rho", "");
  for (const journal::Charge& charge : book.charges) {
    fmt::print("{:<32} {:>5} {:>12.6g}  {}\n", charge.member.stream, charge.member.lane.value(), charge.rho.value(),
               charge.is_reserved ? "reserved: runs, or was killed" : "spent");
  }
  return Exit::done;
}

/// Refuses a charge that is lower than the one before, unless --lower says that it is meant. Only the stream itself
/// knows what it spent. A charge that is too low by mistake would let others spend the same budget again.
void require_no_less(const journal::Charge* before, const AccountArguments& arguments) {
  if (before == nullptr || arguments.rho >= before->rho.value() || arguments.lower) return;
  throw Failure(
      Exit::usage,
      fmt::format(
          "--rho {:g}: {:g} is reserved for '{}', and that stream may have spent it; if its ledger has spent no "
          "more than the lower figure and its privacy.budget is set to it, add --lower",
          arguments.rho, before->rho.value(), arguments.stream));
}

/// Reserves a charge. A name that has a charge already is the same member, and the new charge replaces it.
Exit account_reserve(const AccountArguments& arguments) {
  secrets::harden_process();
  const auto disk = journal::posix_disk();
  journal::Member member{{}, arguments.stream, LaneId{0}};
  // Drawn for a new name, and replaced below where the name has a charge. The prefix "reserved for " keeps such a
  // member apart from a folder whose stream has that name.
  secrets::fill_random(member.id);
  const std::string reserved = "reserved for " + arguments.stream;
  for (const journal::Charge& charge : journal::read_account(*disk, arguments.file).charges) {
    if (charge.member.stream == reserved) member.id = charge.member.id;
  }
  member.stream = reserved;
  journal::charge(*disk, arguments.file, member, [&](const journal::AccountBook& book) {
    // Asked under the account's lock, so that the charge that is compared is the one that is replaced.
    require_no_less(book.charge_of(member.id), arguments);
    // A reservation: nobody tells the account when such a stream ends, so that it stays charged with all of its part.
    return journal::Charge{member, Rho{arguments.rho}, true};
  });
  fmt::print("{}: rho {:g} is kept for '{}'; its settings say privacy.budget = {:g}\n", arguments.file, arguments.rho,
             arguments.stream, arguments.rho);
  return Exit::done;
}

}  // namespace

// The grammar of three commands (docs/operations.md#one-budget-for-several-streams). For example:
//
//     nustream account new people --rho 0.15
//     nustream account reserve people live --rho 0.05
//     nustream account show people
void add_account(CLI::App& app, Job& job) {
  // Static, since the callbacks run after this function has returned. Each subcommand has arguments of its own.
  static AccountArguments made;
  static AccountArguments shown;
  static AccountArguments kept;
  CLI::App* command = app.add_subcommand("account", "a budget that several streams over the same people share");
  command->require_subcommand(1);
  CLI::App* make = command->add_subcommand("new", "make one");
  make->add_option("FILE", made.file, "the account; never overwritten")->required();
  make->add_option("--rho", made.rho, "what all streams may spend together, zCDP")->required()->check(positive());
  make->add_flag("--replace-one", made.replace_one, "neighbours differ in a value, not in its absence");
  make->add_option("--unit", made.unit, "what they differ in: record, target or user (record)")
      ->check(CLI::IsMember({"record", "target", "user"}));
  make->callback([&job] { job = [] { return account_new(made); }; });
  CLI::App* show = command->add_subcommand("show", "who was charged how much");
  show->add_option("FILE", shown.file, "the account")->required();
  show->add_flag("--json", shown.json, "print JSON");
  show->callback([&job] { job = [] { return account_show(shown); }; });
  CLI::App* reserve = command->add_subcommand(
      "reserve", "keep a part for a stream that cannot ask by itself, such as an attached one");
  reserve->add_option("FILE", kept.file, "the account")->required();
  reserve->add_option("STREAM", kept.stream, "its name")->required();
  reserve->add_option("--rho", kept.rho, "the part: its privacy.budget")->required()->check(positive());
  reserve->add_flag("--lower", kept.lower,
                    "make the part smaller; you confirm that the stream has not spent more than the new part");
  reserve->callback([&job] { job = [] { return account_reserve(kept); }; });
}

}  // namespace nustream::cli
