/**
 * An app in a separate process, which watches until it is killed: `watchUntilKilled.ts OPTIONS`, in JSON. It keeps its
 * state in a folder, runs round after round, and prints a line for each round and each alarm.
 */
import { createVerifier, oneEndpoint, type VerifierOptions } from "keyroot";
import { makeBundle } from "keyroot/bundle";
import { fileStore } from "keyroot/store/file";

export interface ProcessOptions {
  verifier: Omit<VerifierOptions, "trust">;
  folder: string;
  userID: string;
  publicKey: string;
}

const { verifier, folder, userID, publicKey } = JSON.parse(process.argv[2] ?? "") as ProcessOptions;
const onAlarm = ({ code }: { code: string }) => process.stdout.write(`alarm ${code}\n`);
const watch = await createVerifier({ ...verifier, trust: oneEndpoint() }).watch({
  ...{ userID, publicKey, store: fileStore(folder), makeBundle, onAlarm },
});
for (;;) {
  const { errors } = await watch.check();
  process.stdout.write(`round ${errors.length}\n`);
}
