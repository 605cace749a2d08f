// Predicts pictures: one with the certainties of all members, or many as rows of a table.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.hpp"
#include "data/images/image_files.hpp"
#include "data/images/picture.hpp"
#include "data/images/picture_image.hpp"
#include "data/locate.hpp"
#include "data/scale.hpp"
#include "predict/predictor.hpp"
#include "report/certainty.hpp"
#include "report/charts/certainty_plot.hpp"
#include "run/exemplars.hpp"
#include "run/vote.hpp"
#include "sdk/error.hpp"

namespace mokume::app {
namespace {

constexpr int32_t kLeastSide = 8;                  // least side of an image, if only the number of features is known
constexpr size_t kBlockValues = size_t{16} << 20;  // limit of the values that are predicted together

using run::Trained;

struct Conversion {
  data::Shape shape;
  bool plain = false;   // converted like the training pictures of source "images", otherwise like MNIST's digits
  std::string guessed;  // remark if only the number of features is known, otherwise ""

  data::ModelImage operator()(const data::Picture& picture) const {
    data::ModelImage image = plain ? data::to_plain_image(picture, shape) : data::to_model_image(picture, shape);
    image.how += guessed;
    return image;
  }
};

// Returns the image shape of the model's rows. Sets `guessed` to a remark if only the number of features is known.
data::Shape image_shape(const Trained& model, const std::string& run, std::string& guessed) {
  const data::Shape& shape = model.shape;
  if (int64_t{shape.height} * shape.width > 1) return shape;
  const auto side = static_cast<int32_t>(std::lround(std::sqrt(static_cast<double>(model.features))));
  if (side < kLeastSide || int64_t{side} * side != model.features)
    throw Error(
        MK_INVALID_ARGUMENT,
        fmt::format("the model of {} takes rows of {} features, which are not an image: predict rows with --data SPEC",
                    run, model.features));
  guessed = fmt::format("; the model's {} features are interpreted as {} x {} pixels", model.features, side, side);
  return {side, side, 1};
}

Conversion conversion_of(const Models& with) {
  const std::string& run = with.options.run;
  if (with.ensemble.first().classes.empty())
    throw Error(
        MK_INVALID_ARGUMENT,
        fmt::format(
            "the model of {} predicts numbers, but a picture requires a classifier: predict rows with --data SPEC",
            run));
  if (with.record.data.shape) return {*with.record.data.shape, true, ""};
  Conversion conversion;
  conversion.shape = image_shape(with.ensemble.first(), run, conversion.guessed);
  return conversion;
}

data::Table scaled_rows(const Models& with, const std::string& name, std::vector<float> values,
                        const data::Shape& shape) {
  const Trained& first = with.ensemble.first();
  data::Dataset rows;
  rows.name = name;
  rows.train.features = shape.values();
  rows.train.rows = static_cast<int64_t>(values.size()) / rows.train.features;
  rows.train.x = std::move(values);
  data::check_scaling(rows, first.features, first.mean, first.scale);
  data::apply_scaling(first.mean, first.scale, rows.name, rows.train);
  return std::move(rows.train);
}

results::Thumbnail thumbnail(const std::vector<float>& values, const data::Shape& shape) {
  const auto channels = static_cast<size_t>(shape.channels);
  std::vector<double> grey;
  for (size_t i = 0; i < values.size(); i += channels) {
    double sum = 0;
    for (size_t c = 0; c < channels; ++c) sum += static_cast<double>(values[i + c]);
    grey.push_back(sum / static_cast<double>(channels));
  }
  return run::thumbnail(static_cast<size_t>(shape.width), static_cast<size_t>(shape.height), grey);
}

void print_json(const std::string& file, const std::string& how, const results::Certainty& certainty,
                const std::vector<double>& doubt) {
  const report::EnsembleVote vote = report::take_vote(certainty);
  nlohmann::ordered_json out;
  out["image"] = file;
  out["conversion"] = how;
  out["vote"] = certainty.classes[vote.winner];
  out["members"] = certainty.members.size();
  out["entropy"] = vote.entropy;
  if (!doubt.empty()) out["test_rows_below"] = report::share_below(doubt, vote.entropy);
  out["mutual_information"] = vote.mutual_information;
  out["classes"] = certainty.classes;
  out["votes"] = vote.votes;
  out["mean"] = vote.mean;
  out["sd"] = vote.sd;
  out["certainty"] = certainty.members;
  const std::string text = out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::fprintf(stdout, "%s\n", text.c_str());
}

void predict_one(const Models& with, const std::string& file) {
  const PredictOptions& options = with.options;
  const Conversion convert = conversion_of(with);
  const data::Picture picture = data::read_picture(file);
  const data::ModelImage image = convert(picture);
  say(stderr, "{}\n{}", image.how, data::preview(image.values, convert.shape));
  const data::Table row = scaled_rows(with, picture.name, image.values, convert.shape);
  const Opened opened(with, row.x.size());
  const results::Certainty certainty = run::certainty_of(with.model, with.ensemble, opened.services(), row);
  if (!options.svg.empty())
    base::write_file(options.svg,
                     report::certainty_svg(certainty, picture.name, thumbnail(image.values, convert.shape)));
  // A stored vote of other members says nothing about these members.
  const auto vote = run::read_vote(options.run);
  const bool same = vote && vote->members == with.ensemble.size();
  const std::vector<double> doubt = same ? vote->doubt : std::vector<double>{};
  if (options.json)
    print_json(file, image.how, certainty, doubt);
  else
    show(stdout, report::certainty_text(certainty, report::kTextWidth, doubt));
}

// Predicts many pictures and prints a row for each, in the order of the command line and of names in folders.
class PictureTable {
 public:
  explicit PictureTable(const Models& with)
      : with_(with), convert_(conversion_of(with)), opened_(with), table_(with, {"file"}, false) {
    const auto values = static_cast<size_t>(convert_.shape.values());
    block_ = std::max<size_t>(1, kBlockValues / values);
    if (!convert_.guessed.empty()) say(stderr, "pictures: {}\n", convert_.guessed.substr(2));
  }

