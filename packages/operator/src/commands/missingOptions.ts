import { isLocalChain } from "../follow/index.ts";
import { findStack, type StackFile } from "./stackFile.ts";
import { type Definition, optionName } from "./defineCommand.ts";
import type { Host } from "./host.ts";

type Values = Readonly<Record<string, unknown>>;

const WHY_MAX_FEE =
  " --max-fee is your maximum price in gwei per unit of gas. Otherwise, the endpoint could choose the price. 'estimate' shows the current price.";
const LOCAL_NEEDS_NONE = " With --chain-id 31337 or 1337, the ids of development chains, --max-fee is not needed.";

/**
 * Describes all missing options in one sentence. An option is not missing if a running local stack provides it.
 * @returns undefined if no option is missing
 */
export async function describeMissing(
  { options, argument }: Definition,
  needed: readonly string[],
  given: Values,
  host: Host,
): Promise<string | undefined> {
  const absent = needed.filter((name) => given[name] === undefined);
  if (absent.length === 0) return undefined;
  const { endpoint: url, stack } = await findStack(host, given["rpc"] as string | undefined);
  const isOtherChain = stack === undefined && (host.hasNetwork || url !== undefined);
  const provided = valuesOf(stack, given, { hasNetwork: host.hasNetwork, url });
  const missing = absent.filter((name) => options[name]?.required === true || provided[name] === undefined);
  if (missing.length === 0) return undefined;
  const names = missing.map((name) => {
    if (name === argument?.name) return `<${name}>`;
    const variable = options[name]?.variable;
    return variable === undefined ? optionName(name) : `${optionName(name)} (or ${variable})`;
  });
  const list = names.join(", ");
  const instead = replacementsOf(missing, options);
  const mayBeLocal = missing.includes("chainId") && isLocalChain(url ?? "", 31337);
  const why = missing.includes("maxFee") ? `${WHY_MAX_FEE}${mayBeLocal ? LOCAL_NEEDS_NONE : ""}` : "";
  if (!missing.includes("rpc") && !missing.includes("serviceUrl")) {
    const place = isOtherChain && missing.some((name) => !options[name]?.required) ? chainOf(given) : "";
    return `The command needs these values${place}: ${list}.${instead}${why}`;
  }
  return `No local stack is running here. Start one with 'npx hardhat keyroot stack', or set ${list}.${instead}${why}`;
}

/** Describes the options that can be used instead of missing ones: those that only exclude missing options. */
function replacementsOf(missing: readonly string[], options: Definition["options"]): string {
  return Object.entries(options)
    .filter(([, { excludes = [] }]) => excludes.length > 0 && excludes.every((name) => missing.includes(name)))
    .map(
      ([name, { excludes = [] }]) =>
        ` Instead of ${excludes.map(optionName).join(" and ")}, you can set ${optionName(name)}.`,
    )
    .join("");
}

/** Returns the options that the local stack or a Hardhat network provides. A local chain needs no `--max-fee`. */
function valuesOf(
  stack: StackFile | undefined,
  given: Values,
  { hasNetwork, url }: { hasNetwork: boolean; url: string | undefined },
): Values {
  const rpc = url ?? stack?.rpcUrl;
  const chainId = given["chainId"] ?? stack?.chainId;
  const isLocal =
    typeof rpc === "string" &&
    isLocalChain(rpc, Number(chainId)) &&
    given["maxCost"] === undefined &&
    given["maxPriorityFee"] === undefined &&
    given["maxCostPerDay"] === undefined;
  return {
    ...{ contract: stack?.contract, merkleUrl: stack?.merkleUrl, files: stack?.filesDir, chainId: stack?.chainId },
    rpc: hasNetwork ? "network" : stack?.rpcUrl,
    serviceUrl: stack?.service?.serviceUrl,
    maxFee: isLocal ? "none" : undefined,
  };
}

/** Describes the requested chain by its endpoint's host. The rest of the URL may contain secrets. */
function chainOf({ rpc }: Values): string {
  const [url = ""] = typeof rpc === "string" ? rpc.split(",") : [];
  return URL.canParse(url) ? ` for the chain of ${new URL(url).host}` : " for this chain";
}
