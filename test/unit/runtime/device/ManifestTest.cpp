//===- ManifestTest.cpp - What a compiled unit says about itself ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One manifest that is right, and one error for each way to be wrong.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/manifest.h"

#include "BigramUnit.h"
#include "TestFiles.h"

using namespace isobath::runtime;
using namespace isobath::runtime::test;
using nlohmann::ordered_json;

TEST(Manifest, IsRead) {
  BigramUnit bigram("f64");
  const Manifest manifest = parseManifest(bigram.manifest.dump());
  EXPECT_EQ(manifest.name, "bigram");
  EXPECT_EQ(manifest.device, "reference");
  EXPECT_EQ(manifest.lowering, "by hand");
  EXPECT_EQ(manifest.elementType, BufferType::f64);
  EXPECT_EQ(manifest.vocabulary, 7u);
  EXPECT_EQ(manifest.context, 4u);
  EXPECT_EQ(manifest.source.format, "yaml");
  EXPECT_EQ(manifest.source.text, "name: bigram\nwidth: 7\n");
  EXPECT_EQ(manifest.elements, 80u);
  EXPECT_EQ(manifest.matrixElements, 64u);
  EXPECT_EQ(manifest.parameterCount(), 56u);
  ASSERT_EQ(manifest.parameters.size(), 2u);
  EXPECT_EQ(manifest.parameters[0].initial.std, 0.02);
  EXPECT_EQ(manifest.parameters[0].initial.key, "embed.weight");
  EXPECT_TRUE(manifest.parameters[0].decays);
  EXPECT_EQ(manifest.parameters[1].offset, 64u);
  EXPECT_EQ(manifest.parameters[1].shape, Shape{7});
  ASSERT_EQ(manifest.entries.size(), 6u);
  EXPECT_EQ(manifest.entries[0].batch, 3u);
  EXPECT_EQ(manifest.entries[2].batch, 0u);
  const Buffer &site = manifest.entries[5].buffers[2];
  EXPECT_TRUE(site.isDistribution);
  EXPECT_EQ(site.groups, (Names{"qk", "v"}));
  EXPECT_EQ(site.sources, (Names{"embedding", "partial"}));
  EXPECT_EQ(manifest.train.warmup, 12u);
  EXPECT_EQ(manifest.train.beta2, 0.95);
}

namespace {
/// A value put at a JSON pointer, and the message that it causes.
struct BrokenManifest {
  const char *pointer;
  const char *value;
  const char *message;
};
} // namespace

class ManifestErrors : public testing::TestWithParam<BrokenManifest> {};

