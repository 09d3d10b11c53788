// The file of an account (docs/formats/account.md): its lines, the book that they add up to, and the one way to add a
// line, charge(). Reading, deciding and writing happen under one lock on the file. Otherwise two streams could each
// be granted the same rest of the budget.
#include "journal/budget_account.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "error.h"
#include "journal/ledger_chain.h"
#include "journal/line_fields.h"
#include "publish/json_writer.h"
#include "secrets/hex.h"

namespace nustream::journal {
namespace {

// The lock is held for one reading and one sync at a time, so that ten seconds let many other streams go first.
constexpr std::chrono::milliseconds patience{10'000};
constexpr std::chrono::milliseconds between_looks{50};
/// A room smaller than this part of the budget counts as none, since sums of charges are rounded.
constexpr double least_room = 0x1p-40;
/// No first line of an account is as long.
constexpr std::uint64_t longest_header = 512;

std::string header_line(Rho budget, privacy::Neighbours neighbours) {
  const std::string line = publish::object_text([&](publish::JsonWriter& json) {
    json.field("format", 1);
    json.field("budget", budget.value());
    json.field("adjacency", privacy::name(neighbours.adjacency));
    json.field("protects", protected_by(neighbours));
  });
  return line + '\n';
}

std::string charge_line(const Charge& charge, const Hash& head) {
  const std::string line = publish::object_text([&](publish::JsonWriter& json) {
    json.field("format", 1);
    json.field("member", secrets::to_hex(charge.member.id));
    json.field("stream", charge.member.stream);
    json.field("lane", charge.member.lane.value());
    json.field(std::string_view(charge.is_reserved ? "reserved" : "spent"), charge.rho.value());
    json.field("previous", secrets::to_hex(head));
  });
  return line + '\n';
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

/// Takes a charge into the book. What a member once said it had spent stays spent: whatever a later line says, the
/// member is charged at least that.
void keep(AccountBook& book, Charge charge) {
  const auto known =
      std::ranges::find_if(book.charges, [&](const Charge& other) { return other.member.id == charge.member.id; });
  const bool is_known = known != book.charges.end();
  if (is_known) charge.most_spent = known->most_spent;
  if (!charge.is_reserved) charge.most_spent = std::max(charge.most_spent, charge.rho);
  charge.rho = std::max(charge.rho, charge.most_spent);
  if (is_known) {
    *known = std::move(charge);
  } else {
    book.charges.push_back(std::move(charge));
  }
}

/// The book as it was read, and where the next line goes.
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
      damaged("a line does not follow the one before it");
    }
    keep(read.book, charge_in(object));
  }
  read.head = hash_of(std::string(line) + '\n');
} catch (const simdjson::simdjson_error&) {
  damaged("a line is no line of an account");
}

[[noreturn]] void missing(const Disk::Path& path) {
  throw Failure(Exit::configuration,
                path.string() + ": there is no account (privacy.account); make one with nustream account new");
}

Read read_whole(Disk& disk, const Disk::Path& path) {
  const std::string text = read_file_if_any(disk, path);
  if (text.empty()) missing(path);
  Read read;
  std::uint64_t line = 0;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    ++line;
    try {
      add_line(std::string_view(text).substr(begin, end - begin), read, begin == 0);
    } catch (const Failure& failure) {
      throw Failure(failure.code(), path.string() + ":" + std::to_string(line) + ": " + failure.what());
    }
    begin = end + 1;
    read.end = begin;
  }
  if (read.end == 0) throw Failure(Exit::data, path.string() + ": is no account; name another file");
  return read;
}

/// Locks the account, and waits up to `patience` for another process that holds it. The lock is on the file itself.
/// So it is the same lock, by whatever name or link the file is opened. A missing file is made, empty.
std::unique_ptr<Lock> patient_lock(Disk& disk, const Disk::Path& path) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    try {
      return disk.lock(path);
    } catch (const Failure& failure) {
      if (failure.code() != Exit::locked) throw;
    }
    if (std::chrono::steady_clock::now() >= until) {
      throw Failure(Exit::locked, path.string() + ": another process holds the account; give the command again");
    }
    std::this_thread::sleep_for(between_looks);
  }
}

