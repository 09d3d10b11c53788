// CSV: files of lines, and every kernel beside the portable one. The first byte chooses delimiter, numbers of columns
// and length.
#include <array>
#include <memory>

#include "decode/csv_kernel.h"
#include "line_rows.h"

namespace nustream::fuzz {
namespace {

constexpr std::size_t slack = 64;

struct KernelResult {
  decode::CsvIndex* index;
  std::vector<double> numbers;
};

/// `index` is used again and again, because it is large.
KernelResult run_kernel(const decode::CsvKernel& kernel, std::string_view text, char delimiter,
                        decode::CsvIndex& index) {
  KernelResult result{&index, {}};
  kernel.index(text, delimiter, *result.index);
  // The first field of every record: whatever else a record holds, this field is there.
  std::vector<std::uint32_t> firsts;
  for (std::uint32_t row = 0; row < result.index->row_count; ++row) {
    firsts.push_back(row == 0 ? 1 : result.index->row_ends[row - 1] + 1);
  }
  const std::vector<std::uint32_t> columns(decode::number_group, 0);
  result.numbers.resize(firsts.size() * columns.size());
  kernel.read_numbers(text.data(), *result.index, firsts, columns, result.numbers.data());
  return result;
}

template <class Positions>
bool same(const Positions& one, const Positions& other, std::size_t count) {
  return std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(count), other.begin());
}

void check_kernels(std::string_view text, char delimiter) {
  const std::string padded = std::string(slack, '7') + std::string(text) + std::string(slack, '7');
  const std::string_view segment = std::string_view(padded).substr(slack, text.size());
  static const auto plain_index = std::make_unique<decode::CsvIndex>();
  static const auto fast_index = std::make_unique<decode::CsvIndex>();
  const KernelResult plain = run_kernel(decode::csv_kernels().front(), segment, delimiter, *plain_index);
  for (const decode::CsvKernel& kernel : decode::csv_kernels().subspan(1)) {
    const KernelResult fast = run_kernel(kernel, segment, delimiter, *fast_index);
    const std::size_t rows = plain.index->row_count;
    require(fast.index->row_count == rows && fast.index->oddity_count == plain.index->oddity_count, kernel.name);
    require(same(fast.index->row_ends, plain.index->row_ends, rows), kernel.name);
    require(same(fast.index->oddities, plain.index->oddities, plain.index->oddity_count), kernel.name);
    const std::size_t separators = rows == 0 ? 1 : plain.index->row_ends[rows - 1] + 1;
    require(same(fast.index->separators, plain.index->separators, separators), kernel.name);
    for (std::size_t i = 0; i < plain.numbers.size(); ++i) {
      const bool both_refuse = std::isnan(plain.numbers[i]) && std::isnan(fast.numbers[i]);
      require(both_refuse ||
                  std::bit_cast<std::uint64_t>(plain.numbers[i]) == std::bit_cast<std::uint64_t>(fast.numbers[i]),
              kernel.name);
    }
  }
}

struct Reading {
  decode::InputSettings settings;
  record::Schema schema = tests::columns({"a", "b"}, "b");
  std::unique_ptr<decode::MessageDecoder> decoder;
};

Reading& reading_of(std::uint8_t choice) {
  static std::array<Reading, 16> all;
  Reading& reading = all[choice & 15U];
  if (reading.decoder) return reading;
  decode::InputSettings& settings = reading.settings;
  settings.header = false;
  settings.delimiter = ",;\t "[choice & 3U];
  settings.record_bytes_max = (choice & 4U) != 0 ? 24 : 1 << 16;
  settings.columns = {"a", "b"};
  if ((choice & 8U) != 0) settings.columns = {"a", "x", "z", "b", "w"};
  reading.decoder = std::make_unique<decode::MessageDecoder>(settings, reading.schema);
  return reading;
}

void target(std::string_view input) {
  Reading& reading = reading_of(take_byte(input));
  check_kernels(input.substr(0, decode::segment_bytes_max), reading.settings.delimiter);
  check_rows(input, reading.settings, reading.schema, *reading.decoder);
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(csv)
