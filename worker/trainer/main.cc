#include "worker/memory/counting_allocator.h"
#include "worker/trainer/command_line.h"

int main(int argc, char** argv) {
  agoq::InstallCountingAllocator();  // before the first tensor
  return agoq::RunCommandLine(argc, argv);
}
