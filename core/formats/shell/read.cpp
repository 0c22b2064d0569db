// Launch scripts: what each command would start.
#include <algorithm>
#include <utility>

#include "base/sorted.h"
#include "base/text.h"
#include "formats/documents.h"
#include "formats/megatron/read.h"
#include "formats/named_model.h"
#include "formats/read/elsewhere.h"
#include "formats/read/jobs.h"
#include "formats/read/others.h"
#include "formats/read/recipe_command.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "formats/shell/files.h"
#include "formats/shell/launch.h"
#include "formats/shell/own_programs.h"
#include "formats/shell/script_commands.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostJobs = 50;

// What a reader is asked for where a script does not say it, and the argument that would.
constexpr std::pair<const char*, const char*> kAsked[] = {{"gpus", "gpus"},
                                                          {"seq_length", "seq_length"},
                                                          {"sequence_length", "seq_length"},
                                                          {"micro_batch_size", "micro_batch_size"},
                                                          {"micro_batch", "micro_batch_size"}};

// "pretrain_gpt_oss_20b.py model.seq_length=…": the program's name says the model of its recipe.
void add_named_program(const ShellCommand& command, Import& in) {
    std::string name = title_of(command);
    for (const std::string_view way : {"pretrain_", "finetune_", "sft_", "train_"})
        if (name.starts_with(way)) name.erase(0, way.size());
    if (!name.ends_with(".py") || count_like(in.entries, {"*recipe", "recipe_*", "hf_path", "model_name"}) > 0) return;
    name.resize(name.size() - 3);
    if (named_model(name) != nullptr) in.entries.push_back({"recipe_model", "", name, command.line});
}

// Of what starts a program, not of the program.
constexpr std::string_view kQuietOfLaunchers[] = {
    "rdzv*",      "role",         "tee",           "local_ranks*", "nproc*",    "nnodes",        "node_rank",        "master_*",
    "standalone", "max_restarts", "redirects",     "log_dir",      "jobid",     "cpus_per_task", "kill_on_bad_exit", "cpu_bind",
    "mem_bind",   "container_*",  "no_container*", "unbuffered",   "multi_gpu", "num_machines"};

// What programs with a spelling of their own say.
void add_programs(const ShellScript& script, ShellCommand& command, const NamesSet& set, std::vector<Entry>& entries) {
    if (const std::string swift = started_with(command, "swift", {"sft", "pt", "rlhf"}); !swift.empty())
        entries.push_back({"swift", "", swift, command.line});
    add_trl(command, entries);
    add_litgpt(command, entries);
    add_llmc(script, command, entries);
    add_xtuner(command, entries);
    add_colossal(command, entries);
    add_nanogpt(script, command, set, entries);
}

// The file of settings that a command names, where it is here: what the command says counts before it. `rest`: without its overrides.
void add_files(const ShellScript& script, const ShellCommand& command, const ShellCommand& rest, const FormatReader& reader, Import& in) {
    if (reader.id == "accelerate") {
        std::vector<Entry> document = accelerate_documents(script, command);
        in.entries.insert(in.entries.begin(), document.begin(), document.end());
    }
    if (DocumentSettings document = document_settings(script, command, reader.id);
        document.reader != nullptr && reader.id != "accelerate") {
        for (Entry& entry : in.entries)
            if (entry.key == "job.config_file" || entry.key == "config")
                entry.written = std::exchange(entry.value, nullptr);  // the file is here
        in.entries.insert(in.entries.begin(), document.entries.begin(), document.entries.end());
    } else {
        name_file(script, command, rest, reader.id, in);
    }
}

