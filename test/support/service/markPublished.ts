import type { Region } from "../../../packages/keyroot/src/identity/region.ts";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import type { Databases } from "../../../packages/service/src/api/database/database.ts";
import { PublicationStore } from "../../../packages/service/src/publishing/publications.ts";

type Published = Parameters<PublicationStore["markPublished"]>[1];

type Publication = Pick<Published, "root" | "userIDs"> &
  Partial<Published> & {
    region?: Region;
    /** Milliseconds since 1970. */
    at?: number;
  };

/** Records that these users' keys are published, without a chain. */
export async function markPublished(
  databases: Databases,
  { region = "us-west-2", at = 1, root, ...publication }: Publication,
): Promise<void> {
  const added = { transactionHash: `0x${root}`, blockNumber: 7, blockHash: "0x01" };
  await new PublicationStore(databases).markPublished(region, { root, ...added, ...publication }, at, SERVICE);
}
