/**
 * Writes llms-api.txt for assistants that write programs. It has one line, with types, for each function, class and
 * type that programs import. llms.txt links to it.
 *
 *     node scripts/generate/apiSummary.ts            writes the file
 *     node scripts/generate/apiSummary.ts --check    exits with 1 if the file is not up to date
 */
import ts from "typescript";
import { meaningOf, readExports } from "./exports.ts";
import { writeOrCheck } from "./writeOrCheck.ts";

const FORMAT: ts.TypeFormatFlags =
  ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;
const IN_ALIAS: ts.TypeFormatFlags = FORMAT | ts.TypeFormatFlags.InTypeAlias;
/** A union of many codes, which docs/errors.md and docs/auditing.md list. */
const MANY_CODES = /("[A-Z\d_]+")(?: \| "[A-Z\d_]+"){8,}/g;
/**
 * Matches a union of strings. The type checker orders it by where each string first appears, which any change may
 * alter.
 */
const STRINGS = /"[^"]*"(?: \| "[^"]*")+/g;
/** The maximum length of a type. The summary contains only the first members of longer types. */
const MAX_TYPE = 400;

const HEAD = `# Keyroot: API summary

Generated from the types. One line for each name that programs import, under its module: its type, and what it is for. Options are
objects; \`?\` marks those with a default. Errors have a stable \`code\`: see docs/errors.md.
`;

const { program, checker, modules } = readExports();
const declaredOrders = readDeclaredOrders();
const parts = modules.map(({ module, exports }) => {
  const lines = exports.map(({ name, symbol }) => `- ${declarationOf(name, symbol)}${explained(symbol)}`);
  return `## import … from "${module}"\n\n${lines.sort().join("\n")}\n`;
});
await writeOrCheck("llms-api.txt", [HEAD, ...parts].join("\n"));

function declarationOf(name: string, symbol: ts.Symbol): string {
  if (symbol.flags & ts.SymbolFlags.Class) return classOf(name, symbol);
  const value = symbol.valueDeclaration;
  if (value === undefined) return `type ${name} = ${shapeOf(checker.getDeclaredTypeOfSymbol(symbol))}`;
  const type = checker.getTypeOfSymbolAtLocation(symbol, value);
  const [signature] = type.getCallSignatures();
  return signature === undefined ? `const ${name}: ${typeText(type)}` : `${name}${signatureText(signature)}`;
}

function classOf(name: string, symbol: ts.Symbol): string {
  const instance = checker.getDeclaredTypeOfSymbol(symbol);
  const constructed = symbol.valueDeclaration && checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration);
  const [constructor] = constructed?.getConstructSignatures() ?? [];
  const statics = constructed === undefined ? [] : publicMembers(constructed);
  const members = [...statics.map((one) => `static ${memberText(one)}`), ...publicMembers(instance).map(memberText)];
  const made = constructor === undefined ? "" : signatureText(constructor).replace(/: [^)]*$/, "");
  return `class ${name}${made} { ${members.join("; ")} }`;
}

/** Describes an object type with its members. Describes any other type by its source text. */
function shapeOf(type: ts.Type): string {
  const members = publicMembers(type);
  const isObject = type.isClassOrInterface() || (type.flags & ts.TypeFlags.Object) !== 0;
  if (!isObject || members.length === 0 || type.getCallSignatures().length > 0)
    return cut(checker.typeToString(type, undefined, IN_ALIAS));
  return `{ ${members.map(memberText).join("; ")} }`;
}

function publicMembers(type: ts.Type): ts.Symbol[] {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return type.getProperties().filter(({ name, declarations: [declaration] = [] }) => {
    // Skip private members, and members that classes of JavaScript and Node have.
    if (name.startsWith("__") || name.includes("#") || declaration === undefined) return false;
    const isOwn = !/\/node_modules\/(?:typescript|@types)\//.test(declaration.getSourceFile().fileName);
    return isOwn && (ts.getCombinedModifierFlags(declaration) & hidden) === 0;
  });
}

function memberText(member: ts.Symbol): string {
  const type = checker.getTypeOfSymbol(member);
  const optional = member.flags & ts.SymbolFlags.Optional ? "?" : "";
  const [signature] = type.getCallSignatures();
  if (signature !== undefined && member.flags & ts.SymbolFlags.Method)
    return `${member.name}${signatureText(signature)}`;
  return `${member.name}${optional}: ${typeText(type)}`;
}

function signatureText(signature: ts.Signature): string {
  return cut(checker.signatureToString(signature, undefined, FORMAT));
}

function typeText(type: ts.Type): string {
  return cut(checker.typeToString(type, undefined, FORMAT));
}

function cut(text: string): string {
  const line = text
    .replaceAll(/import\("[^"]*"\)\./g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(STRINGS, inDeclaredOrder)
    .replaceAll(MANY_CODES, "$1 | …");
  return line.length <= MAX_TYPE ? line : `${line.slice(0, MAX_TYPE)} …`;
}

/** Orders a union's strings like the type or array that declares them, or alphabetically if none does. */
function inDeclaredOrder(union: string): string {
  const sorted = union.split(" | ").sort().join(" | ");
  return declaredOrders.get(sorted) ?? sorted;
}

function readDeclaredOrders(): Map<string, string> {
  const orders = new Map<string, string>();
  const visit = (node: ts.Node): void => {
    const members = ts.isUnionTypeNode(node) ? node.types : ts.isArrayLiteralExpression(node) ? node.elements : [];
    const strings = members.map((member) => (ts.isLiteralTypeNode(member) ? member.literal : member));
    if (strings.length > 1 && strings.every(ts.isStringLiteral)) {
      const texts = strings.map(({ text }) => `"${text}"`);
      const sorted = texts.toSorted().join(" | ");
      if (!orders.has(sorted)) orders.set(sorted, texts.join(" | "));
    }
    ts.forEachChild(node, visit);
  };
  program
    .getSourceFiles()
    .filter(({ fileName }) => !fileName.includes("/node_modules/"))
    .forEach(visit);
  return orders;
}

function explained(symbol: ts.Symbol): string {
  const meaning = meaningOf(symbol, checker);
  return meaning === "" ? "" : ` — ${meaning}`;
}
