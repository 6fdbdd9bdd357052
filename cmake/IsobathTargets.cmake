# The kinds of target that Isobath is made of.

# Headers that most sources of the compiler start with. Reading them is most of
# what compiling such a source takes, so they are compiled once. A source still
# includes what it uses.
set(ISOBATH_MLIR_HEADERS
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/LLVMIR/LLVMDialect.h>
  <mlir/Dialect/MemRef/IR/MemRef.h>
  <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/OpImplementation.h>
  <mlir/IR/PatternMatch.h>
  <mlir/Interfaces/InferTypeOpInterface.h>
  <mlir/Pass/PassManager.h>)

# isobath_library(Name source… DEPENDS tablegen-target… LINK library…)
# A static library of the compiler. All of them see LLVM's and MLIR's headers
# and link the two shared libraries of LLVM, never its static archives as well
# (each would register its own copy of every option and type id).
function(isobath_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_include_directories(${name} SYSTEM PUBLIC
    ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_definitions(${name} PUBLIC ${LLVM_DEFINITIONS_LIST})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  # The library that all others link compiles the headers for them.
  if(name STREQUAL "IsobathSupport")
    target_precompile_headers(${name} PRIVATE ${ISOBATH_MLIR_HEADERS})
  else()
    target_precompile_headers(${name} REUSE_FROM IsobathSupport)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# isobath_tool(name source… LINK library…)
function(isobath_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()

separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")