// The arguments of another program than Megatron-LM's own, as the settings of its format.
std::optional<ReadJob> read_foreign(const ShellScript& script, const ShellCommand& command, const NamesSet& set, std::string& format) {
    if (auto primus = read_primus_script(script, command, set)) {
        format = "primus";
        return primus;
    }
    if (!megatron_swift(command).empty()) return std::nullopt;
    ReadJob job;
    ShellCommand rest = command;
    job.in.entries = overrides_of(rest);
    const bool overrides = !job.in.entries.empty();
    auto recipe = recipe_command(rest);
    for (Entry& entry : recipe ? recipe->entries : arguments_of(rest)) job.in.entries.push_back(std::move(entry));
    add_programs(script, rest, set, job.in.entries);
    const FormatReader* reader = recipe ? reader_called(recipe->reader) : reader_of(job.in.entries);
    // Axolotl and DeepSpeed take a file: their names as arguments are those of another program.
    const bool own =
        !recipe &&
        (reader == nullptr || (reader->id == "axolotl" && !overrides) || reader->id == "deepspeed" || reader->id == "gpt-neox") &&
        runs_own_program(rest);
    if (own && is_llm_recipes(job.in.entries)) return std::nullopt;
    if (own) reader = own_reader(script, rest, job.in.entries);
    if (reader == nullptr && !started_with(rest, "accelerate", {"launch"}).empty()) {
        if (auto other = read_settings_file(script, command, set, format)) return other;  // of the program that it launches
        reader = reader_called("accelerate");
    }
    if (const FormatReader* known = launched_reader(rest, job.in.entries); known != nullptr) reader = known;
    if (reader == nullptr || (reader->id == "megatron-lm" && !overrides)) return std::nullopt;
    // "--num-gpus-per-node" beside Megatron-LM's arguments is no recipe of NeMo's.
    if (reader->id == "nemo-2" && !recipe && !overrides && megatron_likeness(job.in.entries) >= kOfMegatron) return std::nullopt;
    if (reader->id == "gpt-neox") return std::nullopt;  // it takes files alone: what has its names here is a program of somebody's own
    const auto is_idle = [&](const ShellWord& word) {
        const bool module = &word != rest.words.data() && (&word - 1)->text == "-m";
        return word.text.ends_with("decode.py") || (module && names_no_training(word.text));
    };
    if (std::any_of(rest.words.begin(), rest.words.end(), is_idle)) return std::nullopt;
    format = reader->id;
    job.in.answers = set;
    add_files(script, command, rest, *reader, job.in);
    for (const auto& [name, reason] : command.settings)
        if (name.empty())
            for (const std::string& open : open_names(reason)) job.in.touched.push_back(open);
    const bool llmc = reader->id == "llm.c";  // whose own "-n" is no number of processes
    if (!recipe || !recipe->starts_nodes) read_launch(script, llmc ? rest : command, job.in);
    if (reader->id == "transformers" || reader->id == "llama-factory") add_launcher_file(script, rest, job.in);
    if (reader->id == "transformers" && count_like(job.in.entries, {"deepspeed", "deepspeed_config", "deepspeed_config_file"}) > 0)
        add_deepspeed_file(job.in.entries, deepspeed_documents(script, command));
    job.in.mark_all(kQuietOfLaunchers, Fate::no_number);
    if (reader->id == "megatron-bridge" && !recipe) add_named_program(rest, job.in);
    reader->read(job.in);
    if (title_of(rest) == "train_sft.py" && reader->id == "llama-factory")  // ChatGLM-Efficient-Tuning's, which has a model of its own
        std::erase_if(job.in.refused, [](const Text& text) { return text.id() == "import_plan.refused.needs"; });
    if (const std::string_view way = other_training(title_of(rest)); !way.empty() && job.in.refused.empty() && runs_own_program(rest))
        refuse_mode(job.in, way);
    return job;
}

// Megatron-DeepSpeed has Megatron-LM's arguments, and some of its own.
bool is_deepspeed(const std::vector<Entry>& entries) { return count_like(entries, {"deepspeed", "deepspeed_config", "zero_stage"}) > 0; }

// "--num-layers: 32" as an argument: the program takes the colon for a part of the name, and stops.
void refuse_colons(Import& in) {
    const auto found = std::find_if(in.entries.begin(), in.entries.end(),
                                    [](const Entry& entry) { return entry.shown.starts_with("--") && entry.shown.ends_with(':'); });
    if (found != in.entries.end())
        in.refused.push_back(Text("import_plan.refused.no_key").with("program", "Megatron-LM").with("key", found->shown.substr(0, 80)));
}

