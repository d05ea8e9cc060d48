import fc from "fast-check";
import { type Change, changes, mutate } from "../mutate.ts";
import { HOSTS, type Question, type Registry } from "./registries.ts";

interface Call {
  id: number;
  method: string;
  params: unknown[];
}

/** What the attacker does in one verification. */
export interface Plan {
  /** True if the attacker's registry answers every question that the attacker may answer. */
  isForged: boolean;
  /** True if the app compares the key with the attacker's key, which its server returned. */
  expectsForged: boolean;
  steps: Step[];
}

/** A change to one answer. Its numbers are taken modulo the number of choices, so every step fits every answer. */
interface Step {
  /** The index of the answer. */
  at: number;
  /** The index of a call in the answer, of another document or of a word. */
  choice: number;
  kind: "switch" | "mutate" | "swap" | "character" | "missing";
  changes: Change[];
}

const step: fc.Arbitrary<Step> = fc.record({
  at: fc.nat(),
  choice: fc.nat(),
  kind: fc.constantFrom("switch", "switch", "mutate", "swap", "swap", "character", "character", "missing"),
  changes,
});

/** Plans of attacks. fast-check reports the shortest plan that shows a defect. */
export const plans: fc.Arbitrary<Plan> = fc.record({
  isForged: fc.boolean(),
  expectsForged: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
});

/** What the attacker controls: the limits within which a trust choice promises that no false key is accepted. */
export interface Power {
  /** Whether the attacker's registry may answer a question. `index` is the index of the host. */
  mayForge: (question: Question, index: number) => boolean;
  /** Whether an answer may be changed. Default: every answer. */
  mayChange?: (host: Question["host"], index: number) => boolean;
}

/** The number of answers among which a step chooses one. A verification has about as many. */
const ANSWERS = 8;
const ALPHABETS = ["0123456789abcdef", "ghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/", '[]{}",:'];
const WORD = /[\w+/=]+/g;

/** Documents of one registry, and their words, from which changes are made. */
export class Material {
  readonly documents: Uint8Array[] = [];
  /** The words by their length. */
  readonly #words = new Map<number, string[]>();

  add(bytes: Uint8Array): void {
    this.documents.push(bytes);
    for (const [word] of Buffer.from(bytes).toString("latin1").matchAll(WORD)) {
      const same = this.#words.get(word.length) ?? [];
      if (!same.includes(word)) this.#words.set(word.length, [...same, word]);
    }
  }

  document(choice: number): Uint8Array {
    return this.documents[choice % Math.max(this.documents.length, 1)] ?? new Uint8Array();
  }

  /** Replaces one word with another word of the same length, so that a hash becomes a hash, and a user id a user id. */
  swap(bytes: Uint8Array, at: number, choice: number): Uint8Array {
    const text = Buffer.from(bytes).toString("latin1");
    const words = [...text.matchAll(WORD)];
    const chosen = words[at % Math.max(words.length, 1)];
    if (chosen === undefined) return bytes;
    const [old] = chosen;
    const same = this.#words.get(old.length) ?? [old];
    const put = same[choice % same.length] ?? old;
    return Buffer.from(text.slice(0, chosen.index) + put + text.slice(chosen.index + old.length), "latin1");
  }
}

/** The answers to one verification, as the plan changes them. */
export class Attack {
  readonly #plan: Plan;
  readonly #power: Power;
  readonly #registries: { real: Registry; forged: Registry };
  /** The documents that may be mixed into an answer, by whether the attacker's registry may answer there. */
  readonly #material: { real: Material; all: Material };
  #answers = 0;

  constructor(
    plan: Plan,
    power: Power,
    registries: { real: Registry; forged: Registry },
    material: { real: Material; all: Material },
  ) {
    this.#plan = plan;
    this.#power = power;
    this.#registries = registries;
    this.#material = material;
  }

