// Measures how fast records become rows, compared with std::from_chars alone on fields that are split already. A
// record is ten features and a target as CSV, once with 6 significant digits and once with 17, the most that a double
// needs. It also measures what they cost as messages of a log, in memory or from a recorded segment, compared with
// lines of a file.
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "decode/csv_kernel.h"
#include "decode/message_decoder.h"
#include "decode/reader.h"
#include "harness.h"
#include "recording/segment_writer.h"

namespace nustream::benchmarks {
namespace {

constexpr std::size_t records = 40'000;
constexpr std::size_t columns = 11;
constexpr std::size_t rows_per_read = 2048;  // as in a replay

// A recorded stream, in memory and on disk in a folder that disappears with it.
class Recorded {
 public:
  explicit Recorded(const char* format) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (std::size_t c = 0; c < columns; ++c) csv_ += fmt::format("{}x{}", c == 0 ? "" : ",", c);
    csv_ += '\n';
    for (std::size_t r = 0; r < records; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        const std::string number = fmt::format(fmt::runtime(format), normal(random));
        csv_ += (c == 0 ? "" : ",") + number;
        json_ += fmt::format("{}\"x{}\":{}", c == 0 ? "{" : ",", c, number);
      }
      csv_ += '\n';
      json_ += "}\n";
    }
    std::string name = (std::filesystem::temp_directory_path() / "nustream-benchmark-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
    std::ofstream(path("csv")) << csv_;
    std::ofstream(path("jsonl")) << json_;
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> gz(gzopen(path("csv.gz").c_str(), "wb"), gzclose);
    gzwrite(gz.get(), csv_.data(), static_cast<unsigned>(csv_.size()));
    messages_ = messages_of(std::string_view(csv_).substr(csv_.find('\n') + 1));
    json_messages_ = messages_of(json_);
    write_segment();
  }
  ~Recorded() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  [[nodiscard]] const std::string& csv() const { return csv_; }
  /// The lines as values of messages with a key.
  [[nodiscard]] std::span<const decode::Message> messages() const { return messages_; }
  [[nodiscard]] std::span<const decode::Message> json_messages() const { return json_messages_; }
  [[nodiscard]] std::string path(const char* kind) const { return (folder_ / "stream.").string() + kind; }

 private:
  static std::vector<decode::Message> messages_of(std::string_view lines) {
    std::vector<decode::Message> messages;
    while (!lines.empty()) {
      const std::size_t end = lines.find('\n');
      decode::Message message{.offset = messages.size()};
      message.key = "1.5";
      message.value = lines.substr(0, end);
      messages.push_back(message);
      lines.remove_prefix(end + 1);
    }
    return messages;
  }
  void write_segment() const {
    const auto disk = journal::posix_disk();
    auto writer = recording::SegmentWriter::create(*disk, path("segment"), {.topic = "t", .cluster = {}});
    for (const decode::Message& message : messages_) writer.add(message);
    writer.finish(writer.next());
  }

