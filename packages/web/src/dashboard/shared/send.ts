import type { AnswerOf, OperationPath } from "@keyroot/service";

/** The error of a call that the service rejected or did not respond to. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: string;
  /** The problems with fields of the request, by field name. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(code: string, message: string, fields: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.fields = fields;
  }
}

/** Sends a request to the service. @throws CallError */
export async function send<Path extends OperationPath>(path: Path, body: object): Promise<AnswerOf<Path>> {
  let response: Response;
  let answer: unknown;
  try {
    response = await fetch(`..${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      cache: "no-store",
    });
    answer = await response.json();
  } catch {
    throw new CallError("UNREACHABLE", "The service did not respond. Check your connection, and try again.");
  }
  if (response.ok) return answer as AnswerOf<Path>;
  const problem = answer as { code?: string; detail?: string; errors?: { field: string; detail: string }[] };
  const fields = Object.fromEntries((problem.errors ?? []).map(({ field, detail }) => [field, detail]));
  throw new CallError(
    problem.code ?? "",
    problem.detail ?? `The service responded with status ${response.status}.`,
    fields,
  );
}
