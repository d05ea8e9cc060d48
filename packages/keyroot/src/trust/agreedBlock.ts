import { fetchBlock } from "../ethereum/blocks.ts";
import type { BlockHeader } from "../ethereum/header.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";
import type { BlockRequest, BlockTag, FoundBlock } from "./blockSource.ts";
import type { Quorum, Votes } from "./quorum.ts";

/**
 * Finds a block on which enough endpoints agree. If at least `quorum` endpoints are honest and fewer than `quorum` are
 * dishonest, the dishonest endpoints can neither change nor prevent the result.
 * @throws VerificationError, TransportError QUORUM_NOT_REACHED
 */
export async function findAgreedBlock({ quorum, tag }: BlockRequest): Promise<FoundBlock> {
  if (quorum === undefined) throw new RangeError("There are no votes of endpoints.");
  const votes = await findBlock(quorum, tag);
  const [{ answer: header }] = votes;
  return { hash: header.hash, header, endpoints: votes.map(({ endpoint }) => endpoint) };
}

/**
 * Finds the highest block on which enough endpoints agree. The search starts at the highest block number that at least
 * `quorum` endpoints have reached. Fewer dishonest endpoints than that cannot raise this number. If too few endpoints
 * agree on the block with this number, the search continues at the next lower number that an endpoint reported. It
 * therefore also succeeds if some honest endpoints are slightly behind.
 *
 * If an endpoint's newest block already has the number, the endpoint is not asked again.
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
  // Each round uses a lower number than the round before, and endpoints reported all these numbers. There are therefore
  // at most as many rounds as endpoints.
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
