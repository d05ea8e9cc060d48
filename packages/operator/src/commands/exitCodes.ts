/** The exit codes of every command, in both hosts. */
export const EXIT = {
  success: 0,
  /** The checked statement is false: forged, malformed, incomplete, not published. */
  false: 1,
  invalidArguments: 2,
  /** Network or service unavailable. */
  unavailable: 3,
} as const;
