// Writes the interactive page: traces of real runs inside a page that steps through them.
#include "reference/input_error.h"
#include "tests/harness/one_line.h"
#include "tests/harness/output_file.h"
#include "walkthroughs/explorer/recorded_traces.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace paged {
namespace {

constexpr const char* kMark = "/*traces*/null";  // in page.html, where the data goes
constexpr std::size_t kMostBytes = 1'500'000;

void write_page(const std::string& path) {
  OutputFile file(path);
  std::ifstream source(PAGED_ROOT "/walkthroughs/explorer/page.html", std::ios::binary);
  std::string page(std::istreambuf_iterator<char>(source), {});
  const std::size_t mark = page.find(kMark);
  if (mark == std::string::npos)
    throw std::runtime_error("walkthroughs/explorer/page.html has no place for the traces");
  const std::unique_ptr<Device> device = make_cpu_device();
  page.replace(mark, std::string(kMark).size(), recorded_traces(*device));
  if (page.size() > kMostBytes)
    throw std::runtime_error("the page has " + std::to_string(page.size()) + " bytes, more than " +
                             std::to_string(kMostBytes));
  file.commit(page);
  std::cout << "The page to step through the kernels: " << path << std::endl;
}

}  // namespace
}  // namespace paged

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') {
    std::cerr << "explorer: say the file to write, such as build/explorer.html\n";
    return 2;
  }
  try {
    paged::write_page(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "explorer: " << paged::one_line(error.what()) << '\n';
    return 1;
  }
}
