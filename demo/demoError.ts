import { KeyrootError } from "keyroot/internal/errors";

/** Thrown if a demo step has an unexpected result. */
export class DemoError extends KeyrootError<"DEMO_FAILED"> {
  override readonly name = "DemoError";

  constructor(message: string) {
    super("DEMO_FAILED", message);
  }
}
