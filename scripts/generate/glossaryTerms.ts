/** Reads every public name of the project, with the meaning from the name's definition. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeOption, type Definition, optionName } from "@keyroot/operator/definition";
import { commandsWith, loadServiceCommands } from "@keyroot/operator/commands";
import { demoCommand } from "../../tasks/demoCommand.ts";
import { ROOT } from "../test/root.ts";
import { firstSentence, meaningOf, readExports } from "./exports.ts";

/** A name, one of the name's meanings, and the place where this meaning applies. */
export interface Term {
  readonly name: string;
  readonly meaning: string;
  readonly where: string;
}

/** Reads the names that programs import, with the first sentence of each doc comment. */
export function exportedNames(): Term[] {
  const { checker, modules } = readExports();
  return modules.flatMap(({ module, exports }) =>
    exports.map(({ name, symbol }) => ({ name, meaning: meaningOf(symbol, checker), where: module })),
  );
}

/** The definitions of all commands, by name. */
export async function allCommands(): Promise<Readonly<Record<string, Definition>>> {
  const service = await loadServiceCommands();
  return { ...commandsWith(service), ...service?.HARDHAT_COMMANDS, demo: demoCommand };
}

export async function commandOptions(): Promise<Term[]> {
  return Object.entries(await allCommands()).flatMap(([where, { options }]) =>
    Object.entries(options).map(([name, option]) => ({
      name: optionName(name),
      meaning: describeOption(option),
      where,
    })),
  );
}

/** Reads the environment variables from the tables in docs/variables.md. */
export function variables(): Term[] {
  return rowsOf("docs/variables.md", /^(?:DATABASE_URL|KEYROOT_)/);
}

/** Reads the events for partners from the table in docs/api-operations.md. */
export function events(): Term[] {
  return rowsOf("docs/api-operations.md", /^[a-z]+[A-Z]?[a-zA-Z]*\.[a-z]+$/);
}

/** Reads the actions in the audit log from the table in docs/monitoring.md. */
export function actions(): Term[] {
  return rowsOf("docs/monitoring.md", /^[a-z]+[A-Z]?[a-zA-Z]*\.[a-zA-Z]+$/);
}

interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
}

/** Reads the fields of requests and responses from the OpenAPI documents. */
export function apiFields(): Term[] {
  const terms: Term[] = [];
  for (const document of ["docs/openapi.json", "docs/openapi-operator.json"]) {
    const { paths, components } = JSON.parse(readFileSync(join(ROOT, document), "utf8")) as {
      paths: Record<string, unknown>;
      components: unknown;
    };
    for (const [where, operation] of Object.entries({ ...paths, "all operations": components })) {
      visitSchemas(operation, ({ properties = {} }) => {
        for (const [name, { description = "" }] of Object.entries(properties))
          terms.push({ name, meaning: firstSentence(description), where });
      });
    }
  }
  return terms;
}

function visitSchemas(value: unknown, visit: (schema: Schema) => void): void {
  if (typeof value !== "object" || value === null) return;
  if ("properties" in value) visit(value as Schema);
  for (const inner of Object.values(value)) visitSchemas(inner, visit);
}

/** Reads table rows of a page. The first cell of each row consists of names. */
function rowsOf(page: string, isName: RegExp): Term[] {
  const rows = readFileSync(join(ROOT, page), "utf8").matchAll(/^\| (`[^|]+`) +\| ([^|]+) \|/gm);
  return Array.from(rows, ([, names = "", meaning = ""]) => {
    const named = Array.from(names.matchAll(/`([^`]+)`/g), ([, name = ""]) => name).filter((name) => isName.test(name));
    return named.map((name) => ({ name, meaning: firstSentence(meaning), where: page }));
  }).flat();
}
