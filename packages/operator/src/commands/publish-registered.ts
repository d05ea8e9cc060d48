import { ANSWER } from "keyroot/client";
import { command } from "./command.ts";
import { operatorOf } from "./operator.ts";

interface Args {
  service: string | undefined;
  json: boolean;
}

/** `keyroot publish-registered`: a running service publishes what its users registered, now. */
export default command(async ({ service }: Args, hre) => {
  const post = await operatorOf(service, hre);
  const answer = ANSWER.fields("The answer", await post("publish", {}), ["batches"]);
  const batches = ANSWER.list("batches", answer.batches, 100_000, (where, batch) => {
    const { root, users } = ANSWER.fields(where, batch, ["root", "users"]);
    return { root: ANSWER.text(where, root, /^[0-9a-f]{64}$/), users: ANSWER.count(where, users) };
  });
  const published = batches.reduce((sum, { users }) => sum + users, 0);
  const lines = batches.map(({ root, users }) => `${root}  ${users} users`);
  return { json: { published, batches }, text: [...lines, `${published} users' keys published.`].join("\n") };
});
