// .npy and .npz: round trips, what numpy writes, and every way a file can be
// wrong.
#include "tensor/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "tensor/npy_header.hpp"
#include "tensor/zip.hpp"

namespace hone::tensor {
namespace {

using testing::HasSubstr;

std::filesystem::path temporary(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / name;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

template <class F>
std::string bad_input(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

std::string parse_error(const std::string& file) {
  return bad_input([&] { parse_npy(bytes_of(file)); });
}

/// A version 1 file with this dictionary and `payload` bytes of zeros.
std::string npy(const std::string& dictionary, size_t payload) {
  const auto length = static_cast<uint16_t>(dictionary.size());
  std::string file = "\x93NUMPY";
  file += {1, 0, static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return file + dictionary + std::string(payload, '\0');
}

TEST(Npy, RoundTripsEveryType) {
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kInt8, DType::kInt16, DType::kInt32,
        DType::kInt64, DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64, DType::kBool}) {
    const Tensor tensor = Tensor::of<float>({0, 1, 2, 3, 4, 5}, {2, 3}).cast(dtype);
    const Tensor back = parse_npy(bytes_of(format_npy(tensor)));
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.shape(), tensor.shape());
    EXPECT_EQ(back.to_double(), tensor.to_double());
  }
}

TEST(Npy, WritesWhatNumpyWrites) {
  const std::string file = format_npy(Tensor::of<float>({1}, {1}));
  EXPECT_EQ(file.size() % 64, 4u);
  EXPECT_EQ(file.substr(10, 57), "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }");
  EXPECT_EQ(parse_npy(bytes_of(format_npy(Tensor::scalar(2.5f)))).shape(), Shape{});
  EXPECT_EQ(parse_npy(bytes_of(format_npy(Tensor(DType::kInt8, {0, 3})))).shape(), (Shape{0, 3}));
}

TEST(Npy, BFloat16IsWrittenAsFloat32) {
  const Tensor back = parse_npy(bytes_of(format_npy(Tensor::scalar(BFloat16(1.5f)))));
  EXPECT_EQ(back.dtype(), DType::kFloat32);
  EXPECT_EQ(back.values<float>()[0], 1.5f);
}

TEST(Npy, RefusesWithOneSentence) {
  const std::string rest = "'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(parse_error("PNG"), "this is text, not a .npy array: numpy.save(\"x.npy\", array) writes one");
  EXPECT_THAT(parse_error(""), HasSubstr("the .npy file is empty"));
  EXPECT_THAT(parse_error("\x93NUMPY\1"), HasSubstr("ends inside its header"));
  EXPECT_THAT(parse_error(npy("{'descr': '|O', " + rest, 16)), HasSubstr("pickle"));
  EXPECT_THAT(parse_error(npy("{'descr': '>f4', " + rest, 8)), HasSubstr("big-endian"));
  EXPECT_THAT(parse_error(npy("{'descr': '<c8', " + rest, 16)), HasSubstr("'<c8' is not supported"));
  EXPECT_THAT(parse_error(npy("{'descr': [('a', '<f4')], " + rest, 8)), HasSubstr("not a dictionary"));
  EXPECT_THAT(parse_error(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", 8)),
              HasSubstr("column-major"));
  EXPECT_THAT(parse_error(npy("{'descr': '<f4', 'fortran_order': False, }", 8)),
              HasSubstr("not a dictionary"));
  EXPECT_THAT(parse_error(npy("{'descr': '<f4', " + rest, 7)), HasSubstr("promises 8 bytes"));
}

TEST(Npy, RefusesShapesBeforeAllocating) {
  const auto with_shape = [](const std::string& shape) {
    return npy("{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }", 4);
  };
  EXPECT_THAT(parse_error(with_shape("1000000000000,")), HasSubstr("promises"));
  EXPECT_THAT(parse_error(with_shape("4294967296, 4294967296")), HasSubstr("overflows"));
  EXPECT_THAT(parse_error(with_shape("-1,")), HasSubstr("not a dictionary"));
  EXPECT_THAT(parse_error(with_shape("99999999999999999999,")), HasSubstr("not a dictionary"));
}

TEST(Npy, RefusesHugeHeader) {
  std::string file = "\x93NUMPY";
  file += {2, 0, '\xff', '\xff', '\xff', '\x7f'};
  EXPECT_THAT(parse_error(file + std::string(64, ' ')), HasSubstr("longer than the limit"));
}

TEST(Npy, EveryTruncationIsRefused) {
  const std::string file = format_npy(Tensor::of<float>({1, 2, 3}, {3}));
  for (size_t size = 0; size < file.size(); ++size) parse_error(file.substr(0, size));
}

TEST(Npz, RoundTripsNamesAndTensors) {
  const auto path = temporary("pair.npz");
  write_npz(path, {{"a", Tensor::of<float>({1, 2}, {2})}, {"b/c", Tensor::scalar(int64_t{7})}});
  const NamedTensors tensors = read_npz(path);
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors[0].first, "a");
  EXPECT_EQ(tensors[0].second.to_double(), (std::vector<double>{1, 2}));
  EXPECT_EQ(tensors[1].first, "b/c");
  EXPECT_EQ(tensors[1].second.to_int64(), (std::vector<int64_t>{7}));
}

TEST(Npz, NoTruncationAndNoFlippedByteIsMisread) {
  const std::string archive =
      format_zip(std::vector<ZipContent>{{"x.npy", format_npy(Tensor::scalar(1.0f))}});
  const auto path = temporary("damaged.npz");
  for (size_t size = 0; size < archive.size(); ++size) {
    base::write_file_atomic(path, archive.substr(0, size));
    bad_input([&] { read_npz(path); });
  }
  for (size_t at = 0; at < archive.size(); ++at) {
    std::string flipped = archive;
    flipped[at] = static_cast<char>(flipped[at] ^ 0xff);
    base::write_file_atomic(path, flipped);
    try {
      // A flip in a date, a flag or a name goes unnoticed; the elements must be
      // right.
      for (const auto& entry : read_npz(path)) EXPECT_EQ(entry.second.to_double(), std::vector<double>{1});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
    }
  }
}

TEST(Npz, BombsAreRefusedUnread) {
  std::string archive = format_zip(std::vector<ZipContent>{{"x.npy", std::string(64, ' ')}});
  const size_t directory = archive.find("PK\1\2");
  // Deflated, 64 bytes, but 1 GiB unpacked: more than deflate can do.
  archive[directory + 10] = 8;
  archive[directory + 27] = 0x40;
  EXPECT_THAT(bad_input([&] { list_zip(bytes_of(archive), UINT64_MAX); }), HasSubstr("claims to unpack"));
  const std::string sound = format_zip(std::vector<ZipContent>{{"x", std::string(64, ' ')}, {"y", "z"}});
  EXPECT_THAT(bad_input([&] { list_zip(bytes_of(sound), 64); }), HasSubstr("more than the limit of 64"));
}

TEST(Npz, MessagesNameFileAndMember) {
  const auto path = temporary("member.npz");
  base::write_file_atomic(path, format_zip(std::vector<ZipContent>{{"x.npy", "no array at all"}}));
  EXPECT_THAT(bad_input([&] { read_npz(path); }),
              HasSubstr("member.npz: x.npy: this is text, not a .npy array"));
}

}  // namespace
}  // namespace hone::tensor
