// Holds a table in memory and recognises it at a resume. Columns grow by moving pages. The witness hashes all rows:
// runs of one interval, and a resumed run, have to be over the same table.
#include "estimate/table.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "check/constant_columns.h"
#include "check/times.h"
#include "console/signals.h"
#include "decode/reader.h"
#include "error.h"
#include "journal/state_record.h"
#include "nustream/users/user_index.h"
#include "publish/reject_lines.h"
#include "secrets/fields.h"
#include "users/identifiers.h"

namespace nustream::estimate {
namespace {

constexpr std::size_t first_capacity = std::size_t{1} << 16;  // in doubles
constexpr std::size_t rows_per_read = 4096;
// The most bytes of lines about records that cannot be used. The number of such records depends on data; this limit
// bounds the memory for their lines.
constexpr std::size_t reject_bytes_max = std::size_t{8} << 20;

/// Adds lines about rejects until the limit is reached, and then one line that says that the list ends.
void list_rejects(std::span<const record::Reject> rejects, Table& table) {
  for (const record::Reject& reject : rejects) {
    if (table.rejects_cut) return;
    table.rejects_cut = table.reject_lines.size() >= reject_bytes_max;
    const record::Reject end{reject.position, "further rejects are not listed: the list has reached 8 MiB"};
    publish::append_reject_lines({table.rejects_cut ? &end : &reject, 1}, table.reject_lines);
  }
}

void* checked(void* memory) {
  if (memory == MAP_FAILED) {
    throw Failure(Exit::internal, "the table does not fit into memory; give the process more, or fewer columns");
  }
  return memory;
}

/// For each row, the number of its user in the order in which users come, and 0 for nobody. Hashes of users could not
/// be used: they are under a key of this process, and would differ at a resume.
std::string grouping_of(const std::vector<record::RowUser>& rows) {
  users::UserIndex known;
  std::string bytes;
  for (const record::RowUser& row : rows) {
    const std::uint64_t number = row.is_nobody() ? 0 : 1 + known.number_of({row.high, row.low});
    secrets::append_integer(number, bytes);
  }
  return bytes;
}

/// A run over another table would mix two tables in one path of iterates, and in one interval.
[[noreturn]] void refuse(std::uint64_t rows, std::uint64_t rows_before) {
  throw Failure(
      Exit::data,
      fmt::format("the input, {} records, is not the table that this estimate was begun over, of {} records; "
                  "nothing was published: resume with the table as it was",
                  rows, rows_before));
}

}  // namespace

GrowingColumn::~GrowingColumn() {
  if (data_ != nullptr) ::munmap(data_, capacity_ * sizeof(double));
}

GrowingColumn::GrowingColumn(GrowingColumn&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

void GrowingColumn::reserve(std::size_t size) {
  if (size <= capacity_) return;
  // Doubling keeps the number of moves logarithmic, and pages that nobody has touched take no memory.
  const std::size_t capacity = std::max({size, first_capacity, 2 * capacity_});
  // mremap() moves pages and copies no bytes, so a table of gigabytes grows at little cost.
  void* const memory =
      data_ == nullptr
          ? ::mmap(nullptr, capacity * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
          : ::mremap(data_, capacity_ * sizeof(double), capacity * sizeof(double), MREMAP_MAYMOVE);
  data_ = static_cast<double*>(checked(memory));
  capacity_ = capacity;
}

void GrowingColumn::append(std::span<const double> values) {
  if (values.empty()) return;
  reserve(size_ + values.size());
  std::copy(values.begin(), values.end(), data_ + size_);
  size_ += values.size();
}

void GrowingColumn::append_zeros(std::size_t count) {
  reserve(size_ + count);
  std::fill_n(data_ + size_, count, 0.0);
  size_ += count;
}

void Table::pad_to_multiple_of(std::size_t multiple) {
  const std::size_t missing = (multiple - rows() % multiple) % multiple;
  x.append_zeros(missing * dimension);
  y.append_zeros(missing);
  if (!users.empty()) users.resize(users.size() + missing);  // the rows of zeros belong to nobody
  if (!weights.values().empty()) weights.append_zeros(missing);
}

TableWitness::TableWitness(const Table& table) : whole_{table.rows(), {}} {
  journal::RunningHash hash;
  for (const GrowingColumn* column : {&table.x, &table.y, &table.weights}) {
    const auto bytes = std::as_bytes(column->values());
    hash.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  if (!table.users.empty()) hash.add(grouping_of(table.users));
  secrets::append_bytes(hash.value(), whole_.bytes);
}

void TableWitness::require_same_size(const journal::StateRecord& record) const {
  // A state that was made from a table has one mark, at its stop. The marks of a stream's state lie before its stop.
  const bool is_of_table = record.seen.size() == 1 && record.stop == record.seen.front().position;
  if (is_of_table && *record.stop != Position{whole_.position}) refuse(whole_.position, record.stop->value());
}

void TableWitness::check(const journal::StateRecord& record) {
  for (const journal::SeenRecord& seen : record.seen) {
    // The mark is a keyed MAC: without the state's key nobody can make another table fit it.
    if (seen.position != Position{whole_.position} ||
        journal::record_mark(seen.position, whole_.bytes, record.seen_key) != seen.mac) {
      refuse(whole_.position, seen.position.value());
    }
  }
}

bool TableWitness::holds(const journal::StateRecord& record) try {
  check(record);
  return !record.seen.empty();
} catch (const Failure& failure) {
  if (failure.code() != Exit::data) throw;
  return false;
}

std::vector<decode::ReadRecord> TableWitness::at_hand(Position) const {
  return {whole_};
}

Table read_table(const config::Config& config, decode::OtherKinds other_kinds) {
  Table table;
  table.dimension = config.schema.dimension();
  // Users are only distinguished within this process: no state keeps their hashes, and no release contains them. So a
  // fresh key is enough.
  users::Identifiers identifiers(users::Partitioner::user_hash);
  record::Schema schema = config.schema;
  if (schema.user) {
    identifiers.use(users::UserKey::draw());
    schema.user->reader = &identifiers;
  }
  const auto reader = decode::open_reader(config.input, schema, other_kinds);
  record::RowBatch rows;
  rows.dimension = table.dimension;
  check::ConstantColumns columns(config.schema);
  for (bool more = true; more;) {
    rows.clear();
    console::require_no_signal();
    more = reader->read(rows, rows_per_read);
    table.x.append(rows.x);
    table.y.append(rows.y);
    table.weights.append(rows.weights);
    table.users.insert(table.users.end(), rows.users.begin(), rows.users.end());
    table.counts.add(rows.rejects);
    columns.take(rows);
    if (config.state.rejects) list_rejects(rows.rejects, table);
  }
  table.counts.records = table.rows();
  table.times = check::odd_times(config.input, config.schema, reader->first_records());
  table.constant = columns.in_words(check::ConstantColumns::Of::table, config.input.look);
  return table;
}

}  // namespace nustream::estimate
