import { fetchBlock } from "../ethereum/blocks.ts";
import type { BlockHeader } from "../ethereum/header.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { BlockRequest, BlockTag, FoundBlock } from "./blockSource.ts";
import type { Quorum, Votes } from "./quorum.ts";

/**
 * Finds a block on which enough endpoints of a quorum agree. If at least `quorum` endpoints are honest and fewer than
 * `quorum` are dishonest, the dishonest ones can neither change nor prevent the result.
 * @throws VerificationError, TransportError QUORUM_NOT_REACHED
 */
export async function findAgreedBlock({ quorum, tag }: BlockRequest): Promise<FoundBlock> {
  if (quorum === undefined) throw new RangeError("There are no votes of endpoints.");
  const votes = await findBlock(quorum, tag);
  const [{ answer: header }] = votes;
  return { hash: header.hash, header, endpoints: votes.map(({ endpoint }) => endpoint) };
}

/**
 * Finds the highest block on which enough endpoints agree. The search starts at the highest block number that enough
 * endpoints report, which a minority of dishonest endpoints cannot change. If too few endpoints have this block, it
 * continues at the next lower number that an endpoint reported, so honest endpoints may be slightly behind.
 *
 * An endpoint whose newest block has the searched number is not asked twice.
 */
async function findBlock(endpoints: Quorum, tag: BlockTag): Promise<Votes<BlockHeader>> {
  const { quorum } = endpoints;
  const heads: number[] = [];
  const headOf = new Map<RpcCall, Promise<BlockHeader>>();
  const fetchHead = async (call: RpcCall) => {
    const head = fetchBlock(call, tag);
    headOf.set(call, head);
    heads.push((await head).number);
    heads.sort((a, b) => b - a);
  };
  // Each endpoint that has not responded can move the block number by one position in the sorted list.
  const isKnown = (pending: number) => heads.length >= quorum && heads[quorum - 1] === heads[quorum - 1 - pending];
  await endpoints.poll(fetchHead, (_, pending) => isKnown(pending) || undefined);

  let number = heads[quorum - 1];
  // Each round uses a lower number that an endpoint reported, so there are at most as many rounds as endpoints.
  for (let round = 0; number !== undefined && round < endpoints.count; round++) {
    const height = number;
    const blocks = await endpoints.findAgreement(
      async (call) => {
        const head = await headOf.get(call)?.catch(() => undefined);
        return head?.number === height ? head : fetchBlock(call, height);
      },
      ({ hash }) => hash,
    );
    if (blocks !== undefined) return blocks;
    number = undefined;
    for (let i = heads.length - 1; i >= quorum - 1; i--) {
      const head = heads[i];
      if (head !== undefined && head < height) number = head;
    }
  }
  throw endpoints.notReached();
}
