import type { AstNode } from "./compile.ts";

/** The contract with one change. */
export interface Mutant {
  /** The changed line before and after, trimmed. Together they identify the mutant. */
  from: string;
  to: string;
  /** The whole mutated source. */
  source: string;
}

interface Change {
  node: AstNode;
  /** The texts that replace the node, one per mutant. */
  texts: string[];
  /** The number of bytes after the node that are also replaced. */
  trailingBytes?: number;
}

type Typed = AstNode & { typeDescriptions?: { typeString?: string } };

const OPERATORS: Record<string, string[]> = {
  "==": ["!="],
  "!=": ["=="],
  "<=": ["<", ">=", "==", "!="],
  "%": ["/", "*"],
  "/": ["%", "*"],
  "+=": ["-=", "="],
  "--": ["++"],
};

/**
 * Creates all mutants of a contract:
 *
 * - operators and constants are replaced, conditions by true and false, and variables by others of the same type;
 * - statements, modifiers and initial values are removed;
 * - private state becomes public, and the two-step ownership transfer becomes one-step.
 *
 * Some mutants do not compile.
 */
export function mutantsOf(source: string, ast: AstNode): Mutant[] {
  const bytes = Buffer.from(source);
  const textOf = (node: AstNode) => bytes.subarray(...rangeOf(node)).toString();
  const changes = [...nodesOf(ast)]
    .filter(({ nodeType }) => nodeType === "ContractDefinition")
    .flatMap((contract) => [...nodesOf(contract)].flatMap((node) => changesOf(node, contract, textOf)));
  const mutants = new Map<string, Mutant>();
  for (const { node, texts, trailingBytes = 0 } of changes) {
    for (const text of texts) {
      const [start, end] = rangeOf(node);
      const changed = Buffer.concat([
        bytes.subarray(0, start),
        Buffer.from(text),
        bytes.subarray(end + trailingBytes),
      ]).toString();
      if (changed !== source) mutants.set(changed, { ...changedLine(source, changed), source: changed });
    }
  }
  return [...mutants.values()];
}

function changesOf(node: AstNode, contract: AstNode, textOf: (node: AstNode) => string): Change[] {
  const text = textOf(node);
  switch (node.nodeType) {
    case "BinaryOperation":
    case "Assignment": {
      const [left, right, operator] = [
        textOf((node["leftExpression"] ?? node["leftHandSide"]) as AstNode),
        textOf((node["rightExpression"] ?? node["rightHandSide"]) as AstNode),
        node["operator"] as string,
      ];
      return [{ node, texts: (OPERATORS[operator] ?? []).map((other) => `${left} ${other} ${right}`) }];
    }
    case "UnaryOperation": {
      const operator = node["operator"] as string;
      return [{ node, texts: (OPERATORS[operator] ?? []).map((other) => text.replace(operator, other)) }];
    }
    case "IfStatement":
    case "WhileStatement":
      return [{ node: node["condition"] as AstNode, texts: ["true", "false"] }];
    case "Literal":
      if (node["kind"] === "string") return [{ node, texts: ['""'] }];
      return [{ node, texts: neighboringNumbers(Number(text)) }];
    case "ExpressionStatement":
    case "EmitStatement":
    case "RevertStatement":
    case "Return":
      // Including the semicolon, which is not part of the compiler's node.
      return [{ node, texts: ["{}"], trailingBytes: 1 }];
    case "VariableDeclarationStatement":
      // The text leaves out the initial value.
      return [{ node, texts: [text.replace(/ = [^]*/, "")] }];
    case "ModifierInvocation":
      return [{ node, texts: [""] }];
    case "InheritanceSpecifier":
      return [{ node, texts: text === "Ownable2Step" ? ["Ownable"] : [] }];
    case "VariableDeclaration":
      return [{ node, texts: [text.replace("private", "public")] }];
    case "Identifier":
      return [{ node, texts: otherVariables(node, contract) }];
    case "MemberAccess":
      return [{ node, texts: text === "block.number" ? ["block.timestamp", "0"] : [] }];
    case "FunctionCall":
      return [{ node, texts: text === "owner()" ? ["msg.sender", "pendingOwner()"] : [] }];
    default:
      return [];
  }
}

function neighboringNumbers(number: number): string[] {
  // Depending on the expected type, one of the two does not compile.
  return number === 0 ? ["1", "bytes32(uint256(1))"] : [number + 1, number - 1].map(String);
}

/** The other variables of the same type that are in scope: state variables and variables of the enclosing function. */
function otherVariables(node: Typed, contract: AstNode): string[] {
  const type = node.typeDescriptions?.typeString;
  const [start, end] = rangeOf(node);
  const declarations = (within: AstNode) =>
    [...nodesOf(within)].filter(({ nodeType, name }) => nodeType === "VariableDeclaration" && name !== "");
  const enclosing = (contract["nodes"] as AstNode[]).filter((part) => {
    const [partStart, partEnd] = rangeOf(part);
    return part.nodeType === "FunctionDefinition" && partStart <= start && end <= partEnd;
  });
  const state = (contract["nodes"] as AstNode[]).filter(({ nodeType }) => nodeType === "VariableDeclaration");
  return [...state, ...enclosing.flatMap(declarations)]
    .filter((variable: Typed) => variable.typeDescriptions?.typeString === type)
    .map(({ name }) => name as string)
    .filter((name) => name !== node["name"]);
}

/** A node and all its descendants. */
function* nodesOf(node: AstNode): Generator<AstNode> {
  yield node;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof child === "object" && child !== null && "nodeType" in child) yield* nodesOf(child as AstNode);
    }
  }
}

function rangeOf({ src }: AstNode): [start: number, end: number] {
  const [start = 0, length = 0] = src.split(":").map(Number);
  return [start, start + length];
}

function changedLine(source: string, changed: string): { from: string; to: string } {
  const [before, after] = [source.split("\n"), changed.split("\n")];
  const line = before.findIndex((text, i) => text !== after[i]);
  return { from: before[line]?.trim() ?? "", to: after[line]?.trim() ?? "" };
}
