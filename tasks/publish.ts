import { TransportError, VerificationError } from "../src/errors.ts";
import { checkUsersPerFile } from "../src/publisher/cutIntoFiles.ts";
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
  checkUsersPerFile(usersPerFile);
  const target = await Target.resolve(args, hre);
  const { contract, merkleUrl } = target;
  const store = new FolderStore(args.out ?? target.merkleDir);
  await target.checkChainId();
  const registry = await RegistryWriter.connect(target.call, contract);
  using progress = new Progress();
  const { records, bad } = await loadRecords(args, progress);
  const { published, kept } = await publish(records, {
    registry,
    store,
    usersPerFile,
    checkServed: (root, bytes) => checkServed(merkleUrl, root, bytes),
    onProgress: (stage, done, users) => {
      progress.update(stage, done, users);
    },
  });
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
  try {
    const served = await fetchMerkleFile(merkleUrl, root, { maxBytes: stored.length, timeoutMs });
    if (Buffer.compare(served, stored) === 0) return;
  } catch (error) {
    // More bytes are other bytes.
    if (!(error instanceof TransportError && error.code === "ANSWER_TOO_LARGE")) throw error;
  }
  const message = `${new URL(merkleUrl).host} serves other bytes as ${root}.json than were stored: its root is not added.`;
  throw new VerificationError("file", "FILE_CONFLICT", message);
}
