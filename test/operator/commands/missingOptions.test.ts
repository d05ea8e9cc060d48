import { expect } from "chai";
import { describeOnHosts } from "../../support/processes/commandLine.ts";

const RPC = ["--rpc", "https://rpc.example/secret"];

describeOnHosts("a command with missing or contradictory options", (keyroot) => {
  const messageOf = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const refused = await keyroot.json(args, { env });
    expect(refused, args.join(" ")).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    return refused.message;
  };

  it("prints all missing options in one message, with the endpoint's host", async () => {
    const message = await messageOf(["publish", ...RPC]);
    expect(message).to.match(
      /^The command needs these values for the chain of rpc\.example: --records, --files \(or KEYROOT_FILES\), /,
    );
    for (const name of ["--contract (or KEYROOT_CONTRACT)", "--merkle-url", "--chain-id", "--max-fee"])
      expect(message).to.contain(name);
    expect(message).not.to.contain("secret").and.not.to.contain("stack");
  });

  it("suggests a local stack if no endpoint is given", async () => {
    const message = await messageOf(["estimate"]);
    expect(message).to.match(
      /^No local stack is running here.*or set --records, --rpc \(or KEYROOT_RPC_URL\), --contract/,
    );
    expect(await messageOf(["list-partners"])).to.match(/or set --service-url \(or KEYROOT_SERVICE_URL\)\.$/);
  });

  it("names an option that can be used instead of missing ones", async () => {
    const message = await messageOf(["watch", "--once", ...RPC, "--contract", `0x${"12".repeat(20)}`]);
    expect(message).to.contain(
      "Instead of --user-id and --public-key, you can set --records. Instead of --merkle-url, you can set --files.",
    );
    expect(await messageOf(["watch", ...RPC, "--user-id", "y"])).not.to.contain("--records");
    expect(await messageOf(["verify", ...RPC])).not.to.contain("Instead");
  });

  it("also prints invalid values and options that exclude each other", async () => {
    const contradictory = ["--safe-transactions", "dir", "--max-fee", "20"];
    const message = await messageOf(["publish", ...RPC, ...contradictory, "--timeout", "0"]);
    expect(message).to.contain("--safe-transactions cannot be used with --max-fee. ");
    expect(message).to.contain(
      '--timeout must be a whole number of 1 or more, not "0". The command needs these values for the chain',
    );
  });

  it("prints all missing options in one message for a node on this machine, whose chain id decides about --max-fee", async () => {
    const message = await messageOf(["publish", "--rpc", "http://127.0.0.1:1"]);
    for (const name of ["--records", "--files", "--contract", "--merkle-url", "--chain-id", "--max-fee"])
      expect(message).to.contain(name);
    expect(message).to.contain(
      "With --chain-id 31337 or 1337, the ids of development chains, --max-fee is not needed.",
    );
  });

  it("does not require --max-fee on a local chain or for a Safe", async () => {
    const local = ["publish", "--rpc", "http://127.0.0.1:1", "--chain-id", "31337"];
    expect(await messageOf(local)).not.to.contain("--max-fee");
    expect(await messageOf(["publish", ...RPC, "--safe-transactions", "dir"])).not.to.contain("--max-fee");
  });
});

describeOnHosts("a misspelled variable", (keyroot) => {
  it("ends a command with code 2 and a message that contains the nearest name", async () => {
    const env = { KEYROOT_MAXFEE: "20", KEYROOT_CONTRAKT: "0x", KEYROOT_EMPTY: "" };
    const { code, error, message } = await keyroot.json(["build-file"], { env });
    expect([code, error]).to.deep.equal([2, "VARIABLE_UNKNOWN"]);
    expect(message).to.equal(
      "Unknown environment variables: KEYROOT_CONTRAKT (the nearest is KEYROOT_CONTRACT), KEYROOT_MAXFEE (the nearest is KEYROOT_MAX_FEE). Correct or unset them.",
    );
  });
});
