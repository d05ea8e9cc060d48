import { KeyrootError } from "keyroot/errors";

/** The error if a step of the demo had an unexpected outcome. */
export class DemoError extends KeyrootError<"DEMO_FAILED"> {
  override readonly name = "DemoError";

  constructor(message: string) {
    super("DEMO_FAILED", message);
  }
}
