#include "journal/budget_account.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>
#include <utility>

#include "error.h"
#include "journal/ledger_chain.h"
#include "journal/line_fields.h"
#include "publish/json_text.h"
#include "secrets/hex.h"

namespace nustream::journal {
namespace {

constexpr std::chrono::milliseconds patience{10'000};
constexpr std::chrono::milliseconds between_looks{50};

std::string header_line(Rho budget, privacy::Neighbours neighbours) {
  std::string line = R"({"format":1)";
  publish::append_field("budget", budget.value(), line);
  publish::append_field("adjacency", privacy::name(neighbours.adjacency), line);
  publish::append_field("protects", protected_by(neighbours), line);
  return line + "}\n";
}

std::string charge_line(const Charge& charge, const Hash& head) {
  std::string line = R"({"format":1)";
  publish::append_field("member", secrets::to_hex(charge.member.id), line);
  publish::append_field("stream", charge.member.stream, line);
  publish::append_field("lane", std::uint64_t{charge.member.lane.value()}, line);
  publish::append_field(charge.is_reserved ? "reserved" : "spent", charge.rho.value(), line);
  publish::append_field("previous", secrets::to_hex(head), line);
  return line + "}\n";
}

std::string number(Rho rho) {
  std::string text;
  publish::append_number(rho.value(), text);
  return text;
}

[[noreturn]] void damaged(const std::string& what) {
  throw Failure(Exit::data, what + "; restore the account: what was spent cannot be known otherwise");
}

void check_account_format(const Object& object) {
  const std::uint64_t format = count_in(object, "format");
  if (format == 1) return;
  throw Failure(Exit::data, "the account has a line of format " + std::to_string(format) +
                                ", this version reads format 1; use the version that wrote it");
}

Charge charge_in(const Object& object) {
  Charge charge;
  if (!secrets::from_hex(text_in(object, "member"), charge.member.id)) damaged("a line names no member");
  charge.member.stream = text_in(object, "stream");
  charge.member.lane = LaneId{small_count_in(object, "lane")};
  charge.is_reserved = has_field(object, "reserved");
  charge.rho = rho_in(object, charge.is_reserved ? "reserved" : "spent");
  return charge;
}

void keep(AccountBook& book, Charge charge) {
  const auto known =
      std::ranges::find_if(book.charges, [&](const Charge& other) { return other.member.id == charge.member.id; });
  if (known == book.charges.end()) {
    book.charges.push_back(std::move(charge));
  } else {
    *known = std::move(charge);
  }
}

/// What was read, and where the next line goes.
struct Read {
  AccountBook book;
  Hash head{};
  std::uint64_t end = 0;  ///< of the last whole line
};

void add_line(std::string_view line, Read& read, bool is_first) try {
  simdjson::dom::parser parser;
  const Object object = parser.parse(simdjson::padded_string(line));
  check_account_format(object);
  if (is_first) {
    read.book.budget = rho_in(object, "budget");
    const auto neighbours = neighbours_in(object);
    if (!neighbours) damaged("its first line promises something unknown");
    read.book.neighbours = *neighbours;
  } else {
    Hash previous{};
    if (!secrets::from_hex(text_in(object, "previous"), previous) || previous != read.head) {
      damaged("a line does not follow on the one before it");
    }
    keep(read.book, charge_in(object));
  }
  read.head = hash_of(std::string(line) + '\n');
} catch (const simdjson::simdjson_error&) {
  damaged("a line is none of an account");
}

Read read_whole(Disk& disk, const Disk::Path& path) {
  const std::string text = read_file_if_any(disk, path);
  if (text.empty()) {
    throw Failure(Exit::configuration, path.string() +
                                           ": there is no account (privacy.account); make one with nustream account "
                                           "new");
  }
  Read read;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    try {
      add_line(std::string_view(text).substr(begin, end - begin), read, begin == 0);
    } catch (const Failure& failure) {
      throw Failure(failure.code(), path.string() + ": " + failure.what());
    }
    begin = end + 1;
    read.end = begin;
  }
  if (read.end == 0) throw Failure(Exit::data, path.string() + ": is no account; name another file");
  return read;
}

std::unique_ptr<Lock> patient_lock(Disk& disk, const Disk::Path& path) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    try {
      return disk.lock(path);
    } catch (const Failure& failure) {
      if (failure.code() != Exit::locked || std::chrono::steady_clock::now() >= until) throw;
    }
    std::this_thread::sleep_for(between_looks);
  }
}

