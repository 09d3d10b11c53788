#include "serve/bearer_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "error.h"
#include "temporary_folder.h"

namespace nustream::serve {
namespace {

using tests::read_file;

constexpr const char* of_retail = "retail";

TEST(OperatorToken, IsMadeOnceBesideTheKey) {
  const tests::TemporaryFolder folder;
  const SettledToken made = settle_operator_token({}, of_retail, folder.path());
  EXPECT_EQ(made.path, folder.path() / "retail.operator_token");
  EXPECT_TRUE(made.is_new);
  const std::string text = read_file(made.path);
  EXPECT_EQ(text.size(), 65U);
  EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), 64U);
  EXPECT_EQ(text.back(), '\n');
  struct stat status {};
  ASSERT_EQ(::stat(made.path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_TRUE(load_bearer_token(made.path).matches(text.substr(0, 64)));

  const SettledToken again = settle_operator_token({}, of_retail, folder.path());
  EXPECT_EQ(again.path, made.path);
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(read_file(made.path), text);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing else is left";
}

TEST(OperatorToken, IsAnotherForEachStream) {
  const tests::TemporaryFolder folder;
  EXPECT_NE(read_file(settle_operator_token({}, "a", folder.path()).path),
            read_file(settle_operator_token({}, "b", folder.path()).path));
}

TEST(OperatorToken, LiesWhereTheSettingsSay) {
  const tests::TemporaryFolder folder;
  const std::string file = folder.write("token", "0123456789abcdef");
  EXPECT_EQ(settle_operator_token({.operator_token_file = file}, of_retail, "/nowhere").path, file);
  EXPECT_EQ(read_file(file), "0123456789abcdef") << "what is there stays";
  const std::string other = (folder.path() / "other").string();
  EXPECT_TRUE(settle_operator_token({.operator_token_file = other}, of_retail, "/nowhere").is_new);
  EXPECT_EQ(read_file(other).size(), 65U);
}

TEST(OperatorToken, IsNotMadeForNobody) {
  const tests::TemporaryFolder folder;
  EXPECT_TRUE(settle_operator_token({.operator_address = ""}, of_retail, folder.path()).path.empty());
  EXPECT_TRUE(settle_operator_token({.operator_token_file = "none"}, of_retail, folder.path()).path.empty());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(OperatorToken, SaysWhatToDoWhereItCannotBeMade) {
  const tests::TemporaryFolder folder;
  try {
    static_cast<void>(settle_operator_token({}, of_retail, folder.path() / "missing"));
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::permission);
    EXPECT_THAT(failure.what(), ::testing::HasSubstr("retail.operator_token"));
    EXPECT_THAT(failure.what(), ::testing::HasSubstr("set serve.operator_token_file to"));
  }
}

}  // namespace
}  // namespace nustream::serve