// "-use-flash-attn" behind the program: with one dash it is no argument of Megatron-LM's, which stops.
void refuse_single_dashes(const ShellCommand& command, Import& in) {
    const auto is_program = [](const ShellWord& word) { return word.text.ends_with(".py"); };
    const auto program = std::find_if(command.words.begin(), command.words.end(), is_program);
    const auto found = std::find_if(program, command.words.end(), [](const ShellWord& word) {
        return word.text.size() > 3 && word.text[0] == '-' && word.text[1] >= 'a' && word.text[1] <= 'z' &&
               word.text.find_first_of("-_", 1) != std::string::npos;
    });
    if (found != command.words.end())
        in.refused.push_back(Text("import_plan.refused.no_key").with("program", "Megatron-LM").with("key", found->text.substr(0, 80)));
}

// The argument that names a file with the rest of what is trained; nullptr: none does. "--config" is a fork's.
const char* file_key(const ShellCommand& command, const std::vector<Entry>& entries) {
    for (const char* key : {"yaml_cfg", "cli_arg_yaml_cfgs", "model_recipe", "config"})
        if (count_like(entries, {key}) > 0 && (std::string_view(key) != "config" || pretrains(command))) return key;
    return nullptr;
}

// A model without layers, and a word of unknown value that stands for further arguments: the rest is said there.
bool takes_more(const ShellCommand& command, const std::vector<Entry>& entries) {
    if (count_like(entries, {"num_layers", "*use_checkpoint_args", "hybrid_*_pattern"}) > 0) return false;
    const auto is_program = [](const ShellWord& word) { return word.text.ends_with(".py"); };
    const auto program = std::find_if(command.words.begin(), command.words.end(), is_program);
    if (program == command.words.end()) return false;
    const bool first = program + 1 != command.words.end() && is_one_name((program + 1)->text);
    return first ||
           std::any_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.key.empty() && !entry.open.empty(); });
}

// `alone`: what is said stands before another script, which says the rest.
Import read_command(const ShellScript& script, const ShellCommand& command, const NamesSet& set, bool alone = false) {
    Import in;
    in.entries = arguments_of(command);
    const ShellCommand told = with_environment(script, command);
    add_settings(told, in);
    add_environment(told, in);
    answer_vocabulary(in, set);
    // Also for a word where a number is to be ("--micro-batch-size one"), which is asked for like what is not there.
    for (const auto& [name, key] : kAsked)
        if (const auto answer = set.find(name);
            answer != set.end() && (name == std::string_view("gpus") || !in.has(key) || (in.last(key)->open.empty() && !in.whole(key, ""))))
            in.entries.push_back({key, key, answer->second});
    for (const auto& [name, reason] : command.settings)
        if (name.empty())
            for (const std::string& open : open_names(reason)) in.touched.push_back(open);
    const std::string first = command.words.empty() ? "" : command.words[0].text;
    const Entry* const gpus = in.last("gpus");  // a container may be given "all"
    if (gpus != nullptr && number_in(gpus->value) && (set.contains("gpus") || (first != "srun" && first != "sbatch")))
        in.set("gpus", in.whole("gpus", "gpus"));
    else if (in.has("world_size") && in.last("world_size")->shown.starts_with("--"))  // a fork's, whose program is told how many there are
        in.set("gpus", in.whole("world_size", "gpus"));
    const std::string way = megatron_swift(command);
    const bool swift = !way.empty();
    if (swift) fill_megatron_swift(in, way, command.line);
    if (swift) take_named_model(in, in.has("model") ? "model" : "load");
    read_launch(script, command, in);
    const bool starts =
        std::any_of(command.words.begin(), command.words.end(), [](const ShellWord& word) { return word.text.ends_with(".py"); });
    const bool named = in.has("model_name") && !in.has("num_layers") && take_named_model(in, "model_name");  // a fork's preset
    const char* const file = file_key(command, in.entries);
    const bool more = !swift && !named && (starts_pai(command) || takes_more(command, in.entries));
    if (const ShellCommand names = all_variables(script); more && sets_a_job(names)) add_settings(names, in);
    alone = alone || swift || named || file != nullptr || more;
    read_megatron(in, {.silent = alone,
                       .needs_precision = !alone,
                       .own_checks = starts && !is_deepspeed(in.entries),
                       .experts = starts || !starts_script(command)});
    if (!in.has("num_layers") && in.has("hf_checkpoint") && take_named_model(in, "hf_checkpoint"))  // slime; its sizes stand elsewhere
        std::erase_if(in.notes, [](const Text& note) { return note.id() == "import_plan.note.no_model"; });
    if (file != nullptr) note_file(in, file);
    if (named || file != nullptr || more) ask_model(in);
    if (swift)
        add_megatron_swift(in);
    else
        read_fork_adapters(in);
    if (is_deepspeed(in.entries)) add_deepspeed(in, deepspeed_documents(script, command));
    refuse_colons(in);
    refuse_single_dashes(command, in);
    if (names_an_encoder(title_of(command))) {
        in.asked.clear();
        refuse_encoder(in, title_of(command));
    }
    return in;
}