TEST_P(ManifestErrors, NameKeyValueAndExpectation) {
  BigramUnit bigram;
  bigram.manifest[ordered_json::json_pointer(GetParam().pointer)] =
      ordered_json::parse(GetParam().value);
  EXPECT_EQ(messageOf([&] { parseManifest(bigram.manifest.dump()); }),
            GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, ManifestErrors,
    testing::Values(
        BrokenManifest{"/name", "3", "manifest.name: given 3, expected a text"},
        BrokenManifest{"/cpu", R"({"name": 3, "features": []})",
                       "manifest.cpu.name: given 3, expected a text"},
        BrokenManifest{"/element_type", "\"i8\"",
                       "manifest.element_type: given \"i8\", expected f32 or "
                       "f64"},
        BrokenManifest{"/element_type", "\"f16\"",
                       "manifest.element_type: given \"f16\", expected i8, "
                       "i32, f32 or f64"},
        BrokenManifest{"/vocabulary", "0",
                       "manifest.vocabulary: given 0, expected a whole number "
                       "of at least 1 and at most 2147483647"},
        BrokenManifest{"/context", "-4",
                       "manifest.context: given -4, expected a whole number "
                       "of at least 1"},
        BrokenManifest{"/context", "1.5",
                       "manifest.context: given 1.5, expected a whole number "
                       "of at least 1"},
        BrokenManifest{"/source/format", "\"toml\"",
                       "manifest.source.format: given \"toml\", expected yaml "
                       "or mlir"},
        BrokenManifest{"/source", "null",
                       "manifest.source: given null, expected an object"},
        BrokenManifest{"/parameters/tensors/1/offset", "65",
                       "manifest.parameters.tensors[1].offset: given 65, "
                       "expected a multiple of 16"},
        BrokenManifest{"/parameters/tensors/1/offset", "80",
                       "manifest.parameters.tensors[1].offset: given 80, "
                       "expected a tensor that ends by element 80"},
        BrokenManifest{"/parameters/tensors/1/name", "\"embed.weight\"",
                       "manifest.parameters.tensors: given embed.weight twice, "
                       "expected distinct names"},
        BrokenManifest{"/parameters/tensors/0/shape", "[2, 33]",
                       "manifest.parameters.tensors[0].decay: given true, "
                       "expected false behind the first matrix_elements = 64"},
        BrokenManifest{"/parameters/tensors/0/decay", "false",
                       "manifest.parameters.tensors[0].decay: given false, "
                       "expected true within the first matrix_elements = 64"},
        BrokenManifest{"/parameters/tensors/0/shape",
                       "[4294967296, 4294967296]",
                       "manifest.parameters.tensors[0].shape: given "
                       "[4294967296,4294967296], expected at most 2^59 "
                       "elements"},
        BrokenManifest{"/entries/1/name", "\"loss\"",
                       "manifest.entries[1].name: given \"loss\", expected "
                       "each entry once"},
        BrokenManifest{"/entries/0/buffers/0/bytes", "47",
                       "manifest.entries[0].buffers[0].bytes: given 47, "
                       "expected a whole number of at least 48"},
        BrokenManifest{"/entries/0/buffers/0/type", "\"f32\"",
                       "manifest: entry loss: buffer tokens: given f32 [3, 4], "
                       "expected i32 [3, 4]"},
        BrokenManifest{"/entries/0/buffers/3/shape", "[4, 3]",
                       "manifest: entry loss: buffer losses: given f32 [4, 3], "
                       "expected f32 [3, 4]"},
        BrokenManifest{"/entries/0/buffers/4/name", "\"mask\"",
                       "manifest: entry loss: given an unknown buffer mask"},
        BrokenManifest{"/entries/0/buffers/3/name", "\"arena\"",
                       "manifest: entry loss: given no buffer losses, expected "
                       "f32 [3, 4]"},
        BrokenManifest{"/entries/3/buffers/1/type", "\"f32\"",
                       "manifest: entry norm: buffer norm: given f32 [], "
                       "expected f64 []"},
        BrokenManifest{"/entries/5/buffers/2/groups", "[\"qk\"]",
                       "manifest: entry routes: buffer layers.0.attn: given "
                       "f32 [2, 2, 4, 2, 2], expected f32 [1, 2, 4, 2, 2]"},
        BrokenManifest{"/train/warmup", "40",
                       "manifest.train.warmup: given 40, expected less than "
                       "steps = 40"},
        BrokenManifest{"/train/betas", "[0.9, 1]",
                       "manifest.train.betas[1]: given 1, expected a number "
                       "below 1"},
        BrokenManifest{"/train/schedule", "\"step\"",
                       "manifest.train.schedule: given \"step\", expected "
                       "cosine, linear or constant"}));

TEST(Manifest, EveryKeyIsRequired) {
  const ordered_json whole = BigramUnit().manifest;
  for (const auto &[key, value] : whole.items()) {
    ordered_json manifest = whole;
    manifest.erase(key);
    EXPECT_EQ(messageOf([&] { parseManifest(manifest.dump()); }),
              "manifest." + key + ": given nothing, expected a value");
  }
  for (const auto &[key, value] : whole["train"].items()) {
    ordered_json manifest = whole;
    manifest["train"].erase(key);
    EXPECT_EQ(messageOf([&] { parseManifest(manifest.dump()); }),
              "manifest.train." + key + ": given nothing, expected a value");
  }
}

TEST(Manifest, TensorsMayNotOverlap) {
  BigramUnit bigram;
  auto &parameters = bigram.manifest["parameters"];
  parameters["matrix_elements"] = 80;
  parameters["tensors"][1]["offset"] = 48;
  parameters["tensors"][1]["decay"] = true;
  EXPECT_EQ(messageOf([&] { parseManifest(bigram.manifest.dump()); }),
            "manifest.parameters.tensors: given embed.weight and bias that "
            "overlap, expected distinct elements");
}

TEST(Manifest, IsJson) {
  EXPECT_EQ(messageOf([] { parseManifest("{\"name\": }"); }),
            "manifest: given text that is not JSON at byte 10, expected one "
            "JSON object");
}
