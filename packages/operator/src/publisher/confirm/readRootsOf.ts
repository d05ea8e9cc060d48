import { USERS_PER_CALL } from "keyroot/internal/registry";
import type { BlockTag } from "../chain/chain.ts";
import type { Registry } from "../chain/registry.ts";
import type { Batch } from "../plan/plan.ts";

/**
 * Reads the roots of each batch's users at a block. Small batches are read together, because each call can cover many
 * users.
 * @returns each batch with the roots of its users, as `getMerkleTreeRoots` returns them
 * @throws the errors of `getMerkleTreeRoots`
 */
export async function* readRootsOf(
  batches: readonly Batch[],
  registry: Registry,
  block: BlockTag,
): AsyncGenerator<[batch: Batch, roots: readonly (string | undefined)[]]> {
  for (const group of groupsOf(batches)) {
    const roots = await registry.getMerkleTreeRoots(
      group.flatMap(({ userIDs }) => [...userIDs]),
      block,
    );
    let next = 0;
    for (const batch of group) yield [batch, roots.slice(next, (next += batch.users))];
  }
}

/** Yields groups of batches, each with as many users as one call reads, or with one batch. */
function* groupsOf(batches: readonly Batch[]): Generator<Batch[]> {
  let group: Batch[] = [];
  for (const batch of batches) {
    if (group.reduce((users, one) => users + one.users, batch.users) > USERS_PER_CALL && group.length > 0) {
      yield group;
      group = [];
    }
    group.push(batch);
  }
  if (group.length > 0) yield group;
}
