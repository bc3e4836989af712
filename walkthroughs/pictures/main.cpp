// Draws the pictures of docs/figures from runs, or holds the ones that are there against them.
#include "tests/harness/one_line.h"
#include "walkthroughs/pictures/pictures.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace paged {
namespace {

constexpr std::size_t kMostBytes = 60000;

std::vector<Picture> all_pictures() {
  const std::unique_ptr<Device> device = make_cpu_device();
  std::vector<Picture> all = table_pictures();
  for (const auto draw : {front_pictures, lane_pictures, sector_pictures, tail_pictures,
                          partition_pictures, bank_pictures})
    for (Picture& picture : draw(*device)) all.push_back(std::move(picture));
  for (const Picture& picture : all)
    if (picture.svg.size() > kMostBytes)
      throw std::runtime_error(picture.file + " has " + std::to_string(picture.svg.size()) +
                               " bytes, more than the " + std::to_string(kMostBytes) +
                               " of a small picture");
  return all;
}

void write(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const Picture& picture : all_pictures()) {
    std::ofstream file(folder / picture.file, std::ios::binary);
    if (!(file << picture.svg << std::flush))
      throw std::runtime_error("cannot write " + (folder / picture.file).string());
  }
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// How many pictures differ from the runs, or are drawn by none.
int check(const std::filesystem::path& folder) {
  int different = 0;
  std::size_t known = 0;
  const std::vector<Picture> all = all_pictures();
  for (const Picture& picture : all) {
    if (std::filesystem::exists(folder / picture.file)) ++known;
    if (read(folder / picture.file) == picture.svg) continue;
    ++different;
    std::cout << (folder / picture.file).string() << " is not what a run draws\n";
  }
  std::size_t there = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    there += entry.path().extension() == ".svg";
  if (there != known) {
    ++different;
    std::cout << folder.string() << " has " << there - known << " pictures that no run draws\n";
  }
  if (different != 0)
    std::cout << "To draw them anew: build/bin/pictures --write docs/figures, and look at them.\n";
  else
    std::cout << all.size() << " pictures are what runs draw\n";
  return different;
}

}  // namespace
}  // namespace paged

int main(int argc, char** argv) {
  const std::string option = argc == 3 ? argv[1] : "";
  try {
    if (option == "--write") {
      paged::write(argv[2]);
      return 0;
    }
    if (option == "--check") return paged::check(argv[2]) == 0 ? 0 : 1;
    std::cerr << "pictures: say --write FOLDER or --check FOLDER\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "pictures: " << paged::one_line(error.what()) << '\n';
    return 1;
  }
}