/// ρ of a stream: lanes hold different records, what is charged to one lane adds up.
Rho of_stream(const std::map<LaneId, double>& lanes) {
  double dearest = 0;
  for (const auto& [lane, rho] : lanes) dearest = std::max(dearest, rho);
  return Rho{dearest};
}

using ByStream = std::map<std::string, std::map<LaneId, double>>;

ByStream by_stream(const std::vector<Charge>& charges, const MemberId* left_out) {
  ByStream sums;
  for (const Charge& charge : charges) {
    if (left_out != nullptr && charge.member.id == *left_out) continue;
    sums[charge.member.stream][charge.member.lane] += charge.rho.value();
  }
  return sums;
}

}  // namespace

Rho AccountBook::total() const {
  double all = 0;
  for (const auto& [stream, lanes] : by_stream(charges, nullptr)) all += of_stream(lanes).value();
  return Rho{all};
}

Rho AccountBook::room_for(const Member& member) const {
  ByStream sums = by_stream(charges, &member.id);
  const double beside = sums[member.stream][member.lane];
  sums.erase(member.stream);
  double others = 0;
  for (const auto& [stream, lanes] : sums) others += of_stream(lanes).value();
  double room = std::max(0.0, budget.value() - others - beside);
  // Sums of others' charges round: what is told here has to fit when it is added to them.
  AccountBook with = *this;
  for (; room > 0; room = std::nextafter(room, 0.0)) {
    keep(with, {member, Rho{room}, true});
    if (with.total() <= budget) break;
  }
  return Rho{room};
}

const Charge* AccountBook::charge_of(const MemberId& member) const {
  const auto found = std::ranges::find_if(charges, [&](const Charge& charge) { return charge.member.id == member; });
  return found == charges.end() ? nullptr : &*found;
}

void create_account(Disk& disk, const Disk::Path& path, Rho budget, privacy::Neighbours neighbours) {
  const auto lock = patient_lock(disk, path.string() + ".lock");
  if (disk.open(path, Access::read)) {
    throw Failure(Exit::configuration, path.string() + ": is there already; name another file");
  }
  const auto file = disk.create(path, Audience::operators);
  file->write(0, header_line(budget, neighbours));
  file->sync();
  disk.sync_folder(path.parent_path().empty() ? Disk::Path(".") : path.parent_path());
}

AccountBook read_account(Disk& disk, const Disk::Path& path) {
  return read_whole(disk, path).book;
}

void charge(Disk& disk, const Disk::Path& path, const Member& member,
            const std::function<Charge(const AccountBook& book)>& charged) {
  const auto lock = patient_lock(disk, path.string() + ".lock");
  Read read = read_whole(disk, path);
  const Charge next = charged(read.book);
  AccountBook after = read.book;
  keep(after, next);
  const Charge* const before = read.book.charge_of(member.id);
  const bool costs_more = before == nullptr || next.rho > before->rho;
  if (costs_more && after.total() > read.book.budget) {
    throw Failure(Exit::exhausted, path.string() + ": " + number(next.rho) + " more for stream '" + member.stream +
                                       "' would cross the account's budget " + number(read.book.budget) +
                                       ", of which " + number(read.book.total()) +
                                       " is charged; nustream account show tells to whom");
  }
  const auto file = disk.open(path, Access::write);
  file->truncate(read.end);  // behind it there is at most a line that a crash tore
  file->write(read.end, charge_line(next, read.head));
  file->sync();
}

}  // namespace nustream::journal
