// See site.hpp.
#include "report/page/site.hpp"

#include <charconv>

#include "base/clock.hpp"
#include "report/page/document_schema.hpp"
#include "report/page/page.hpp"
#include "trace/open.hpp"

namespace hone::report {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSearchEvery = 2'000'000'000;  // ns
constexpr size_t kMostTraces = 4;                // limit on traces that stay in memory for their timelines
constexpr int64_t kMostPixels = 16'384;
constexpr const char* kBeingRead = "the trace is being read";

SiteResponse sentence(int status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text) + "\n", {}};
}

SiteResponse json_response(const Json& json) {
  return {200, "application/json", json.dump(-1, ' ', false, Json::error_handler_t::replace), {}};
}

/// Returns nothing if the parameter is missing or is not an integer.
std::optional<int64_t> number(const std::map<std::string, std::string>& parameters, const char* name) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return std::nullopt;
  int64_t value = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns a text that changes whenever the file changes.
std::string stamp_of(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  const auto time = fs::last_write_time(path, error).time_since_epoch().count();
  return fmt::format("{}-{}", size, time);
}

/// Layout: the length of the header, the header, padding to a multiple of 8, the columns.
std::string packed(const Timeline& timeline) {
  const std::string header =
      base::described_json(timeline).dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto length = static_cast<uint32_t>(header.size());
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof(length));
  bytes += header;
  bytes.resize((bytes.size() + 7) / 8 * 8, '\0');
  return bytes + timeline.blob;
}

}  // namespace

struct Site::Loaded {
  explicit Loaded(const fs::path& path)
      : answers(path.string(), trace::open_trace(path), {}),
        timeline(answers.trace(), answers.dependencies().path) {}

  Answers answers;
  TimelineSource timeline;
};

struct Site::Entry {
  fs::path path;
  RunFileKind kind = RunFileKind::kTrace;
  std::string id;
  std::string stamp;
  bool done = false;    ///< it was read, successfully or not
  bool again = false;   ///< must be read again for its timeline
  bool there = true;    ///< true if the last search found it
  std::string name;     ///< shown to people
  std::string problem;  ///< why it could not be read
  std::optional<ReportSweep> sweep;
  std::optional<ReportPartition> partition;
  std::vector<ReportPipeline> pipelines;
  std::shared_ptr<const std::string> profile;  ///< JSON
  base::Named<std::string> metadata;
  std::optional<DiffCandidate> candidate;
  std::shared_ptr<const Loaded> loaded;  ///< may be released, and is then read again when needed
  uint64_t used = 0;                     ///< value of Site::clock_ at the last use
};

Site::Site(std::vector<std::string> named) : named_(std::move(named)) {
  search();
  loader_ = std::thread([this] { load_in_turn(); });
}

Site::~Site() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  loader_.join();
}

void Site::search() {
  const RunFiles found = find_run_files(named_);
  const std::lock_guard lock(mutex_);
  searched_ = base::monotonic_ns();
  bool any = sentences_ != found.sentences;
  sentences_ = found.sentences;
  for (const auto& entry : entries_) entry->there = false;
  for (const RunFile& file : found.files) {
    const std::string stamp = stamp_of(file.path);
    const auto same = std::find_if(entries_.begin(), entries_.end(),
                                   [&](const auto& entry) { return entry->path == file.path; });
    if (same != entries_.end() && (*same)->stamp == stamp) {
      (*same)->there = true;
      continue;
    }
    any = true;
    const std::string id = same != entries_.end() ? (*same)->id : ids_.take(trace_stem(file.path));
    auto entry = std::make_shared<Entry>(Entry{file.path, file.kind, id, stamp});
    entry->name = trace_stem(file.path);
    if (same != entries_.end()) {
      *same = std::move(entry);
    } else {
      entries_.push_back(std::move(entry));
    }
  }
  any |= std::erase_if(entries_, [](const auto& entry) { return !entry->there; }) > 0;
  if (any) ++version_;
  changed_.notify_all();
}

void Site::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return std::all_of(entries_.begin(), entries_.end(),
                       [](const auto& entry) { return entry->done && !entry->again; });
  });
}

std::shared_ptr<Site::Entry> Site::next() {
  for (const auto& entry : entries_) {
    if (!entry->done || entry->again) return entry;
  }
  return nullptr;
}

void Site::load_in_turn() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const std::shared_ptr<Entry> entry = next();
    if (!entry) {
      changed_.wait(lock);
      continue;
    }
    // Fill a copy without holding the lock, because the entry may be replaced if its file changes.
    Entry filled = *entry;
    lock.unlock();
    load(&filled);
    lock.lock();
    *entry = std::move(filled);
    entry->used = ++clock_;
    ++version_;
    forget_old_traces();
    changed_.notify_all();
  }
}

