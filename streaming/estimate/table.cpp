#include "estimate/table.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "decode/reader.h"
#include "error.h"

namespace nustream::estimate {
namespace {

constexpr std::size_t first_capacity = std::size_t{1} << 16;  // doubles
constexpr std::size_t rows_per_read = 4096;

void* checked(void* memory) {
  if (memory == MAP_FAILED) {
    throw Failure(Exit::internal, "the table does not fit into memory; give the process more, or fewer columns");
  }
  return memory;
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
  const std::size_t capacity = std::max({size, first_capacity, 2 * capacity_});
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
  std::memcpy(data_ + size_, values.data(), values.size_bytes());
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
}

Table read_table(const config::Config& config) {
  Table table;
  table.dimension = config.schema.dimension();
  const auto reader = decode::open_reader(config.input, config.schema);
  record::RowBatch rows;
  rows.dimension = table.dimension;
  for (bool more = true; more;) {
    rows.clear();
    more = reader->read(rows, rows_per_read);
    table.x.append(rows.x);
    table.y.append(rows.y);
    table.rejected += rows.rejects.size();
  }
  return table;
}

}  // namespace nustream::estimate
