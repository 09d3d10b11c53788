// Measures what reading a compressed file costs: by the decompressor of its own format, as streaming/decode has one
// for each, and by libarchive, which has all of them behind one interface. The content is numbers as CSV, read in
// pieces of 64 KiB.
#include <archive.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "decode/byte_source.h"
#include "harness.h"

namespace nustream::benchmarks {
namespace {

constexpr std::size_t piece = 1 << 16;  // size of the pieces of stored bytes, and of content
constexpr std::size_t rows = 200'000;

/// Makes rows.csv in a folder of its own, and beside it the compressed files that the tools of each format make of
/// it.
class Files {
 public:
  Files() {
    std::string name = (std::filesystem::temp_directory_path() / "nustream-benchmark-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    std::ofstream out(folder_ / "rows.csv", std::ios::binary);
    for (std::size_t i = 0; i < rows; ++i) {
      out << fmt::format("{:.6g},{:.6g},{:.6g},{:.6g}\n", normal(random), normal(random), normal(random),
                         normal(random));
    }
    out.close();
    bytes_ = std::filesystem::file_size(folder_ / "rows.csv");
    for (const char* tool : {"gzip", "zstd -q", "bzip2", "xz"}) {
      const std::string command = fmt::format("cd '{}' && {} -k rows.csv", folder_.string(), tool);
      if (std::system(command.c_str()) != 0) throw std::runtime_error(std::string("without ") + tool);  // NOLINT
    }
  }
  ~Files() { std::filesystem::remove_all(folder_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  [[nodiscard]] std::string compressed(const std::string& ending) const { return folder_ / ("rows.csv." + ending); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::filesystem::path folder_;
  std::size_t bytes_ = 0;
};

void require(bool is_so, const char* what) {
  if (!is_so) throw std::runtime_error(what);
}

void read_by_own(const std::string& file, std::size_t bytes) {
  const auto source = decode::open_source(file);
  std::vector<char> buffer(piece);
  std::size_t read = 0;
  for (decode::ByteSource::Result result; !(result = source->read(buffer)).end;) {
    read += result.bytes;
    keep(buffer.data());
  }
  require(read == bytes, "another number of bytes");
}

void read_by_libarchive(const std::string& file, std::size_t bytes) {
  const std::unique_ptr<archive, int (*)(archive*)> source(archive_read_new(), archive_read_free);
  archive_read_support_filter_all(source.get());
  archive_read_support_format_raw(source.get());
  require(archive_read_open_filename(source.get(), file.c_str(), piece) == ARCHIVE_OK, "cannot be opened");
  archive_entry* entry = nullptr;
  require(archive_read_next_header(source.get(), &entry) == ARCHIVE_OK, "no content");
  std::vector<char> buffer(piece);
  std::size_t read = 0;
  for (la_ssize_t got = 0; (got = archive_read_data(source.get(), buffer.data(), buffer.size())) != 0;) {
    require(got > 0, "damaged");
    read += static_cast<std::size_t>(got);
    keep(buffer.data());
  }
  require(read == bytes, "another number of bytes");
}

}  // namespace
}  // namespace nustream::benchmarks

int main(int argc, char** argv) {
  using namespace nustream::benchmarks;
  const Files files;
  Report report("archives");
  const auto mebibytes = static_cast<double>(files.bytes()) / (1 << 20);
  std::vector<Case> cases;
  const std::vector<std::pair<std::string, std::string>> formats{
      {"gzip", "gz"}, {"zstd", "zst"}, {"bzip2", "bz2"}, {"xz", "xz"}};
  for (const auto& [name, ending] : formats) {
    const std::string file = files.compressed(ending);
    cases.push_back({name, mebibytes, [&files, file] { read_by_own(file, files.bytes()); }});
    cases.push_back({name + ", libarchive", mebibytes, [&files, file] { read_by_libarchive(file, files.bytes()); }});
  }
  report.add(measure(cases), "MiB of content");
  for (const auto& [name, ending] : formats)
    report.add_ratio("libarchive over own, " + name, name + ", libarchive", name);
  return report.write(argc, argv);
}
