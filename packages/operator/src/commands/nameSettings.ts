import { TransportError } from "keyroot/internal/errors";
import { CONNECTION_REMEDY } from "../rpc/requestAnswers.ts";
import { type Definition, optionName } from "./defineCommand.ts";
import { rawName, type RawArguments } from "./parseArguments.ts";

/** The error codes for a host that does not respond. */
const CODES: readonly string[] = ["UNREACHABLE", "TIMEOUT"];

/**
 * Names the settings to check if a host does not respond: adds to the error which options and variables contain the
 * host's URL. All other errors are returned unchanged.
 * @param raw the options of the command line
 */
export function nameSettings(
  error: unknown,
  { options }: Definition,
  raw: RawArguments,
  environment: NodeJS.ProcessEnv,
): unknown {
  if (!(error instanceof TransportError && CODES.includes(error.code))) return error;
  const words = error.message.split(/\s+/).map((word) => word.replace(/[.:,]+$/, ""));
  // A variable has an effect only if its option is not given.
  const settings = Object.entries(options).map(([name, { variable }]) => {
    const given = raw[rawName(name)];
    return given === undefined && variable !== undefined
      ? ([variable, environment[variable]] as const)
      : ([optionName(name), given] as const);
  });
  const names = settings.flatMap(([name, value]) =>
    hostsOf(value).some((host) => words.includes(host)) ? [name] : [],
  );
  if (names.length === 0) return error;
  const problem = error.message.replace(` ${CONNECTION_REMEDY}`, "");
  const text = `${problem} Check the URL in ${names.join(" and ")}, and check that a server responds there.`;
  return new TransportError(error.code as "UNREACHABLE" | "TIMEOUT", text, {
    ...{ cause: error, expected: error.expected, actual: error.actual },
  });
}

/** Returns the hosts, with ports, of a comma-separated list of URLs. */
function hostsOf(value: unknown): string[] {
  const urls = typeof value === "string" ? value.split(",") : [];
  return urls.flatMap((url) => (URL.canParse(url) ? [new URL(url).host] : [])).filter((host) => host !== "");
}
