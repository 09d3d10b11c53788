// Measures what a commit costs that is sealed, durable and released, compared with the bare system calls that any
// such commit makes. It also measures a start-up that has to read a long ledger and long releases again.
//
// The folder is made in TMPDIR. On a memory file system there is nothing to wait for, and the figures mean nothing.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness.h"
#include "journal/file_journal.h"
#include "journal/ledger_chain.h"
#include "journal/state_record.h"

namespace nustream::benchmarks {
namespace {

namespace fs = std::filesystem;

const std::string digest(64, 'a');
constexpr std::size_t ledger_lines = 2000;

/// Lines of about the size of a release of ten estimates, `bytes` of them in all.
std::string releases_of(std::size_t bytes) {
  const std::string line =
      R"({"format":1,"stream":"benchmark","lane":0,"epoch":0,"step":1,"position":1,"private":false,)" +
      std::string(R"("estimate":")") + std::string(400, '1') + "\"}\n";
  std::string lines;
  while (lines.size() < bytes) lines += line;
  return lines;
}

journal::LedgerEntry entry(std::uint64_t steps) {
  return {"benchmark", LaneId{0}, EpochId{0}, Position{0}, Position{steps}, StepCount{steps},
          Rho{0.1},    Rho{0.2},  digest,     {},          false,           journal::Overlap::disjoint};
}

/// A run over a folder of its own, which commits batches of one outbox.
class Committer {
 public:
  Committer(const fs::path& folder, std::size_t outbox_bytes)
      : disk_(journal::posix_disk()), files_(*disk_, {folder, false}), outbox_(releases_of(outbox_bytes)) {
    static_cast<void>(files_.load());
  }

  void commit() {
    journal::StateRecord record;
    record.position = Position{++steps_};
    record.lane = std::string(500, 'l');
    record.noise = journal::NoiseCheckpoints({{{StepIndex{0}, {1}}}, std::vector<double>(60)});
    record.outbox = outbox_;
    record.ledger_entry = journal::ledger_line(entry(steps_), head_, keys_);
    record.ledger_head = head_ = journal::hash_of(record.ledger_entry);
    record.bookmark = files_.bookmark();
    std::string sealed =
        journal::seal_state(keys_, {"benchmark", LaneId{0}, EpochId{0}, StepCount{steps_}, digest, false}, record);
    commit_and_wait(files_, {std::move(sealed), record.position, record.ledger_entry, "", outbox_});
  }

 private:
  std::unique_ptr<journal::Disk> disk_;
  journal::FileJournal files_;
  secrets::Keyring keys_ = secrets::Keyring::insecure(1);
  std::string outbox_;
  journal::Hash head_ = journal::empty_ledger_head;
  std::uint64_t steps_ = 0;
};

/// The same writes, syncs and renames with nothing in between: the least that the disk takes.
class BareCommits {
 public:
  BareCommits(const fs::path& folder, std::size_t outbox_bytes)
      : disk_(journal::posix_disk()), folder_(folder), outbox_(releases_of(outbox_bytes)) {
    disk_->make_folder(folder_);
    ledger_ = disk_->create(folder_ / "ledger", journal::Audience::operators);
    releases_ = disk_->create(folder_ / "releases.jsonl", journal::Audience::everyone);
  }

  void commit() {
    ledger_->sync();
    releases_->sync();
    const auto state = disk_->create(folder_ / "state.new", journal::Audience::operators);
    state->write(0, outbox_);
    state->sync();
    disk_->rename(folder_ / "state.new", folder_ / "state");
    disk_->sync_folder(folder_);
    ledger_->write(ledger_->size(), line_);
    releases_->write(releases_->size(), outbox_);
  }

 private:
  std::unique_ptr<journal::Disk> disk_;
  fs::path folder_;
  std::string outbox_;
  std::string line_ = journal::ledger_line(entry(1), journal::empty_ledger_head, secrets::Keyring::insecure(1));
  std::unique_ptr<journal::File> ledger_;
  std::unique_ptr<journal::File> releases_;
};

template <class Commits>
Case commit_case(const std::string& name, const fs::path& folder, std::size_t outbox_bytes) {
  const auto commits = std::make_shared<Commits>(folder / name, outbox_bytes);
  return {name, 1, [commits] { commits->commit(); }};
}

Case ledger_case() {
  const auto keys = secrets::Keyring::insecure(1);
  std::vector<std::string> lines;
  journal::Hash head = journal::empty_ledger_head;
  for (std::size_t i = 0; i < ledger_lines; ++i) {
    lines.push_back(journal::ledger_line(entry(i), head, keys));
    head = journal::hash_of(lines.back());
    lines.back().pop_back();
  }
  return {"ledger line, verified", static_cast<double>(ledger_lines), [lines, keys] {
            journal::LedgerVerifier verifier(keys);
            for (const std::string& line : lines) verifier.add(line);
            keep(std::move(verifier).finish().head);
          }};
}

Case hash_case() {
  constexpr std::size_t mebibytes = 16;
  return {"MiB of releases, read again by hash", static_cast<double>(mebibytes),
          [bytes = std::string(mebibytes << 20, 'x')] { keep(journal::hash_of(bytes)); }};
}

}  // namespace
}  // namespace nustream::benchmarks

int main(int argc, char** argv) {
  using namespace nustream::benchmarks;
  std::string pattern = (fs::temp_directory_path() / "nustream-journal-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return 74;
  const fs::path folder = pattern;
  pin_to_one_core();
  Report report("journal");
  {
    std::vector<Case> commits;
    for (const auto& [size, bytes] :
         {std::pair{"500 B", std::size_t{500}}, {"64 KiB", std::size_t{64} << 10}, {"8 MiB", std::size_t{8} << 20}}) {
      commits.push_back(commit_case<Committer>(fmt::format("commit, outbox of {}", size), folder, bytes));
      commits.push_back(commit_case<BareCommits>(fmt::format("bare calls, outbox of {}", size), folder, bytes));
    }
    report.add(measure(commits), "commit");
    for (const char* size : {"500 B", "64 KiB", "8 MiB"}) {
      report.add_ratio(fmt::format("commit over bare calls, {}", size), fmt::format("commit, outbox of {}", size),
                       fmt::format("bare calls, outbox of {}", size));
    }
    report.add(measure({ledger_case()}), "line");
    report.add(measure({hash_case()}), "MiB");
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return report.write(argc, argv);
}
