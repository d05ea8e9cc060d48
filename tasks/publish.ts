import { VerificationError } from "../src/errors.ts";
import { FolderStore } from "../src/publisher/folderStore.ts";
import { publish } from "../src/publisher/publish.ts";
import { RegistryWriter } from "../src/publisher/registryWriter.ts";
import { DEFAULT_LIMITS } from "../src/transport/fetchBytes.ts";
import { fetchMerkleFile } from "../src/transport/fetchMerkleFile.ts";
import { command } from "./command.ts";
import { loadRecords, skippedLine } from "./loadRecords.ts";
import { Progress } from "./progress.ts";
import { Target, type TargetArgs } from "./target.ts";

interface Args extends TargetArgs {
  records: string | undefined;
  out: string | undefined;
  usersPerFile: number;
  skipBad: boolean;
  json: boolean;
}

/** `keyroot publish`: users' keys, first their files and then the files' roots. */
export default command(async (args: Args, hre) => {
  const { usersPerFile } = args;
  const target = await Target.resolve(args, hre);
  await target.checkChainId();
  using progress = new Progress();
  const { records, bad } = await loadRecords(args, progress);
  const { published, kept } = await publish(records, {
    registry: await RegistryWriter.connect(target.call, target.contract),
    store: new FolderStore(args.out ?? target.merkleDir),
    usersPerFile,
    checkServed: (root, bytes) => checkServed(target.merkleUrl, root, bytes),
    onProgress: (stage, done, users) => {
      progress.update(stage, done, users);
    },
  });
  const { contract } = target;
  const users = published.reduce((sum, { addedCount }) => sum + addedCount, 0);
  return {
    json: { users, contract, published, kept, skipped: bad },
    text: [
      ...published.map(
        ({ root, addedCount, blockNumber, gasUsed }) =>
          `${root}  ${addedCount} users in block ${blockNumber}, ${gasUsed} gas`,
      ),
      `${users} users published, ${kept.length} had a root before and keep it.`,
      ...skippedLine(bad),
    ].join("\n"),
  };
});

/** Clients must find the very bytes that were stored. */
async function checkServed(merkleUrl: string, root: string, stored: Uint8Array): Promise<void> {
  const { timeoutMs } = DEFAULT_LIMITS;
  // One byte more than stored is as wrong as a gigabyte more.
  const served = await fetchMerkleFile(merkleUrl, root, { maxBytes: stored.length + 1, timeoutMs });
  if (Buffer.compare(served, stored) === 0) return;
  const message = `${merkleUrl} serves other bytes as ${root}.json than were stored: its root is not added.`;
  throw new VerificationError("file", "FILE_CONFLICT", message);
}
