import {
  type Application,
  type Context,
  Converter,
  type DeclarationReflection,
  type LiteralType,
  makeRecursiveVisitor,
  type ProjectReflection,
  ReferenceType,
  ReflectionKind,
  type SomeType,
  type UnionType,
  UnknownType,
} from "typedoc";

/** Minimum number of texts of a union that is shown by its name. */
const LONG_UNION = 5;

/**
 * Shortens types in the API reference that TypeScript writes out in full:
 *
 * - a long union of strings becomes the name of the exported type, such as `ErrorCode`;
 * - the overloads of `fetch` become `typeof fetch`;
 * - `Uint8Array<ArrayBufferLike>` becomes `Uint8Array`.
 *
 * A destructured parameter is named `options`.
 */
export function shortenTypes({ converter }: Application): void {
  const names = new Map<string, DeclarationReflection>();
  converter.on(Converter.EVENT_CREATE_DECLARATION, (context, declaration) => {
    const texts = declaration.kind === ReflectionKind.TypeAlias ? textsOf(context, declaration) : [];
    if (texts.length >= LONG_UNION && !names.has(keyOf(texts))) names.set(keyOf(texts), declaration);
  });
  converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    shorten(project, names);
  });
}

/** Returns the texts of a type that is a union of texts. */
function textsOf(context: Context, declaration: DeclarationReflection): string[] {
  const symbol = context.getSymbolFromReflection(declaration);
  const type = symbol && context.checker.getDeclaredTypeOfSymbol(symbol);
  if (type?.isUnion() !== true) return [];
  return type.types.every((each) => each.isStringLiteral()) ? type.types.map(({ value }) => value) : [];
}

function keyOf(texts: readonly string[]): string {
  return texts.toSorted().join(" ");
}

function shorten(project: ProjectReflection, names: ReadonlyMap<string, DeclarationReflection>): void {
  const visitor = makeRecursiveVisitor({
    union: (union) => {
      nameUnion(union, names, project);
    },
    reference: (reference) => {
      if (reference.typeArguments?.map(String).join() === "ArrayBufferLike") delete reference.typeArguments;
    },
  });
  for (const reflection of Object.values(project.reflections)) {
    // A parameter without a name, because the function takes its fields apart.
    if (reflection.name === "__namedParameters") reflection.name = "options";
    const typed = reflection as { type?: SomeType; default?: SomeType };
    if (reflection.name === "fetch" && typed.type?.type === "reflection") typed.type = new UnknownType("typeof fetch");
    typed.type?.visit(visitor);
    typed.default?.visit(visitor);
  }
}

/** Replaces all texts of a union by the name of the type that has them. */
function nameUnion(
  union: UnionType,
  names: ReadonlyMap<string, DeclarationReflection>,
  project: ProjectReflection,
): void {
  const isText = (type: SomeType) => type.type === "literal" && typeof type.value === "string";
  const named = names.get(
    keyOf(union.types.flatMap((type) => (isText(type) ? [(type as LiteralType).value as string] : []))),
  );
  if (named === undefined) return;
  const others = union.types.filter((type) => !isText(type));
  union.types = [ReferenceType.createResolvedReference(named.name, named, project), ...others];
}
