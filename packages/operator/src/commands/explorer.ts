import { createHash } from "node:crypto";
import { join } from "node:path";
import { createVerifier, type Trust } from "keyroot";
import { auditors } from "keyroot/auditors";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { ArgumentError } from "keyroot/internal/errors";
import { describeValue } from "keyroot/internal/input";
import { lightClient } from "keyroot/light-client";
import { checkSourceUrl } from "keyroot/internal/transport";
import { writeFileAtomic } from "../disk/writeFileAtomic.ts";
import { makeExplorer } from "../explorer/makeExplorer.ts";
import { auditorsOf, lightClientOf } from "./trust.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Host, Outcome } from "./host.ts";
import { ChainAndFiles } from "./chainAndFiles.ts";
import { checkHash } from "./hexOptions.ts";

/** `keyroot explorer --out DIR`: writes the explorer as static files, for any web host. */
export default async function explorer(args: ArgsOf<"explorer">, host: Host): Promise<Outcome> {
  const { out, codeHash, keyType, visitorEndpoints } = args;
  checkHash("--code-hash", codeHash);
  const endpoints = args.rpc?.split(",");
  const chainAndFiles = await ChainAndFiles.resolve({ ...args, rpc: endpoints?.[0] }, host);
  const { contract, merkleUrl, chainId, allowHttp } = chainAndFiles;
  if (typeof chainAndFiles.rpc !== "string") {
    throw new ArgumentError("ARGUMENT_INVALID", "Visitors' browsers need the URL of an endpoint. Set --rpc.");
  }
  const rpc = (endpoints ?? [chainAndFiles.rpc]).map((url) => checkSourceUrl("rpc", url, allowHttp));
  const blockExplorerUrl = args.blockExplorerUrl && checkHttpUrl(args.blockExplorerUrl);
  const links = { ...(blockExplorerUrl !== undefined && { blockExplorerUrl }) };
  const place = { chainId, contract, merkleUrl, codeHash, allowHttp };
  const sources = {
    lightClient: isGiven(args, ["beacon", "checkpoint", "beaconNetwork", "maxCheckpointAge"])
      ? lightClientOf(args)
      : undefined,
    auditors: isGiven(args, ["auditors", "threshold", "statementUrls"]) ? await auditorsOf(args) : undefined,
  };
  const type = await loadKeyType(keyType);
  // Check the sources before the command writes the page. Without this check, visitors would get the errors.
  const check = (trust: Trust) => createVerifier({ ...place, keyType: type, rpc: rpc[0] ?? "", trust });
  if (sources.lightClient !== undefined) check(lightClient(sources.lightClient));
  if (sources.auditors !== undefined) check(auditors(sources.auditors));
  const config = { ...place, keyType, rpc, ...sources, visitorEndpoints, ...links };
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
}

/** Checks whether any of the settings of a source is given. */
function isGiven(args: ArgsOf<"explorer">, names: readonly (keyof ArgsOf<"explorer">)[]): boolean {
  return names.some((name) => args[name] !== undefined);
}

/** Checks a URL for links, and removes a slash at the URL's end. @throws ArgumentError ARGUMENT_INVALID */
function checkHttpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/$/, "");
  const message = `--block-explorer-url must be an http or https URL, not ${describeValue(text)}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
