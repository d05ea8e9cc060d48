import { join } from "node:path";
import { argumentInvalid } from "../errors.ts";
import { accountOptions, readAccountOptions } from "./accountOptions.ts";
import { command, json } from "./defineCommand.ts";
import { chain, FILES_OF_REGISTRY, keyType, merkleUrl, requiredFiles, trust, userIDForm } from "./options.ts";
import { shellCommand } from "./output.ts";

export const bundle = command(
  {
    summary: "Write a user's proof and bundle, for verification without a network",
    argument: { name: "userID", description: userIDForm, kind: "required" },
    needs: () => [...FILES_OF_REGISTRY, "chainId"],
    options: {
      files: requiredFiles(
        "Folder, such as the file host's, for the files <root>/<user id>.json and <root>/<user id>.bundle.json",
      ),
      ...trust,
      ...accountOptions,
      keyType,
      ...chain,
      merkleUrl,
      json,
    },
  },
  async (args, host) => {
    const { pinnedBlock } = await import("keyroot");
    const { makeBundle } = await import("keyroot/bundle");
    const { makeBlockProof } = await import("keyroot/light-client");
    const { writeFileAtomic } = await import("../disk/writeFileAtomic.ts");
    const { loadKeyType } = await import("keyroot/internal/keyTypes");
    const { repeatRead } = await import("../rpc/repeatReads.ts");
    const { ChainAndFiles } = await import("./chainAndFiles.ts");
    const { lightClientOf, trustOf } = await import("./trust.ts");
    const { userID, files: dir } = args;
    if (dir.startsWith("s3://")) {
      const message =
        "--files must be a folder, such as the file host's folder. This command cannot write to a bucket.";
      throw argumentInvalid(message);
    }
    const chainAndFiles = await ChainAndFiles.resolve(args, host);
    const { rpc, contract, merkleUrl, chainId, allowHttp } = chainAndFiles;
    const chosen = await trustOf(args);
    if (chosen.name === "endpoints")
      throw argumentInvalid("A bundle is made with one endpoint. Use another choice than endpoints.");
    const block =
      chosen.name === "light-client" ? await makeBlockProof({ ...lightClientOf(args), chainId, allowHttp }) : undefined;
    const trusting = block === undefined ? chosen : pinnedBlock(block.blockHash);
    const type = await loadKeyType(args.keyType);
    const { choice, file } = await readAccountOptions(args);
    const place = { rpc, contract, merkleUrl, chainId, allowHttp, keyType: type };
    const options = { ...place, trust: trusting, ...choice, ...file };
    const { bundle, verified } = await repeatRead(() => makeBundle(userID, options));
    const { record, root, evidence } = verified;
    const write = async (name: string, content: object) => {
      const path = join(dir, root, name);
      const text = JSON.stringify(content);
      await writeFileAtomic(path, text);
      return { path, bytes: Buffer.byteLength(text) };
    };
    const files = {
      proof: await write(`${record.userID}.json`, bundle.proof),
      bundle: await write(`${userID}.bundle.json`, bundle),
      ...(block && { blockProof: await write(`${block.blockHash}.block-proof.json`, block.proof) }),
    };
    const { hash = "", number } = evidence.block ?? {};
    const proof = files.blockProof;
    const [source, what] =
      proof !== undefined
        ? [["light-client", "--block-proof", proof.path, "--checkpoint", args.checkpoint ?? ""], "this checkpoint"]
        : args.auditors !== undefined
          ? [["auditors", "--auditors", args.auditors, "--threshold", String(args.threshold)], "these auditors"]
          : [[`pinned-block:${hash}`], "this hash"];
    const typed = args.keyType === "curve41417" ? [] : ["--key-type", args.keyType];
    const withAccounts = choice.accounts === undefined ? [] : ["--accounts"];
    const registry = ["--contract", contract, "--chain-id", String(chainId), ...typed, ...withAccounts];
    const trusted = ["--trust", ...source, ...registry];
    return {
      json: { record, root, contract, chainId, block: evidence.block, ...files },
      text: [
        `${files.proof.path}  proof, ${files.proof.bytes} bytes`,
        `${files.bundle.path}  bundle, ${files.bundle.bytes} bytes`,
        ...(proof === undefined ? [] : [`${proof.path}  proof of the block, ${proof.bytes} bytes`]),
        `The bundle is for block ${number}, ${hash}. Anyone who trusts ${what} can verify the bundle without a network:`,
        `  ${host.program} ${shellCommand(["verify", "--bundle", files.bundle.path, ...trusted])}`,
      ].join("\n"),
    };
  },
);
