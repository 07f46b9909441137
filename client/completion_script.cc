#include "client/completion_script.h"

#include <vector>

namespace agoq {
namespace {

struct Word {
  std::string text;  // verb, or option with its dashes
  std::string description;
};

// What may follow a verb.
struct Place {
  std::string verb;  // " job submit"; empty: the program
  std::vector<Word> words;
  bool wants_job = false;
  bool wants_worker = false;
};

void AppendOptions(const CLI::App& app, std::vector<Word>* words) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words->push_back({"--" + name, option->get_description()});
    }
  }
}

bool HasArgument(const CLI::App& app, const std::string& type) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && option->get_type_name() == type) return true;
  }
  return false;
}

// The program and all verbs below it; each takes the program's options too.
void CollectPlaces(const CLI::App& app, const std::string& verb, const std::vector<Word>& globals,
                   std::vector<Place>* places) {
  Place place = {.verb = verb,
                 .wants_job = HasArgument(app, "JOB"),
                 .wants_worker = HasArgument(app, "WORKER")};
  const auto children = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* child : children) {
    place.words.push_back({child->get_name(), child->get_description()});
  }
  AppendOptions(app, &place.words);
  if (!verb.empty()) place.words.insert(place.words.end(), globals.begin(), globals.end());
  places->push_back(place);
  for (const CLI::App* child : children) {
    CollectPlaces(*child, verb + " " + child->get_name(), globals, places);
  }
}

// Those that a row of places stands for, as patterns of a shell's case.
template <typename Wanted>
std::string Patterns(const std::vector<Place>& places, char quote, const char* separator,
                     const Wanted& wanted) {
  std::string text;
  for (const Place& place : places) {
    if (!wanted(place)) continue;
    text += (text.empty() ? "" : separator) + (quote + place.verb + quote);
  }
  return text;
}

bool IsVerb(const Place& place) { return !place.verb.empty(); }
bool WantsJob(const Place& place) { return place.wants_job; }
bool WantsWorker(const Place& place) { return place.wants_worker; }

constexpr char kListJobs[] = "agoq job list -o name --timeout 1 2>/dev/null";
constexpr char kListWorkers[] = "agoq worker list -o name --timeout 1 2>/dev/null";

// bash and zsh differ in where the words of the line are and where the answer goes.
std::string CaseScript(const std::vector<Place>& places, const std::string& words_before) {
  std::string text = "  local verb=\"\" candidates=\"\" word\n  for word in " + words_before +
                     "; do\n    case \"$verb $word\" in\n      " +
                     Patterns(places, '"', " | ", IsVerb) +
                     ") verb=\"$verb $word\" ;;\n    esac\n  done\n  case \"$verb\" in\n";
  for (const Place& place : places) {
    text += "    \"" + place.verb + "\") candidates=\"";
    for (const Word& word : place.words) text += word.text + " ";
    text.back() = '"';
    text += " ;;\n";
  }
  text += "  esac\n  case \"$verb\" in\n    " + Patterns(places, '"', " | ", WantsJob) +
          ") candidates=\"$(" + kListJobs + ") $candidates\" ;;\n    " +
          Patterns(places, '"', " | ", WantsWorker) + ") candidates=\"$(" + kListWorkers +
          ") $candidates\" ;;\n  esac\n";
  return text;
}

std::string BashScript(const std::vector<Place>& places) {
  return "# bash completion of agoq: source <(agoq completion bash)\n_agoq() {\n" +
         CaseScript(places, "\"${COMP_WORDS[@]:1:COMP_CWORD-1}\"") +
         "  COMPREPLY=($(compgen -W \"$candidates\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"
         "complete -o default -F _agoq agoq\n";
}

std::string ZshScript(const std::vector<Place>& places) {
  return "#compdef agoq\n# zsh completion of agoq: source <(agoq completion zsh)\n_agoq() {\n" +
         CaseScript(places, "\"${(@)words[2,CURRENT-1]}\"") +
         "  compadd -- ${=candidates}\n  _files\n}\ncompdef _agoq agoq\n";
}

std::string FishQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string FishScript(const std::vector<Place>& places) {
  std::string text =
      "# fish completion of agoq: agoq completion fish | source\n"
      "function __agoq_at\n  set -l verb ''\n  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$verb $word\"\n      case " +
      Patterns(places, '\'', " ", IsVerb) +
      "\n        set verb \"$verb $word\"\n    end\n  end\n  test \"$verb\" = \"$argv[1]\"\nend\n";
  for (const Place& place : places) {
    const std::string line = "complete -c agoq -n \"__agoq_at '" + place.verb + "'\" ";
    for (const Word& word : place.words) {
      const bool is_option = word.text.rfind("--", 0) == 0;
      text += line + (is_option ? "-l " + word.text.substr(2) : "-a " + word.text) + " -d " +
              FishQuoted(word.description) + "\n";
    }
    if (place.wants_job) text += line + "-a '(" + kListJobs + ")'\n";
    if (place.wants_worker) text += line + "-a '(" + kListWorkers + ")'\n";
  }
  return text;
}

}  // namespace

std::string CompletionScript(const CLI::App& app, const std::string& shell) {
  std::vector<Word> globals;
  AppendOptions(app, &globals);
  std::vector<Place> places;
  CollectPlaces(app, "", globals, &places);
  if (shell == "bash") return BashScript(places);
  return shell == "zsh" ? ZshScript(places) : FishScript(places);
}

}  // namespace agoq