void Site::load(Entry* entry) {
  entry->done = true;
  entry->again = false;
  try {
    if (entry->kind == RunFileKind::kSweep) {
      entry->sweep = read_report_sweep(entry->id, entry->path);
      return;
    }
    if (entry->kind == RunFileKind::kPartition) {
      entry->partition = read_report_partition(entry->id, entry->path);
      return;
    }
    if (entry->kind == RunFileKind::kPipeline) {
      entry->pipelines = read_report_pipelines(entry->id, entry->path);
      return;
    }
    auto loaded = std::make_shared<Loaded>(entry->path);
    ReportProfile profile = make_profile(entry->id, loaded->answers);
    entry->name = profile.name;
    entry->metadata = profile.metadata;
    entry->pipelines = pipelines_of(profile);
    entry->candidate = diff_candidate(entry->id, loaded->answers.trace());
    entry->profile = std::make_shared<const std::string>(
        base::described_json(profile).dump(-1, ' ', false, Json::error_handler_t::replace));
    entry->loaded = std::move(loaded);
  } catch (const Error& error) {
    entry->problem = error.what();
  }
}

void Site::forget_old_traces() {
  std::vector<Entry*> loaded;
  for (const auto& entry : entries_) {
    if (entry->loaded) loaded.push_back(entry.get());
  }
  if (loaded.size() <= kMostTraces) return;
  std::sort(loaded.begin(), loaded.end(), [](const Entry* a, const Entry* b) { return a->used > b->used; });
  for (size_t i = kMostTraces; i < loaded.size(); ++i) loaded[i]->loaded = nullptr;
}

Report Site::current() {
  Report report;
  report.generated = base::utc_date();
  report.hone = program_text();
  report.live = true;
  for (const std::string& text : sentences_) report.problems.push_back({"", text});
  std::vector<DiffCandidate> candidates;
  for (const auto& entry : entries_) {
    if (!entry->problem.empty()) {
      report.problems.push_back({entry->path.string(), entry->problem});
    } else if (entry->kind == RunFileKind::kSweep) {
      if (entry->sweep) report.sweeps.push_back(*entry->sweep);
    } else if (entry->kind == RunFileKind::kPartition) {
      if (entry->partition) report.partitions.push_back(*entry->partition);
    } else if (entry->kind == RunFileKind::kTrace) {
      ReportProfile profile{entry->id, entry->name, entry->path.string(), entry->metadata};
      profile.ready = entry->done;
      report.profiles.push_back(std::move(profile));
      if (entry->candidate) candidates.push_back(*entry->candidate);
    }
    report.pipelines.insert(report.pipelines.end(), entry->pipelines.begin(), entry->pipelines.end());
  }
  compare_profiles(candidates, &report);
  return report;
}

SiteResponse Site::list(const std::string& known_tag) {
  int64_t searched = 0;
  {
    const std::lock_guard lock(mutex_);
    searched = searched_;
  }
  if (base::monotonic_ns() - searched > kSearchEvery) search();
  const std::lock_guard lock(mutex_);
  const std::string tag = fmt::format("\"{}\"", version_);
  if (tag == known_tag) return {304, {}, {}, tag};
  if (listed_.tag != tag) {
    listed_ = json_response(to_json(current()));
    listed_.tag = tag;
  }
  return listed_;
}

Site::Entry* Site::trace_of(const std::string& id, SiteResponse* refusal) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return entry->id == id && entry->kind == RunFileKind::kTrace;
  });
  if (found == entries_.end()) {
    *refusal = sentence(404, "there is no such profile");
  } else if (!(*found)->problem.empty()) {
    *refusal = sentence(422, (*found)->problem);
  } else if (!(*found)->done) {
    *refusal = sentence(202, kBeingRead);
  } else {
    return found->get();
  }
  return nullptr;
}

SiteResponse Site::profile(const std::string& id) {
  const std::lock_guard lock(mutex_);
  SiteResponse response;
  if (const Entry* entry = trace_of(id, &response)) response = {200, "application/json", *entry->profile, {}};
  return response;
}

SiteResponse Site::timeline(const std::string& id, const std::map<std::string, std::string>& parameters) {
  std::shared_ptr<const Loaded> loaded;
  {
    const std::lock_guard lock(mutex_);
    SiteResponse refusal;
    Entry* const entry = trace_of(id, &refusal);
    if (entry == nullptr) return refusal;
    entry->used = ++clock_;
    loaded = entry->loaded;
    // A trace that was released is queued to be read again.
    entry->again = !loaded;
  }
  if (!loaded) {
    changed_.notify_all();
    return sentence(202, kBeingRead);
  }
  TimelineOptions options;
  if (const auto from = number(parameters, "from")) options.from = *from;
  if (const auto to = number(parameters, "to")) options.to = *to;
  if (const auto pixels = number(parameters, "pixels"))
    options.pixels = std::clamp<int64_t>(*pixels, 1, kMostPixels);
  return {200, "application/octet-stream", packed(loaded->timeline.window(options)), {}};
}

std::string Site::policy() const { return page_policy(); }

SiteResponse Site::answer(const SiteRequest& request) {
  constexpr std::string_view kProfiles = "/api/profiles/";
  constexpr std::string_view kTimelines = "/api/timeline/";
  if (request.path == "/") return {200, "text/html; charset=utf-8", std::string(page_asset()), {}};
  if (request.path == "/api/report") return list(request.if_none_match);
  if (request.path.starts_with(kProfiles)) return profile(request.path.substr(kProfiles.size()));
  if (request.path.starts_with(kTimelines))
    return timeline(request.path.substr(kTimelines.size()), request.parameters);
  return sentence(404, "there is nothing of that name");
}

}  // namespace hone::report
