// SPDX-License-Identifier: Apache-2.0
// cudaops-launch: runs the compiles of CudaOps' targets. detail/launcher.cmake builds it, once a
// user and compiler, and tests/launcher/ tests its parts.
//
//   cudaops-launch <settings> <compiler> <argument>...
//
// <settings> (settings.h) says what is done beside running the compiler:
//
//   trace <directory>, phases    measure.h: what the compile took

#include "files.h"
#include "measure.h"
#include "settings.h"

namespace {

using namespace cudaops;

int launch(const Words& words) {
  Settings settings;
  Words command(words.begin() + 1, words.end());
  // Whatever has become of the settings, the compile is right without them.
  if (!settings.read(words[0])) return become(command);
  if (settings.has("trace")) {
    end_like(run_traced(settings.get("trace"), settings.has("phases"), command));
  }
  return become(command);
}

}  // namespace

int main(int count, char** arguments) {
  Words words(arguments + 1, arguments + count);
  if (words.size() == 1 && words[0] == "--version") {
    say("cudaops-launch");
    return 0;
  }
  if (words.size() < 2) {
    say("usage: cudaops-launch <settings> <compiler> <argument>...");
    return 2;
  }
  return launch(words);
}
