import { verifyPublicKey } from "../src/verifier/verifyPublicKey.ts";
import { command } from "./command.ts";
import { Target, type TargetArgs } from "./target.ts";

interface Args extends TargetArgs {
  userId: string;
  expectedPublicKey: string | undefined;
  codeHash: string | undefined;
  json: boolean;
}

/** `keyroot verify <userID>`: one user's key, as an app would verify it. */
export default command(async (args: Args, hre) => {
  const { userId, expectedPublicKey, codeHash } = args;
  const target = await Target.resolve(args, hre);
  const { rpc, contract, merkleUrl, chainId } = target;
  const verified = await verifyPublicKey(userId, { rpc, contract, merkleUrl, chainId, expectedPublicKey, codeHash });
  const { record, root, index, blockNumber } = verified;
  return {
    json: { verified: true, record, root, index, blockNumber, contract, chainId },
    text: [
      `The public key of ${record.userID} is verified.`,
      `  public key  ${record.pubKey}`,
      `  key id      ${record.keyID}`,
      `  root        ${root}, value ${index}`,
      `  contract    ${contract} on chain ${chainId}, in block ${blockNumber}`,
    ].join("\n"),
  };
});
