//===- LoadModel.cpp - A model from a file, as every command takes it -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Descriptions are built into a module; modules are parsed, checked to have the
// form of a model (ModelForm.cpp) and adapted. Both end as the same thing.
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/LoadModel.h"
#include "ModelForm.h"
#include "TrainAttribute.h"
#include "isobath/Dialect/Net/NetDialect.h"
#include "isobath/Frontend/ParseModelDescription.h"
#include "isobath/Frontend/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace isobath;

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// `FILE:LINE:COLUMN` of a location, or `path` where it has none.
static std::string positionOf(Location location, StringRef path) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  if (!place || place.getLine() == 0)
    return path.str();
  return (place.getFilename().getValue() + ":" + Twine(place.getLine()) + ":" +
          Twine(place.getColumn()))
      .str();
}

/// A message with its line breaks as spaces.
static std::string onOneLine(std::string message) {
  llvm::replace(message, '\n', ' ');
  return message;
}

namespace {
/// Keeps the first error and drops all other diagnostics while it lives.
class FirstError {
public:
  FirstError(MLIRContext &context, StringRef path)
      : path(path.str()), handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              message.empty())
            message = positionOf(diagnostic.getLocation(), this->path) + ": " +
                      onOneLine(diagnostic.str());
        }) {}

  llvm::Error take() const {
    return makeError(message.empty()
                         ? path + ": expected a module that can be compiled"
                         : message);
  }

private:
  std::string path;
  std::string message;
  ScopedDiagnosticHandler handler;
};
} // namespace

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

static bool isModuleText(StringRef text, StringRef path) {
  if (path.ends_with(".mlir"))
    return true;
  if (path.ends_with(".yaml") || path.ends_with(".yml"))
    return false;
  // Descriptions have no line that starts with these.
  for (StringRef line : llvm::split(text, "\n"))
    for (StringRef start :
         {"module ", "module@", "module{", "func.func ", "\"builtin.module\""})
      if (line.ltrim().starts_with(start))
        return true;
  return false;
}

/// The parser recurses once for each open bracket; deeper texts could overflow
/// the stack, and no model needs them.
static constexpr unsigned maxBrackets = 64;

/// Refuses text that the parser should not even see.
static llvm::Error checkModuleText(StringRef text, StringRef path) {
  if (text.starts_with("ML\xefR"))
    return makeError(path + ": expected a module as text, got MLIR bytecode");
  if (size_t zero = text.find('\0'); zero != StringRef::npos)
    return makeError(path + ": expected text, got a zero byte at offset " +
                     Twine(zero));
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      i += c == '\\'; // skips what is escaped
      inString = c != '"' && c != '\n';
    } else if (c == '"') {
      inString = true;
    } else if (StringRef("([{<").contains(c)) {
      if (++depth > maxBrackets)
        return makeError(
            path + ":" + Twine(text.take_front(i).count('\n') + 1) +
            ": expected at most " + Twine(maxBrackets) + " nested brackets");
    } else if (StringRef(")]}>").contains(c) && depth > 0) {
      bool isArrow = c == '>' && i > 0 && text[i - 1] == '-';
      depth -= !isArrow;
    }
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static llvm::Expected<LoadedModel> loadDescription(MLIRContext &context,
                                                   StringRef text,
                                                   StringRef path,
                                                   const LoadOptions &options) {
  llvm::Expected<ModelDescription> description =
      parseModelDescription(text, path, options.overrides);
  if (!description)
    return description.takeError();
  if (options.seed)
    description->train.seed = *options.seed;
  LoadedModel loaded;
  loaded.name = description->name;
  loaded.train = description->train;
  loaded.sourceFormat = "yaml";
  loaded.sourceText = toCanonicalYaml(*description);
  loaded.module = buildModel(
      context, *description,
      {options.batch, options.elementType.value_or(ElementType::f32)});
  return loaded;
}

