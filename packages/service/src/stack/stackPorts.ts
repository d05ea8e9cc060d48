/** The default ports of a stack. Tools expect a local chain on port 8545. */
export const STACK_PORTS = { chain: 8545, files: 8546 } as const;

/**
 * Returns the ports of a stack. The chain has `first`, and the other parts have the next ports except `first + 3`,
 * which the explorer uses. If `first` is 0, each part has any free port.
 */
export function stackPorts(first: number): { chain: number; files: number; service: number; beacon: number } {
  if (first === 0) return { chain: 0, files: 0, service: 0, beacon: 0 };
  return { chain: first, files: first + 1, service: first + 2, beacon: first + 4 };
}

/**
 * Returns a warning if a part of a stack has another port than the wanted one, which was in use. A program with the
 * wanted address would otherwise use another stack, whose chain id and contract are the same.
 * @param pairs the wanted ports, each with the URL of the part that should have it
 */
export function takenPortsLine(
  pairs: readonly (readonly [port: number | undefined, url: string | undefined])[],
): string {
  const taken = pairs.flatMap(([port, url]) =>
    port && url !== undefined && Number(new URL(url).port) !== port ? [port] : [],
  );
  if (taken.length === 0) return "";
  const subject = taken.length === 1 ? `Port ${taken[0]} is` : `Ports ${taken.join(" and ")} are`;
  return `${subject} in use. In the programs of the documentation, replace the addresses with those above.`;
}
