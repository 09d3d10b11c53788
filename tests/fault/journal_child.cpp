// The program that the fault tests kill: a toy lane over the file journal, which goes from wherever the folder stands
// to a number of steps.
//
//     journal_child FOLDER STEPS seed|KEYFILE
//
// Under `seed` every step has one value for ever. With a key file every computation of a step gives another value, as
// if the input had changed, so that a batch that could be read before it was committed shows. The exit code is the
// service's.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "error.h"
#include "journal/file_journal.h"
#include "secrets/hex.h"
#include "secrets/key_file.h"
#include "secrets/random.h"
#include "toy_lane.h"

namespace {

using namespace nustream;

std::string fresh_value() {
  return secrets::to_hex(secrets::random_key());
}

std::string seeded_value(std::uint64_t step) {
  return "value of step " + std::to_string(step);
}

void run(const std::string& folder, std::uint64_t steps, const std::string& key) {
  const bool seeded = key == "seed";
  tests::ToyLane lane(seeded ? secrets::Keyring::insecure(11) : secrets::load_key_file(key), "toy");
  const auto disk = journal::posix_disk();
  journal::FileJournal files(*disk, {.folder = folder, .is_private = !seeded, .rejects = true});
  if (const auto sealed = files.load()) files.recover(lane.restore(*sealed));
  while (lane.steps() < steps) {
    const std::uint64_t left = steps - lane.steps();
    // Batches differ in size. Where they begin depends on where the run before was killed.
    const std::uint64_t size =
        std::min(left, seeded ? std::uint64_t{2} : 1 + std::uint64_t{secrets::random_key()[0]} % 3);
    journal::commit_and_wait(files, lane.batch(size, files.bookmark(), [&](std::uint64_t step) {
      return seeded ? seeded_value(step) : fresh_value();
    }));
  }
  journal::flush_and_wait(files);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return static_cast<int>(Exit::usage);
  try {
    run(argv[1], std::stoull(argv[2]), argv[3]);
    return 0;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "journal_child: %s\n", failure.what());
    return static_cast<int>(failure.code());
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "journal_child: %s\n", failure.what());
    return static_cast<int>(Exit::internal);
  }
}