  std::string csv_;
  std::string json_;
  std::vector<decode::Message> messages_;
  std::vector<decode::Message> json_messages_;
  std::filesystem::path folder_;
};

record::Schema schema(bool scaled) {
  const auto feature = [&](std::size_t c) {
    record::Feature result;
    result.name = fmt::format("x{}", c);
    result.first.column = result.name;
    if (!scaled) return result;
    result.center = 0.1;
    result.scale = 2;
    result.lower = -3;
    result.upper = 3;
    return result;
  };
  record::Schema result;
  result.intercept = true;
  for (std::size_t c = 0; c + 1 < columns; ++c) result.features.push_back(feature(c));
  result.target = feature(columns - 1);
  return result;
}

void read_all(const decode::InputSettings& settings, const record::Schema& rows) {
  const auto reader = decode::open_reader(settings, rows);
  record::RowBatch batch;
  for (bool more = true; more;) {
    batch.clear();
    more = reader->read(batch, rows_per_read);
    keep(batch.x.data());
  }
}

decode::InputSettings message_settings(decode::Format format) {
  decode::InputSettings settings{.format = format};
  for (std::size_t c = 0; c < columns; ++c) settings.columns.push_back(fmt::format("x{}", c));
  return settings;
}

void decode_all(decode::MessageDecoder& decoder, std::span<const decode::Message> messages, record::RowBatch& batch) {
  constexpr std::size_t messages_per_poll = 512;  // as in an attached service
  for (; !messages.empty(); messages = messages.subspan(std::min(messages.size(), messages_per_poll))) {
    batch.clear();
    decoder.decode(messages.first(std::min(messages.size(), messages_per_poll)), batch);
    keep(batch.x.data());
  }
}

std::vector<std::string_view> split(const std::string& csv) {
  std::vector<std::string_view> fields;
  std::size_t at = csv.find('\n') + 1;
  while (at < csv.size()) {
    const std::size_t end = csv.find_first_of(",\n", at);
    fields.push_back(std::string_view(csv).substr(at, end - at));
    at = end + 1;
  }
  return fields;
}

// Indexes and reads all records in memory with one kernel.
void run_kernel(const decode::CsvKernel& kernel, std::string_view text, decode::CsvIndex& index,
                std::vector<double>& numbers) {
  std::vector<std::uint32_t> wanted{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10};
  std::vector<std::uint32_t> rows;
  while (!text.empty()) {
    const std::string_view segment = text.substr(0, decode::segment_bytes_max);
    kernel.index(segment, ',', index);
    rows.assign(1, 1);
    for (std::size_t r = 0; r + 1 < index.row_count; ++r) rows.push_back(index.row_ends[r] + 1);
    numbers.resize(rows.size() * wanted.size());
    kernel.read_numbers(segment.data(), index, rows, wanted, numbers.data());
    keep(numbers.data());
    text.remove_prefix(index.separators[index.row_ends[index.row_count - 1]] + 1);
  }
}

void compare(Report& report, const std::string& digits, const char* format) {
  const Recorded stream(format);
  const std::vector<std::string_view> fields = split(stream.csv());
  std::vector<double> values(fields.size());
  const std::string padded = std::string(64, '\n') + stream.csv() + std::string(64, '\n');
  const std::string_view body =
      std::string_view(padded).substr(64, stream.csv().size()).substr(stream.csv().find('\n') + 1);
  const auto index = std::make_unique<decode::CsvIndex>();
  std::vector<double> numbers;

  const auto name = [&](const std::string& what) { return what + ", " + digits + " digits"; };
  const double items = records;
  std::vector<Case> cases{{name("from_chars"), items, [&] {
                             for (std::size_t i = 0; i < fields.size(); ++i) {
                               const std::string_view field = fields[i];
                               std::from_chars(field.data(), field.data() + field.size(), values[i]);
                             }
                             keep(values.data());
                           }}};
  for (const decode::CsvKernel& kernel : decode::csv_kernels()) {
    cases.push_back({name(std::string("kernel ") + kernel.name), items,
                     [&, kernel] { run_kernel(kernel, body, *index, numbers); }});
  }
  const auto reads = [&](const char* what, const char* kind, bool scaled, decode::Format form) {
    const decode::InputSettings settings{.files = {stream.path(kind)}, .format = form};
    cases.push_back({name(what), items, [settings, rows = schema(scaled)] { read_all(settings, rows); }});
  };
  reads("reader", "csv", false, decode::Format::csv);
  reads("reader, scaled", "csv", true, decode::Format::csv);
  reads("reader, gzip", "csv.gz", false, decode::Format::csv);
  reads("reader, JSON lines", "jsonl", false, decode::Format::json_lines);
  decode::InputSettings segment = message_settings(decode::Format::csv);
  segment.files = {stream.path("segment")};
  cases.push_back({name("reader, segment"), items, [&] { read_all(segment, schema(false)); }});

  record::Schema with_key = schema(false);
  with_key.features[3].first.column = "@key";
  decode::MessageDecoder csv(message_settings(decode::Format::csv), schema(false));
  decode::MessageDecoder csv_with_key(message_settings(decode::Format::csv), with_key);
  decode::MessageDecoder json(message_settings(decode::Format::json_lines), schema(false));
  record::RowBatch batch;
  cases.push_back({name("messages"), items, [&] { decode_all(csv, stream.messages(), batch); }});
  cases.push_back({name("messages with key"), items, [&] { decode_all(csv_with_key, stream.messages(), batch); }});
  cases.push_back({name("messages, JSON"), items, [&] { decode_all(json, stream.json_messages(), batch); }});
  report.add(measure(cases), "row");
  report.add_ratio(name("reader over from_chars"), name("reader"), name("from_chars"), "at most 1");
  report.add_ratio(name("messages over reader"), name("messages"), name("reader"));
  report.add_ratio(name("messages over reader, JSON"), name("messages, JSON"), name("reader, JSON lines"));
  report.add_ratio(name("segment over reader"), name("reader, segment"), name("reader"));
}

}  // namespace
}  // namespace nustream::benchmarks

int main(int argc, char** argv) {
  nustream::benchmarks::Report report("decode");
  nustream::benchmarks::compare(report, "6", "{:.6g}");
  nustream::benchmarks::compare(report, "17", "{:.17g}");
  return report.write(argc, argv);
}
