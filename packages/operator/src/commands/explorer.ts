import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Trust } from "keyroot";
import { argumentInvalid } from "../errors.ts";
import { describeValue } from "keyroot/internal/input";
import { command, flag, json, text } from "./defineCommand.ts";
import {
  auditorsSettings,
  chain,
  codeHash as codeHashOption,
  FILES_OF_REGISTRY,
  keyType as keyTypeOption,
  lightClient as lightClientSettings,
  merkleUrl as merkleUrlOption,
} from "./options.ts";

export const explorer = command(
  {
    summary: "Write the explorer, a web page that verifies keys in the visitor's browser",
    needs: () => [...FILES_OF_REGISTRY, "chainId"],
    options: {
      out: text("dir", "Folder for the page's files", { required: true }),
      blockExplorerUrl: text("url", "URL of the chain's block explorer for links, such as https://etherscan.io"),
      visitorEndpoints: flag("Let visitors add endpoints. The page may then connect to any https host"),
      ...lightClientSettings,
      ...auditorsSettings,
      accounts: flag("The registry has accounts, so users can change their keys. All user ids are account ids"),
      codeHash: codeHashOption,
      keyType: keyTypeOption,
      ...chain,
      // This option has no variable. Visitors can read its URLs, and the URL in KEYROOT_RPC_URL may contain a secret.
      rpc: text(
        "url",
        "URLs of the chain's JSON-RPC endpoints, separated by commas. Visitors can read these URLs. The command ignores KEYROOT_RPC_URL, because its URL may contain a secret",
      ),
      merkleUrl: merkleUrlOption,
      json,
    },
  },
  async (args, host) => {
    const { createVerifier } = await import("keyroot");
    const { loadKeyType } = await import("keyroot/internal/keyTypes");
    const { checkSourceUrl } = await import("keyroot/internal/transport");
    const { writeFileAtomic } = await import("../disk/writeFileAtomic.ts");
    const { makeExplorer } = await import("../explorer/makeExplorer.ts");
    const { ChainAndFiles } = await import("./chainAndFiles.ts");
    const { checkHash } = await import("./hexOptions.ts");
    const { auditorsOf, lightClientOf } = await import("./trust.ts");
    const { out, accounts, codeHash, keyType, visitorEndpoints } = args;
    const type = await loadKeyType(keyType);
    checkHash("--code-hash", codeHash);
    const endpoints = args.rpc?.split(",");
    const chainAndFiles = await ChainAndFiles.resolve({ ...args, rpc: endpoints }, host);
    const { contract, merkleUrl, chainId, allowHttp } = chainAndFiles;
    if (typeof chainAndFiles.rpc !== "string")
      throw argumentInvalid("Visitors' browsers need the URL of an endpoint. Set --rpc.");
    const rpc = (endpoints ?? [chainAndFiles.rpc]).map((url) => checkSourceUrl("rpc", url, allowHttp));
    const blockExplorerUrl = args.blockExplorerUrl && checkHttpUrl(args.blockExplorerUrl);
    const links = { ...(blockExplorerUrl !== undefined && { blockExplorerUrl }) };
    const place = { chainId, contract, merkleUrl, codeHash, allowHttp };
    const sources = {
      lightClient: isGiven(args, lightClientSettings) ? lightClientOf(args) : undefined,
      auditors: isGiven(args, auditorsSettings) ? await auditorsOf(args) : undefined,
    };
    // Check the sources before the command writes the page. Without this check, visitors would get the errors.
    const check = (trust: Trust) => createVerifier({ ...place, keyType: type, rpc: rpc[0] ?? "", trust });
    if (sources.lightClient !== undefined)
      check((await import("keyroot/light-client")).lightClient(sources.lightClient));
    if (sources.auditors !== undefined) check((await import("keyroot/auditors")).auditors(sources.auditors));
    const config = { ...place, keyType, accounts, rpc, ...sources, visitorEndpoints, ...links };
    const { files, policy } = await makeExplorer(config);

    const written: { path: string; bytes: number; sha256: string }[] = [];
    // Write the page last, after all files that the page loads.
    const names = [...files.keys()].sort((a, b) => Number(a === "index.html") - Number(b === "index.html"));
    for (const name of names) {
      const content = files.get(name) ?? new Uint8Array();
      const path = join(out, name);
      await writeFileAtomic(path, content);
      written.push({ path, bytes: content.length, sha256: createHash("sha256").update(content).digest("hex") });
    }
    return {
      json: { out, files: written, policy },
      text: [
        ...written.map(({ path, bytes, sha256 }) => `${sha256}  ${path}, ${bytes} bytes`),
        "Copy the folder to any web host. The page contains its content security policy. Configure the host to send this header too:",
        `  Content-Security-Policy: ${policy}; frame-ancestors 'none'`,
      ].join("\n"),
    };
  },
);

/** Checks whether any of the settings of a source is given. */
function isGiven(args: Readonly<Record<string, unknown>>, settings: object): boolean {
  return Object.keys(settings).some((name) => args[name] !== undefined);
}

/** Checks a URL for links, and removes a slash at the URL's end. @throws ArgumentError ARGUMENT_INVALID */
function checkHttpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/$/, "");
  throw argumentInvalid(`--block-explorer-url must be an http or https URL, not ${describeValue(text)}.`);
}
