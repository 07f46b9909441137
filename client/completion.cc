#include <memory>

#include "client/completion_script.h"
#include "client/exit_codes.h"
#include "client/verbs.h"

namespace agoq {

void AddCompletion(CLI::App* app, Invocation* invocation) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* const verb =
      app->add_subcommand("completion", "Prints a script that completes agoq's words in a shell");
  verb->footer("bash: source <(agoq completion bash)");
  verb->add_option("shell", *shell, "Shell")
      ->type_name("bash|zsh|fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->callback([=] {
    invocation->action = [=] {
      invocation->console.out << CompletionScript(*app, *shell) << std::flush;
      return kExitDone;
    };
  });
}

}  // namespace agoq