// Nothing is started here, but a text is there that another program will start: a file that it writes, a command in a variable.
ShellWords texts_inside(const ShellScript& script) {
    constexpr std::size_t kMostTexts = 10;
    ShellWords texts = script.files;
    for (const auto& [name, words] : script.variables)
        if (words.size() == 1) texts.push_back(words[0]);
    std::erase_if(texts, [](const ShellWord& text) { return !holds_command(text.text); });
    texts = sorted(std::move(texts), [](const ShellWord& a, const ShellWord& b) { return a.line < b.line; });
    texts.resize(std::min(texts.size(), kMostTexts));
    return texts;
}

// Programs whose settings stand in a file, which may stand in the script.
void add_file_jobs(const ShellScript& script, const NamesSet& set, ReadJobs& read) {
    for (const ShellCommand& command : script.commands)
        if (auto job = read_settings_file(script, command, set, read.format); job && read.jobs.size() < kMostJobs) {
            job->title = title_of(command);
            job->line = command.line;
            if (command.ended > 0) job->in.refused.push_back(Text("import_plan.refused.ended").with("line", command.ended));
            read.jobs.push_back(std::move(*job));
        }
    if (!read.jobs.empty()) return;
    for (ReadJob& job : read_documents(script, set, read.format)) read.jobs.push_back(std::move(job));
}

// What stands behind an "exit" is never started: left out where something else is, else the job says so.
void leave_ended(const std::vector<std::int64_t>& ends, ReadJobs& read) {
    const bool some = std::find(ends.begin(), ends.end(), 0) != ends.end();
    for (std::size_t i = ends.size(); i-- > 0;)
        if (ends[i] > 0 && some)
            read.jobs.erase(read.jobs.begin() + static_cast<std::ptrdiff_t>(i));
        else if (ends[i] > 0)
            read.jobs[i].in.refused.push_back(Text("import_plan.refused.ended").with("line", ends[i]));
}