  /** Answers like the hosts. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const { origin, pathname, search } = new URL(input as string);
    const steps = this.#stepsOf(this.#answers++);
    const { host, index } = hostAt(origin);
    const bytes =
      host === "rpc"
        ? await this.#answerCalls(init?.body as string, index, steps)
        : await this.#answer({ host, method: pathname + search, params: [] }, index, steps);
    if (bytes === undefined) return new Response("", { status: 404 });
    const changed = this.#change(bytes, host, index, steps);
    if (changed === undefined) return new Response("", { status: 500 });
    const type = host === "rpc" ? "application/json" : host === "beacon" ? "application/octet-stream" : "text/plain";
    return new Response(new Uint8Array(changed), { headers: { "Content-Type": type } });
  };

  /** Changes a JSON document, such as a bundle, by replacing parts of it with the same parts of another document. */
  change(document: Uint8Array, other: Uint8Array): Uint8Array {
    const { steps } = this.#plan;
    const parts: unknown = JSON.parse(text(document));
    for (const { kind, at } of steps) if (kind === "switch") replacePart(parts, JSON.parse(text(other)), at);
    const mixed = Buffer.from(JSON.stringify(parts));
    return this.#change(mixed, "files", 0, steps) ?? new Uint8Array();
  }

  #stepsOf(answer: number): Step[] {
    return this.#plan.steps.filter(({ at }) => at % ANSWERS === answer % ANSWERS);
  }

  async #answerCalls(body: string, index: number, steps: readonly Step[]): Promise<Uint8Array> {
    const sent = JSON.parse(body) as Call | Call[];
    const calls = Array.isArray(sent) ? sent : [sent];
    const answers = await Promise.all(
      calls.map(async ({ id, method, params }, i) => {
        const own = steps.filter(({ choice }) => choice % calls.length === i);
        const result = await this.#answer({ host: "rpc", method, params }, index, own);
        const answer = result === undefined ? '"error":{"code":-32000,"message":"no"}' : `"result":${text(result)}`;
        return `{"jsonrpc":"2.0","id":${id},${answer}}`;
      }),
    );
    return Buffer.from(Array.isArray(sent) ? `[${answers.join(",")}]` : (answers[0] ?? ""));
  }

  /** Returns the answer of one of the registries. */
  async #answer(question: Question, index: number, steps: readonly Step[]): Promise<Uint8Array | undefined> {
    const { real, forged } = this.#registries;
    const switches = steps.filter(({ kind }) => kind === "switch").length;
    const isForged = this.#plan.isForged !== (switches % 2 === 1) && this.#power.mayForge(question, index);
    // The attacker's file host also has the real files.
    return (isForged ? await forged.answer(question) : undefined) ?? (await real.answer(question));
  }

  #change(bytes: Uint8Array, host: Question["host"], index: number, steps: readonly Step[]): Uint8Array | undefined {
    const { mayForge, mayChange = () => true } = this.#power;
    if (!mayChange(host, index)) return bytes;
    // An answer that must be the real registry's must not be made of the attacker's parts.
    const isFree = mayForge({ host, method: "eth_call", params: [] }, index);
    const material = isFree ? this.#material.all : this.#material.real;
    let changed = bytes;
    for (const { kind, at, choice, changes } of steps) {
      if (kind === "missing") return undefined;
      if (kind === "mutate") changed = mutate(changed, material.document(choice), changes);
      if (kind === "character") changed = replaceCharacter(changed, Math.floor(at / ANSWERS), choice);
      if (kind === "swap") changed = material.swap(changed, Math.floor(at / ANSWERS), choice);
    }
    return changed;
  }
}

function hostAt(origin: string): { host: Question["host"]; index: number } {
  for (const [host, urls] of Object.entries(HOSTS)) {
    const index = [urls].flat().indexOf(origin);
    if (index !== -1) return { host: host as Question["host"], index };
  }
  throw new RangeError(`There is no host ${origin}.`);
}

/** Replaces one byte. A hex digit becomes another hex digit, and a letter another letter, so the format stays valid. */
function replaceCharacter(bytes: Uint8Array, at: number, choice: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  const index = at % Math.max(bytes.length, 1);
  const old = String.fromCharCode(bytes[index] ?? 0);
  const alphabet = ALPHABETS.find((one) => one.includes(old));
  changed[index] = alphabet === undefined ? choice : alphabet.charCodeAt(choice % alphabet.length);
  return changed;
}

/** Replaces one part of a JSON value, at any depth, with the part that is at the same place in another value. */
function replacePart(value: unknown, other: unknown, choice: number): void {
  const places: (() => void)[] = [];
  const visit = (one: unknown, another: unknown) => {
    if (typeof one !== "object" || typeof another !== "object" || one === null || another === null) return;
    const [to, from] = [one as Record<string, unknown>, another as Record<string, unknown>];
    for (const key of Object.keys(to)) {
      places.push(() => (to[key] = from[key]));
      visit(to[key], from[key]);
    }
  };
  visit(value, other);
  places[choice % places.length]?.();
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
