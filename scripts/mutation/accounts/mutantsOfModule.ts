import ts from "typescript";

/** A module with one change. */
export interface ModuleMutant {
  /** The function with the change, the changed code, and what replaces it, which together identify the mutant. */
  inFunction: string;
  from: string;
  to: string;
  source: string;
}

const OPERATORS: Partial<Record<ts.SyntaxKind, string[]>> = {
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: ["!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: ["==="],
  [ts.SyntaxKind.LessThanToken]: ["<=", ">="],
  [ts.SyntaxKind.LessThanEqualsToken]: ["<", ">"],
  [ts.SyntaxKind.GreaterThanToken]: [">=", "<="],
  [ts.SyntaxKind.GreaterThanEqualsToken]: [">", "<"],
  [ts.SyntaxKind.AmpersandAmpersandToken]: ["||"],
  [ts.SyntaxKind.BarBarToken]: ["&&"],
  [ts.SyntaxKind.PlusToken]: ["-"],
  [ts.SyntaxKind.MinusToken]: ["+"],
};

/**
 * Creates the mutants of some functions of a module, by replacing operators, conditions and numbers, and leaving out
 * calls.
 * @param except the names of functions without mutants
 */
export function mutantsOfModule(source: string, except: readonly string[]): ModuleMutant[] {
  const file = ts.createSourceFile("module.ts", source, ts.ScriptTarget.Latest, true);
  const mutants: ModuleMutant[] = [];
  const visit = (node: ts.Node, inFunction: string): void => {
    if (ts.isFunctionDeclaration(node) && except.includes(node.name?.text ?? "")) return;
    const name = ts.isFunctionDeclaration(node) ? (node.name?.text ?? "") : inFunction;
    if (name !== "")
      for (const [changed, to] of changesOf(node)) {
        const [start, end] = [changed.getStart(file), changed.end];
        const whole = changed === node ? node.parent : node;
        const from = whole.getText(file).split("\n", 1)[0] ?? "";
        mutants.push({ inFunction: name, from, to, source: source.slice(0, start) + to + source.slice(end) });
      }
    ts.forEachChild(node, (child) => {
      visit(child, name);
    });
  };
  visit(file, "");
  return mutants;
}

/** Returns the nodes to replace, and their replacements. */
function changesOf(node: ts.Node): [ts.Node, string][] {
  if (ts.isBinaryExpression(node)) {
    const { operatorToken, left, right } = node;
    // A text has no difference.
    const isText = [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side));
    if (isText && operatorToken.kind === ts.SyntaxKind.PlusToken) return [];
    return (OPERATORS[operatorToken.kind] ?? []).map((to) => [operatorToken, to]);
  }
  if (ts.isIfStatement(node)) return ["true", "false"].map((to) => [node.expression, to]);
  if (ts.isConditionalExpression(node)) return ["true", "false"].map((to) => [node.condition, to]);
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [[node, `(${node.operand.getText()})`]];
  if (ts.isNumericLiteral(node)) return [[node, String(Number(node.text) + 1)]];
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [[node, "false"]];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [[node, "true"]];
  if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) return [[node, ";"]];
  return [];
}