/// The sum of all charges with that of `member` replaced by `rho`. It is taken in the order of the file, since
/// total() adds in that order too and rounding depends on it.
double sum_with(const std::vector<Charge>& charges, const MemberId& member, double rho) {
  double sum = 0;
  bool is_known = false;
  for (const Charge& charge : charges) {
    const bool is_member = charge.member.id == member;
    is_known = is_known || is_member;
    sum += is_member ? rho : charge.rho.value();
  }
  return is_known ? sum : sum + rho;
}

}  // namespace

Rho AccountBook::total() const {
  double sum = 0;
  for (const Charge& charge : charges) sum += charge.rho.value();
  return Rho{sum};
}

Rho AccountBook::room_for(const Member& member) const {
  const double whole = budget.value();
  double room = whole - sum_with(charges, member.id, 0);
  // Rounding may make the sum exceed the budget where the difference seemed to fit. So the room is lowered until it
  // fits when it is added in the order of the file.
  for (double step = whole * 0x1p-53; room > whole * least_room && sum_with(charges, member.id, room) > whole;
       step *= 2) {
    room -= step;
  }
  return Rho{room > whole * least_room ? room : 0};
}

const Charge* AccountBook::charge_of(const MemberId& member) const {
  const auto found = std::ranges::find_if(charges, [&](const Charge& charge) { return charge.member.id == member; });
  return found == charges.end() ? nullptr : &*found;
}

void create_account(Disk& disk, const Disk::Path& path, Rho budget, privacy::Neighbours neighbours) {
  // A crash may have left a part of the first line, which nothing was charged to.
  const auto is_there = [&](const std::unique_ptr<File>& file) {
    if (!file || file->size() == 0) return;
    std::string text(std::min<std::uint64_t>(file->size(), longest_header), '\0');
    text.resize(file->read(0, text));
    const bool is_torn =
        file->size() < longest_header && text.starts_with("{") && text.find('\n') == std::string::npos;
    if (!is_torn) throw Failure(Exit::configuration, path.string() + ": is there already; name another file");
  };
  is_there(disk.open(path, Access::read));
  const auto lock = patient_lock(disk, path);
  const auto file = disk.open(path, Access::write);
  if (!file) missing(path);
  is_there(file);
  file->truncate(0);
  file->write(0, header_line(budget, neighbours));
  file->sync();
  disk.sync_folder(path.parent_path().empty() ? Disk::Path(".") : path.parent_path());
}

AccountBook read_account(Disk& disk, const Disk::Path& path) {
  return read_whole(disk, path).book;
}

void charge(Disk& disk, const Disk::Path& path, const Member& member,
            const std::function<Charge(const AccountBook& book)>& charged) {
  if (!disk.open(path, Access::read)) missing(path);  // asked first, since taking the lock would make the file
  const auto lock = patient_lock(disk, path);
  Read read = read_whole(disk, path);
  const Charge* const before = read.book.charge_of(member.id);
  const Rho charged_before = before == nullptr ? Rho{0} : before->rho;
  AccountBook after = read.book;
  keep(after, charged(read.book));
  const Charge& next = *after.charge_of(member.id);
  // Only a reservation that grows can be refused. What was spent is a fact, and what was reserved before may be
  // reserved again.
  if (next.is_reserved && next.rho > charged_before && after.total() > read.book.budget) {
    throw Failure(Exit::exhausted, path.string() + ": to reserve " + number(next.rho) + " for stream '" +
                                       member.stream + "' (" + number(charged_before) +
                                       " before) would exceed the account's budget of " + number(read.book.budget) +
                                       ", of which " + number(read.book.total()) +
                                       " is charged; nustream account show tells to whom");
  }
  const auto file = disk.open(path, Access::write);
  if (!file) missing(path);
  file->truncate(read.end);  // a crash may have left a torn line behind it
  file->write(read.end, charge_line(next, read.head));
  // The charge is durable before the caller begins what it pays for.
  file->sync();
}

}  // namespace nustream::journal
