//===- FilesTest.cpp - Reading and atomically writing files and folders ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a real file system: every folder here has a space and a non-ASCII name.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/files.h"

#include "TestFiles.h"

#include <csignal>
#include <functional>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace isobath::runtime;
using namespace isobath::runtime::test;
namespace fs = std::filesystem;

TEST(Error, PrintableEscapesAndShortens) {
  EXPECT_EQ(printable(std::string_view("a\nb\x7f\t")), "a\\x0ab\\x7f\\x09");
  EXPECT_EQ(printable(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(printable(std::string(150, 'x') + std::string(150, 'y')),
            std::string(98, 'x') + "..." + std::string(98, 'y'));
}

TEST(Files, MapsAFile) {
  const TemporaryFolder folder;
  putFile(folder / "a", "text");
  const MappedFile file(folder / "a");
  ASSERT_EQ(file.bytes().size(), 4u);
  EXPECT_EQ(file.bytes()[3], std::byte('t'));
}

TEST(Files, MapsAnEmptyFile) {
  const TemporaryFolder folder;
  putFile(folder / "a", "");
  EXPECT_TRUE(MappedFile(folder / "a").bytes().empty());
}

TEST(Files, MapMovesWithItsBytes) {
  const TemporaryFolder folder;
  putFile(folder / "a", "first");
  putFile(folder / "b", "other!");
  MappedFile a(folder / "a"), b(folder / "b");
  a = std::move(b);
  EXPECT_EQ(a.bytes().size(), 6u);
  const MappedFile c(std::move(a));
  EXPECT_EQ(c.bytes()[0], std::byte('o'));
  EXPECT_TRUE(a.bytes().empty());
}

TEST(Files, ReadingErrorsNameFileAndReason) {
  const TemporaryFolder folder;
  const std::string root = folder.path();
  for (const auto &read :
       {std::function([](const fs::path &path) { MappedFile file(path); }),
        std::function([](const fs::path &path) { readFile(path); })}) {
    EXPECT_EQ(messageOf([&] { read(folder / "none"); }),
              root + "/none: cannot open: no such file or directory");
    EXPECT_EQ(messageOf([&] { read(folder.path()); }),
              root + ": cannot read: is a directory");
  }
  EXPECT_EQ(messageOf([] { MappedFile file("/dev/null"); }),
            "/dev/null: cannot map: not a regular file");
}

TEST(Files, ReadsMoreThanOnePieceAndFromAPipe) {
  const TemporaryFolder folder;
  const std::string text(3'000'001, 'x');
  putFile(folder / "a", text);
  EXPECT_EQ(readFile(folder / "a"), text);

  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { putFile(folder / "pipe", text); });
  EXPECT_EQ(readFile(folder / "pipe"), text);
  writer.join();
}

TEST(Files, WritesAndReplaces) {
  const TemporaryFolder folder;
  writeFile(folder / "a", "first");
  writeFile(folder / "a", "second");
  EXPECT_EQ(getFile(folder / "a"), "second");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(Files, WithoutCommitTheOldFileStays) {
  const TemporaryFolder folder;
  putFile(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.write("new");
    EXPECT_EQ(getFile(folder / "a"), "old");
  }
  EXPECT_EQ(getFile(folder / "a"), "old");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(Files, WritingFollowsLinks) {
  const TemporaryFolder folder;
  putFile(folder / "file", "old");
  fs::create_symlink("file", folder / "link");
  writeFile(folder / "link", "new");
  EXPECT_EQ(getFile(folder / "file"), "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
}

TEST(Files, DevicesAreWrittenDirectly) {
  writeFile("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(Files, WritesTheLongestName) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  writeFile(folder / name, "text");
  EXPECT_EQ(folder.names(), Names{name});
}

TEST(Files, WritingErrorsNameFileAndReason) {
  const TemporaryFolder folder;
  const std::string root = folder.path();
  putFile(folder / "a", "");
  EXPECT_EQ(messageOf([&] { writeFile(folder / "no/b", ""); }),
            root + "/no/b: cannot create: no folder " + root + "/no");
  EXPECT_EQ(messageOf([&] { writeFile(folder / "a/b", ""); }),
            root + "/a/b: cannot create: not a directory");
  EXPECT_EQ(messageOf([&] { writeFile(folder.path(), ""); }),
            root + ": cannot write: is a directory");
}

// A write that fails half-way: the limit on the size of files stands for a
// full disk.
TEST(Files, FailedWriteLeavesTheOldFile) {
  const TemporaryFolder folder;
  putFile(folder / "a", "old");
  struct rlimit saved;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &saved), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = {1000, saved.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message =
      messageOf([&] { writeFile(folder / "a", std::string(5000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &saved);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(message,
            (folder / "a").string() + ": cannot write: file too large");
  EXPECT_EQ(getFile(folder / "a"), "old");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(Files, WritersAtOnceDoNotMix) {
  const TemporaryFolder folder;
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter)
    writers.emplace_back([&, letter] {
      for (int i = 0; i < 20; ++i)
        writeFile(folder / "a", std::string(10'000, letter));
    });
  for (std::thread &writer : writers)
    writer.join();
  const std::string text = getFile(folder / "a");
  ASSERT_EQ(text.size(), 10'000u);
  EXPECT_EQ(text, std::string(10'000, text[0]));
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(Files, ListsInOrder) {
  const TemporaryFolder folder;
  for (const char *name : {"b", "c", "a"})
    putFile(folder / name, "");
  EXPECT_EQ(listFolder(folder.path()),
            (std::vector<fs::path>{folder / "a", folder / "b", folder / "c"}));
  EXPECT_EQ(messageOf([&] { listFolder(folder / "a"); }),
            (folder / "a").string() + ": cannot list: not a directory");
}

TEST(Folders, PublishesCompleteOrNotAtAll) {
  const TemporaryFolder folder;
  {
    AtomicDirectory unfinished(folder / "a");
    putFile(unfinished.folder() / "file", "text");
  }
  EXPECT_EQ(folder.names(), Names{});
  AtomicDirectory finished(folder / "a/");
  putFile(finished.folder() / "file", "text");
  fs::create_directory(finished.folder() / "inner");
  putFile(finished.folder() / "inner/file", "inner");
  EXPECT_FALSE(fs::exists(folder / "a"));
  finished.publish();
  EXPECT_EQ(folder.names(), Names{"a/"});
  EXPECT_EQ(getFile(folder / "a/inner/file"), "inner");
}

TEST(Folders, RefusesWhatExists) {
  const TemporaryFolder folder;
  const std::string name = folder / "a";
  putFile(folder / "a", "");
  EXPECT_EQ(messageOf([&] { AtomicDirectory(folder / "a"); }),
            name + ": cannot create: file exists");
  fs::remove(folder / "a");

  AtomicDirectory late(folder / "a");
  fs::create_directory(folder / "a");
  putFile(folder / "a/file", "theirs");
  EXPECT_EQ(messageOf([&] { late.publish(); }),
            name + ": cannot create: directory not empty");
  EXPECT_EQ(getFile(folder / "a/file"), "theirs");
}

TEST(Folders, SaysWhichFolderIsMissing) {
  const TemporaryFolder folder;
  const std::string root = folder.path();
  EXPECT_EQ(messageOf([&] { AtomicDirectory(folder / "no/a"); }),
            root + "/no/a: cannot create: no folder " + root + "/no");
}

TEST(Folders, RemovesOnlyWhatAKillLeftBehind) {
  const TemporaryFolder folder;
  AtomicFile mine(folder / "mine");
  putFile(folder / "notes.tmp-1x", "");
  const pid_t child = ::fork();
  if (child == 0) {
    // Dies as by SIGKILL: no destructor runs.
    new AtomicFile(folder / "file");
    new AtomicDirectory(folder / "folder");
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(folder.names().size(), 4u);
  removeAbandoned(folder.path());
  EXPECT_EQ(folder.names().size(), 2u);
  mine.commit();
  EXPECT_EQ(folder.names(), (Names{"mine", "notes.tmp-1x"}));
}
