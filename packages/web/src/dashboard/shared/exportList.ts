import type { AnswerOf, BodyOf, OperationPath } from "@keyroot/service";
import { call } from "./api.ts";
import type { ItemOf, ItemsField } from "./useCall.ts";

/** Maximum number of items in an export. The browser keeps all exported items in memory. */
export const MAX_EXPORTED = 50_000;
const PAGE_SIZE = 1000;

/** Fetches at most `MAX_EXPORTED` items of a list. @throws CallError */
export async function fetchAll<Path extends OperationPath, Field extends ItemsField<Path>>(
  path: Path,
  field: Field,
  body: Omit<BodyOf<Path>, "limit" | "after">,
): Promise<{ items: ItemOf<Path, Field>[]; isWhole: boolean }> {
  const items: ItemOf<Path, Field>[] = [];
  let after: string | null = null;
  do {
    const limit = Math.min(PAGE_SIZE, MAX_EXPORTED - items.length);
    const page: AnswerOf<Path> = await call(path, { ...body, limit, ...(after !== null && { after }) } as never);
    const { [field]: found, next } = page as Record<string, unknown>;
    items.push(...(found as ItemOf<Path, Field>[]));
    after = next as string | null;
  } while (after !== null && items.length < MAX_EXPORTED);
  return { items, isWhole: after === null };
}
