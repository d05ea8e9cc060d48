import { KeyrootError } from "keyroot/errors";

/** A step of the demo had another outcome than expected. */
export class DemoError extends KeyrootError<"DEMO_FAILED"> {
  override readonly name = "DemoError";

  constructor(message: string) {
    super("DEMO_FAILED", message);
  }
}