// A function that is called for each node starts one job: all that differs is the node.
void join_nodes(ReadJobs& read) {
    const auto numbers_nodes = [](const ReadJob& job) { return count_like(job.in.entries, {"node_rank", "machine_rank"}) > 0; };
    for (std::size_t i = read.jobs.size(); i-- > 1;) {
        const ReadJob& job = read.jobs[i];
        const bool again =
            numbers_nodes(job) &&
            std::any_of(read.jobs.begin(), read.jobs.begin() + static_cast<std::ptrdiff_t>(i), [&](const ReadJob& other) {
                return other.line == job.line && other.title == job.title && numbers_nodes(other) && other.in.job == job.in.job;
            });
        if (again) read.jobs.erase(read.jobs.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

ReadJobs started_jobs(const ShellScript& script, const NamesSet& set) {
    ReadJobs read{"megatron-lm", script.complete, {}, script.choices};
    bool evaluates = false;
    std::vector<std::int64_t> ends;  // a line for each job, or 0
    for (const ShellCommand& command : joined_overrides(script.commands)) {
        if (read.jobs.size() == kMostJobs) break;
        ends.resize(read.jobs.size());
        ends.push_back(command.ended);
        std::string format;
        if (const bool other = runs_other(command); other || only_evaluates(command) || trains_nothing(command, arguments_of(command))) {
            evaluates = evaluates || other || megatron_likeness(arguments_of(command)) >= kOfMegatron;
        } else if (auto foreign = read_foreign(script, command, set, format)) {
            read.format = format;
            foreign->title = title_of(command);
            foreign->line = command.line;
            read.jobs.push_back(std::move(*foreign));
        } else if (const bool own = pretrains(command); megatron_likeness(arguments_of(command)) >= (own ? 1 : kOfMegatron) ||
                                                        (own && file_key(command, arguments_of(command)) != nullptr)) {
            read.jobs.push_back({title_of(command), command.line, read_command(script, command, set)});
            if (is_deepspeed(read.jobs.back().in.entries)) read.format = "megatron-deepspeed";
        }
    }
    ends.resize(read.jobs.size());
    leave_ended(ends, read);
    join_nodes(read);
    if (read.jobs.empty() && evaluates) {  // it takes the lists of arguments
        add_file_jobs(script, set, read);
        return read;
    }
    if (read.jobs.empty())
        if (ShellCommand lists = all_lists(script); megatron_likeness(arguments_of(lists)) >= kOfMegatron) {
            // A script that is not here is started, or it takes this one in: what is set is for it, and what is not said may stand there.
            const bool elsewhere = script.commands.empty() || std::any_of(script.commands.begin(), script.commands.end(), starts_script);
            if (elsewhere) lists.settings = all_variables(script).settings;
            read.jobs.push_back({title_of(lists), lists.line, read_command(script, lists, set, elsewhere)});
            if (is_deepspeed(read.jobs.back().in.entries)) read.format = "megatron-deepspeed";
        }
    if (read.jobs.empty())
        for (const ShellCommand& command : script.commands)
            if ((sets_a_job(command) || starts_pai(command)) && read.jobs.size() < kMostJobs)
                read.jobs.push_back({title_of(command), command.line, read_command(script, command, set, true)});
    if (ShellCommand names = all_variables(script); read.jobs.empty() && sets_a_job(names)) {
        names.words = all_lists(script).words;
        read.jobs.push_back({"", names.line, read_command(script, names, set, true)});
        if (is_deepspeed(read.jobs.back().in.entries)) read.format = "megatron-deepspeed";
    }
    // The program may be anybody's, and its configuration stands in the script.
    if (std::vector<Entry> document = deepspeed_documents(script, {}); read.jobs.empty() && !document.empty()) {
        ReadJob job;
        job.in.entries = std::move(document);
        job.in.answers = set;
        for (const ShellCommand& command : script.commands) read_launch(script, command, job.in);
        const FormatReader* reader = reader_called("deepspeed");
        reader->read(job.in);
        read.format = reader->id;
        read.jobs.push_back(std::move(job));
    }
    if (read.jobs.empty()) add_file_jobs(script, set, read);
    return read;
}

}  // namespace

std::optional<ReadJobs> read_script(std::string_view text, const NamesSet& set, std::int64_t first_line) {
    const ShellScript script = read_shell(text, set, first_line);
    ReadJobs read = started_jobs(script, set);
    for (ReadJob& job : read.jobs) mark_wrappers(script, job.in);
    for (const ShellWord& inside : texts_inside(script)) {
        if (!read.jobs.empty()) break;
        ShellScript inner = read_shell(inside.text, set, inside.line);
        inner.directives.insert(inner.directives.end(), script.directives.begin(), script.directives.end());
        read = started_jobs(inner, set);
        for (ReadJob& job : read.jobs) mark_wrappers(inner, job.in);
    }
    return read.jobs.empty() ? std::nullopt : std::optional(std::move(read));
}

}  // namespace fourfold