/// Reads `net.train`, applies the options, and writes it back in full.
static llvm::Expected<TrainSection>
updateTrainAttribute(ModuleOp module, StringRef path,
                     const LoadOptions &options) {
  MLIRContext &context = *module.getContext();
  auto attribute = module->getAttrOfType<DictionaryAttr>(net::trainAttrName);
  NamedAttrList settings(attribute ? attribute : DictionaryAttr::get(&context));
  auto model = module.lookupSymbol<func::FuncOp>("model");
  auto tokens = cast<RankedTensorType>(model.getArgumentTypes().front());
  if (!settings.get("batch"))
    settings.set("batch",
                 Builder(&context).getI64IntegerAttr(tokens.getDimSize(0)));
  llvm::Expected<TrainSection> train =
      parseTrainSettings(toYamlMap(settings.getDictionary(&context),
                                   positionOf(module.getLoc(), path)),
                         options.overrides);
  if (!train)
    return train.takeError();
  if (options.seed)
    train->seed = *options.seed;
  module->setAttr(net::trainAttrName, toTrainAttribute(context, *train));
  return train;
}

static LogicalResult specialize(ModuleOp module, const TrainSection &train,
                                const LoadOptions &options) {
  SpecializeOptions types;
  types.batch = options.batch ? options.batch : train.batch;
  if (options.elementType)
    types.elementType =
        *options.elementType == ElementType::f64 ? "f64" : "f32";
  PassManager manager(module.getContext());
  manager.addPass(createSpecialize(types));
  return manager.run(module);
}

static OwningOpRef<ModuleOp> parseModule(MLIRContext &context, StringRef text,
                                         StringRef path) {
  // The parser reads until it meets a zero byte, which the copy ends with.
  std::string terminated = text.str();
  return parseSourceString<ModuleOp>(
      terminated, ParserConfig(&context, /*verifyAfterParse=*/true), path);
}

static llvm::Expected<LoadedModel> loadModule(MLIRContext &context,
                                              StringRef text, StringRef path,
                                              const LoadOptions &options) {
  if (llvm::Error error = checkModuleText(text, path))
    return error;
  FirstError error(context, path);
  LoadedModel loaded;
  loaded.module = parseModule(context, text, path);
  if (!loaded.module || failed(verifyModelForm(*loaded.module)))
    return error.take();
  loaded.name = loaded.module->getSymName().value_or("").str();
  if (loaded.name.empty())
    loaded.name = nameOfFile(path);
  loaded.module->setSymName(loaded.name);
  llvm::Expected<TrainSection> train =
      updateTrainAttribute(*loaded.module, path, options);
  if (!train)
    return train.takeError();
  loaded.train = *train;
  loaded.sourceFormat = "mlir";
  llvm::raw_string_ostream(loaded.sourceText) << *loaded.module << '\n';
  if (failed(specialize(*loaded.module, *train, options)))
    return error.take();
  return loaded;
}

llvm::Expected<LoadedModel> isobath::loadModelText(MLIRContext &context,
                                                   StringRef text,
                                                   StringRef path,
                                                   const LoadOptions &options) {
  loadModelDialects(context);
  llvm::Expected<LoadedModel> loaded =
      isModuleText(text, path) ? loadModule(context, text, path, options)
                               : loadDescription(context, text, path, options);
  if (!loaded)
    return loaded;
  // A batch that was asked for may be too large for a model that is not.
  FirstError error(context, path);
  if (failed(verifySizes(*loaded->module)))
    return error.take();
  return loaded;
}

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readText(StringRef path) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path);
  if (std::error_code code = file.getError())
    return makeError(path + ": cannot be read: " +
                     StringRef(code.message()).take_front(1).lower() +
                     StringRef(code.message()).drop_front(1));
  return std::move(*file);
}

llvm::Expected<LoadedModel> isobath::loadModel(MLIRContext &context,
                                               StringRef path,
                                               const LoadOptions &options) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file = readText(path);
  if (!file)
    return file.takeError();
  return loadModelText(context, (*file)->getBuffer(), path, options);
}

llvm::Expected<OwningOpRef<ModuleOp>>
isobath::loadFunctions(MLIRContext &context, StringRef path) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file = readText(path);
  if (!file)
    return file.takeError();
  StringRef text = (*file)->getBuffer();
  if (llvm::Error error = checkModuleText(text, path))
    return error;
  loadModelDialects(context);
  FirstError error(context, path);
  OwningOpRef<ModuleOp> module = parseModule(context, text, path);
  if (!module || failed(verifySizes(*module)))
    return error.take();
  return module;
}
