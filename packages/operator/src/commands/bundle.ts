import { join } from "node:path";
import { makeBundle } from "keyroot/verifier";
import { writeFileAtomic } from "../disk/writeFileAtomic.ts";
import { command } from "./command.ts";
import { Target, type TargetArgs } from "./target.ts";

interface Args extends TargetArgs {
  userId: string;
  out: string | undefined;
  blockHash: string | undefined;
  json: boolean;
}

/** `keyroot bundle <userID>`: a user's proof and bundle, into the folder that the file host serves. */
export default command(async (args: Args, hre) => {
  const { userId, blockHash } = args;
  const target = await Target.resolve(args, hre);
  const { rpc, contract, merkleUrl, chainId } = target;
  const out = args.out ?? target.merkleDir;
  const { bundle, verified } = await makeBundle(userId, { rpc, contract, merkleUrl, chainId, blockHash });
  const { record, root, evidence } = verified;
  const put = async (name: string, content: object) => {
    const path = join(out, root, name);
    const text = JSON.stringify(content);
    await writeFileAtomic(path, text);
    return { path, bytes: Buffer.byteLength(text) };
  };
  const files = {
    proof: await put(`${userId}.json`, bundle.proof),
    bundle: await put(`${userId}.bundle.json`, bundle),
  };
  const { hash, number } = evidence.block ?? {};
  return {
    json: { record, root, contract, chainId, block: evidence.block, ...files },
    text: [
      `${files.proof.path}  proof, ${files.proof.bytes} bytes`,
      `${files.bundle.path}  bundle, ${files.bundle.bytes} bytes`,
      `The bundle is of block ${number}, ${hash}. Whoever trusts that hash verifies it without a network:`,
      `  npx hardhat keyroot verify --bundle FILE --block-hash ${hash} --contract ${contract} --chain-id ${chainId}`,
    ].join("\n"),
  };
});
