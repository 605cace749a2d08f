// Plans the passes of one device over the shards of a batch, whose gradients are summed as a binary tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine.hpp"
#include "train/position.hpp"

namespace mokume::cnn {

// Describes shards [first, first + size) of a batch, which are a subtree of the binary tree over all shards.
struct Subtree {
  int64_t first, size;
};

// Splits shards [first, end) of a batch into the fewest subtrees of the tree over all shards.
std::vector<Subtree> subtrees(int64_t first, int64_t end);

// Returns the rows of shards [tree.first, tree.first + tree.size) of a batch with so many rows and shards.
std::vector<RowRange> rows_of(const Subtree& tree, int64_t rows, int64_t shards);

// Describes a pass over one shard as part of the sum over a subtree. Each shard has its own forward and backward pass,
// so the bits of a shard do not depend on which members compute the others.
struct ShardPass {
  RowRange rows;
  const ParameterVector* to;
  std::vector<Engine::Add> adds;  // applied after the pass
};

// Plans the passes that sum up the gradients of shards in `to`. Returns whether the shards have any rows.
bool plan_passes(const Engine& engine, std::span<const RowRange> shards, const ParameterVector& to,
                 std::vector<ShardPass>& passes);

}  // namespace mokume::cnn