  // Adds a picture, or all pictures in a folder. Reports unreadable files on stderr.
  void add(const std::string& path) {
    if (!data::is_directory(path)) return add_file(path);
    data::ImageFolder folder;
    if (!readable([&] { folder = data::list_pictures(without_slash(path)); })) return;
    for (const std::string& note : folder.notes) say(stderr, "{}\n", note);
    for (const data::ImageFile& file : folder.files) add_file(folder.path_of(file));
  }

  int finish() {
    print();
    if (unread_ == 0) return kDone;
    say(stderr, "error: {} {} could not be read; {} predicted\n", unread_,
        unread_ == 1 ? "picture or folder" : "pictures or folders",
        read_ == 1 ? "1 other picture is" : fmt::format("{} other pictures are", read_));
    return kData;
  }

 private:
  static std::string without_slash(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
  }

  // Calls `read`, and reports errors in the data. Returns whether there were none.
  template <class Read>
  bool readable(Read&& read) {
    try {
      read();
      return true;
    } catch (const Error& e) {
      if (e.status() != MK_BAD_DATA) throw;
      say(stderr, "error: {}\n", e.what());
      ++unread_;
      return false;
    }
  }

  void add_file(const std::string& path) {
    data::ModelImage image;
    if (!readable([&] { image = convert_(data::read_picture(path)); })) return;
    files_.push_back(path);
    values_.insert(values_.end(), image.values.begin(), image.values.end());
    ++read_;
    if (files_.size() >= block_) print();
  }

  void print() {
    if (files_.empty()) return;
    const data::Table rows = scaled_rows(with_, "the pictures", std::move(values_), convert_.shape);
    const run::Combined said = run::combine(with_.model, with_.ensemble, opened_.services(), rows);
    for (size_t r = 0; r < files_.size(); ++r) table_.print(said, r, {std::string_view(files_[r])});
    files_.clear();
    values_.clear();
  }

  const Models& with_;
  Conversion convert_;
  Opened opened_;
  ClassTable table_;
  size_t block_ = 1;  // number of pictures predicted together, which bounds the memory
  size_t read_ = 0, unread_ = 0;
  std::vector<std::string> files_;
  std::vector<float> values_;
};

}  // namespace

int predict_pictures(const Models& with) {
  const std::vector<std::string>& images = with.options.images;
  if (images.size() == 1 && !data::is_directory(images[0])) {
    predict_one(with, images[0]);
    return kDone;
  }
  if (!with.options.svg.empty())
    throw Error(MK_INVALID_ARGUMENT, "--svg draws one picture: name one IMAGE, and no folder, or leave --svg out");
  PictureTable table(with);
  for (const std::string& path : images) table.add(path);
  return table.finish();
}

}  // namespace mokume::app
