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
